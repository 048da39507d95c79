// The checks of what callers pass to the lab: objects, flags, texts, numbers, words and durations. Each throws
// InvalidError that names the field. What only one function knows, such as a name in use, it checks itself.

import { describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { InvalidError } from './lab-error.ts';

/** Milliseconds: a request and its answer may take a minute in total. */
const MAX_DELAY_MS = 50_000;
const MAX_TEXT_LENGTH = 1_000;
/** Known words in a message. */
const MAX_SHOWN = 20;

/** A value that is not an object is invalid too. `lacking` begins the message about an unknown field. */
export function requireFields(given: unknown, known: readonly string[], lacking?: string): void {
  if (!isMap(given)) throw new InvalidError('options', `use an object with ${known.join(', ')}`, '');
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const problem = lacking === undefined ? `${name} is unknown` : `${lacking} ${name}`;
    throw new InvalidError(name, `${problem}; ${meantOrKnown(name, known)}`, '');
  }
}

export function requireFlag(field: string, given: unknown): void {
  if (typeof given !== 'boolean') throw new InvalidError(field, 'use true or false', given);
}

/** Those that are given. */
export function requireFlags(flags: Readonly<Record<string, unknown>>): void {
  for (const [field, flag] of Object.entries(flags)) if (flag !== undefined) requireFlag(field, flag);
}

/** Those that are given, and not empty. */
export function requireTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [field, text] of Object.entries(texts))
    if (text !== undefined && !(typeof text === 'string' && text !== '' && text.length <= MAX_TEXT_LENGTH))
      throw new InvalidError(field, `use 1 to ${MAX_TEXT_LENGTH} characters`, '');
}

export function requireWord(field: string, given: string, known: Iterable<string>): void {
  const all = [...known];
  if (!all.includes(given))
    throw new InvalidError(field, `${given} is unknown; ${meantOrKnown(given, all, MAX_SHOWN)}`, given);
}

export function requireWholeNumber(field: string, given: unknown, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(given) && Number(given) >= min && Number(given) <= max) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new InvalidError(field, `use a whole number ${range}`, given);
}

/** Those that are given. */
export function requireWholeNumbers(
  numbers: Readonly<Record<string, unknown>>,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): void {
  for (const [field, number] of Object.entries(numbers))
    if (number !== undefined) requireWholeNumber(field, number, min, max);
}

/** Milliseconds of a number, or of a text that `parse` reads. */
export function millisecondsOf(field: string, given: number | string, parse = parseDuration): number {
  try {
    return typeof given === 'number' ? given : parse(given);
  } catch (error) {
    throw new InvalidError(field, describeError(error), given);
  }
}

/** Milliseconds of a duration above 0 and up to `max`. */
export function delayOf(field: string, given: number | string, max = MAX_DELAY_MS): number {
  const milliseconds = millisecondsOf(field, given);
  if (milliseconds > 0 && milliseconds <= max) return milliseconds;
  throw new InvalidError(field, `use a duration up to ${max / 1_000}s, for example 500ms`, given);
}

/** Milliseconds of a wait from 0 to `max`. */
export function waitOf(field: string, given: number | string, max: number): number {
  const milliseconds = millisecondsOf(field, given);
  if (milliseconds >= 0 && milliseconds <= max) return milliseconds;
  throw new InvalidError(field, `use a duration from 0 to ${max / 1_000}s`, given);
}

/** A copy without the fields that are undefined, null or false. */
export function given<T extends object>(fields: T): T {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== false);
  return Object.fromEntries(set) as T;
}

/** A copy with the durations of some fields in milliseconds. */
export function withDelays<T extends object>(fields: T, names: readonly (keyof T & string)[]): T {
  const delays = names.flatMap((name) => {
    const value = fields[name] as number | string | undefined;
    return value === undefined ? [] : [[name, delayOf(name, value)]];
  });
  return { ...fields, ...Object.fromEntries(delays) };
}

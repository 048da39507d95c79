// Checks of single fields of a fault. Each throws InvalidError that names the field.

import { describeError } from '#lib/errors.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { InvalidError } from '../lab-error.ts';

/** Milliseconds: a request and its answer may take a minute in total. */
export const MAX_DELAY_MS = 50_000;
const MAX_TEXT_LENGTH = 1_000;
/** Known words in a message. */
const MAX_SHOWN = 20;

export function checkTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && !(typeof text === 'string' && text !== '' && text.length <= MAX_TEXT_LENGTH))
      throw new InvalidError(name, `use 1 to ${MAX_TEXT_LENGTH} characters`, '');
}

/** Flags that are false were left out before. */
export function checkFlags(flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags))
    if (flag !== undefined && flag !== true) throw new InvalidError(name, 'use true or false', flag);
}

export function checkKnown(field: string, given: string, known: Iterable<string>): void {
  const all = [...known];
  if (!all.includes(given))
    throw new InvalidError(field, `${given} is unknown; ${meantOrKnown(given, all, MAX_SHOWN)}`, given);
}

export function checkFields(fault: object, kind: string, fields: readonly string[]): void {
  for (const name of Object.keys(fault))
    if (!fields.includes(name))
      throw new InvalidError(name, `${kind} has no ${name}; ${meantOrKnown(name, fields, MAX_SHOWN)}`, '');
}

export function checkWholeNumber(field: string, given: number | undefined, max: number): void {
  if (given !== undefined && !(Number.isSafeInteger(given) && given >= 1 && given <= max))
    throw new InvalidError(
      field,
      max === Number.MAX_SAFE_INTEGER ? 'use a whole number of at least 1' : `use a whole number from 1 to ${max}`,
      given,
    );
}

/** Milliseconds of a duration above 0 and up to `max`. */
export function durationOf(field: string, given: number | string, max = MAX_DELAY_MS): number {
  let milliseconds: number;
  try {
    milliseconds = typeof given === 'number' ? given : parseDuration(given);
  } catch (error) {
    throw new InvalidError(field, describeError(error), given);
  }
  if (!(milliseconds > 0 && milliseconds <= max))
    throw new InvalidError(field, `use a duration up to ${max / 1_000}s, for example 500ms`, given);
  return milliseconds;
}

/** A copy without the fields that are undefined, null or false. */
export function given<T extends object>(fields: T): T {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== false);
  return Object.fromEntries(set) as T;
}

/** The fault with the durations of some fields in milliseconds. */
export function withDurations<T extends object>(fault: T, fields: readonly (keyof T & string)[]): T {
  const durations = fields.flatMap((field) => {
    const value = fault[field] as number | string | undefined;
    return value === undefined ? [] : [[field, durationOf(field, value)]];
  });
  return { ...fault, ...Object.fromEntries(durations) };
}

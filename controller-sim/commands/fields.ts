// Options of a command from the fields of its request.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { BODY_SCHEMAS, type DataSchema } from '#schemas/api/data-schemas.ts';
import type { LabOption } from '#schemas/lab/function.ts';

/** Adds an option for each field of the body, with its description, except those in `without`. */
export function withFields(command: Command, body: string, without: readonly string[] = []): Command {
  for (const [name, field] of Object.entries(BODY_SCHEMAS[body]?.properties ?? {}))
    if (!without.includes(name)) command.addOption(optionOf(name, field));
  return command;
}

/** An option with a text of its own. */
export function describedOption(
  { flags, text, choices, pattern, ...given }: LabOption,
  field: DataSchema = {},
): Option {
  const option = new Option(flags, text);
  const isNumber = field.type === 'integer' || field.type === 'number';
  if (choices) option.choices(choices);
  else if (pattern) option.argParser((value) => matching(value, pattern, isNumber));
  else if (isNumber) option.argParser(number);
  return given.default === undefined ? option : option.default(given.default);
}

function matching(given: string, [pattern, remedy]: NonNullable<LabOption['pattern']>, isNumber: boolean): unknown {
  if (!pattern.test(given)) throw new InvalidArgumentError(remedy);
  return isNumber ? Number(given) : given;
}

/** `sliceDelay` is `--slice-delay`; commander turns it into the name of the field again. */
export function optionName(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function optionOf(name: string, { type, description = '', enum: values }: DataSchema): Option {
  const text =
    description === '' ? name : `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '');
  if (type === 'boolean') return new Option(optionName(name), text);
  const [word, parse] = (type !== undefined && PARSERS[type]) || ['json', json];
  const option = new Option(`${optionName(name)} <${word}>`, text);
  return values ? option.choices(values) : option.argParser(parse);
}

const PARSERS: Readonly<Record<string, readonly [string, (given: string) => unknown]>> = {
  string: ['text', (given) => given],
  integer: ['number', number],
  number: ['number', number],
};

function number(given: string): number {
  const value = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isNaN(value)) throw new InvalidArgumentError('Use a number.');
  return value;
}

/** A field that may be a text takes one that is not JSON as it is. */
function json(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return given; // the simulator rejects it where it needs an object or a list
  }
}

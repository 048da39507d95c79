// Options of a command from the body of its operation in schemas/api/bodies.json: one for each field, with its
// description.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { BODY_SCHEMAS, type DataSchema } from '#schemas/api/body-schemas.ts';

/** Adds an option for each field of the body, except those in `without`. */
export function withFields(command: Command, body: string, without: readonly string[] = []): Command {
  for (const [name, field] of Object.entries(BODY_SCHEMAS[body]?.properties ?? {}))
    if (!without.includes(name)) command.addOption(optionOf(name, field));
  return command;
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

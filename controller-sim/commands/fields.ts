// Options of a command from the fields of its request.

import { InvalidArgumentError, Option } from 'commander';
import type { DataSchema } from '#schemas/api/body-schemas.ts';
import type { LabOption } from '#schemas/lab/function.ts';

/** `sliceDelay` is `--slice-delay`; commander turns it into the name of the field again. */
function optionName(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `own` replaces what follows from the field. A field of the output has no type. */
export function optionOf(name: string, field: DataSchema, own: LabOption = {}): Option {
  const { type, description = '', enum: values = field.items?.enum } = field;
  const { pattern, default: given } = own;
  const meaning = `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '');
  const [word, parse] = (type !== undefined && PARSERS[type]) || ['json', json];
  const flags = own.flags ?? (type === 'boolean' ? optionName(name) : `${optionName(name)} <${word}>`);
  const option = new Option(flags, own.text ?? (meaning || name)).default(given);
  if (values) return option.choices(values);
  const checked = (text: string) => {
    if (pattern && !pattern[0].test(text)) throw new InvalidArgumentError(pattern[1]);
    return parse(text);
  };
  return option.required ? option.argParser(checked) : option;
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

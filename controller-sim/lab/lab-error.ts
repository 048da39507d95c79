// Wrong use of the lab: its errors, and the check of names.

import { ProjectError } from '#lib/errors.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';

/** The lab has no entity with this name. */
export class UnknownError extends ProjectError {
  constructor(message: string) {
    super('NOT_FOUND', message);
  }
}

/** An invalid or missing value. */
export class InvalidError extends ProjectError {
  readonly field: string;
  readonly value: unknown;

  constructor(field: string, message: string, value: unknown) {
    super('INVALID', message);
    this.field = field;
    this.value = value;
  }
}

/** @throws InvalidError for a field that is not known, or a value that is not an object */
export function demandKnown(given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new InvalidError('options', `use an object with ${known.join(', ')}`, '');
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw new InvalidError(name, `${name} is unknown; ${meantOrKnown(name, known)}`, '');
}

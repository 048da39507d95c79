// The errors of a wrong use of the lab; input.ts has the checks.

import { ProjectError } from '#lib/errors.ts';

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

// The causes of a failed enrollment, each with a message of one line.

import { ProjectError } from '#lib/errors.ts';

export type EnrollmentFailure =
  | 'TOKEN_UNREADABLE'
  | 'TOKEN_MALFORMED'
  | 'TOKEN_METHOD'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_SIGNATURE'
  | 'TOKEN_USED'
  | 'CONTROLLER_UNREACHABLE'
  | 'CONTROLLER_ANSWER'
  | 'NO_AUTHORITIES'
  | 'NO_CONTROLLER'
  | 'NO_CSR'
  | 'KEY'
  | 'FILES';

export class EnrollmentError extends ProjectError {
  constructor(code: EnrollmentFailure, message: string, options: { cause?: unknown } = {}) {
    super(code, message, options);
  }
}

// Why a file cannot be read, in words for its owner in place of the system's.

import { describeError, errorCode } from './errors.ts';

/** A sentence about `path` for what reading it has thrown. */
export function readProblem(path: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'EISDIR':
      return `${path} is a folder; name a file`;
    case 'ENOENT':
    case 'ENOTDIR':
      return `${path} does not exist`;
    case 'EACCES':
    case 'EPERM':
      return `${path} may not be read by this user`;
    default:
      return `${path} cannot be read: ${describeError(error)}`;
  }
}

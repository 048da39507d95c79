// Describes for users why a file cannot be read.

import { statSync } from 'node:fs';
import { describeError, errorCode } from '../errors.ts';
import { shown } from '../text/shown-text.ts';

/** Why this user does not find the file: it is missing, or in a folder of another user. Undefined if it is found. */
export function findProblem(path: string): string | undefined {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return readProblem(path, error);
  }
}

/** A sentence about `path` for an error of reading it. */
export function readProblem(path: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'EISDIR':
      return `${path} is a folder; name a file`;
    case 'ENOENT':
    case 'ENOTDIR':
      return `${path} does not exist`;
    case 'ENAMETOOLONG':
      return `${shown(path)} is too long for the name of a file`;
    case 'EACCES':
    case 'EPERM':
      return `${path} cannot be read by this user: permission denied`;
    default:
      return `${path} cannot be read: ${describeError(error)}`;
  }
}

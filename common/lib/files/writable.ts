// Describes for users why a file cannot be written: before the write, without touching it, as a hint that may be
// outdated at the write, and after a failed one.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeError, errorCode, ProjectError } from '../errors.ts';

export interface WriteOptions {
  /** The file is replaced by a new one beside it, which always needs write access to the folder. */
  readonly isReplaced?: boolean;
  /** Missing folders are created. */
  readonly makesFolder?: boolean;
}

/** Describes why the file cannot be written; undefined if it can. Creates nothing. */
export function writeObstacle(path: string, options: WriteOptions = {}): string | undefined {
  const { isReplaced = false, makesFolder = false } = options;
  const file = statOf(path);
  if (file === 'unknown') return `${path} cannot be checked: permission denied`;
  if (file?.isDirectory()) return `${path} is a folder; name a file`;
  if (file && !isReplaced) return denied(path, constants.W_OK);
  const folder = dirname(resolve(path)); // a person cannot tell which folder `.` is
  const parent = statOf(folder);
  if (parent === undefined && makesFolder && dirname(folder) !== folder) return writeObstacle(folder, options);
  if (parent === undefined) return `the folder ${folder} does not exist; create it`;
  if (parent !== 'unknown' && !parent.isDirectory()) return `${folder} is not a folder`;
  return denied(folder, constants.W_OK | constants.X_OK);
}

/** A failed write. `code` is the system's; the message names the file, the reason and the remedy. */
export class WriteError extends ProjectError {
  constructor(path: string, cause: unknown) {
    super(errorCode(cause) ?? 'WRITE', writeProblem(path, cause)); // without the cause, which the message describes
  }
}

/** A sentence about `path` for an error of writing it, with the remedy. */
export function writeProblem(path: string, error: unknown): string {
  if (error instanceof ProjectError) return describeError(error); // says both already
  const [reason, remedy] = reasonAndRemedy(path, error);
  return `${path} cannot be written: ${reason}${remedy === undefined ? '' : `; ${remedy}`}`;
}

function reasonAndRemedy(path: string, error: unknown): [reason: string, remedy?: string] {
  const folder = dirname(resolve(path));
  switch (errorCode(error)) {
    case 'ENOSPC':
      return ['the disk is full', `free space on the disk of ${folder}`];
    case 'EDQUOT':
      return ['the quota of this user is used up', `free space in ${folder}, or raise the quota`];
    case 'EROFS':
      return ['its file system is read-only', `mount ${folder} writable`];
    case 'EACCES':
    case 'EPERM':
      return ['permission denied', `make ${folder} writable for this user`];
    case 'ENOENT':
      return [`the folder ${folder} does not exist`, 'create it'];
    case 'ENOTDIR':
      return [`${folder} is not a folder`, 'name a file in a folder'];
    case 'EISDIR':
      return ['it is a folder', 'name a file'];
    case 'EFBIG':
      return ['its size reached the limit of this process or file system', 'remove the file, or raise the limit'];
    default:
      return [describeError(error)];
  }
}

function statOf(path: string): Stats | 'unknown' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return errorCode(error) === 'ENOTDIR' ? undefined : 'unknown';
  }
}

function denied(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode);
    return undefined;
  } catch (error) {
    if (errorCode(error) === 'EROFS') return `${path} is on a read-only file system`;
    return `${path} cannot be written by this user: permission denied`;
  }
}

// Checks whether a file is writable, without touching it. The result is a hint for people: it may change before the
// write.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../errors.ts';

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

/** Returns the remedy for the error of a write. */
export function writeRemedy(path: string, error: unknown): string {
  const folder = dirname(resolve(path));
  switch (errorCode(error)) {
    case 'ENOSPC':
      return `free space on the disk of ${folder}`;
    case 'EDQUOT':
      return `free space in ${folder}, or raise the quota of this user`;
    case 'EROFS':
      return `mount ${folder} writable`;
    default:
      return `make ${folder} writable for this user`;
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

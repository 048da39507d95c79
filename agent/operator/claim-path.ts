// Takes a path that another process may take at the same moment, such as the path of a socket. A file that a killed
// process has left there is removed first, a file in use never. Creating the file is the only decision about its owner:
// the system lets one process create it.

import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { errorCode, ProjectError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isServed } from './running-router.ts';

/** A process listens at the path. */
export class PathTakenError extends ProjectError {
  constructor(path: string) {
    super('PATH_TAKEN', `another process listens on ${path}`);
  }
}

/** Errors of a file that exists: of sockets, and of all others. */
const EXISTS: ReadonlySet<string | undefined> = new Set(['EADDRINUSE', 'EEXIST']);
/** Each attempt ends with the file of this process, or with one that another process has just created. */
const MAX_ATTEMPTS = 3;
/** Milliseconds after which a socket is asked again: between two system calls of its owner, it refuses connections. */
const SECOND_LOOK = 50;

/**
 * Calls `create`, which must fail with EADDRINUSE or EEXIST if the path exists. Resolves with whether a killed process
 * had left a file there. Rejects with PathTakenError if another process listens there, or with the error of `create`.
 */
export async function claimPath(path: string, create: () => Promise<void> | void, clock: Clock): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await create();
      return attempt > 1;
    } catch (error) {
      if (!EXISTS.has(errorCode(error)) || attempt === MAX_ATTEMPTS) throw error;
    }
    const found = fileAt(path);
    if (await isServed(path)) throw new PathTakenError(path);
    await clock.sleep(SECOND_LOOK, { name: 'path in use' });
    if (await isServed(path)) throw new PathTakenError(path);
    removeFile(path, found);
  }
}

/** Identifies the file at a path, so that a later one there differs; undefined for a missing file. */
export function fileAt(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.mtimeNs}`;
}

/**
 * Removes a file unless another one has taken its place meanwhile. A file that cannot be moved stays: in a common
 * folder, another user may have taken the name beside it.
 */
export function removeFile(path: string, found: string | undefined): void {
  if (found === undefined || fileAt(path) !== found) return;
  const aside = `${path}.${process.pid}`;
  try {
    // Moving is one step, looking and removing are two.
    renameSync(path, aside);
  } catch {
    return;
  }
  try {
    if (fileAt(aside) !== found) linkSync(aside, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

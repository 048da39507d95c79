// Resolves symbolic links to files that may not exist yet, and compares their paths.

import { readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The limit of Linux on links in a path. */
export const MAX_LINKS = 40;

/** The file to which symbolic links at `path` lead, existing or not; `path` itself if it is not a link. */
export function linkedFile(path: string): string {
  let file = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const target = linkTarget(file);
    if (target === undefined) return file;
    file = resolve(realpathSync(dirname(file)), target);
  }
  return file;
}

/**
 * Whether two paths lead to the same file, existing or not, also over symbolic or hard links. Pipes and devices, such
 * as the standard streams, can be shared.
 */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [statOf(one), statOf(other)];
  if (first && second) return first.isFile() && first.dev === second.dev && first.ino === second.ino;
  return placeOf(one) === placeOf(other);
}

/** Undefined for a missing or unreachable file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function placeOf(path: string): string {
  try {
    const file = linkedFile(resolve(path));
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return resolve(path); // in a folder that does not exist
  }
}

/** The target of a symbolic link; undefined for other files and missing ones. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

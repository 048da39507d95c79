// Resolves symbolic links to files that may not exist yet.

import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The limit of Linux on links in a path. */
export const MOST_LINKS = 40;

/** The file to which symbolic links at `path` lead, existing or not; `path` itself if it is not a link. */
export function linkedFile(path: string): string {
  let file = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const target = linkTarget(file);
    if (target === undefined) return file;
    file = resolve(realpathSync(dirname(file)), target);
  }
  return file;
}

/** The target of a symbolic link; undefined for other files and missing ones. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

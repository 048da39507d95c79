// Files that must be either the old or the new one, never half of it: written beside, flushed to disk, renamed.

import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, type PathLike } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ProjectError } from './errors.ts';

/** Permission bits of the group and of everybody else. */
const OTHERS = 0o077;

export interface AtomicWriteOptions {
  /** Permission bits of the new file; 0600 when left out, since most of what we write so is a secret. */
  mode?: number;
}

/** Replaces `path` with `content`. On any failure the old file is still there and nothing is left beside it. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', options.mode ?? 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a folder and its parents, readable by the owner only. */
export function makePrivateFolder(path: PathLike): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/**
 * Makes a folder that nobody else can enter or replace, at a path that others can reach, such as one in the folder for
 * temporary files. Throws like `refuseForeignFolder`.
 */
export function claimPrivateFolder(path: string): void {
  makePrivateFolder(path);
  refuseForeignFolder(path);
  if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o700);
}

/** Throws ProjectError when there is something at the path that is not a folder of this user; a symbolic link is not. */
export function refuseForeignFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid))) return;
  throw new ProjectError(
    'FOLDER_TAKEN',
    `${path} is not a folder of this user; remove it, or set TMPDIR to a folder of your own`,
  );
}

/** A rename survives a power cut only once the folder itself is on disk. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

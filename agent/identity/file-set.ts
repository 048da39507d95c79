// Replaces several files together: all new ones are written and read back beside the old ones before the first is renamed, so that
// a failure at any step leaves what was working.

import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, errorCode, ProjectError } from '#lib/errors.ts';

/** New files could not be put in place; the old ones are still there. */
export class FileSetError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('FILES', message, options);
  }
}

export interface NewFile {
  readonly path: string;
  readonly content: string;
}

/**
 * Writes all files with mode 0600 or none. `check` sees the temporary paths, in the order of `files`, once all are written;
 * when it throws nothing is replaced. Throws FileSetError.
 */
export async function replaceFiles(
  files: readonly NewFile[],
  check: (temporary: readonly string[]) => Promise<void>,
): Promise<void> {
  const suffix = randomBytes(6).toString('hex');
  const temporary = files.map((file) => `${file.path}.${suffix}.new`);
  const kept = files.map((file) => `${file.path}.${suffix}.old`);
  try {
    for (const [index, file] of files.entries()) await write(temporary[index] as string, file);
    await check(temporary);
    await swap(files, temporary, kept);
  } finally {
    for (const path of [...temporary, ...kept]) await rm(path, { force: true });
  }
}

async function write(path: string, file: NewFile): Promise<void> {
  try {
    const handle = await open(path, 'wx', 0o600);
    try {
      await handle.writeFile(file.content);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const hint =
      errorCode(error) === 'ENOENT' ? `the folder ${dirname(file.path)} does not exist` : describeError(error);
    throw new FileSetError(`${file.path} cannot be written: ${hint}`, { cause: error });
  }
}

/** Renames one after the other; when one fails, those before it are put back. */
async function swap(files: readonly NewFile[], temporary: readonly string[], kept: readonly string[]): Promise<void> {
  const done: number[] = [];
  try {
    for (const [index, file] of files.entries()) {
      await keepOld(file.path, kept[index] as string);
      await rename(temporary[index] as string, file.path);
      done.push(index);
    }
  } catch (error) {
    for (const index of done.reverse()) await putBack(kept[index] as string, (files[index] as NewFile).path);
    throw new FileSetError(`the new files could not be put in place: ${describeError(error)}`, {
      cause: error,
    });
  }
}

async function keepOld(path: string, kept: string): Promise<void> {
  try {
    await link(path, kept);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error; // there is no old file the first time
  }
}

async function putBack(kept: string, path: string): Promise<void> {
  try {
    await rename(kept, path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      await rm(path, { force: true }); // there was none before
    else throw error;
  }
}

// Replaces several files together. All new files are written and read back beside the old ones before the first rename,
// so a failure at any step keeps the old files.

import { constants } from 'node:fs';
import { copyFile, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeError, errorCode, ProjectError } from '#lib/errors.ts';
import { syncFolder, temporarySuffix, tryRemoveUnfinished } from '#lib/files/atomic-file.ts';
import { linkedFile } from '#lib/files/symbolic-links.ts';
import { writeProblem } from '#lib/files/writable.ts';

/** The new files could not be installed; the old ones still exist. */
export class FileSetError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('FILES', message, options);
  }
}

export interface NewFile {
  readonly path: string;
  readonly content: string;
  /**
   * A durable file on the same disk with this content. It is linked instead of written where the system permits it:
   * that works on a full disk, too.
   */
  readonly source?: string;
}

/** As large as certificate chains, so that a full disk is noticed. */
const TRIAL = '\n'.repeat(16 * 1024);

/**
 * Writes all files durably with mode 0600, or none. Calls `check` with the temporary paths, in the order of `given`,
 * once all are written; if it throws, nothing is replaced. @throws FileSetError
 */
export async function replaceFiles(
  given: readonly NewFile[],
  check: (temporary: readonly string[]) => Promise<void>,
): Promise<void> {
  // Links stay: they may lead out of an image to a volume, which keeps the files after a restart.
  const files = given.map((file) => ({ ...file, path: linkedFile(file.path) }));
  const suffix = temporarySuffix();
  const temporary = files.map((file) => `${file.path}.${suffix}.new`);
  const kept = files.map((file) => `${file.path}.${suffix}.old`);
  try {
    for (const [index, file] of files.entries()) await provide(temporary[index] as string, file);
    await check(temporary);
    await swap(files, temporary, kept);
    await syncFolders(files);
    // Only now: until the files are replaced, an old one that a killed process left may be the only valid one.
    for (const { path } of files) tryRemoveUnfinished(path);
  } finally {
    for (const path of [...temporary, ...kept]) await rm(path, { force: true });
  }
}

/**
 * Does everything that replaceFiles would do with these paths, except the last step. A caller can thus check first
 * before it requests contents that are issued only once. Leaves the files unchanged. @throws FileSetError
 */
export async function proveReplaceable(paths: readonly string[]): Promise<void> {
  const suffix = temporarySuffix();
  for (const path of paths.map(linkedFile)) {
    const [trial, renamed, kept] = ['trial', 'new', 'old'].map((kind) => `${path}.${suffix}.${kind}`) as [
      string,
      string,
      string,
    ];
    try {
      await rejectFolder(path);
      await write(trial, { path, content: TRIAL });
      await rename(trial, renamed);
      await keepOld(path, kept);
    } catch (error) {
      if (error instanceof FileSetError) throw error;
      throw new FileSetError(`${path} cannot be replaced: ${describeError(error)}`, { cause: error });
    } finally {
      for (const each of [trial, renamed, kept]) await rm(each, { force: true });
    }
  }
}

async function rejectFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined); // the later write reports the reason
  if (found?.isDirectory()) throw new FileSetError(`${path} is a folder; name a file`);
}

async function provide(path: string, file: NewFile): Promise<void> {
  const isLinked =
    file.source !== undefined &&
    (await link(file.source, path)
      .then(() => true)
      .catch(() => false));
  if (!isLinked) await write(path, file);
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
    throw new FileSetError(writeProblem(file.path, error));
  }
}

/** Renames the files one by one; if one fails, the earlier ones are restored. */
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
    throw new FileSetError(`the new files could not be installed: ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Afterwards, a power failure cannot restore the old files: the controller may already reject them. */
async function syncFolders(files: readonly NewFile[]): Promise<void> {
  // A folder without read permission cannot be flushed.
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) await syncFolder(folder).catch(() => undefined);
}

async function keepOld(path: string, kept: string): Promise<void> {
  try {
    await link(path, kept);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return; // the first time no old file exists
    // Some file systems have no hard links, and Linux permits none to files of other users.
    await copyFile(path, kept, constants.COPYFILE_EXCL);
  }
}

async function putBack(kept: string, path: string): Promise<void> {
  try {
    await rename(kept, path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      await rm(path, { force: true }); // no file existed before
    else throw error;
  }
}

// Loads a native addon from the assets of a single executable. The system's loader needs a file: an in-memory file if
// Linux allows it, else one in the folder for temporary files, which is deleted at once. So a read-only root file
// system works.

import { closeSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRawAsset } from 'node:sea';
import { describeError } from '#lib/errors.ts';
import { systemLibrary } from '#lib/process/system-library.ts';

const MFD_CLOEXEC = 1;

interface Functions {
  memfd_create(name: string, flags: number): number;
}

/** @param name Name of the package. @throws if neither place works */
export function loadAddon(name: string): unknown {
  const asset = `${name}.node`;
  const bytes = Buffer.from(getRawAsset(asset));
  try {
    return loadFromMemory(asset, bytes);
  } catch {
    return loadFromFolder(asset, bytes);
  }
}

function loadFromMemory(name: string, bytes: Buffer): unknown {
  const library = systemLibrary<Functions>({ memfd_create: { arguments: ['string', 'u32'], return: 'i32' } });
  const file = library?.functions.memfd_create(name, MFD_CLOEXEC) ?? -1;
  if (file < 0) throw new Error('the system cannot create a file in memory');
  try {
    writeFileSync(file, bytes);
    return load(`/proc/self/fd/${file}`);
  } finally {
    closeSync(file);
  }
}

function loadFromFolder(name: string, bytes: Buffer): unknown {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'edgeweave-'));
    const file = join(folder, name);
    writeFileSync(file, bytes, { mode: 0o500 });
    return load(file);
  } catch (error) {
    throw new Error(
      `${name} cannot be loaded from ${tmpdir()} (${describeError(error)}); set TMPDIR to a folder that this user may write to and run programs from`,
      { cause: error },
    );
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function load(file: string): unknown {
  const module = { exports: {} as unknown };
  process.dlopen(module, file, constants.dlopen.RTLD_LAZY);
  return module.exports;
}

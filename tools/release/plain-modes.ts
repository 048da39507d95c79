// The package that `npm pack` writes has the permissions that its files have on this machine. They depend on the umask
// of the checkout and of the build.

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from '../image/tar.ts';

/**
 * Writes a package again with the permissions 755 for programs, 644 for other files, and its files in the order of
 * their names. @param time Modification time of all files, in seconds since 1970
 */
export function setPlainModes(file: string, time: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-package-'));
  try {
    execFileSync('tar', ['-xzf', file, '-C', folder]);
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    writeFileSync(file, gzipSync(tar(paths.flatMap(entryIn(folder)), time), { level: 9 }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A package has no entries for folders. */
function entryIn(folder: string): (path: string) => TarEntry[] {
  return (path) => {
    const found = lstatSync(join(folder, path));
    const mode = (found.mode & 0o100) === 0 ? 0o644 : 0o755;
    return found.isFile() ? [{ path, mode, content: readFileSync(join(folder, path)) }] : [];
  };
}

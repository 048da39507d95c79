// Builds the files of a release into an empty folder. Each build runs as a process of its own, with the time of the
// commit.

import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import packageJson from '../../package.json' with { type: 'json' };
import { PROGRAMS } from '../binary/programs.ts';
import { ROOT } from '../commands.ts';
import { PROCESSORS, type Processor } from '../image/system-files.ts';
import { setPlainModes } from './plain-modes.ts';

/**
 * @param time Seconds since 1970.
 * @param prefix Command and arguments that precede each build, see `withoutNetwork`. Returns the names of the files.
 */
export function buildFiles(folder: string, time: number, prefix: readonly string[]): string[] {
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'edgeweave-release-'));
  try {
    const run = (...words: string[]) => {
      const [command = '', ...args] = [...prefix, ...words];
      execFileSync(command, args, {
        cwd: ROOT,
        env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    };
    for (const tool of ['binary', 'image', 'packages']) run(process.execPath, join('tools', tool, 'build.ts'), work);
    run('npm', 'pack', '--silent', '--pack-destination', work);
    setPlainModes(join(work, `${packageJson.name}-${packageJson.version}.tgz`), time);
    collect(work, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return readdirSync(folder).sort();
}

function collect(work: string, folder: string): void {
  const { version } = packageJson;
  const { image } = PROCESSORS[process.arch as Processor];
  for (const { name } of PROGRAMS) {
    const executable = gzipSync(readFileSync(join(work, name)), { level: 9 });
    writeFileSync(join(folder, `${name}-${version}-${process.platform}-${process.arch}.gz`), executable);
    renameOrCopy(join(work, `${name}.oci.tar`), join(folder, `${name}-${version}-${image}.oci.tar`));
  }
  for (const file of readdirSync(work).filter((each) => /\.(?:deb|rpm|tgz)$|^LICENSES\.txt$/.test(each)))
    renameOrCopy(join(work, file), join(folder, file));
}

/** Folders on different file systems have no common rename. */
function renameOrCopy(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

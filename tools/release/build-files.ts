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

/** @param time Seconds since 1970. Returns the names of the files. */
export function buildFiles(folder: string, time: number): string[] {
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'edgeweave-release-'));
  try {
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(time) };
    const tool = (path: string) =>
      execFileSync(process.execPath, [join(ROOT, 'tools', path), work], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    tool('binary/build.ts');
    tool('image/build.ts');
    tool('packages/build.ts');
    execFileSync('npm', ['pack', '--silent', '--pack-destination', work], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
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

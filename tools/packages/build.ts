// `npm run build:packages [-- FOLDER]`: builds Debian and RPM packages of the single executables of `npm run
// build:binary`, without a network. The RPM packages need `rpmbuild`.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { needFolder, print, ROOT } from '../commands.ts';
import { processorOf } from '../image/elf.ts';
import { sourceTime } from '../source-time.ts';
import { packages, REVISION } from './contents.ts';
import { debianPackage } from './deb.ts';
import { writeRpmPackage } from './rpm.ts';

/** Whoever publishes packages puts their own name here. */
const MAINTAINER = process.env.PACKAGE_MAINTAINER ?? 'Edgeweave maintainers <maintainers@edgeweave.example>';
const PROCESSORS: Readonly<Record<string, { deb: string; rpm: string }>> = {
  x64: { deb: 'amd64', rpm: 'x86_64' },
  arm64: { deb: 'arm64', rpm: 'aarch64' },
};
const MIB = 1024 * 1024;

const folder = resolve(process.argv[2] ?? join(ROOT, 'build'));
needFolder(folder, 'pass another folder: npm run build:packages -- FOLDER');
if (!existsSync(join(folder, 'edgeweave-router'))) {
  process.stderr.write(`${join(folder, 'edgeweave-router')} does not exist: run \`npm run build:binary\` first\n`);
  process.exit(1);
}
const processor = processorOf(readFileSync(join(folder, 'edgeweave-router'))) ?? process.arch;
const { deb, rpm } = PROCESSORS[processor] ?? { deb: processor, rpm: processor };
const time = sourceTime();
const canBuildRpm = spawnSync('rpmbuild', ['--version']).status === 0;
for (const each of packages(folder)) {
  const file = join(folder, `${each.name}_${each.version}-${REVISION}_${deb}.deb`);
  writeFileSync(file, debianPackage(each, { architecture: deb, maintainer: MAINTAINER, time }));
  report(file);
  if (canBuildRpm) report(writeRpmPackage(each, { architecture: rpm, maintainer: MAINTAINER, time, folder }));
}
if (!canBuildRpm) print('rpmbuild was not found (package rpm), no RPM packages are built');

function report(file: string): void {
  print(`built ${file} (${(statSync(file).size / MIB).toFixed(1)} MiB)`);
}

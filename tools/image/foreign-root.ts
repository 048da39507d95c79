// `npm run build:root -- FOLDER DEB...`: unpacks Debian packages of another processor as a root folder for
// `npm run build:image -- … --root FOLDER`. No program of them runs. The folder gets a database of dpkg, which says
// whose files they are.

import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { print } from '../commands.ts';

const DATABASE = 'var/lib/dpkg';
/** Folders that are links in today's systems. */
const MERGED = ['bin', 'sbin', 'lib'];
/** Links that the scripts of the packages would make: path → target. */
const ALTERNATIVES = { 'usr/sbin/iptables': 'iptables-nft' };
const MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024;

const [, , given = '', ...packages] = process.argv;
if (given === '' || packages.length === 0) {
  process.stderr.write('usage: npm run build:root -- FOLDER DEB...\n');
  process.exit(2);
}
const folder = resolve(given);
if (existsSync(folder)) {
  process.stderr.write(`${folder} exists: pass a new folder\n`);
  process.exit(1);
}
mkdirSync(join(folder, DATABASE, 'info'), { recursive: true });
writeFileSync(join(folder, DATABASE, 'info/format'), '1\n'); // lists have names with a processor
for (const each of MERGED) {
  mkdirSync(join(folder, 'usr', each), { recursive: true });
  symlinkSync(`usr/${each}`, join(folder, each));
}
for (const file of packages) unpack(file);
for (const [path, target] of Object.entries(ALTERNATIVES))
  if (existsSync(join(folder, dirname(path), target))) symlinkSync(target, join(folder, path));
print(`unpacked ${packages.length} packages in ${folder}`);

function unpack(file: string): void {
  const read = (...args: string[]) => execFileSync('dpkg-deb', args, { maxBuffer: MAX_ARCHIVE_BYTES });
  const archive = read('--fsys-tarfile', file);
  execFileSync('tar', ['-x', '--keep-directory-symlink', '-C', folder], { input: archive });
  const [name, architecture, same] = ['Package', 'Architecture', 'Multi-Arch'].map((field) =>
    read('--field', file, field).toString().trim(),
  );
  const paths = execFileSync('tar', ['-t'], { input: archive, encoding: 'utf8', maxBuffer: MAX_ARCHIVE_BYTES })
    .split('\n')
    .map((path) => path.replace(/^\./, '').replace(/\/$/, ''))
    .filter((path) => path !== '');
  const list = same === 'same' ? `${name}:${architecture}.list` : `${name}.list`;
  writeFileSync(join(folder, DATABASE, 'info', list), `${paths.join('\n')}\n`);
  const fields = read('--field', file).toString().trim();
  appendFileSync(join(folder, DATABASE, 'status'), `${fields.replace('\n', '\nStatus: install ok installed\n')}\n\n`);
}

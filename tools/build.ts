// `npm run build`: creates the package's JavaScript and types in `dist/`. The JavaScript is the source without types,
// line by line, so stack traces of the package show the lines of the sources. `npm pack` runs this first.

import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import pages from '../controller-sim/dashboard/files.json' with { type: 'json' };
import { needFolder, print, ROOT, runTool } from './commands.ts';
import { manuals } from './manuals.ts';

const DIST = join(ROOT, 'dist');
const ROOMS = '{agent,controller-sim,common,schemas,testbed}';
/** Files that the code reads or imports in addition to its modules. */
const ASSETS = [
  `${ROOMS}/**/gen/*.{js,d.ts}`,
  'schemas/**/*.{json,tsv}',
  'controller-sim/dashboard/files.json',
  ...Object.values(pages).flatMap((file) => (file.startsWith('./') ? join('controller-sim/dashboard', file) : [])),
];
/** A module of ours in an import, an export or a URL: relative, or by a name in package.json. */
const SPECIFIER = /(?<before>\b(?:from|import|new URL)\s*\(?\s*)'(?<path>(?:\.{1,2}\/|#)[^']+)\.ts'/g;

needFolder(DIST);
rmSync(DIST, { recursive: true, force: true });
const sources = globSync(`${ROOMS}/**/*.ts`, { cwd: ROOT }).filter((file) => !/\.(test|d)\.ts$/.test(file));
for (const file of sources) {
  const javascript = stripTypeScriptTypes(readFileSync(join(ROOT, file), 'utf8')).replaceAll(/[ \t]+$/gm, '');
  write(file.replace(/\.ts$/, '.js'), withBuiltModules(javascript));
}
for (const file of globSync(ASSETS, { cwd: ROOT })) copy(file);
const code = await runTool('tsc', ['--project', 'tsconfig.build.json']);
if (code !== 0) process.exit(code);
for (const file of globSync('**/*.d.ts', { cwd: DIST }))
  write(file, withBuiltModules(readFileSync(join(DIST, file), 'utf8')));
writeManifest();
for (const [name, text] of Object.entries(manuals())) write(join('man', name), text);
print(`built ${sources.length} modules in ${DIST}`);

/** Replaces source file names with the names of the built files. */
function withBuiltModules(text: string): string {
  return text.replaceAll(SPECIFIER, "$<before>'$<path>.js'");
}

/** Maps the names `#lib/…` to the files of the build. */
function writeManifest(): void {
  const { name, version, type, imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  write('package.json', `${JSON.stringify({ name, version, type, imports }, undefined, 2)}\n`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(DIST, file)), { recursive: true });
  writeFileSync(join(DIST, file), text);
}

function copy(file: string): void {
  mkdirSync(dirname(join(DIST, file)), { recursive: true });
  cpSync(join(ROOT, file), join(DIST, file));
}

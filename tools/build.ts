// `npm run build`: creates the package's JavaScript and types in `dist/`. `npm pack` runs this first.

import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { needFolder, print, ROOT, runTool } from './commands.ts';
import { manuals } from './manuals.ts';
import { bundlePackage } from './package-bundle.ts';

const DIST = join(ROOT, 'dist');
/** Types that the compiler does not write: those of generated JavaScript. */
const TYPES = '{agent,controller-sim,entry,common,schemas,testbed}/**/gen/*.d.ts';
/** A module of ours in an import or an export: relative, or by a name in package.json. */
const SPECIFIER = /(?<before>\b(?:from|import)\s*\(?\s*)'(?<path>(?:\.{1,2}\/|#)[^']+)\.ts'/g;

needFolder(DIST);
rmSync(DIST, { recursive: true, force: true });
const files = await bundlePackage(DIST);
for (const file of globSync(TYPES, { cwd: ROOT })) copy(file);
// `npm run check` judges the types; here they are only written.
const code = await runTool('tsc', ['--project', 'tsconfig.build.json', '--noCheck']);
if (code !== 0) process.exit(code);
for (const file of globSync('**/*.d.ts', { cwd: DIST }))
  write(file, withBuiltModules(readFileSync(join(DIST, file), 'utf8')));
writeManifest();
for (const [name, text] of Object.entries(manuals())) write(join('man', name), text);
print(`built ${files} files of JavaScript in ${DIST}`);

/** Types refer to modules by the names that a compiler looks up: those of JavaScript. */
function withBuiltModules(text: string): string {
  return text.replaceAll(SPECIFIER, "$<before>'$<path>.js'");
}

/** Maps the names `#lib/…` in types to the files of the build. */
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

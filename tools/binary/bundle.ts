// Bundles all modules of a program into one file. Files that our modules read or start at run time are included.

import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type OnLoadArgs, type OnLoadResult, type Plugin } from 'esbuild';
import files from '../../controller-sim/dashboard/files.json' with { type: 'json' };
import { type PageName, pathOfPage, readPage } from '../../controller-sim/dashboard/read-page.ts';
import { ROOT } from '../commands.ts';
import { buildDefinitions } from '../source-time.ts';
import { ADDONS } from './addon-names.ts';

export interface Bundle {
  readonly text: string;
  /** Folders of the packages in it. */
  readonly packages: readonly string[];
}

/**
 * CommonJS packages call `require` for modules of Node, whatever the folder. It is not that of `process.execPath`,
 * which has no folder without /proc.
 */
const REQUIRE = `import { createRequire as createRequireOfNode } from 'node:module';
const require = createRequireOfNode('/');`;

/**
 * Such characters occur only in comments; elsewhere esbuild escapes them. Without them, Node stores a text in half the
 * memory.
 */
const BEYOND_ASCII = /[^\p{ASCII}]/gu;
/** A text file of ours, `readFileSync(new URL('NAME', import.meta.url), 'utf8')`. */
const TEXT_FILE = /readFileSync\(new URL\('(?<name>[^']+)', import\.meta\.url\), 'utf8'\)/g;
const PAGE_NAMES = Object.keys(files) as PageName[];
const PAGE_READER = /controller-sim\/dashboard\/read-page\.ts$/;
/** A lazily loaded package, `createRequire(import.meta.url)('NAME')`. */
const LATE_PACKAGE = /createRequire\(import\.meta\.url\)\('(?<name>[^']+)'\)/g;
/** The program of a thread, `new URL('./NAME.ts', import.meta.url)`. */
const THREAD = /new URL\('(?<name>\.\/[^']+\.ts)', import\.meta\.url\)/g;

/** @param entry Path of a module in the project. */
export async function bundle(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    define: buildDefinitions(),
    platform: 'node',
    format: 'esm',
    target: `node${process.versions.node}`,
    banner: { js: REQUIRE },
    legalComments: 'none', // they are in LICENSES.txt
    logLevel: 'warning',
    metafile: true,
    write: false,
    plugins: [dashboard, ownModules, addons, lateModules],
  });
  const [file] = outputFiles;
  if (!file) throw new Error(`the bundle of ${entry} is empty`);
  const inputs = Object.keys(metafile.inputs);
  const texts = inputs.some((path) => PAGE_READER.test(path))
    ? PAGE_NAMES.map((name) => relative(ROOT, pathOfPage(name)))
    : [];
  const packages = [...inputs, ...texts].flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return { text: file.text.replaceAll(BEYOND_ASCII, '?'), packages };
}

/** The module that reads the files of the dashboard contains them instead. */
const dashboard: Plugin = {
  name: 'dashboard',
  setup(build) {
    build.onLoad({ filter: PAGE_READER }, () => {
      const texts = Object.fromEntries(PAGE_NAMES.map((name) => [name, readPage(name)]));
      return { contents: `const TEXTS = ${JSON.stringify(texts)};\nexport const readPage = (name) => TEXTS[name];` };
    });
  },
};

const ownModules: Plugin = {
  name: 'own modules',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, async (args) => (isOwn(args) ? await loadOwn(args) : undefined));
  },
};

function isOwn({ path }: OnLoadArgs): boolean {
  return !relative(ROOT, path).startsWith('node_modules');
}

async function loadOwn({ path }: OnLoadArgs): Promise<OnLoadResult> {
  const beside = (name: string) => join(dirname(path), name);
  let contents = readFileSync(path, 'utf8')
    .replaceAll(TEXT_FILE, (_, name: string) => JSON.stringify(readFileSync(beside(name), 'utf8')))
    .replaceAll(LATE_PACKAGE, "require('$<name>')");
  for (const [whole, name = ''] of contents.matchAll(THREAD)) {
    const { text } = await bundle(relative(ROOT, beside(name)));
    const url = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
    contents = contents.replace(whole, `new URL('${url}')`);
  }
  if (contents.includes('import.meta.url'))
    throw new Error(
      `${path} accesses a file beside itself in a way that the build of single executables does not support`,
    );
  return { contents, loader: 'ts' };
}

/** The module of a package that searches the file system for its addon. */
const addons: Plugin = {
  name: 'addons',
  setup(build) {
    const filter = new RegExp(`node_modules/(${ADDONS.join('|')})/binding\\.js$`);
    build.onLoad({ filter }, ({ path }) => ({
      contents: `module.exports = require('./addon.ts').loadAddon('${filter.exec(path)?.[1]}');`,
      resolveDir: import.meta.dirname,
    }));
  },
};

/**
 * Modules of Node that load the authorities of NODE_EXTRA_CA_CERTS. They are loaded with the first module that needs
 * them, not before the first line of the program: see extra-authorities.ts.
 */
const lateModules: Plugin = {
  name: 'late modules',
  setup(build) {
    const namespace = 'late';
    build.onResolve({ filter: /^(node:)?(tls|https?|http2)$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace } : undefined,
    );
    build.onLoad({ filter: /./, namespace }, ({ path }) => ({ contents: `module.exports = require('${path}');` }));
  },
};

// The JavaScript of the package: one file for each entry point, and parts that they share. With a file for each of the
// 700 modules, a program waits twice as long for its first simulator (docs/experiments.md).

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import pages from '../controller-sim/dashboard/files.json' with { type: 'json' };
import { licenses } from './binary/licenses.ts';
import { ROOT } from './commands.ts';
import { buildDefinitions } from './source-time.ts';

/**
 * Name of the file in the build → module. The programs of child processes and threads are found beside the other files.
 */
const ENTRIES = {
  router: 'entry/router.ts',
  sim: 'entry/sim.ts',
  'router-cli': 'entry/router-cli.ts',
  'sim-cli': 'entry/sim-cli.ts',
  'load-child': 'agent/config/load-child.ts',
  'datagram-thread': 'agent/ingress/tunnel/tproxy/datagram-thread.ts',
  'io-thread': 'agent/assembly/io-thread.ts',
  'connection-thread': 'controller-sim/assembly/connection-thread.ts',
};
/** Its modules are a large part of all, and we use few of its functions. */
const CONTAINED = '@bufbuild/protobuf';
/**
 * Such characters occur only in comments; elsewhere esbuild escapes them. Without them, Node stores a text in half the
 * memory.
 */
const BEYOND_ASCII = /[^\p{ASCII}]/gu;
/** A text file of ours, `readFileSync(new URL('NAME', import.meta.url), 'utf8')`. */
const TEXT_FILE = /readFileSync\(new URL\('(?<name>[^']+)', import\.meta\.url\), 'utf8'\)/g;
/** A program of ours beside the module, `new URL('./NAME.ts', import.meta.url)`. */
const PROGRAM_FILE = /new URL\('\.\/(?<name>[^']+)\.ts', import\.meta\.url\)/g;

/** Writes the files into a folder. Resolves with their number. */
export async function bundlePackage(folder: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: Object.entries(ENTRIES).map(([out, module]) => ({ out, in: join(ROOT, module) })),
    outdir: folder,
    chunkNames: 'part-[hash]',
    absWorkingDir: ROOT,
    bundle: true,
    define: buildDefinitions(),
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: dependencies().flatMap((name) => (name === CONTAINED ? [] : [name, `${name}/*`])),
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
    plugins: [filesOfModules, lazyModulesOfNode],
  });
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of outputFiles) writeFileSync(path, text.replaceAll(BEYOND_ASCII, '?'));
  for (const file of Object.values(pages).filter((each) => each.startsWith('./')))
    cpSync(join(ROOT, 'controller-sim/dashboard', file), join(folder, file)); // read beside the module that reads them
  writeFileSync(join(folder, 'LICENSES.txt'), licenses([`node_modules/${CONTAINED}`]));
  return outputFiles.length;
}

function dependencies(): string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object };
  return Object.keys(manifest.dependencies);
}

/** Texts become part of the bundle; programs lie beside it. */
const filesOfModules: Plugin = {
  name: 'files of modules',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replaceAll(TEXT_FILE, (_, name: string) => JSON.stringify(readFileSync(join(dirname(path), name), 'utf8')))
        .replaceAll(PROGRAM_FILE, "new URL('./$<name>.js', import.meta.url)"),
      loader: 'ts',
    }));
  },
};

/**
 * An import of a module of Node evaluates each of its exports, also those that Node loads on demand: `node:http` loads
 * a whole HTTP client for its WebSocket, `node:fs` the streams.
 */
const lazyModulesOfNode: Plugin = {
  name: 'lazy modules of Node',
  setup({ onResolve, onLoad }) {
    const namespace = 'node';
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace, sideEffects: false } : undefined,
    );
    onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

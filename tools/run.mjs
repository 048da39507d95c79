// Runs every npm script: installs missing packages, then runs a TypeScript program with the project's own Node. Plain
// JavaScript for any Node from 20 on, because it may start before the installation. Its own messages go to stderr:
// stdout belongs to the program.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, 'node_modules', '.bin');
const NODE = join(BIN, 'node');
/** Written after an installation: names the installed lockfile. */
const MARK = join(ROOT, 'node_modules', '.installed');
/** Written by npm: the content of node_modules. */
const HIDDEN_LOCK = join(ROOT, 'node_modules', '.package-lock.json');
/** Written when the code was compiled last: names its newest file's time. */
const WARM_MARK = join(ROOT, 'node_modules', '.cache', 'warmed');
/** Milliseconds. A router also starts without compiled code. */
const MAX_WARMING_MS = 120_000;
/** The folders with a router's code. */
const ROUTER_CODE = ['agent', 'common', 'schemas'];
/** Detects an unreachable registry within seconds. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=500'];

/** Script → program and arguments before those of the caller. */
const PROGRAMS = {
  start: ['examples/two-routers/start.ts'],
  test: ['tools/testing/test.ts'],
  bench: ['bench/run.ts'],
  fuzz: ['test/fuzz/fuzz.ts'],
  chaos: ['test/chaos/chaos.ts'],
  router: ['entry/router-cli.ts'],
  sim: ['entry/sim-cli.ts'],
  check: ['tools/check.ts'],
  build: ['tools/build.ts'],
  'build:binary': ['tools/binary/build.ts'],
  'build:image': ['tools/image/build.ts'],
  'build:root': ['tools/image/foreign-root.ts'],
  'build:packages': ['tools/packages/build.ts'],
  release: ['tools/release/release.ts'],
  generate: ['tools/generate.ts'],
  compat: ['tools/compat/compat.ts'],
  mutate: ['tools/mutate/mutate.ts'],
  'try-release': ['test/interop/try-release.ts'],
};
/** Options for Node that a script needs. */
const NODE_OPTIONS = {
  bench: ['--expose-gc'],
  // Traffic uses a pool of buffers, not V8's young generation: a small one saves memory and costs nothing
  // (docs/experiments.md).
  router: ['--max-semi-space-size=4'],
};
/**
 * Defaults for every program; the caller's environment takes precedence. One memory arena suits programs with one busy
 * thread.
 */
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'node-compile'),
  // Keeps the cache valid in a copy of the folder, such as a container image.
  NODE_COMPILE_CACHE_PORTABLE: '1',
  ...process.env,
  PATH: `${BIN}:${process.env.PATH ?? ''}`,
};
/** A terminal sends these to the program too. */
const TERMINAL_SIGNALS = new Set(['SIGINT', 'SIGHUP', 'SIGQUIT']);
/** Scripts that run a package's tool. */
const TOOLS = { format: ['biome', 'check', '--write', '.'] };

const [script = '', ...args] = process.argv.slice(2);
if (!Object.hasOwn(PROGRAMS, script) && !Object.hasOwn(TOOLS, script)) {
  process.stderr.write(`run.mjs: unknown script ${script}\n`);
  process.exit(2);
}
if (script === 'test' && (args.includes('--help') || args.includes('-h'))) {
  const { TEST_HELP } = await import('./testing/test-help.mjs');
  process.stdout.write(TEST_HELP);
  process.exit(0);
}
installIfMissing();
if (script === 'router' && args[0] === 'run') warmIfChanged();
run();

function installIfMissing() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  if (existsSync(NODE) && existsSync(MARK) && readFileSync(MARK, 'utf8') === lock) return;
  if (!isInstalled(lock)) install();
  try {
    writeFileSync(MARK, lock);
  } catch {
    return; // a read-only folder is checked again each time
  }
  warmIfChanged();
}

/** A router that compiles changed code while it runs needs up to 20 MiB more until its next start. */
function warmIfChanged() {
  const newest = String(Math.max(0, ...ROUTER_CODE.flatMap(timesIn)));
  if (existsSync(WARM_MARK) && readFileSync(WARM_MARK, 'utf8') === newest) return;
  try {
    mkdirSync(dirname(WARM_MARK), { recursive: true });
    writeFileSync(WARM_MARK, newest);
  } catch {
    return; // a read-only folder keeps no compiled code either
  }
  spawnSync(NODE, [join(ROOT, 'tools', 'warm.ts')], { stdio: 'ignore', env: ENVIRONMENT, timeout: MAX_WARMING_MS });
}

/** When the entries of a folder changed, in milliseconds. */
function timesIn(folder) {
  const path = join(ROOT, folder);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { recursive: true });
  return entries.map((entry) => statSync(join(path, entry), { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/**
 * Whether npm itself has already installed the content of the lockfile. Packages for other platforms may be missing.
 */
function isInstalled(lock) {
  if (!existsSync(NODE) || !existsSync(HIDDEN_LOCK)) return false;
  const wanted = JSON.parse(lock).packages;
  const there = JSON.parse(readFileSync(HIDDEN_LOCK, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' || there[path]?.version === version || (there[path] === undefined && (optional || devOptional)),
  );
}

function install() {
  process.stderr.write('installing missing packages, once …\n');
  const npm = spawnSync('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund', ...RETRIES], {
    cwd: ROOT,
    stdio: ['ignore', process.stderr, 'pipe'],
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (npm.status === 0 && existsSync(NODE)) return;
  const said = npm.error?.message ?? npm.stderr;
  process.stderr.write(`${said.trimEnd()}\nthe installation failed: ${reasonOf(said)}\n`);
  process.exit(1);
}

/** One sentence with the reason and the remedy. */
function reasonOf(said) {
  const [unreachable] =
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/.exec(said) ?? [];
  if (unreachable)
    return `the npm registry cannot be reached (${unreachable}). Connect to the network, or set a mirror or proxy (\`npm config set registry URL\`, HTTPS_PROXY); or copy node_modules from a machine of the same platform.`;
  const [unwritable] = /EACCES|EPERM|EROFS|ENOSPC/.exec(said) ?? [];
  if (unwritable)
    return `${join(ROOT, 'node_modules')} cannot be written (${unwritable}). Run \`npm ci\` once as a user with write access.`;
  return '`npm ci --loglevel=verbose` prints details.';
}

function run() {
  const [command, before] =
    script in TOOLS
      ? tool(TOOLS[script])
      : [NODE, [...(NODE_OPTIONS[script] ?? []), ...PROGRAMS[script].map((file) => join(ROOT, file))]];
  // If Node supports it, this process becomes the program, so that no wrapper remains.
  if (process.execve && process.platform !== 'win32')
    process.execve(command, [command, ...before, ...args], ENVIRONMENT);
  const child = spawn(command, [...before, ...args], {
    stdio: 'inherit',
    env: ENVIRONMENT,
  });
  // The child receives a terminal's signals itself; others are forwarded. A signal to the
  // whole group is indistinguishable from one to this process, so the programs treat repeated signals as one
  // (common/lib/process/stop-signal.ts).
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'])
    process.on(signal, () => !(TERMINAL_SIGNALS.has(signal) && process.stdin.isTTY) && child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${script} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal !== null) process.stderr.write(`${script} was ended by ${signal}\n`);
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}

function tool([name, ...rest]) {
  return [join(BIN, name), rest];
}

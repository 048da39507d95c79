// What every npm script goes through: installs what is missing, then runs a TypeScript program with the Node that the project brings.
// Plain JavaScript for any Node from 20 on, since nothing is installed yet when it starts. Own messages go to stderr: stdout belongs to the
// program.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, 'node_modules', '.bin');
const NODE = join(BIN, 'node');
/** Written after an installation: tells for which lockfile it was. */
const MARK = join(ROOT, 'node_modules', '.installed');
/** Written by npm: what is in node_modules. */
const HIDDEN_LOCK = join(ROOT, 'node_modules', '.package-lock.json');
/** A registry that is not there is found out within seconds. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=500'];

/** Script → program and arguments before those of the caller. */
const PROGRAMS = {
  start: ['examples/two-routers/start.ts'],
  test: ['tools/test.ts'],
  bench: ['bench/run.ts'],
  fuzz: ['test/fuzz/fuzz.ts'],
  router: ['agent/cli.ts'],
  sim: ['controller-sim/cli.ts'],
  check: ['tools/check.ts'],
  build: ['tools/build.ts'],
  'build:binary': ['tools/binary/build.ts'],
  generate: ['tools/generate.ts'],
};
/** Options of Node that a script needs. */
const NODE_OPTIONS = {
  bench: ['--expose-gc'],
  // Traffic lives in a pool of buffers, not in V8's young generation: a small one saves memory and costs nothing (docs/performance.md).
  router: ['--max-semi-space-size=4'],
};
/** Defaults for every program; the caller's environment counts more. One memory arena suits programs with one busy thread. */
const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '1',
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'node-compile'),
  ...process.env,
  PATH: `${BIN}:${process.env.PATH ?? ''}`,
};
/** Scripts that are a tool of a package. */
const TOOLS = { format: ['biome', 'check', '--write', '.'] };

const [script = '', ...args] = process.argv.slice(2);
if (!(script in PROGRAMS) && !(script in TOOLS)) {
  process.stderr.write(`run.mjs: there is no script ${script}\n`);
  process.exit(2);
}
if (script === 'test' && (args.includes('--help') || args.includes('-h'))) {
  const { TEST_HELP } = await import('./test-help.mjs');
  process.stdout.write(TEST_HELP);
  process.exit(0);
}
installIfMissing();
run();

function installIfMissing() {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  if (existsSync(NODE) && existsSync(MARK) && readFileSync(MARK, 'utf8') === lock) return;
  if (!isInstalled(lock)) install();
  try {
    writeFileSync(MARK, lock);
  } catch {
    return; // a folder that cannot be written is looked at again each time
  }
  spawnSync(NODE, [join(ROOT, 'tools', 'warm.ts')], { stdio: 'ignore', env: ENVIRONMENT });
}

/** Whether npm, called by somebody else, has installed what the lockfile names. Packages for other platforms may be missing. */
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
  process.stderr.write('installing what is missing, once …\n');
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

/** In one sentence, with what to do. */
function reasonOf(said) {
  const [unreachable] =
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/.exec(said) ?? [];
  if (unreachable)
    return `the npm registry cannot be reached (${unreachable}). Connect to the network, or name a mirror or proxy (\`npm config set registry URL\`, HTTPS_PROXY); or bring node_modules from a machine of the same platform.`;
  const [unwritable] = /EACCES|EPERM|EROFS|ENOSPC/.exec(said) ?? [];
  if (unwritable)
    return `${join(ROOT, 'node_modules')} cannot be written (${unwritable}). Run \`npm ci\` once as somebody who may.`;
  return '`npm ci --loglevel=verbose` tells more.';
}

function run() {
  const [command, before] =
    script in TOOLS
      ? tool(TOOLS[script])
      : [NODE, [...(NODE_OPTIONS[script] ?? []), ...PROGRAMS[script].map((file) => join(ROOT, file))]];
  // Where Node can, this process becomes the program: nothing else stays.
  if (process.execve && process.platform !== 'win32')
    process.execve(command, [command, ...before, ...args], ENVIRONMENT);
  const child = spawn(command, [...before, ...args], {
    stdio: 'inherit',
    env: ENVIRONMENT,
  });
  // The child gets a terminal's signals by itself; those that are sent to this process alone are passed on. Who signals the whole group
  // cannot be told from who signals this process: the programs take a repeated signal for one (common/lib/stop-signal.ts).
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'])
    process.on(signal, () => !process.stdin.isTTY && child.kill(signal));
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

// The single executables: in a root folder with only the C library, they form a network that carries encrypted traffic.

import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import type { RouterFile } from '../../agent/config/router-file.ts';
import { type Transfer, transfer } from '../../examples/two-routers/transfer.ts';
import { differingFiles } from '../support/clients/dashboard-files.ts';
import { createRouter, type Management, openManagement } from '../support/clients/management.ts';
import { enrollableFile, routerPair } from '../support/config/router-pair.ts';
import { THOROUGH } from '../support/house/thorough.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** Enough for the clients to move to threads of the routers. */
const BYTES = 8 * 1024 * 1024;
const runtime = { threads: 1 };
/** The executables take 15 seconds of a core. */
const options = { skip: !THOROUGH && 'single executables: only with --thorough' };
const root = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
/** No PATH, no modules of tap, no settings of this Node. */
const env = { HOME: '/' };
const enter = process.getuid?.() === 0 ? ['chroot', root] : ['unshare', '--user', '--map-root-user', '--root', root];

const inRoot = (...command: string[]): [string, string[]] => [enter[0] ?? '', [...enter.slice(1), ...command]];

/** Does not block this process: the simulator closes a connection that is idle for as long as a slow enrollment. */
async function run(...command: string[]): Promise<string> {
  const options = { env: { ...env, PATH: process.env.PATH }, encoding: 'utf8' } as const;
  return (await promisify(execFile)(...inRoot(...command), options)).stdout;
}

function start(t: Test, ...command: string[]): ChildProcess & { log: string } {
  const child = spawn(...inRoot(...command), {
    env: { ...env, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = Object.assign(child, { log: '' });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (started.log += text));
  t.teardown(() => child.kill('SIGKILL'));
  return started;
}

t.test('the executables are built, with the licenses of their contents', options, async (t) => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../tools/binary/build.ts'), root], {
    env: { PATH: process.env.PATH },
  });
  t.same(readdirSync(root).sort(), [
    'LICENSES.txt',
    'edgeweave-router',
    'edgeweave-router.1',
    'edgeweave-sim',
    'edgeweave-sim.1',
  ]);
  const licenses = readFileSync(join(root, 'LICENSES.txt'), 'utf8');
  for (const name of ['Node.js v', 'fastify ', 'sodium-native ', 'pino ', 'htm ', 'It contains preact, MIT'])
    t.match(licenses, `\n${name}`.trimStart());
  const libraries = execFileSync('ldd', [join(root, 'edgeweave-router')], { encoding: 'utf8' });
  for (const [library] of libraries.matchAll(/\/\S+/g)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  mkdirSync(join(root, 'work'));
  mkdirSync(join(root, 'dev'));
  writeFileSync(join(root, 'dev/null'), '');
});

t.test('an unwritable folder is rejected before the build', options, async (t) => {
  const file = join(root, 'edgeweave-sim.1');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../tools/binary/build.ts'), join(file, 'x')],
    { encoding: 'utf8' },
  );
  t.same([status, stdout], [1, '']);
  t.equal(stderr, `${file} is not a folder; pass another folder: npm run build:binary -- FOLDER\n`);
});

t.test('they print version and name, and check a configuration', options, async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  for (const name of ['edgeweave-router', 'edgeweave-sim']) {
    t.equal((await run(`/${name}`, '--version')).trim(), version);
    t.match(await run(`/${name}`, '--help'), `Usage: ${name} `);
  }
  const template = ['--template', 'tunnel-host', '--ctrl', 'tls:c.example:1280', '--advertise', 'e.example'];
  await run('/edgeweave-router', 'config', 'init', ...template, '--output', '/work/example.yml');
  t.match(
    await run('/edgeweave-router', 'config', 'check', '/work/example.yml', '--before-enrollment'),
    /: ok \(0 errors/,
  );
});

t.test('an executable runs in a root folder without /proc, found by its name', options, async (t) => {
  for (const name of ['edgeweave-router', 'edgeweave-sim'])
    t.match(
      (await promisify(execFile)(...inRoot(name, '--version'), { env: { PATH: `/:${process.env.PATH}` } })).stdout,
      /^\d/,
    );
});

t.test(
  'a file of NODE_EXTRA_CA_CERTS that cannot be read is named by the daemon only, in its log',
  options,
  async (t) => {
    const outside = { ...env, PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: '/nonexistent/ca.pem' };
    const errorsOf = (...command: string[]) =>
      spawnSync(...inRoot(...command), { env: outside, encoding: 'utf8' }).stderr;
    for (const name of ['edgeweave-router', 'edgeweave-sim']) t.equal(errorsOf(`/${name}`, '--version'), '', name);
    writeFileSync(join(root, 'work/invalid.yml'), 'v: 3\n');
    const lines = errorsOf('/edgeweave-router', 'run', '/work/invalid.yml', '--log-format', 'json').trim().split('\n');
    const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
    t.match(warnings, [{ file: '/nonexistent/ca.pem', remedy: /NODE_EXTRA_CA_CERTS/ }]);
    t.equal(warnings.length, 1);
  },
);

t.test('a simulator and a router carry encrypted bytes', options, async (t) => {
  const simulator = start(t, '/edgeweave-sim', 'start', '--json', '--data', '/work/sim.db');
  const [line] = await createInterface({ input: simulator.stdout as NodeJS.ReadableStream })
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => [
      JSON.parse(String(value)) as Record<'management' | 'dashboard' | 'ctrl' | 'password' | 'ca', string>,
    ]);
  const { management: url = '', dashboard = '', ctrl = '', password = '', ca = '' } = line ?? {};
  t.same(await differingFiles(dashboard, readFileSync(join(root, ca), 'utf8')), [], 'the dashboard is complete');
  const management = await openManagement(url, readFileSync(join(root, ca), 'utf8'), 'admin', password);
  await using overlay = await Overlay.of({ controlAddress: ctrl, close: async () => undefined }, management);
  const [port = 0] = await fixedPorts(1);
  const { a, b } = routerPair({ echo: port });
  const dialer = await enroll(management, ctrl, 'a', { ...a, runtime });
  const host = await enroll(management, ctrl, 'b', { ...b, runtime });
  const routers = [dialer, host].map(({ file }) => start(t, '/edgeweave-router', 'run', file, '--log-format', 'json'));
  await overlay.addService('echo', host.id, { encrypted: true });
  await until('traffic', async () => {
    const { bytes, sha256Sent, sha256Received } = await transfer(port, BYTES).catch(() => ({ bytes: 0 }) as Transfer);
    return bytes === BYTES && sha256Received === sha256Sent;
  });
  for (const { file } of [dialer, host])
    t.match(
      await run('/edgeweave-router', 'inspect', file, 'threads'),
      /carried: [1-9]/,
      'threads carried the clients',
    );
  for (const child of [...routers, simulator]) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    t.equal(await exited, 0, child.log);
  }
  for (const { log } of routers) t.notMatch(log, /Warning/, 'no warnings of Node');
});

/** Enrolls a router with files in `/work` of the root folder. */
async function enroll(
  management: Management,
  ctrl: string,
  name: string,
  config: RouterFile,
): Promise<{ id: string; file: string }> {
  const { id, enrollmentJwt } = await createRouter(management, { name, isTunnelerEnabled: true });
  const base = `/work/${name}`;
  writeFileSync(join(root, `${base}.jwt`), enrollmentJwt);
  writeFileSync(join(root, `${base}.yml`), enrollableFile(base, ctrl, config));
  await run('/edgeweave-router', 'enroll', `${base}.yml`, '--jwt', `${base}.jwt`);
  return { id, file: `${base}.yml` };
}

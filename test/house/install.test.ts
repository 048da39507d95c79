// The scripts of a new checkout: automatic installation, existing installations, compiled code, error messages.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
/** A port without a listener. */
const NO_REGISTRY = 'http://127.0.0.1:1/';

/** A checkout whose `npm run check` prints `ran`, without node_modules. */
function checkout(folder: string): string {
  mkdirSync(join(folder, 'tools'), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'tools/run.mjs'])
    cpSync(join(ROOT, file), join(folder, file));
  for (const program of ['check', 'warm']) writeFileSync(join(folder, `tools/${program}.ts`), "console.log('ran');\n");
  return folder;
}

function run(folder: string, script = ['check']) {
  const env = { ...process.env, npm_config_registry: NO_REGISTRY, npm_config_cache: join(folder, 'cache') };
  const { status, stdout, stderr } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, 'tools/run.mjs', ...script],
    { cwd: folder, env, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

/** Creates node_modules as npm leaves them: a Node, and the list of packages. */
function nodeModules(folder: string, change: (packages: Record<string, { version?: string }>) => void): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'));
  const lock = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8'));
  change(lock.packages);
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify(lock));
}

t.test('without a network, one sentence reports the unreachable registry and the remedy', async (t) => {
  const { status, stderr, stdout } = run(checkout(t.testdir()));
  t.equal(status, 1);
  t.equal(stdout, '');
  t.match(
    stderr,
    /the installation failed: the npm registry cannot be reached \(ECONNREFUSED\)\. Connect to the network, or/,
  );
});

t.test('packages installed with npm are not installed again', async (t) => {
  const folder = checkout(t.testdir());
  nodeModules(folder, () => undefined);
  t.match(run(folder), { status: 0, stdout: 'ran\n', stderr: '' });
  t.ok(existsSync(join(folder, 'node_modules/.installed')), 'later runs skip the check');
});

t.test('code is compiled after the installation, and before a router starts with changed code', async (t) => {
  const folder = checkout(t.testdir());
  nodeModules(folder, () => undefined);
  for (const part of ['entry', 'agent/access']) mkdirSync(join(folder, part), { recursive: true });
  const [router, code] = [join(folder, 'entry/router-cli.ts'), join(folder, 'agent/access/code.ts')];
  for (const file of [router, code]) writeFileSync(file, '');
  writeFileSync(
    join(folder, 'tools/warm.ts'),
    `import { appendFileSync } from 'node:fs'; appendFileSync('warmed', '+');`,
  );
  const warmed = () => readFileSync(join(folder, 'warmed'), 'utf8').length;
  run(folder);
  t.equal(warmed(), 1);
  run(folder, ['router', 'run', 'edge.yml']);
  t.equal(warmed(), 1, 'nothing changed');
  const later = new Date(Date.now() + 5_000);
  utimesSync(code, later, later);
  for (const script of [['check'], ['router', 'check', 'edge.yml']]) run(folder, script);
  t.equal(warmed(), 1, 'other commands end soon');
  for (const name of ['edge.yml', 'other.yml']) run(folder, ['router', 'run', name]);
  t.equal(warmed(), 2);
});

t.test('a missing or outdated package is installed', async (t) => {
  for (const change of [
    (packages: Record<string, { version?: string }>) => delete packages['node_modules/fastify'],
    (packages: Record<string, { version?: string }>) => {
      packages['node_modules/fastify'] = { version: '1.0.0' };
    },
  ]) {
    const folder = checkout(join(t.testdir(), String(Math.trunc(performance.now()))));
    nodeModules(folder, change);
    t.match(run(folder), { status: 1, stderr: /^installing missing packages/ });
  }
});

t.test('each dependency has one exact version', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies }))
    t.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
});

// examples/compose, with our images and without an engine: the controller is healthy, routers enroll and link, a client
// without an SDK and one with an SDK reach the server behind the other router.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { RELEASE } from '../support/house/thorough.ts';
import { inOwnNamespace } from '../support/networks/network-namespace.ts';
import { ComposeRun } from '../support/programs/compose.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILE = join(ROOT, 'examples/compose/compose.yml');
const REQUIREMENTS = join(ROOT, 'examples/compose/sdk/requirements.txt');
const IMAGES = ['edgeweave-sim', 'edgeweave-router'];
const PROGRAMS = ['ip', 'nft', 'iptables', 'mount', 'nsenter', 'dpkg-query', 'python3'];
const VENV = join(ROOT, 'node_modules/.cache/compose-sdk');
const PYTHON = join(VENV, 'bin/python');

if (RELEASE) {
  installSdk(); // the namespace reaches no registry
  if (await inOwnNamespace(import.meta.filename, PROGRAMS, { root: true })) await tests();
} else process.stdout.write('TAP version 14\n1..1\nok 1 - compose file # SKIP only with --release\n');

function installSdk(): void {
  if (existsSync(join(VENV, 'bin/pip')) && existsSync(join(VENV, 'installed'))) return;
  rmSync(VENV, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', VENV]);
  execFileSync(PYTHON, ['-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS]);
  execFileSync('touch', [join(VENV, 'installed')]);
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  t.setTimeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-compose-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const tool of ['binary/build.ts', 'image/build.ts'])
    execFileSync(process.execPath, [join(ROOT, 'tools', tool), folder], { env: { PATH: process.env.PATH } });

  t.test('the images of the file are those of this version', async (t) => {
    const file = readFileSync(FILE, 'utf8');
    for (const name of IMAGES) t.match(file, `image: ${name}:${packageJson.version}\n`);
  });

  t.test('the network of the file carries the traffic of each kind of client', (t) => network(t, folder));
}

async function network(t: Test, folder: string): Promise<void> {
  const images = Object.fromEntries(IMAGES.map((name) => [name, join(folder, `${name}.oci`)]));
  const compose = await ComposeRun.open(FILE, { folder, images, programs: { python3: PYTHON } });
  t.teardown(() => compose.close());
  const controller = await compose.start('controller');
  const prepare = await compose.start('prepare');
  for (const name of ['router-a', 'router-b', 'server']) await compose.start(name);
  t.match(prepare.output(), 'prepared', 'the management client');
  const ready = controller
    .output()
    .split('\n')
    .find((line) => line.includes('"event":"ready"'));
  t.match(JSON.parse(ready ?? '{}'), { ctrl: 'tls:controller:1280', ca: '/edgeweave/ready.json.ca.pem' });
  for (const [name, host] of [
    ['plain-client', '10.99.0.1'],
    ['sdk-client', 'web.example'],
  ] as const) {
    const client = await compose.start(name);
    t.equal(await client.ended, 0, client.output());
    t.match(client.output(), `${host}: `, name);
  }
  t.same(await compose.stop('router-a', 'router-b', 'controller'), [0, 0, 0]);
}

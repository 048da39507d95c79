// `adopt`: an installation of the reference's package is taken over in place and given back, in a mount namespace with
// a stand-in for systemctl.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouter } from '../support/clients/management.ts';
import { inOwnNamespace, run } from '../support/networks/network-namespace.ts';
import { Overlay, until } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';

const STATE = '/var/lib/ziti-router';
const SETTINGS = '/opt/openziti/etc/router';
const UNIT = 'ziti-router.service';
const DROP_IN = `/etc/systemd/system/${UNIT}.d/zz-edgeweave.conf`;
const UNIT_TEXT = `[Unit]
Description=the unit of the package
[Service]
User=root
EnvironmentFile=${SETTINGS}/service.env
StateDirectory=ziti-router
WorkingDirectory=${STATE}
ExecStart=/usr/bin/ziti router run config.yml $ZITI_ARGS
`;
/** Writes its arguments into a file. A service is active while the file `active` exists. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> ${STATE}/calls
[ "$1" != is-active ] || test -e ${STATE}/active
`;

if (await inOwnNamespace(import.meta.filename, ['mount', 'ip', 'id'], { root: true })) await tests();

function prepareSystem(): void {
  run('ip', 'link', 'set', 'lo', 'up');
  for (const each of ['/opt', '/var/lib', '/run', '/etc/systemd', '/usr/local/bin'])
    if (existsSync(each)) run('mount', '-t', 'tmpfs', 'tmpfs', each);
  for (const each of [STATE, SETTINGS, '/etc/systemd/system', '/run/systemd/system'])
    mkdirSync(each, { recursive: true });
  writeFileSync('/usr/local/bin/systemctl', SYSTEMCTL, { mode: 0o755 });
  writeFileSync(`/etc/systemd/system/${UNIT}`, UNIT_TEXT);
  writeFileSync(join(SETTINGS, 'service.env'), "# settings\nZITI_ARGS='--verbose'\n");
}

/** Runs the service's command, as systemd would: that of the last file with one. */
function startService() {
  const text = [`/etc/systemd/system/${UNIT}`, DROP_IN].map((file) =>
    existsSync(file) ? readFileSync(file, 'utf8') : '',
  );
  const command = [...text.join('\n').matchAll(/^ExecStart=(.+)$/gm)].at(-1)?.[1] ?? '';
  const { NODE_OPTIONS: _modulesOfTap, ...env } = process.env;
  const child = spawn('sh', ['-c', `. ${SETTINGS}/service.env; exec ${command}`], { cwd: STATE, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return { child, output: () => output };
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-adopt-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  prepareSystem();
  const adopt = (...args: string[]) =>
    runProgram(['entry/router-cli.ts', 'adopt', ...args], { env: { PATH: `/usr/local/bin:${process.env.PATH}` } });
  const calls = () => {
    const file = join(STATE, 'calls');
    const found = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    rmSync(file, { force: true });
    return found;
  };

  await t.test('a unit that is missing, and one of another folder, are named with the remedy', async (t) => {
    t.match(await adopt(SETTINGS, '--unit', 'none.service'), {
      code: 1,
      stderr: /there is no unit none\.service; .*--unit/,
    });
    t.match(await adopt('/opt/other'), {
      code: 1,
      stderr: /does not use \/opt\/other; pass the folder of its EnvironmentFile/,
    });
  });

  await t.test('a configuration with errors is not adopted', async (t) => {
    writeFileSync(join(STATE, 'config.yml'), 'v: 3\n');
    t.match(await adopt('--yes'), { code: 1, stderr: /nothing was changed: correct the configuration first/ });
    t.notOk(existsSync(DROP_IN));
  });

  await t.test('a router runs with its certificates after the adoption, and is given back', async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const { id, enrollmentJwt } = await createRouter(overlay.management, { name: 'r', isTunnelerEnabled: true });
    const config = `v: 3
identity: {cert: router.cert, server_cert: router.server.cert, key: router.key, ca: router.cas}
ctrl: {endpoint: "${overlay.simulator.controlAddress}"}
csr: {sans: {ip: [127.0.0.1]}}
edge: {}
link: {dialers: [{binding: transport}]}
listeners: [{binding: tunnel, options: {mode: host}}]
`;
    writeFileSync(join(STATE, 'config.yml'), config);
    writeFileSync(join(STATE, 'router.jwt'), enrollmentJwt);
    const enrolled = await runProgram(['entry/router-cli.ts', 'enroll', 'config.yml', '--jwt', 'router.jwt'], {
      cwd: STATE,
    });
    t.equal(enrolled.code, 0, enrolled.stderr);
    const before = readdirSync(STATE).sort();
    calls();

    const planned = await adopt();
    t.match(planned, { code: 0, stdout: /creates .*zz-edgeweave\.conf:\n/ }, planned.stderr);
    t.match(planned.stdout, `keeps ${STATE}/router.key\n`);
    t.match(planned.stdout, 'nothing was changed: pass --yes to do it\n');
    t.same(
      [readdirSync(STATE).sort(), existsSync(DROP_IN), calls()],
      [before, false, []],
      'it only says what it would do',
    );

    writeFileSync(join(STATE, 'active'), '');
    t.match(await adopt('--yes'), { code: 0, stdout: /ziti-router\.service is adopted\n$/ });
    t.same(calls(), ['daemon-reload', `is-active --quiet ${UNIT}`, `restart ${UNIT}`]);
    const { child, output } = startService();
    t.teardown(() => child.kill('SIGKILL'));
    await until('the router is online', async () => {
      if (child.exitCode !== null) throw new Error(output());
      return (await overlay.management.edgeRouters.get(id)).isOnline;
    });
    child.kill('SIGTERM');
    t.same(await once(child, 'exit'), [0, null], output());
    t.match(
      await adopt(),
      { code: 0, stdout: /replaces .*zz-edgeweave\.conf/ },
      'a second adoption changes nothing else',
    );

    writeFileSync(join(STATE, 'router.cert.pending'), '');
    t.match(await adopt('--undo', '--yes'), {
      code: 1,
      stderr: /router\.cert\.pending: the controller has not confirmed/,
    });
    t.ok(existsSync(DROP_IN));
    for (const [broken, error] of [
      [
        config.replace('edge: {}', 'edge: {heartbeatIntervalSeconds: many}'),
        /router\.cert\.pending: the controller has not/,
      ],
      ['v: 3\nctrl: {', /does not tell which certificates the router uses.*nothing was changed/],
    ] as const) {
      writeFileSync(join(STATE, 'config.yml'), broken);
      t.match(await adopt('--undo', '--yes'), { code: 1, stderr: error }, 'the configuration has errors');
      t.ok(existsSync(DROP_IN));
    }
    writeFileSync(join(STATE, 'config.yml'), config);
    rmSync(join(STATE, 'router.cert.pending'));
    calls();
    t.match(await adopt('--undo'), { code: 0, stdout: /removes .*\n.*\nnothing was changed/ });
    t.match(await adopt('--undo', '--yes'), { code: 0, stdout: /ziti-router\.service is given back\n$/ });
    t.same(calls(), [`is-active --quiet ${UNIT}`, `stop ${UNIT}`, 'daemon-reload', `start ${UNIT}`]);
    t.notOk(existsSync(DROP_IN));
    t.equal(readFileSync(join(STATE, 'config.yml'), 'utf8'), config);
    t.match(await adopt('--undo', '--yes'), { code: 0, stdout: /is not adopted/ });
  });
}

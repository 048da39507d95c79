// `adopt`: an installation of the reference's package is taken over in place and given back, in a mount namespace with
// stand-ins for systemctl, which runs the service, and for the reference.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { scripts } from '../../tools/packages/scripts.ts';
import { createRouter } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { inOwnNamespace, run } from '../support/networks/network-namespace.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const PROJECT = join(import.meta.dirname, '../..');
const ROUTER = join(PROJECT, 'entry/router-cli.ts');
const STATE = '/var/lib/ziti-router';
const SETTINGS = '/opt/openziti/etc/router';
const UNIT = 'ziti-router.service';
const DROP_IN = `/etc/systemd/system/${UNIT}.d/zz-edgeweave.conf`;
const PROGRAM = '/usr/local/bin/ziti';
const UNIT_TEXT = `[Unit]
Description=the unit of the package
[Service]
User=root
EnvironmentFile=${SETTINGS}/service.env
StateDirectory=ziti-router
WorkingDirectory=${STATE}
ExecStart=${PROGRAM} router run config.yml $ZITI_ARGS
`;
/** Stands in for the reference, which rejects an API that it does not know. */
const REFERENCE = `#!/bin/sh
if grep -q metrics config.yml; then echo 'invalid binding metrics'; exit 1; fi
exec sleep 600
`;
/** Runs the command of the last file that has one, and keeps its output and its exit code. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> ${STATE}/calls
unset NODE_OPTIONS
cd ${STATE}
case "$1" in
  start)
    command=$(cat /etc/systemd/system/${UNIT} ${DROP_IN} 2> /dev/null | sed -n 's/^ExecStart=\\(..*\\)/\\1/p' | tail -n 1)
    rm -f ended log
    (. ${SETTINGS}/service.env; setsid sh -c "exec $command" > log 2>&1 & echo $! > pid; wait $!; echo $? > ended) > /dev/null 2>&1 &
    while ! [ -s pid ]; do sleep 0.05; done ;;
  stop)
    if [ -e pid ]; then kill "$(cat pid)" 2> /dev/null; while ! [ -e ended ]; do sleep 0.05; done; fi
    rm -f pid ended ;;
  show)
    if [ -e ended ]; then printf 'ActiveState=activating\nSubState=auto-restart\nNRestarts=1\nExecMainCode=1\nExecMainStatus=%s\n' "$(cat ended)"
    elif [ -e pid ]; then printf 'ActiveState=active\nSubState=running\nNRestarts=0\nExecMainCode=0\nExecMainStatus=0\n'
    else printf 'ActiveState=inactive\nSubState=dead\nNRestarts=0\nExecMainCode=0\nExecMainStatus=0\n'; fi ;;
esac
`;
const JOURNALCTL = `#!/bin/sh
[ "$1" = --sync ] || tail -n 6 ${STATE}/log | case " $* " in *" --reverse "*) tac ;; *) cat ;; esac
`;

if (await inOwnNamespace(import.meta.filename, ['mount', 'ip', 'id'], { root: true })) await tests();

function prepareSystem(): void {
  run('ip', 'link', 'set', 'lo', 'up');
  for (const each of ['/opt', '/var/lib', '/run', '/etc/systemd', '/usr/local/bin'])
    if (existsSync(each)) run('mount', '-t', 'tmpfs', 'tmpfs', each);
  for (const each of [STATE, SETTINGS, '/etc/systemd/system', '/run/systemd/system'])
    mkdirSync(each, { recursive: true });
  for (const [name, text] of [
    ['systemctl', SYSTEMCTL],
    ['journalctl', JOURNALCTL],
    ['ziti', REFERENCE],
  ] as const)
    writeFileSync(join('/usr/local/bin', name), text, { mode: 0o755 });
  writeFileSync(`/etc/systemd/system/${UNIT}`, UNIT_TEXT);
  writeFileSync(join(SETTINGS, 'service.env'), "# settings\nZITI_ARGS='--verbose'\n");
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-adopt-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  prepareSystem();
  const env = { PATH: `/usr/local/bin:${process.env.PATH}` };
  const adopt = (...args: string[]) => runProgram(['entry/router-cli.ts', 'adopt', ...args], { env });
  const systemctl = (verb: string) => execFileSync('systemctl', [verb, UNIT], { env });
  t.teardown(() => systemctl('stop'));
  /** The operations since the last call of this function; looks at the state do not count. */
  const calls = () => {
    const file = join(STATE, 'calls');
    const found = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    rmSync(file, { force: true });
    return found.filter((call) => !/^(show|reset-failed) /.test(call)).join(', ');
  };
  /** The arguments of the running program. */
  const runs = () => {
    const file = join(STATE, 'pid');
    const pid = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'none';
    return existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/cmdline`, 'latin1') : '';
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
csr: {sans: {dns: [localhost], ip: [127.0.0.1]}}
edge: {}
healthChecks: {ctrlPingCheck: {initialDelay: 100ms, interval: 200ms}}
link: {dialers: [{binding: transport}]}
listeners:
  - {binding: edge, address: "tls:127.0.0.1:0", options: {advertise: "127.0.0.1:0"}}
  - {binding: tunnel, options: {mode: host}}
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
      [before, false, ''],
      'it only says what it would do',
    );

    t.match(await adopt('--yes'), {
      code: 0,
      stdout: /is adopted\n$/,
      stderr: /is not running, so nothing was started/,
    });
    t.same(calls(), 'daemon-reload', 'a stopped service stays stopped');
    t.match(await adopt('--undo', '--yes'), { code: 0, stdout: /is given back\n$/ });
    systemctl('start');
    calls();

    const adopted = await adopt('--yes');
    t.match(adopted, { code: 0, stdout: /ziti-router\.service is adopted\n$/ }, adopted.stderr);
    t.equal(calls(), `stop ${UNIT}, daemon-reload, start ${UNIT}`);
    t.match(runs(), /router-cli/);
    t.ok((await overlay.management.edgeRouters.get(id)).isOnline, 'it is ready when the command ends');
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
      ['v: 3\nctrl: {', /nothing was changed: .*does not tell which certificates the router uses/],
    ] as const) {
      writeFileSync(join(STATE, 'config.yml'), broken);
      t.match(await adopt('--undo', '--yes'), { code: 1, stderr: error }, 'the configuration has errors');
      t.ok(existsSync(DROP_IN));
    }
    writeFileSync(join(STATE, 'config.yml'), config);
    rmSync(join(STATE, 'router.cert.pending'));
    calls();
    t.match(await adopt('--undo'), { code: 0, stdout: /removes .*\n.*\nnothing was changed/ });
    const [webPort] = await fixedPorts(1);
    const withMetrics = `${config}web: [{name: w, bindPoints: [{interface: "127.0.0.1:${webPort}", address: "127.0.0.1:${webPort}"}], apis: [{binding: metrics}]}]\n`;
    writeFileSync(join(STATE, 'config.yml'), withMetrics);
    t.match(await adopt('--undo', '--yes'), {
      code: 1,
      stderr: /nothing was changed: the reference does not start with web\[0\]\.apis\[0\]\.binding/,
    });
    t.equal(calls(), '', 'nobody tries what is known to fail');
    const forced = await adopt('--undo', '--yes', '--force');
    t.match(
      forced.stderr,
      /with the program of its package: it ended with exit code 1; its log ends with:\n +invalid binding/,
    );
    t.match(forced.stderr, 'ziti-router.service runs edgeweave-router again\n');
    t.equal(forced.code, 1);
    t.ok(existsSync(DROP_IN));
    t.match(runs(), /router-cli/);
    writeFileSync(join(STATE, 'config.yml'), config);
    calls();
    t.match(await adopt('--undo', '--yes'), { code: 0, stdout: /ziti-router\.service is given back\n$/ });
    t.equal(calls(), `stop ${UNIT}, daemon-reload, start ${UNIT}`);
    t.match(runs(), /sleep/);
    t.notOk(existsSync(DROP_IN));
    t.equal(readFileSync(join(STATE, 'config.yml'), 'utf8'), config);
    t.match(await adopt('--undo', '--yes'), { code: 0, stdout: /is not adopted/ });

    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const listener = `link: {listeners: [{binding: transport, bind: "tls:127.0.0.1:${port}", advertise: "tls:127.0.0.1:${port}"}], `;
    writeFileSync(join(STATE, 'config.yml'), config.replace('link: {', listener));
    const inUse = await adopt('--yes');
    t.equal(inUse.code, 1);
    t.match(inUse.stderr, /does not become ready with edgeweave-router: it ended with exit code 1; its log ends with:/);
    t.match(inUse.stderr, `${port} is in use`);
    t.match(inUse.stderr, /ziti-router\.service runs the program of its package again\ncorrect the reason and repeat/);
    t.notOk(existsSync(DROP_IN));
    t.match(runs(), /sleep/);
    other.close();

    await overlay.simulator.close();
    // The reason comes from the router itself: the wait must be longer than its start on a busy machine.
    const unreachable = await adopt('--yes', '--wait', '15');
    t.match(unreachable, { code: 1, stderr: /does not become ready .*: after \d+ s: .*controller/ });
    t.match(runs(), /sleep/);
    const interrupted = spawn(process.execPath, [ROUTER, 'adopt', '--yes'], { env });
    const output = text(interrupted.stderr);
    await until('the start of the router', () => existsSync(DROP_IN) && /router-cli/.test(runs()));
    interrupted.kill('SIGTERM');
    t.same(await once(interrupted, 'exit'), [null, 'SIGTERM']);
    t.match(await output, /SIGTERM: .* is being adopted.*\n.*SIGTERM arrived while/);
    t.match(runs(), /sleep/, 'it goes back before it ends');
    t.notOk(existsSync(DROP_IN));
  });

  await t.test('a user who may not execute the program is named, with the folder', async (t) => {
    const unit = `/etc/systemd/system/${UNIT}`;
    mkdirSync('/opt/private/project', { recursive: true, mode: 0o700 });
    run('mount', '--bind', PROJECT, '/opt/private/project');
    writeFileSync(unit, UNIT_TEXT.replace('User=root', 'User=nobody'));
    run('chown', '--recursive', 'nobody', STATE);
    calls();
    const program = spawn(process.execPath, ['/opt/private/project/entry/router-cli.ts', 'adopt', '--yes'], { env });
    t.match(
      await text(program.stderr),
      'nothing was changed: nobody may not enter /opt/private; install it where nobody may',
    );
    t.equal(calls(), '');
    t.notOk(existsSync(DROP_IN));
    writeFileSync(unit, UNIT_TEXT.replace('User=root', 'User=missing-user'));
    t.match(await adopt('--yes'), { code: 1, stderr: /the user missing-user of .* does not exist/ });
    writeFileSync(unit, UNIT_TEXT);
    run('chown', '--recursive', 'root', STATE);
  });

  await t.test('the scripts of the package restart an adopted router, and do not remove its executable', async (t) => {
    const state = '/var/lib/edgeweave-scripts';
    const { afterInstallation, beforeRemoval } = scripts({
      name: 'edgeweave-router',
      user: 'root',
      state,
      settings: '',
    });
    writeFileSync('/usr/local/bin/systemd-sysusers', '#!/bin/sh\n', { mode: 0o755 });
    const perform = (script: string) => spawnSync('sh', ['-ec', script], { env, encoding: 'utf8' });
    const own = 'daemon-reload, try-restart edgeweave-router.service';
    calls();
    t.equal(perform(afterInstallation).status, 0);
    t.equal(calls(), `--system ${own}`);
    t.equal(perform(beforeRemoval).status, 0);
    t.equal(calls(), '--no-reload disable --now edgeweave-router.service');

    t.match(await adopt('--yes', '--wait', '0'), { code: 0 });
    writeFileSync(
      DROP_IN,
      readFileSync(DROP_IN, 'utf8').replace(/^ExecStart=.+ run /m, 'ExecStart=/usr/bin/edgeweave-router run '),
    );
    calls();
    t.equal(perform(afterInstallation).status, 0);
    t.equal(calls(), `--system ${own}, try-restart ${UNIT}`);
    const removal = perform(beforeRemoval);
    t.match(removal, { status: 1, stderr: /cannot be removed\. Give the service back first/ });
    const [command = ''] = /^ {4}edgeweave-router adopt .*$/m.exec(removal.stderr) ?? [];
    t.equal(command.trim(), `edgeweave-router adopt ${SETTINGS} --unit ${UNIT} --undo --yes`);
    t.equal(calls(), '', 'the service goes on');
    t.match(await adopt(...command.trim().split(' ').slice(2), '--wait', '0'), { code: 0 });
    t.equal(perform(beforeRemoval).status, 0);
  });

  await t.test('an undo needs the program of the package, or removes what a removed package has left', async (t) => {
    t.match(await adopt('--yes', '--wait', '0'), { code: 0 });
    rmSync(PROGRAM);
    t.match(await adopt('--undo', '--yes'), {
      code: 1,
      stderr: /may not execute \/usr\/local\/bin\/ziti, or it does not exist; install/,
    });
    t.ok(existsSync(DROP_IN));
    rmSync(`/etc/systemd/system/${UNIT}`);
    t.match(await adopt('--undo'), { code: 0, stdout: /there is no unit .*; removes .*\nnothing was changed/ });
    t.match(await adopt('--undo', '--yes'), { code: 0 });
    t.notOk(existsSync(dirname(DROP_IN)));
  });
}

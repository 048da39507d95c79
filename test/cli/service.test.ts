// The files in examples/service and their guide: the guide's commands run in a mount namespace, as root, and the router
// serves.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { createRouter } from '../support/clients/management.ts';
import { inOwnNamespace, run } from '../support/networks/network-namespace.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { ServiceUnit } from '../support/programs/service-unit.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/run-a-router.md'), 'utf8');
const EXAMPLES = join(ROOT, 'examples/service');
const PATH = '/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin';
const PROGRAMS = ['mount', 'runuser', 'setpriv', 'systemd-sysusers', 'tar', 'ip'];
/** By default the first check is after 15 s. */
const SOON = 'healthChecks: {ctrlPingCheck: {initialDelay: 100ms, interval: 1s}}\n';
const execute = promisify(execFile);

if (await inOwnNamespace(import.meta.filename, PROGRAMS, { root: true })) await tests();

/** System folders that this test may change: empty ones, and a copy of /etc. */
function prepareSystem(folder: string): void {
  run('ip', 'link', 'set', 'lo', 'up');
  cpSync('/etc', join(folder, 'etc'), { recursive: true, verbatimSymlinks: true });
  run('mount', '--bind', join(folder, 'etc'), '/etc');
  for (const each of ['/usr/local/bin', '/usr/lib/sysusers.d', '/var/lib', '/var/backups', '/run'])
    run('mount', '-t', 'tmpfs', 'tmpfs', each);
}

/** Files that an operator brings to the machine. */
function makeBaggage(folder: string): void {
  mkdirSync(join(folder, 'build'));
  const program = `#!/bin/sh\nunset NODE_OPTIONS # tap's\nexec ${process.execPath} ${join(ROOT, 'entry/router-cli.ts')} "$@"\n`;
  writeFileSync(join(folder, 'build/edgeweave-router'), program, { mode: 0o755 });
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
}

function readable(): boolean {
  try {
    execFileSync('setpriv', ['--reuid=65532', '--clear-groups', 'test', '-r', join(ROOT, 'entry/router-cli.ts')]);
    return true;
  } catch {
    return false;
  }
}

async function status(url: string): Promise<number> {
  return new Promise((resolve) => {
    request(url, { rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode ?? 0))
      .once('error', () => resolve(0))
      .end();
  });
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  if (!readable()) {
    t.pass('other users cannot read this folder', { skip: true });
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  prepareSystem(folder);
  makeBaggage(folder);
  t.teardown(() => {
    run('umount', '/etc');
    rmSync(folder, { recursive: true, force: true });
  });
  const overlay = await Overlay.start({ churnLimit: 0 });
  t.teardown(() => overlay.close());
  const controller = overlay.simulator.controlAddress.replace('tls:', '');
  const token = async (name: string) =>
    (await createRouter(overlay.management, { name, isTunnelerEnabled: true })).enrollmentJwt;

  t.test('every command of the guide works, and the service behaves as described', async (t) => {
    writeFileSync(join(folder, 'edge.jwt'), await token('edge'));
    const unit = new ServiceUnit('/etc/systemd/system/edgeweave-router.service', PATH);
    t.teardown(() => unit.close());
    const shell = (command: string) => execute('sh', ['-c', command], { cwd: folder, env: { PATH, HOME: '/' } });
    const blocks = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block.trim());
    const commands = blocks.flatMap((block) => block.split('\n')).filter((line) => line !== 'npm run build:binary');
    t.ok(commands.length > 25);
    for (const written of commands) {
      const command = written.replace('ctrl.example.com:1280', controller).replace('edge.example.com', 'localhost');
      if (command.startsWith('systemctl ')) await unit.systemctl(...command.split(' ').slice(1));
      else if (/edgeweave-router health /.test(command))
        await until('health', () => shell(command).then(Boolean, () => false));
      else await t.resolves(shell(command), command);
      if (command.includes(' config init ')) appendFileSync('/var/lib/edgeweave/router.yml', SOON);
      if (command === 'systemctl enable --now edgeweave-router') {
        t.equal(readFileSync(`/proc/${unit.pid}/status`, 'utf8').match(/^CapBnd:\s+0+$/m) !== null, true, 'no rights');
        await until('a status', async () => {
          await unit.systemctl('status');
          return unit.notified.includes('STATUS=1 controller, 0 links, 0 circuits');
        });
      }
    }
    const isOnline = async () => (await overlay.management.edgeRouters.list())[0]?.isOnline === true;
    await until('the router to be online after the move', isOnline);
    await unit.stop();
    t.ok(unit.notified.includes('STOPPING=1'));
    t.match(unit.log, /^<6>\{"level":"info".*"msg":"router started"/m, 'the journal reads priorities');
    t.notMatch(unit.log, /^\{/m);
    t.ok(unit.notified.some((line) => line.startsWith('EXTEND_TIMEOUT_USEC=')));
  });

  t.test('the units start no program of a package that a small system lacks', async (t) => {
    for (const name of ['edgeweave-router', 'edgeweave-sim']) {
      const text = readFileSync(join(EXAMPLES, `${name}.service`), 'utf8');
      const programs = [...text.matchAll(/^Exec\w+=(\S+)/gm)].map(([, program]) => program);
      t.ok(programs.includes(`/usr/local/bin/${name}`));
      t.same(
        programs.filter((program) => program !== `/usr/local/bin/${name}` && program !== '/bin/sh'),
        [],
      );
    }
  });

  t.test('systemd and logrotate accept the files', async (t) => {
    const checks: [string, string[]][] = [
      ['/usr/bin/systemd-analyze', ['verify', '/etc/systemd/system/edgeweave-router.service']],
      ['/usr/sbin/logrotate', ['--debug', '/etc/logrotate.d/edgeweave-router']],
    ];
    for (const [program, args] of checks) {
      if (!existsSync(program)) {
        t.pass(`${program} is not installed`, { skip: true });
        continue;
      }
      const { stderr } = await execute(program, args, { env: { PATH } });
      t.notMatch(stderr, /^error|edgeweave-router\.service:|unknown|bad/im, program);
    }
  });

  t.test(
    'the Kubernetes manifest enrolls once, answers its probes, and needs no privileges and no user name',
    async (t) => {
      const documents = parseAllDocuments(readFileSync(join(EXAMPLES, 'kubernetes.yml'), 'utf8'), { merge: true });
      const [map, , set] = documents.map((document) => document.toJS({ maxAliasCount: 20 }));
      const { initContainers, containers, securityContext, terminationGracePeriodSeconds, volumes } =
        set.spec.template.spec;
      const [[init], [router]] = [initContainers, containers];
      const names = [
        ...volumes,
        ...set.spec.volumeClaimTemplates.map((claim: { metadata: unknown }) => claim.metadata),
      ].map(({ name }) => name);
      for (const { name } of router.volumeMounts) t.ok(names.includes(name), `volume ${name}`);
      for (const { workingDir } of [init, router])
        t.ok(router.volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === workingDir));
      const drain = Number(router.args[router.args.indexOf('--drain-seconds') + 1]);
      t.ok(terminationGracePeriodSeconds > drain);

      for (const each of ['/etc/edgeweave', '/var/lib/edgeweave', '/run/secrets/edgeweave'])
        mkdirSync(each, { recursive: true });
      rmSync('/var/lib/edgeweave', { recursive: true });
      mkdirSync('/var/lib/edgeweave');
      const { runAsUser: uid } = securityContext;
      chownSync('/var/lib/edgeweave', uid, uid);
      writeFileSync('/etc/edgeweave/router.yml', map.data['router.yml'] + SOON);
      writeFileSync('/run/secrets/edgeweave/token', await token('pod'));
      const asPod = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
      const env = { PATH, CONTROLLER: controller, ADVERTISE: 'localhost' };
      t.same(
        router.env.map(({ name }: { name: string }) => name),
        ['CONTROLLER', 'ADVERTISE'],
      );
      for (const time of ['first', 'second'])
        await t.resolves(execute('setpriv', [...asPod, ...init.command, ...init.args], { env }), `${time} start`);
      const check = ['edgeweave-router', 'config', 'check', '/etc/edgeweave/router.yml'];
      const { stdout } = await execute('setpriv', [...asPod, ...check], { env });
      t.notMatch(stdout, /CFG-FILE/, 'it writes to the volume only');
      const child = spawn('setpriv', [...asPod, ...router.command, ...router.args], { env, stdio: 'ignore' });
      t.teardown(() => child.kill('SIGKILL'));
      for (const { httpGet } of [router.livenessProbe, router.readinessProbe]) {
        const { containerPort } = router.ports.find(({ name }: { name: string }) => name === httpGet.port);
        const url = `${httpGet.scheme.toLowerCase()}://localhost:${containerPort}${httpGet.path}`;
        await until(url, async () => (await status(url)) === 200);
      }
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      t.same(await exited, [0, null]);
    },
  );

  t.test('the container file copies the output of the build', async (t) => {
    const text = readFileSync(join(EXAMPLES, 'Containerfile'), 'utf8');
    const copied = [...text.matchAll(/^COPY --from=build \/src\/build\/(\S+) /gm)].map(([, name]) => name);
    t.same(copied.sort(), ['LICENSES.txt', 'edgeweave-router']);
    t.match(text, /^RUN npm run build:binary$/m);
    const [, user = ''] = /^USER (\d+):\d+$/m.exec(text) ?? [];
    t.not(user, '', 'Kubernetes cannot verify that a user name is not root');
    const [, volume = ''] = /^VOLUME (.+)$/m.exec(text) ?? [];
    t.match(text, new RegExp(`^RUN install -d .*-o ${user} .*${volume}$`, 'm'), 'the user may write to a new volume');
  });
}

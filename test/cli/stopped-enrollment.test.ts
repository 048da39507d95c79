// Stop signals while a router uses its one-time token: its files are written first. As the first process of a
// container, it stops at any time.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { createRouter } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { run } from '../support/networks/network-namespace.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { killedAt } from '../support/programs/kill-at-step.ts';
import { until } from '../support/until.ts';

const STOPPED = 143;
/** The removal of the old data, right after the answer of the controller; a file; the last file. */
const STEPS = ['proto.gzip', 'ca', 'cert'];
const ENTRY = join(import.meta.dirname, '../../tools/binary/router.ts');

t.setTimeout(120_000);

t.test('`enroll` that is stopped after the answer of the controller writes its files first', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  for (const [index, at] of STEPS.entries()) {
    const name = `r${index}`;
    const { configFile } = await overlay.enrollRouter({ name, mode: 'host' });
    const old = readFileSync(join(overlay.directory, `${name}.cert`), 'utf8');
    await overlay.management.edgeRouters.delete(
      (await overlay.management.edgeRouters.list({ filter: `name="${name}"` }))[0]?.id ?? '',
    );
    const { id, enrollmentJwt } = await createRouter(overlay.management, { name, isTunnelerEnabled: true });
    const jwt = join(overlay.directory, `${name}.jwt`);
    writeFileSync(jwt, enrollmentJwt);
    const enroll = new Program(`enroll${index}`, ['entry/router-cli.ts', 'enroll', configFile, '--jwt', jwt], {
      directory: overlay.directory,
      ...killedAt(`.${at}`, 'SIGTERM'),
    });
    t.equal(await enroll.exited, STOPPED, at);
    t.match(enroll.logTail(), /SIGTERM: the token is being used[\s\S]*stopped by SIGTERM/);
    t.not(readFileSync(join(overlay.directory, `${name}.cert`), 'utf8'), old);
    const router = await overlay.startRouter(configFile);
    await until('the router to be online', async () => (await overlay.management.edgeRouters.get(id)).isOnline);
    await router.close({ drain: 0 });
  }
});

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';

t.test(
  'the first process of a container stops before its router runs, and keeps its enrollment',
  { skip: !isRoot },
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const home = join(overlay.directory, 'home');
    mkdirSync(home);
    const { id, enrollmentJwt } = await createRouter(overlay.management, { name: 'edge', isTunnelerEnabled: true });
    const [port = 0] = await fixedPorts(1);
    const command = join(overlay.directory, 'entrypoint.bash'); // the name decides what the program does
    symlinkSync(process.execPath, command);
    // The namespace does not show the process of the tests.
    const { NODE_OPTIONS: _modulesOfTap, EDGEWEAVE_EXIT_WITH_PARENT: _pid, ...inherited } = process.env;
    /** Starts the entry point of the image as the first process of a namespace. */
    const start = (token: string, { node, env }: ReturnType<typeof killedAt> = { node: [], env: {} }) => {
      const child = spawn(
        'unshare',
        ['--pid', '--fork', '--kill-child', '--mount-proc', command, ...node, ENTRY, 'run', 'config.yml'],
        {
          cwd: home,
          env: {
            ...{ ...inherited, ...env, ZITI_HOME: home, ZITI_BOOTSTRAP: 'true', ZITI_BOOTSTRAP_CONFIG: 'true' },
            ...{ ZITI_BOOTSTRAP_ENROLLMENT: 'true', ZITI_ENROLL_TOKEN: token, ZITI_ROUTER_NAME: 'edge' },
            ...{
              ZITI_ROUTER_ADVERTISED_ADDRESS: '127.0.0.1',
              ZITI_ROUTER_PORT: String(port),
              ZITI_ROUTER_MODE: 'host',
            },
          },
        },
      );
      t.teardown(() => child.kill('SIGKILL'));
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      return { child, output: () => output };
    };
    const pipe = join(overlay.directory, 'token');
    run('mkfifo', pipe);
    const waiting = start(pipe);
    await until('the entry point to wait for the token', () => waiting.output().includes('the router enrolls'));
    const [first = ''] = readFileSync(`/proc/${waiting.child.pid}/task/${waiting.child.pid}/children`, 'utf8').split(
      ' ',
    );
    process.kill(Number(first), 'SIGTERM');
    t.equal((await once(waiting.child, 'close'))[0], STOPPED);
    t.match(waiting.output(), /stopped by SIGTERM/);

    const enrolling = start(enrollmentJwt, killedAt('.proto.gzip', 'SIGTERM'));
    t.equal((await once(enrolling.child, 'close'))[0], STOPPED, enrolling.output());
    t.match(
      enrolling.output(),
      /SIGTERM: the token is being used[\s\S]* is enrolled; written:[\s\S]*stopped by SIGTERM/,
    );
    t.ok(existsSync(join(home, 'edge.cert')));
    const again = start(enrollmentJwt);
    await until('the router to be online', async () => (await overlay.management.edgeRouters.get(id)).isOnline);
    again.child.kill('SIGKILL');
  },
);

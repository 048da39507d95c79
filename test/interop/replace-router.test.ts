// A router of the reference is replaced by ours and back, in the folder that its container image uses: both read the
// configuration and the certificates that the other one has made.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { createRouter } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { endOf, startCommand } from '../support/programs/image-commands.ts';
import { ReferenceProcess, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const ZITI = process.env.ZITI_BIN ?? '';
const START_TIME = 40_000;
const execute = promisify(execFile);

/** The folder of a router, the variables of its container, and its state at the controller. */
async function setUp(test: Test) {
  const overlay = await Overlay.start();
  test.teardown(() => overlay[Symbol.asyncDispose]());
  const home = join(overlay.directory, 'ziti-router');
  mkdirSync(home);
  const [port = 0] = await fixedPorts(1);
  const { id, enrollmentJwt } = await createRouter(overlay.management, { name: 'edge', isTunnelerEnabled: true });
  const [, host = '', controlPort = ''] = /^tls:(.+):(\d+)$/.exec(overlay.simulator.controlAddress) ?? [];
  const env = {
    ZITI_HOME: home,
    ZITI_BOOTSTRAP: 'true',
    ZITI_AUTO_RENEW_CERTS: 'true',
    ZITI_ENROLL_TOKEN: enrollmentJwt,
    ZITI_CTRL_ADVERTISED_ADDRESS: host,
    ZITI_CTRL_ADVERTISED_PORT: controlPort,
    ZITI_ROUTER_NAME: 'router',
    ZITI_ROUTER_ADVERTISED_ADDRESS: 'localhost',
    ZITI_ROUTER_PORT: String(port),
    ZITI_ROUTER_LISTENER_BIND_PORT: String(port),
  };
  const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
  const online = (who: { log?: string }) =>
    until('online', isOnline, START_TIME).catch((error: Error) => {
      throw new Error(who.log, { cause: error });
    });
  const offline = () => until('offline', async () => !(await isOnline()), START_TIME);
  return { overlay, home, id, env, online, offline };
}

/** Starts ours as the image does, and stops it once it is online. */
async function runOurs(test: Test, { home, id, env, online, offline }: Awaited<ReturnType<typeof setUp>>) {
  const router = startCommand(test, 'entrypoint.bash', ['run', 'config.yml'], { env, cwd: home });
  await online({
    get log() {
      return router.output();
    },
  });
  const list = await endOf(startCommand(test, 'ziti', ['agent', 'list'], { env, cwd: home }));
  test.match(list.output, id);
  router.child.kill('SIGTERM');
  const { code, output } = await endOf(router);
  test.equal(code, 0, output);
  await offline();
  return output;
}

async function runReference(test: Test, setup: Awaited<ReturnType<typeof setUp>>, name: string) {
  const { home, id, env, online, offline } = setup;
  await using router = new ReferenceProcess(name, ['router', 'run', 'config.yml', '--extend'], home);
  await online(router);
  const run = (...args: string[]) => endOf(startCommand(test, 'ziti', ['agent', ...args], { env, cwd: home }));
  // The reference opens its agent after it has connected to the controller.
  await until('its agent', async () => (await run('list')).output.includes(id), START_TIME);
  const pid = String(router.pid);
  test.match(await run('stats', '--pid', pid), { code: 0, output: /goroutines/ }, 'our command asks their router');
  test.match(await run('inspect', 'links', '--pid', pid), { code: 0, output: /^links\n/ });
  await router.kill();
  await offline();
}

t.test('theirs, then ours, then theirs', { skip: skipped, timeout: 120_000 }, async (t) => {
  const setup = await setUp(t);
  const { home, env } = setup;
  // Not synchronous: the simulator is in this process.
  const theirs = (...args: string[]) =>
    execute(ZITI, args, { cwd: home, env: { ...process.env, ...env, HOME: home }, timeout: START_TIME });
  await theirs(...'create config router edge --routerName router --tunnelerMode host --output config.yml'.split(' '));
  writeFileSync(join(home, 'edge.jwt'), env.ZITI_ENROLL_TOKEN);
  await theirs('router', 'enroll', 'config.yml', '--jwt', 'edge.jwt');
  const config = readFileSync(join(home, 'config.yml'), 'utf8');
  await runReference(t, setup, 'before');
  const log = await runOurs(t, setup);
  t.notMatch(log, /"level":"error"/);
  t.equal(readFileSync(join(home, 'config.yml'), 'utf8'), config);
  await runReference(t, setup, 'after');
});

t.test('ours, then theirs, then ours', { skip: skipped, timeout: 120_000 }, async (t) => {
  const setup = await setUp(t);
  t.match(await runOurs(t, setup), /config\.yml was created/);
  await runReference(t, setup, 'theirs');
  t.match(await runOurs(t, setup), /config\.yml exists/);
});

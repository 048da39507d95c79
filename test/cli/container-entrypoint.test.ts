// The commands of the container image, from the sources: the entry point with the variables of the reference's image,
// and `ziti` beside a running router.

import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createRouter } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { endOf, startCommand } from '../support/programs/image-commands.ts';
import { until } from '../support/until.ts';

t.test('variables of the reference become a router that answers `ziti agent`', async (t) => {
  await using overlay = await Overlay.start();
  const home = join(overlay.directory, 'ziti-router');
  const tmp = join(overlay.directory, 'tmp');
  for (const folder of [home, tmp]) mkdirSync(folder);
  const { id, enrollmentJwt } = await createRouter(overlay.management, { name: 'edge', isTunnelerEnabled: true });
  const [port = 0] = await fixedPorts(1);
  const env = {
    TMPDIR: tmp,
    ZITI_HOME: home,
    ZITI_BOOTSTRAP: 'true',
    ZITI_BOOTSTRAP_CONFIG: 'true',
    ZITI_BOOTSTRAP_ENROLLMENT: 'true',
    ZITI_AUTO_RENEW_CERTS: 'true',
    ZITI_ENROLL_TOKEN: enrollmentJwt,
    ZITI_ROUTER_ADVERTISED_ADDRESS: '127.0.0.1',
    ZITI_ROUTER_NAME: 'edge',
    ZITI_ROUTER_PORT: String(port),
    ZITI_ROUTER_MODE: 'host',
  };
  const online = async () => {
    await until('the router is online', async () => {
      const { isOnline } = await overlay.management.edgeRouters.get(id);
      return isOnline;
    });
  };
  const ask = (...args: string[]) => endOf(startCommand(t, 'ziti', args, { env: env, cwd: tmp }));

  t.match(await ask('agent', 'stats'), { code: 1, output: /^no running router fits; `ziti agent list`/ });
  const first = startCommand(t, 'entrypoint.bash', ['run', 'config.yml'], { env: env, cwd: tmp });
  await online();
  t.match(first.output(), `the configuration file ${home}/config.yml was created`);
  t.match(first.output(), `router ${id} is enrolled`);
  t.notMatch(first.output(), enrollmentJwt, 'no secrets in the log');
  t.notMatch(first.output(), /"level":"(warn|error|fatal)".*configuration finding/);
  for (const file of ['edge.cert', 'edge.key', 'edge.cas', 'edge.server.chain.cert'])
    t.ok(existsSync(join(home, file)));

  t.match(await ask('agent', 'stats'), { code: 0, output: /^seconds: \d+\n/ });
  t.match(await ask('agent', 'list'), { code: 0, output: new RegExp(`^PID .*\n${first.child.pid} .* ${id} .*router`) });
  t.match(await ask('agent', 'goversion', '-p', String(first.child.pid)), { code: 0, output: /^node v/ });
  t.match(await ask('agent', 'memstats', '--app-id', id, '--app-type', 'router'), { code: 0, output: /^resident: / });
  t.match(await ask('agent', 'stats', '--app-id', 'other'), { code: 1, output: /no running router fits/ });
  t.match(await ask('agent', 'set-channel-log-level', 'link', 'debug'), { code: 0, output: /link set to debug/ });
  t.match(await ask('agent', 'clear-channel-log-level', 'link'), { code: 0, output: /link cleared/ });
  t.match(await ask('agent', 'set-log-level', 'loud'), { code: 2, output: /Use one of panic, fatal/ });
  t.match(await ask('agent', 'inspect', 'links', 'router-controllers'), {
    code: 0,
    output: /^links\n\{\n.*router-con/s,
  });
  t.match(await ask('agent', 'router', 'quiesce'), { code: 0 });
  t.match(await ask('agent', 'router', 'dequiesce'), { code: 0 });
  t.match(await ask('version'), { code: 0, output: /^\d+\.\d+\.\d+\n$/ });
  t.match(await ask('edge', 'login'), { code: 2, output: /unknown command/ });
  t.match(await ask('router', 'run'), { code: 2, output: /missing required argument 'file'/ });

  first.child.kill('SIGTERM');
  t.equal((await endOf(first)).code, 0);
  const before = readFileSync(join(home, 'edge.cert'), 'utf8');
  const { ZITI_ENROLL_TOKEN: _used, ...later } = env;
  const second = startCommand(t, 'entrypoint.bash', [], { env: later, cwd: tmp });
  await until('the certificate is renewed', async () => readFileSync(join(home, 'edge.cert'), 'utf8') !== before);
  t.match(second.output(), `the configuration file ${home}/config.yml exists`);
  second.child.kill('SIGTERM');
  t.equal((await endOf(second)).code, 0);
});

t.test('a folder for sockets is made in the home folder if no other place is writable', async (t) => {
  await using overlay = await Overlay.start();
  const { id, configFile } = await overlay.enrollRouter({ name: 'r', mode: 'host' });
  const env = { TMPDIR: join(overlay.directory, 'missing'), ZITI_HOME: overlay.directory };
  const router = startCommand(t, 'entrypoint.bash', ['run', configFile], { env: env, cwd: '/' });
  await until('an answer', async () => {
    const { code, output } = await endOf(startCommand(t, 'ziti', ['agent', 'list'], { env: env, cwd: '/' }));
    return code === 0 && output.includes(id);
  });
  t.equal(statSync(join(overlay.directory, '.run')).mode & 0o777, 0o700);
  router.child.kill('SIGTERM');
  t.equal((await endOf(router)).code, 0);
});

t.test('mistakes end the start with the variable and the remedy', async (t) => {
  const home = t.testdir();
  const run = (env: NodeJS.ProcessEnv) =>
    endOf(startCommand(t, 'entrypoint.bash', ['run', 'config.yml'], { env: env, cwd: home }));
  const env = { ZITI_HOME: home, ZITI_BOOTSTRAP: 'true' };
  t.match(await run({ ...env, ZITI_ROUTER_PORT: 'x' }), {
    code: 1,
    output:
      /^ZITI_ROUTER_PORT is "x".*\nZITI_ROUTER_ADVERTISED_ADDRESS is not set|^ZITI_ROUTER_ADVERTISED_ADDRESS.*\nZITI_ROUTER_PORT/,
  });
  t.match(await run({ ...env, ZITI_HOME: '/nowhere' }), {
    code: 1,
    output: 'the folder ZITI_HOME=/nowhere cannot be entered: it does not exist; mount a volume there',
  });
  t.match(await run({ ...env, ZITI_ROUTER_ADVERTISED_ADDRESS: 'edge.example', ZITI_ENROLL_TOKEN: 'no.real.token' }), {
    code: 1,
    output: /not enrolled: ZITI_ENROLL_TOKEN: .*\nthe router is not enrolled/,
  });
});

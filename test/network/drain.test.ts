// Draining a router: it rejects new circuits and terminators, keeps open circuits, and can serve again.

import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { SdkType } from '#wire/gen/numbers.ts';
import type { RouterFile } from '../../agent/config/router-file.ts';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { enrollDevice, loginOidc, SdkClient } from '../support/clients/sdk-client.ts';
import { edgeListener, webServer } from '../support/config/link-config.ts';
import { ending, Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

async function network(extra: RouterFile = {}) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    listeners: [edgeListener()],
  });
  const service = await overlay.addService('echo', b.id);
  await overlay.ready();
  return { overlay, a, b, service };
}

async function openCircuit(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await echo(socket, 'hello');
  return socket;
}

/** Sends a text and waits for its echo. */
function echo(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('data', (data) => {
      if (String(data) === text) resolve();
      else reject(new Error(String(data)));
    });
    socket.write(text);
  });
}

const drain = ({ configFile }: TestRouter, given: Record<string, unknown>) =>
  askRouter(configFile, 'drain', { arguments: given }) as Promise<Record<string, unknown>>;

const cli = (...args: string[]) => runProgram(['entry/router-cli.ts', ...args]);

t.test('a hosting router drains: no terminators, no new circuits, open ones continue until they end', async (t) => {
  const { overlay, a, b } = await network();
  await using _ = overlay;
  const { management } = overlay;
  const own = {
    router: b.id,
    binding: 'transport',
    address: 'tcp:127.0.0.1:1',
    cost: 0,
    precedence: 'required',
  } as const;
  const { id: fixed } = await management.services.create({ name: 'fixed', encryptionRequired: false });
  const { id: terminator } = await management.terminators.create({ ...own, service: fixed });
  const precedence = async () => (await management.terminators.get(terminator)).precedence;
  const count = async () => (await management.terminators.list()).length;
  const device = await enrollDevice(overlay, 'device');
  await management.edgeRouterPolicies.create({
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  const client = await SdkClient.connect(b.sdkPort, device, await loginOidc(overlay, device));

  const socket = await openCircuit(a.proxyPort);
  t.match(await drain(b, { seconds: 0.1 }), { state: 'draining', circuits: 1, passing: 0 });
  await until('the terminator to be withdrawn', async () => (await count()) === 1);
  t.equal(await precedence(), 'failed', 'the controller avoids its own terminators');
  const rejected = connect(a.proxyPort, '127.0.0.1');
  t.equal(await ending(rejected), 'ECONNRESET');
  const { answer } = await client.dialByName('echo');
  t.match(answer, { contentType: SdkType.StateClosed, body: /this router is draining and accepts no new circuits/ });
  await echo(socket, 'still there');
  t.match(b.router.describe(), { drain: { state: 'draining', circuits: 1 }, links: [{}] });

  const progress: unknown[] = [];
  const waiting = askRouter(b.configFile, 'drain', {
    arguments: { seconds: 60 },
    onProgress: (each) => progress.push(each),
  });
  await until('progress', () => progress.length > 1);
  t.match(progress[0], { state: 'draining', circuits: 1, secondsLeft: 60 });
  socket.end();
  t.match(await waiting, { circuits: 0, terminators: 0 });

  t.match(await drain(b, { cancel: true }), { state: 'serving' });
  t.equal(await precedence(), 'required', 'the controller uses its terminators again');
  await until('the terminator to return', async () => (await count()) === 2);
  (await openCircuit(a.proxyPort)).destroy();
  client.close();
  await device.http.close();
});

t.test(
  'a dialing router drains: its clients are rejected; the command reports open circuits and the outcome',
  async (t) => {
    const extra = {
      healthChecks: { ctrlPingCheck: { interval: '100ms', initialDelay: '10ms' } },
      web: [webServer(0, 'health-checks')],
    };
    const { overlay, a } = await network(extra);
    await using _ = overlay;
    const socket = await openCircuit(a.proxyPort);
    const timedOut = await cli('drain', a.configFile, '--seconds', '1');
    t.equal(timedOut.code, 1, timedOut.stderr);
    t.match(timedOut.stderr, /^1 circuit left, 0 passing through, 0 terminators to remove, 1 s left\n/);
    t.match(timedOut.stdout, /1 circuit is left after 1 s; .* until --cancel/);
    t.equal(await ending(connect(a.proxyPort, '127.0.0.1')), 'ECONNRESET');
    const ca = join(overlay.directory, 'a.ca');
    t.match((await cli('health', `https://127.0.0.1:${a.webPort}`, '--ca', ca)).stdout, /the router is draining/);
    const waiting = cli('drain', a.configFile, '--json');
    await echo(socket, 'still there');
    socket.end();
    const done = await waiting;
    t.equal(done.code, 0, done.stderr);
    t.match(JSON.parse(done.stdout), { state: 'draining', circuits: 0 });
    const cancelled = await cli('drain', a.configFile, '--cancel');
    t.match([cancelled.code, cancelled.stdout], [0, 'the router accepts circuits\n']);
    (await openCircuit(a.proxyPort)).destroy();
    t.match(await cli('drain', a.configFile, '--seconds', '-1'), { code: 2 });
    await t.rejects(drain(a, { seconds: 'soon' }), { code: 'BAD_ARGUMENT' });
  },
);

t.test('a stopping router removes its terminators first, and leaves none with precedence failed', async (t) => {
  const { overlay, a, b } = await network();
  await using _ = overlay;
  const { management } = overlay;
  const { id: fixed } = await management.services.create({ name: 'fixed', encryptionRequired: false });
  const { id } = await management.terminators.create({
    service: fixed,
    router: b.id,
    binding: 'transport',
    address: 'tcp:127.0.0.1:1',
  });
  const socket = await openCircuit(a.proxyPort);
  const count = async () => (await management.terminators.list()).length;
  await drain(b, { seconds: 0 });
  const stopping = b.router.close({ drain: 10_000 });
  await until('the terminator to be withdrawn', async () => (await count()) === 1);
  await t.rejects(drain(b, { cancel: true }), { code: 'STOPPING' });
  await echo(socket, 'still there');
  socket.end();
  await stopping;
  t.equal((await management.terminators.get(id)).precedence, 'default');
});

t.test('a router that is killed while it drains restores its terminators at its next start', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { management } = overlay;
  const b = await overlay.enrollRouter({ name: 'b', mode: 'host' });
  const { id: service } = await management.services.create({ name: 'fixed', encryptionRequired: false });
  const own = {
    service,
    router: b.id,
    binding: 'transport',
    address: 'tcp:127.0.0.1:1',
    precedence: 'required',
  } as const;
  const { id } = await management.terminators.create(own);
  const precedence = async () => (await management.terminators.get(id)).precedence;
  const online = async () => (await management.edgeRouters.get(b.id)).isOnline;
  const start = (name: string) =>
    new Program(name, ['entry/router-cli.ts', 'run', b.configFile], { directory: overlay.directory });
  const first = start('first');
  await until('the router to be online', online);
  await askRouter(b.configFile, 'drain', { arguments: { seconds: 0 } });
  await until('the quiesced terminator', async () => (await precedence()) === 'failed');
  first.kill();
  await until('the router to be offline', async () => !(await online()));
  t.equal(await precedence(), 'failed', 'the controller does not know that the router was killed');
  const second = start('second');
  await until('the restored terminator', async () => (await precedence()) === 'required');
  await second.stop();
  t.same(
    readdirSync(overlay.directory).filter((name) => /quiesce/.test(name)),
    [],
    'no file is left',
  );
});

t.test('the controller deletes a decommissioned router, and its process ends', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { management } = overlay;
  const b = await overlay.enrollRouter({ name: 'b', mode: 'host' });
  const online = async () => (await management.edgeRouters.get(b.id)).isOnline;
  const program = new Program('b', ['entry/router-cli.ts', 'run', b.configFile], { directory: overlay.directory });
  await until('the router to be online', online);
  t.match(await cli('decommission', b.configFile), { code: 2, stderr: /confirm with --yes/ });
  t.ok(await online());
  const done = await cli('decommission', b.configFile, '--yes');
  t.match([done.code, done.stdout], [0, 'the controller deleted the router, which stops\n'], done.stderr);
  t.same(await management.edgeRouters.list(), []);
  t.equal(await program.exited, 0);
});

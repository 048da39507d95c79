// Whole networks in one process, over loopback TLS: traffic, faults, stopping, recovery.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { loadApart } from '../../agent/config/load-apart.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { linkIn } from '../support/config/link-config.ts';
import { ending, Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Milliseconds until a router has asked about circuits whose other end is silent. */
const ROUTER_LOOKS = 6_000;

async function twoRouters(
  options: Parameters<typeof Overlay.start>[0] = {},
  services: { encrypted: boolean } = { encrypted: true },
) {
  const overlay = await Overlay.start({ churnLimit: 0, ...options });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, services);
  await overlay.ready();
  return { overlay, a, b };
}

t.test('bytes cross a link and return, encrypted and plain, and nothing remains', async (t) => {
  for (const encrypted of [true, false]) {
    const { overlay, a, b } = await twoRouters({}, { encrypted });
    await using _ = overlay;
    const done = await transfer(a.proxyPort, 4 * MIB);
    t.equal(done.bytes, 4 * MIB);
    t.equal(done.sha256Received, done.sha256Sent, encrypted ? 'encrypted' : 'plain');
    await until('circuits to end', () =>
      [a, b].every(({ router }) => router.describe().circuits === 0 && router.describe().circuitEnds === 0),
    );
  }
});

t.test('a router without an edge section follows the members of the cluster', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'a' });
  const endpoints = join(overlay.directory, 'members.yml');
  const plain = readFileSync(configFile, 'utf8')
    .replace('edge: {}\n', '')
    .replace('ctrl: {', `ctrl: {endpointsFile: ${endpoints}, `);
  writeFileSync(configFile, plain);
  const router = await overlay.startRouter(configFile);
  await until('the file of endpoints', () => existsSync(endpoints));
  const address = overlay.simulator.controlAddress;
  await until('the address in it', () => readFileSync(endpoints, 'utf8').includes(address));
  await router.close({ drain: 0 });
  t.pass('the members were written');
});

t.test('the configuration of a daemon is frozen, although another process read it', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a' });
  const { config } = await loadApart(configFile);
  t.ok(config && Object.isFrozen(config) && Object.isFrozen(config.forwarder) && Object.isFrozen(config.link.dialers));
});

t.test('many connections at once, each with its own bytes', async (t) => {
  const { overlay, a } = await twoRouters();
  await using _ = overlay;
  const all = await Promise.all(Array.from({ length: 24 }, () => transfer(a.proxyPort, 200_000)));
  for (const { bytes, sha256Sent, sha256Received } of all) {
    if (bytes !== 200_000 || sha256Sent !== sha256Received) t.fail('a transfer differs');
  }
  t.equal(new Set(all.map(({ sha256Sent }) => sha256Sent)).size, 24);
});

t.test('dialer and host on one router need no link', async (t) => {
  const overlay = await Overlay.start();
  await using _ = overlay;
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: { listeners: [], dialers: [] } });
  await overlay.addService('echo', b.id);
  await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  await t.resolves(overlay.management.edgeRouters.get(a.id));
  const rejected = await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }));
  t.equal(rejected.bytes, 0, 'without a link there is no path from a to b');
});

t.test('a client that the host rejects is disconnected, and the router continues', async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  overlay.echo.close();
  const rejected = await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }));
  t.equal(rejected.bytes, 0);
  t.notOk(b.router.describe().circuitEnds, 'no circuit end remains');
});

t.test('a service that is deleted ends its circuits and its terminators', async (t) => {
  const { overlay, a } = await twoRouters();
  await using _ = overlay;
  const [service] = await overlay.management.services.list();
  const socket = connect(a.proxyPort, '127.0.0.1');
  socket.write('hello');
  await new Promise((resolve) => socket.once('data', resolve));
  const closed = ending(socket);
  await overlay.management.services.delete(service?.id ?? '');
  t.equal(await closed, 'ECONNRESET');
  t.same(await overlay.management.terminators.list(), []);
});

t.test('half close: a client that has finished sending still receives everything', async (t) => {
  const { overlay, a } = await twoRouters();
  await using _ = overlay;
  const socket = connect({ port: a.proxyPort, host: '127.0.0.1', allowHalfOpen: true });
  socket.end('the end comes with the data');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  await new Promise((resolve) => socket.once('end', resolve));
  t.equal(received, 'the end comes with the data');
});

t.test('a broken link recovers, and so does the traffic', async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  await b.router.close({ drain: 0 });
  await until('a to notice', () => a.router.describe().links.length === 0);
  b.router = await overlay.startRouter(b.configFile);
  await overlay.ready();
  const done = await transfer(a.proxyPort, MIB);
  t.equal(done.sha256Received, done.sha256Sent);
});

t.test('a circuit moves to another path when its intermediate router dies, and loses no byte', async (t) => {
  const overlay = await Overlay.start({ churnLimit: 0 });
  await using _ = overlay;
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', link: linkIn(['west']) });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: linkIn(['east']) });
  const between = [];
  for (const name of ['c', 'd']) between.push(await overlay.addRouter({ name, link: linkIn(['west', 'east']) }));
  await overlay.addService('echo', b.id);
  const links = ({ router }: { router: (typeof a)['router'] }) => router.describe().links.length;
  await until('a and b to have two links each', () => links(a) === 2 && links(b) === 2);
  await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  const socket = connect(a.proxyPort, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text) => {
    received += text;
  });
  let said = '';
  const talk = setInterval(() => {
    const word = `${said.length} `;
    said += word;
    socket.write(word);
  }, 2);
  await until('the first words', () => received.length > 100);
  const used = between.find(({ router }) => router.describe().circuits === 1);
  const other = between.find((each) => each !== used);
  await used?.router.close({ drain: 0 });
  await until('the circuit to move to the other router', () => other?.router.describe().circuits === 1);
  const before = received.length;
  await until('more words', () => received.length > before + 500);
  clearInterval(talk);
  await until('the last word', () => received === said);
  socket.destroy();
  t.equal(received, said);
});

t.test('a deleted or disabled router is disconnected at once', async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  const online = async (id: string) => (await overlay.management.edgeRouters.get(id)).isOnline;
  t.ok(await online(b.id));
  await overlay.management.edgeRouters.patch(b.id, { disabled: true });
  await until('b to be offline', async () => !(await online(b.id)));
  await overlay.management.edgeRouters.patch(b.id, { disabled: false });
  await until('b to be online again', () => online(b.id));
  await overlay.management.edgeRouters.delete(b.id);
  await until('the link to close', () => a.router.describe().links.length === 0);
  t.same(await overlay.management.terminators.list(), [], 'its terminators are deleted with it');
});

t.test(
  'circuits that the controller removed while a router was disconnected end soon after it reconnects',
  async (t) => {
    const { overlay, a } = await twoRouters();
    await using _ = overlay;
    const quiet = await talkingClient(a.proxyPort);
    const sending = await talkingClient(a.proxyPort);
    const ends = [ending(quiet), ending(sending)];
    const timer = setInterval(() => sending.write('more'), 100);
    const away = async (disabled: boolean) => overlay.management.edgeRouters.patch(a.id, { disabled });
    await away(true);
    t.equal(a.router.describe().circuits, 2, 'a does not receive the removal');
    await away(false);
    t.same(await Promise.all(ends), ['ECONNRESET', 'ECONNRESET']);
    clearInterval(timer);
    t.equal(a.router.describe().circuits, 0);
  },
);

t.test('ended circuits leave no memory, timers or sockets', async (t) => {
  const { overlay, a, b } = await twoRouters();
  await using _ = overlay;
  const timers = () =>
    [a, b].map(({ router }) => router.describe().timers.filter((name) => name !== 'group dialer').length);
  const many = async (count: number) => {
    for (let left = count; left > 0; left -= 10)
      await Promise.all(Array.from({ length: 10 }, () => transfer(a.proxyPort, 1_000)));
    await until('circuits to end', () => [a, b].every(({ router }) => router.describe().circuits === 0));
  };
  await many(200);
  const before = timers();
  // Compiled code and caches make the heap of a busy process grow once; leaks make it grow in each round.
  let grown = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4 && grown >= MIB; round++) {
    const heap = heapUsed();
    await many(200);
    grown = heapUsed() - heap;
  }
  t.ok(grown < MIB, `the heap grew by ${grown} bytes in 200 circuits`);
  await until('the number of timers to return to the former value', () =>
    timers().every((count, index) => count <= (before[index] ?? 0)),
  );
});

t.test('stopping drains: new clients are rejected, existing ones may finish within a time limit', async (t) => {
  const { overlay, a } = await twoRouters();
  await using _ = overlay;
  const socket = connect(a.proxyPort, '127.0.0.1');
  const received = () => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
  socket.write('one');
  t.equal(await received(), 'one');
  const stopped = a.router.close({ drain: 10_000 });
  await until('the port to be closed', () => refuses(a.proxyPort));
  socket.write('two');
  t.equal(await received(), 'two', 'the open circuit continues');
  socket.end();
  await stopped;
  await until('the last timer to be gone', () => a.router.describe().timers.length === 0);
});

t.test(
  'certificates are renewed at run time: written, confirmed, applied, and the old ones are rejected',
  async (t) => {
    const overlay = await Overlay.start({ churnLimit: 0 });
    await using _ = overlay;
    const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
    const files = ['cert', 'server.cert', 'key'].map((kind) => join(overlay.directory, `a.${kind}`));
    const before = files.map((file) => readFileSync(file, 'utf8'));
    const fingerprint = async () => (await overlay.management.edgeRouters.get(id)).fingerprint;
    const old = await fingerprint();
    const router = await overlay.startRouter(configFile, { extend: true });
    await until('new certificates', () => readFileSync(files[1] ?? '', 'utf8') !== before[1]);
    await until('the controller to confirm them', async () => (await fingerprint()) !== old);
    const after = files.map((file) => readFileSync(file, 'utf8'));
    t.not(after[0], before[0]);
    t.equal(after[2], before[2], 'the key is unchanged');
    const beside = () => readdirSync(overlay.directory).filter((name) => /\.(new|old)$/.test(name));
    await until('temporary files to be removed', () => beside().length === 0);
    await router.close({ drain: 0 });
    const again = await overlay.startRouter(configFile);
    await until(
      'the router to reconnect with them',
      async () => (await overlay.management.edgeRouters.get(id)).isOnline,
    );
    await again.close({ drain: 0 });
    for (const [index, file] of files.slice(0, 2).entries()) writeFileSync(file, before[index] ?? '');
    const outdated = await overlay.startRouter(configFile);
    await new Promise((resolve) => setTimeout(resolve, 500));
    t.notOk((await overlay.management.edgeRouters.get(id)).isOnline, 'the old certificate is rejected');
    await outdated.close({ drain: 0 });
  },
);

t.test('profiles and message traces are written to the configured files, without secrets', async (t) => {
  const overlay = await Overlay.start();
  await using _ = overlay;
  const at = (name: string) => join(overlay.directory, name);
  const extra = {
    trace: { path: at('trace.jsonl') },
    profile: { cpu: { path: at('cpu.cpuprofile') }, memory: { path: at('memory.heapprofile'), intervalMs: 100 } },
  };
  const a = await overlay.addRouter({ name: 'a', mode: 'host', extra });
  await until('the controller to know a', async () => (await overlay.management.edgeRouters.get(a.id)).isOnline);
  await until('a memory profile', () => existsSync(at('memory.heapprofile')));
  await a.router.close({ drain: 0 });
  const lines = readFileSync(at('trace.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const type of ['RouterLinks', 'ServerHello', 'ClientHello', 'DataState'])
    t.ok(
      lines.some((line) => line.type === type),
      type,
    );
  t.ok(
    lines.every(({ headers }) => headers.every((key: unknown) => typeof key === 'number')),
    'keys without values',
  );
  t.ok(JSON.parse(readFileSync(at('cpu.cpuprofile'), 'utf8')).nodes.length > 0);
  t.ok(JSON.parse(readFileSync(at('memory.heapprofile'), 'utf8')).head);
});

t.test(
  'the controller restarts from its data: routers reconnect, open circuits continue and new ones work',
  async (t) => {
    const { mkdtempSync, rmSync } = await import('node:fs');
    const directory = mkdtempSync('/tmp/edgeweave-test-');
    const data = `${directory}/sim.db`;
    const { overlay, a } = await twoRouters({ data });
    const before = overlay.simulator.controllerId;
    const quiet = await talkingClient(a.proxyPort);
    await overlay.simulator.close();
    await overlay.restart({ data });
    await using _ = overlay;
    t.equal(overlay.simulator.controllerId, before);
    await until(
      'routers to be online',
      async () => (await overlay.management.edgeRouters.list()).every(({ isOnline }) => isOnline),
      30_000,
    );
    await until(
      'traffic',
      async () => (await transfer(a.proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB,
      30_000,
    );
    await new Promise((resolve) => setTimeout(resolve, ROUTER_LOOKS));
    const answer = new Promise((resolve) => quiet.once('data', resolve));
    quiet.write('still there');
    t.equal(String(await answer), 'still there', 'a quiet circuit that the new controller does not know');
    quiet.destroy();
    rmSync(directory, { recursive: true, force: true });
  },
);

/** A client with a working circuit. */
async function talkingClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  const answered = new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
  socket.write('hello');
  await answered;
  return socket;
}

/** Bytes of heap after a garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(false)));
    socket.once('error', () => resolve(true));
  });
}

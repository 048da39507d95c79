// Faults of connections: proxies of the lab, links between routers, and clients of the routers.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import type { NewFault } from '../../controller-sim/lab/faults/fault.ts';
import { startNetwork, startSimulator } from '../../entry/sim.ts';
import { EchoServer } from '../../examples/two-routers/transfer.ts';
import { until } from '../support/until.ts';

const KIB = 1024;

/** Collects the bytes of a socket, and its end: `end`, `reset`, or undefined while it is open. */
class Received {
  readonly socket: Socket;
  readonly chunks: Buffer[] = [];
  end: 'end' | 'reset' | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.chunks.push(chunk));
    socket.on('end', () => {
      this.end ??= 'end';
    });
    socket.on('error', () => {
      this.end = 'reset';
    });
  }

  get bytes(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

/** A server that returns what it receives, behind a proxy of a simulator. */
async function proxied() {
  const simulator = await startSimulator();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(new Received(socket));
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  const accepted: Received[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { faults, proxies } = simulator.lab;
  const proxy = await proxies.open({ name: 'db', to: `127.0.0.1:${port}` });
  const dial = async () => {
    const socket = connect(proxy.port, proxy.host);
    const received = new Received(socket);
    await once(socket, 'connect');
    return received;
  };
  return {
    simulator,
    faults,
    proxies,
    proxy,
    port,
    accepted,
    dial,
    add: (effects: object) => faults.add({ kind: 'proxy', proxy: 'db', ...effects } as NewFault),
    [Symbol.asyncDispose]: async () => {
      await simulator.close();
      server.close();
    },
  };
}

t.test('bytes and ends pass a proxy unchanged; names, targets and unknown proxies', async (t) => {
  await using net = await proxied();
  const client = await net.dial();
  const sent = Buffer.alloc(3 * KIB * KIB, 'x');
  client.socket.end(sent);
  await until('the end', () => client.end === 'end');
  t.ok(Buffer.concat(client.chunks).equals(sent));
  await until('no connection', () => net.proxies.list()[0]?.connections === 0);
  t.match(net.proxies.list(), [{ name: 'db', to: `127.0.0.1:${net.port}` }]);
  await t.rejects(net.proxies.open({ name: 'db', to: 'a:1' }), { code: 'INVALID', message: /exists/ });
  await t.rejects(net.proxies.open({ name: 'x', to: 'nowhere' }), { code: 'INVALID', message: /host:port/ });
  await t.rejects(net.proxies.open({ name: 'x', to: 'a:1', port: net.proxy.port }), { message: /cannot be used/ });
  await t.rejects(net.proxies.remove('bd'), { code: 'NOT_FOUND', message: /did you mean db|known/ });
  await net.proxies.remove('db');
  t.same(net.proxies.list(), []);
});

t.test('proxies are open to other machines only if that is asked for', async (t) => {
  const table: [options: { readonly host?: string; readonly proxyHost?: string }, host: string][] = [
    [{}, '127.0.0.1'],
    [{ host: '0.0.0.0' }, '127.0.0.1'],
    [{ host: '0.0.0.0', proxyHost: '0.0.0.0' }, '0.0.0.0'],
    [{ host: '127.0.0.1', proxyHost: '::1' }, '::1'],
  ];
  for (const [options, host] of table) {
    await using simulator = await startSimulator({ ...options, proxyRouters: true });
    t.equal((await simulator.lab.proxies.open({ name: 'p', to: '127.0.0.1:1' })).host, host, JSON.stringify(options));
  }
  await t.rejects(startSimulator({ proxyTargets: ['10.0.0.1'] }), /only proxies in front of routers have targets/);
});

t.test('latency, jitter, bandwidth and slices delay bytes, and keep their order', async (t) => {
  await using net = await proxied();
  const sent = Buffer.from(Array.from({ length: 2_000 }, (_, index) => index % 251));
  for (const effects of [
    { latency: 30, jitter: 20 },
    { slice: 100, sliceDelay: 2 },
    { bandwidth: 20_000 },
    { closeDelay: 50 },
  ]) {
    using _fault = net.add(effects);
    const start = performance.now();
    const client = await net.dial();
    for (let at = 0; at < sent.length; at += 400) client.socket.write(sent.subarray(at, at + 400));
    client.socket.end();
    await until('all bytes', () => client.end === 'end');
    t.ok(Buffer.concat(client.chunks).equals(sent), JSON.stringify(effects));
    t.ok(performance.now() - start >= 15, 'not at once');
  }
});

t.test('a stall ends with its fault; a limit closes; a cut resets', async (t) => {
  await using net = await proxied();
  const client = await net.dial();
  client.socket.write('before ');
  await until('an answer', () => client.text === 'before ');
  const stall = net.add({ stall: true, direction: 'up' });
  client.socket.write('stalled');
  await until('the hit', () => net.faults.list()[0]?.hits === 1);
  t.equal(net.accepted[0]?.text, 'before ');
  net.faults.remove(stall.id);
  await until('the rest', () => client.text === 'before stalled');

  const limit = net.add({ limit: 5, direction: 'down' });
  const limited = await net.dial();
  limited.socket.write('0123456789');
  await until('the end', () => limited.end !== undefined);
  t.equal(limited.text, '01234');
  net.faults.remove(limit.id);

  net.add({ cut: true });
  await until('a reset', () => client.end === 'reset');
  const cut = connect(net.proxy.port, net.proxy.host);
  const further = new Received(cut);
  await until('a reset of a new connection', () => further.end !== undefined || cut.destroyed);
  net.faults.clear();
  const back = await net.dial();
  back.socket.write('back');
  await until('an answer', () => back.text === 'back');
  back.socket.destroy();
});

t.test('half-open: one side is gone, and the other does not learn of it', async (t) => {
  await using net = await proxied();
  const client = await net.dial();
  client.socket.write('one');
  await until('an answer', () => client.text === 'one');
  net.add({ halfOpen: true });
  await until('the end at the server', () => net.accepted[0]?.end !== undefined);
  client.socket.write('lost');
  const other = await net.dial();
  other.socket.write('lost, too');
  await until('the hit', () => net.faults.list()[0]?.hits === 2);
  t.equal(client.end, undefined);
  t.equal(other.end, undefined);
  t.equal(client.text, 'one');
  client.socket.destroy();
  other.socket.destroy();
});

t.test('links of a network: cut and back again, slow, for one pair', { timeout: 60_000 }, async (t) => {
  using echo = await EchoServer.start();
  await using network = await startNetwork({ routers: 3 });
  const { lab } = network;
  const peers = (name: string) =>
    network
      .router(name)
      .router.describe()
      .links.map(({ peerId }) => network.routers.find(({ id }) => id === peerId)?.name)
      .sort()
      .join();
  t.match(
    new Set(lab.proxies.list().map(({ name }) => name.split(':')[0])),
    new Set(['link', 'sdk']),
    'each router has proxies',
  );
  await network.service('echo', { host: 'b', port: echo.port });
  const { id } = lab.faults.add({ kind: 'link', router: 'a', peer: 'b', cut: true });
  await until('the link is gone', () => peers('a') === 'c');
  t.equal(peers('c'), 'a,b', 'the others stay');
  const around = await network.dial('echo', { from: 'a' });
  const received = new Received(around);
  around.end('around');
  await until('an answer over c', () => received.text === 'around');
  lab.faults.remove(id);
  await until('the link is back', () => peers('a') === 'b,c');

  const slow = lab.faults.add({ kind: 'link', latency: '50ms' });
  const start = performance.now();
  const late = new Received(await network.dial('echo', { from: 'a' }));
  late.socket.end('late');
  await until('a late answer', () => late.text === 'late');
  t.ok(performance.now() - start >= 50, 'at least one way');
  t.ok((lab.faults.list()[0]?.hits ?? 0) > 0);
  lab.faults.remove(slow.id);
  t.throws(() => lab.faults.add({ kind: 'link', router: 'd', cut: true }), /no router of a test network d/);
});

t.test('the controller tells SDK clients the proxy of a router', async (t) => {
  await using network = await startNetwork({ routers: 1 });
  const { lab, simulator } = network;
  const { port } = lab.proxies.list().find(({ name }) => name === 'sdk:a') ?? { port: 0 };
  await until('its address', async () => {
    const [router] = await simulator.admin.edgeRouters.list();
    return router?.supportedProtocols?.tls === `tls://127.0.0.1:${port}`;
  });
  t.equal(network.router('a').edgeAddress.port, port);
});

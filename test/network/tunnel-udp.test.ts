// UDP through whole networks: proxied ports, hosted services, forwarding rules, and cleanup.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import t from 'tap';
import type { TunnelOptions } from '../support/config/link-config.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay, type ServiceSetup, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** A UDP server on the loopback interface that echoes every datagram. */
async function udpEcho(): Promise<{ port: number; sources: Set<string>; [Symbol.dispose](): void }> {
  const socket = createSocket('udp4');
  const sources = new Set<string>();
  socket.on('message', (data, { address, port }) => {
    sources.add(`${address}:${port}`);
    socket.send(data, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, sources, [Symbol.dispose]: () => socket.close() };
}

class UdpClient {
  readonly socket: Socket = createSocket('udp4');
  readonly received: Buffer[] = [];
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
    this.socket.on('message', (data) => this.received.push(data));
  }

  send(data: Buffer | string): void {
    this.socket.send(data, this.#port, '127.0.0.1');
  }

  /** Repeats the datagram until an answer arrives: the first ones may be lost while the network starts. */
  async ask(data: Buffer | string, milliseconds = 10_000): Promise<Buffer> {
    const before = this.received.length;
    this.send(data);
    await until('an answer', () => this.received.length > before, milliseconds);
    return this.received[before] as Buffer;
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}

async function udpNetwork(setup: ServiceSetup, tunnel: TunnelOptions = {}) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    services: ['echo:0:udp'],
    tunnel,
  });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', tunnel });
  await overlay.addService('echo', b.id, setup);
  await overlay.ready();
  return { overlay, a, b, port: a.proxyPort };
}

function udpSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'UDPWrap').length;
}

function ends(...routers: Pick<TestRouter, 'router'>[]): number {
  return routers.reduce((sum, { router }) => sum + router.describe().circuitEnds, 0);
}

t.test('datagrams keep their boundaries and their sources, encrypted and plain', async (t) => {
  for (const encrypted of [true, false]) {
    using echo = await udpEcho();
    const { overlay, port, a, b } = await udpNetwork({
      encrypted,
      host: { protocol: 'udp', address: '127.0.0.1', port: echo.port },
    });
    await using _ = overlay;
    using one = new UdpClient(port);
    using two = new UdpClient(port);
    t.equal(String(await one.ask('hello')), 'hello');
    t.equal(String(await two.ask('other')), 'other');
    t.equal(echo.sources.size, 2, 'one session for each source');
    for (const size of [1, 1_472, 9_000, 60_000]) {
      const data = Buffer.alloc(size, size % 251);
      t.ok(data.equals(await one.ask(data)), `${size} bytes`);
    }
    one.send('');
    const before = one.received.length;
    one.send('after an empty one');
    await until('the answer after the empty one', () => String(one.received.slice(before)).includes('after an'));
    t.equal(ends(a, b), 4);
    t.same(a.router.describe().proxies, [{ service: 'echo', port, protocol: 'udp' }]);
  }
});

t.test('idle sessions end on both routers without leftovers, and a returning source gets a new one', async (t) => {
  using echo = await udpEcho();
  const { overlay, port, a, b } = await udpNetwork(
    { host: { protocol: 'udp', address: '127.0.0.1', port: echo.port } },
    { udpIdleTimeout: '5s', udpCheckInterval: '1s' },
  );
  await using _ = overlay;
  using client = new UdpClient(port);
  const round = async (count: number) => {
    await client.ask('hello');
    const clients = Array.from({ length: count }, () => new UdpClient(port));
    // All of them at once would overflow the receive buffer of the port.
    for (let n = 0; n < count; n += 50)
      await Promise.all(clients.slice(n, n + 50).map((each) => each.ask(Buffer.alloc(1_000))));
    t.equal(ends(a, b), 2 * count + 2);
    for (const each of clients) each[Symbol.dispose]();
    await until('the sessions to end', () => ends(a, b) === 0);
    t.equal(a.router.describe().circuits, 0);
  };
  await round(100);
  const [before, sockets] = [holdings(), udpSockets()];
  await round(200);
  const left = await leftSince(before);
  t.ok(left.memory < 4 * 1024 * 1024, `${left.memory} bytes`);
  t.equal(left.timers, 0);
  t.ok(udpSockets() <= sockets);
  t.equal(String(await client.ask('again')), 'again');
});

t.test('the port of a proxy.v1 service moves to its successor, also while a session is open', async (t) => {
  using echo = await udpEcho();
  const host = { protocol: 'udp', address: '127.0.0.1', port: echo.port };
  const { overlay, a, b } = await udpNetwork({ host });
  await using _ = overlay;
  const [port = 0] = await fixedPorts(1);
  const proxy = { port, protocols: ['udp'], binding: '127.0.0.1' };
  const id = await overlay.addService('first', b.id, { host, configs: { 'proxy.v1': proxy } });
  const proxied = () => a.router.describe().proxies.map(({ service }) => service);
  await until('the port', () => proxied().includes('first'));
  await until('its terminator', async () => (await overlay.management.terminators.list()).length === 2);
  using client = new UdpClient(port);
  t.equal(String(await client.ask('hello')), 'hello');
  await overlay.management.services.patch(id, { name: 'second' });
  await until('its successor', () => proxied().includes('second'));
  using other = new UdpClient(port);
  t.equal(String(await other.ask('hello again')), 'hello again');
});

t.test('an unreachable service ends the session, and the next datagram tries again', async (t) => {
  // Nobody listens there at first.
  const [nobody = 0] = await fixedPorts(1);
  const { overlay, port, a, b } = await udpNetwork({ host: { protocol: 'udp', address: '127.0.0.1', port: nobody } });
  await using _ = overlay;
  using client = new UdpClient(port);
  client.send('is anybody there');
  await new Promise((resolve) => setTimeout(resolve, 300));
  await until('the end of the circuit', () => ends(a, b) === 0 && a.router.describe().circuits === 0);
  t.same(client.received, []);
  const late = createSocket('udp4').bind(nobody, '127.0.0.1');
  late.on('message', (data, source) => late.send(data, source.port, source.address));
  t.equal(String(await client.ask('now there is')), 'now there is');
  late.close();
});

t.test('a flood of datagrams and of sources stays within limits', async (t) => {
  using echo = await udpEcho();
  const { overlay, port, a, b } = await udpNetwork({
    host: { protocol: 'udp', address: '127.0.0.1', port: echo.port },
  });
  await using _ = overlay;
  using steady = new UdpClient(port);
  await steady.ask('first');
  const before = udpSockets();
  const flood = Array.from({ length: 200 }, () => new UdpClient(port));
  for (const client of flood) for (let n = 0; n < 50; n++) client.send(Buffer.alloc(1_000, n));
  t.equal(String(await steady.ask('between')).length > 0, true);
  await until('answers', () => flood.some(({ received }) => received.length > 0));
  for (const client of flood) client[Symbol.dispose]();
  await overlay.management.services.delete((await overlay.management.services.list())[0]?.id ?? '');
  await until('all circuits to end', () => ends(a, b) === 0);
  await until('sockets to be closed', () => udpSockets() <= before);
  for (const { router } of [a, b]) t.notOk(router.describe().timers.includes('idle UDP sessions'));
});

t.test('host.v1 decides which protocols, addresses, ports and sources are forwarded', async (t) => {
  using echo = await udpEcho();
  const { overlay, port, a, b } = await udpNetwork({
    host: {
      forwardProtocol: true,
      allowedProtocols: ['udp'],
      address: '127.0.0.1',
      port: echo.port,
    },
  });
  await using _ = overlay;
  using client = new UdpClient(port);
  t.equal(String(await client.ask('forwarded')), 'forwarded');
  const [config] = await overlay.management.configs.list({ filter: 'name = "echo-host.v1"' });
  await overlay.management.configs.patch(config?.id ?? '', {
    data: { forwardProtocol: true, allowedProtocols: ['tcp'], address: '127.0.0.1', port: echo.port },
  });
  using other = new UdpClient(port);
  const before = echo.sources.size;
  await until('the change', async () => {
    using probe = new UdpClient(port);
    return probe.ask('probe', 300).then(
      () => false,
      () => true,
    );
  });
  const sources = echo.sources.size;
  other.send('not allowed');
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.same(other.received, []);
  t.equal(echo.sources.size, sources);
  t.ok(sources >= before);
  t.ok(ends(a, b) >= 2, 'the first session continues');
});

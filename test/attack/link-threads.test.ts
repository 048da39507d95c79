// Threads carry the further connections of links, which a router recognizes by the address of the other one. Strangers
// at that address reach the threads, too: they end nothing, and keep no places. A router that stops leaves nothing.

import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { seededRandom } from '#lib/random.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { dialing, listening } from '../support/config/link-config.ts';
import { hello, helloWithBrokenHeaders, open, untilClosed } from '../support/hostile/attacker.ts';
import { clientHello, inParts } from '../support/hostile/client-hello.ts';
import { expensiveChain } from '../support/hostile/expensive-chain.ts';
import { openSockets } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PROGRAM = new URL('../../agent/assembly/io-thread.ts', import.meta.url);
const HOST = '127.0.0.1';
const THREADS = 2;
/** Connections of a grown link, and those of them that threads carry, at both ends. */
const CONNECTIONS = 4;
const IN_THREADS = 3;
/** Connections of strangers of each kind, and in a flood: more than threads carry. */
const MANY = RELEASE ? 60 : 12;
const FLOOD = RELEASE ? 1_000 : 250;
const options = { skip: whyNoSystemLibrary() ?? false };

/** Router a dials a link to router b, which has an own context. */
async function network(t: Test) {
  const clock = new SystemClock();
  const threads = new IoThreads({ count: THREADS, program: PROGRAM, clock, log: silentLog });
  const io = new IoContext({ clock, threads });
  const overlay = await Overlay.start({ churnLimit: 0 });
  t.teardown(async () => {
    await overlay.close();
    await threads.close();
  });
  const tls = { handshakeTimeout: '1500ms' };
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: listening(), extra: { tls } }, { io });
  await overlay.addService('echo', b.id);
  const addDialer = (name: string) => {
    const link = dialing({ startupDelay: '0s' });
    return overlay.addRouter({ name, mode: 'proxy', link, extra: { runtime: { threads: THREADS } } });
  };
  return { overlay, b, io, threads, addDialer };
}

function carried({ router }: TestRouter): number {
  return router.describe().threads.reduce((sum, { connections }) => sum + connections, 0);
}

async function grown(...routers: readonly TestRouter[]): Promise<void> {
  await until('all connections of the link', () =>
    routers.every(({ router }) => router.describe().links[0]?.connections.length === CONNECTIONS),
  );
}

/** A TCP connection; it notes nothing but its end. */
async function tcp(port: number): Promise<Socket> {
  const socket = connectTcp({ host: HOST, port });
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket.setNoDelay();
}

function closed(socket: Socket): Promise<unknown> {
  return socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve));
}

/** The acts of a stranger; resolves when the router has closed its connection. */
type Stranger = (port: number) => Promise<unknown>;

function strangers(first: Buffer): Readonly<Record<string, Stranger>> {
  const random = seededRandom(20_261_128);
  const target = (port: number) => ({ port, alpn: Alpn.Link });
  const overTls = (bytes: () => Buffer, credentials?: { cert: string | Buffer; key: string | Buffer }) => {
    return async (port: number) => {
      const socket = await open(target(port), credentials);
      socket.on('error', () => undefined);
      socket.write(bytes());
      return untilClosed(socket);
    };
  };
  const overTcp = (...parts: (() => Buffer)[]) => {
    return async (port: number) => {
      const socket = await tcp(port);
      for (const part of parts) {
        socket.write(part());
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return closed(socket);
    };
  };
  const garbage = () => Buffer.from(random.bytes(3_000));
  const chain = expensiveChain({ authorities: 5, bits: 2_048 });
  return {
    'no certificate': overTls(() => hello('link')),
    'a certificate of nobody': overTls(() => hello('link'), chain),
    'a broken hello': overTls(helloWithBrokenHeaders, chain),
    'garbage inside TLS': overTls(garbage),
    'garbage instead of TLS': overTcp(garbage),
    'garbage in a TLS record': overTcp(() => Buffer.concat([Buffer.from('160301', 'hex'), garbage()])),
    'garbage after the first message': overTcp(() => first, garbage),
    'a handshake that is never finished': overTcp(() => first),
    'a first message that is never finished': overTcp(() => first.subarray(0, 700)),
    'a first message in many parts, and nothing more': overTcp(
      ...Array.from({ length: 10 }, (_none, index) => () => first.subarray(index * 150, (index + 1) * 150)),
    ),
    'an end after half of the first message': async (port) => {
      const socket = await tcp(port);
      socket.end(first.subarray(0, 700));
      return closed(socket);
    },
    'a reset in the handshake': async (port) => {
      const socket = await tcp(port);
      socket.write(first, () => resetSocket(socket));
      return closed(socket);
    },
  };
}

t.test('strangers from the address of a router end nothing, and keep no places', options, async (t) => {
  const { b, io, addDialer } = await network(t);
  const a = await addDialer('a');
  await grown(a, b);
  t.equal((await transfer(a.proxyPort, MIB)).bytes, MIB);
  await until('the end of the circuit', () => [a, b].every(({ router }) => router.describe().circuitEnds === 0));
  await until('the connections of the link in threads', () => carried(b) === IN_THREADS && carried(a) === IN_THREADS);
  const state = () => ({ counted: io.clientSockets.open, carried: carried(b), links: b.router.describe().links });
  const before = state();
  const first = await clientHello(Alpn.Link);
  for (const [name, stranger] of Object.entries(strangers(first))) {
    const all = Promise.all(Array.from({ length: MANY }, () => stranger(b.linkPort)));
    const { sha256Sent, sha256Received } = await transfer(a.proxyPort, 300 * KIB);
    t.equal(sha256Received, sha256Sent, `${name}: others are served`);
    await all;
    await until(`${name}: free places`, () => state().counted === before.counted && carried(b) === before.carried);
    t.same(state(), before, name);
  }
});

t.test('a flood of handshakes from the address of a router keeps no places', options, async (t) => {
  const { b, io, threads, addDialer } = await network(t);
  const a = await addDialer('a');
  await grown(a, b);
  await until('the connections of the link in threads', () => carried(b) === IN_THREADS && carried(a) === IN_THREADS);
  const { open: counted } = io.clientSockets;
  const { links } = b.router.describe();
  const ever = () => threads.inspect().reduce((sum, each) => sum + each.carried, 0);
  const carriedBefore = ever();
  const first = await clientHello(Alpn.Link);
  const flood = await Promise.all(Array.from({ length: FLOOD }, () => tcp(b.linkPort)));
  for (const socket of flood) socket.write(first);
  const { sha256Sent, sha256Received } = await transfer(a.proxyPort, 4 * MIB);
  t.equal(sha256Received, sha256Sent);
  await Promise.all(flood.map(closed));
  t.ok(ever() > carriedBefore, 'threads performed handshakes');
  await until('free places', () => io.clientSockets.open === counted && carried(b) === IN_THREADS);
  t.same(b.router.describe().links, links);
  const other = await addDialer('other');
  await grown(other);
  t.equal((await transfer(other.proxyPort, MIB)).bytes, MIB, 'another router at the address');
});

t.test('a thread performs the handshake of a client whose first message comes in several parts', options, async (t) => {
  const { b, threads, addDialer } = await network(t);
  const a = await addDialer('a');
  await grown(a, b);
  await until('the connections of the link in threads', () => carried(b) === IN_THREADS);
  const ever = () => threads.inspect().reduce((sum, each) => sum + each.carried, 0);
  for (const parts of [2, 5]) {
    const before = ever();
    const stream = inParts(await tcp(b.linkPort), parts);
    const socket = connectTls({ socket: stream, ALPNProtocols: [Alpn.Link], rejectUnauthorized: false });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    t.equal(socket.alpnProtocol, Alpn.Link);
    t.equal(ever(), before + 1, `${parts} parts`);
    socket.destroy();
  }
});

for (const [name, drain] of Object.entries({ closes: 0, 'drains and closes': 5_000 }))
  t.test(`a router that ${name} with a link in threads leaves nothing`, options, async (t) => {
    const { b, io, addDialer } = await network(t);
    await until('the router to be ready', () => b.router.describe().terminators.length > 0);
    const before = { sockets: openSockets(), counted: io.clientSockets.open, carried: carried(b) };
    const a = await addDialer('a');
    await grown(a, b);
    await until('the connections of the link in threads', () => carried(b) === IN_THREADS && carried(a) === IN_THREADS);
    const bytes = drain > 0 ? 4 * MIB : 512 * MIB;
    const { proxyPort } = a;
    const running = transfer(proxyPort, bytes).then(
      (done) => done.sha256Received === done.sha256Sent,
      () => false,
    );
    await until('bytes', () => a.router.describe().circuits > 0 && [...a.router.circuitBytes().values()].length > 0);
    await a.router.close({ drain });
    t.equal(await running, drain > 0, 'the transfer is complete only after a drain');
    t.same(a.router.describe().threads, []);
    const state = () => ({ sockets: openSockets(), counted: io.clientSockets.open, carried: carried(b) });
    await until('its connections to be closed', () => JSON.stringify(state()) === JSON.stringify(before));
  });

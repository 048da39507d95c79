// Bytes of a TLS connection below its data: changes of keys, records that are nearly all padding, renegotiation. Each
// costs time, and no message shows them. The connection is closed, and others go on.

import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import t from 'tap';
import WebSocket, { createWebSocketStream } from 'ws';
import { IoContext } from '#lib/net/io-context.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { edgeListener, linkListener, webServer } from '../support/config/link-config.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { openRecords, recordsOver } from '../support/hostile/tls-records.ts';
import { Overlay } from '../support/networks/overlay.ts';

const HTTP = 'http/1.1';
const REQUEST = 'GET /x HTTP/1.1\r\nhost: x\r\n\r\n';
const UPGRADE =
  'GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
/** Changes of keys that a client may make, and more than that. */
const SOME = 16;
const MANY = 1_000;
/** Bytes of a record that is nearly all padding. */
const PADDING = 16_000;
/** The OFFENCE of an earlier test must not delay a later one, so each has a source of its own. */
let sources = 1;
const source = () => `127.0.1.${++sources}`;

async function network() {
  const io = new IoContext({ clock: new SystemClock() });
  const overlay = await Overlay.start({ churnLimit: 0 }, io);
  const { ports: opened } = await overlay.addRouter(
    {
      name: 'a',
      mode: 'host',
      link: { listeners: [linkListener()], dialers: [{ binding: 'transport' }] },
      listeners: [edgeListener(), edgeListener(0, 'wss')],
      extra: { web: [webServer(0, 'health-checks')] },
    },
    { io },
  );
  const {
    link: [link = 0],
    sdk: [edge = 0, websocket = 0],
    web: [web = 0],
  } = opened;
  const control = Number(overlay.simulator.controlAddress.split(':').at(-1));
  const ports = {
    link: { port: link, alpn: Alpn.Link },
    edge: { port: edge, alpn: Alpn.Edge },
    websocket: { port: websocket, alpn: HTTP },
    web: { port: web, alpn: HTTP },
    control: { port: control, alpn: Alpn.Control },
    API: { port: control, alpn: HTTP },
  };
  const { unauthenticatedCpu } = io; // of both programs
  return { ports, unauthenticatedCpu, [Symbol.asyncDispose]: () => overlay.close() };
}

/** Resolves when a connection is closed, with or without an error. */
async function closed(socket: Duplex): Promise<void> {
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
}

t.test('a client that changes its keys without end is disconnected, at every port', async (t) => {
  await using all = await network();
  const before = holdings();
  for (const [name, target] of Object.entries(all.ports)) {
    const localAddress = source();
    const client = await openRecords({ ...target, localAddress });
    client.network.write(client.records.keyUpdates(MANY));
    await closed(client.network);
    t.ok(all.unauthenticatedCpu.usedBy(localAddress) > 500, `${name}, and its source rests`);
  }
  const { sockets } = await leftSince(before);
  t.ok(sockets <= 40, `${sockets} sockets remain`);
});

t.test('a few changes of keys do not disturb a client', async (t) => {
  await using all = await network();
  const client = await openRecords({ ...all.ports.API, localAddress: source() });
  client.network.write(client.records.keyUpdates(SOME));
  client.network.write(client.records.data(Buffer.from(REQUEST)));
  const [answer] = (await once(client.socket, 'data')) as [Buffer];
  t.match(answer.toString(), /^HTTP\/1\.1 404/);
  client.network.write(client.records.keyUpdates(MANY));
  await closed(client.network);
});

t.test('changes of keys inside a WebSocket close it', async (t) => {
  await using all = await network();
  const { port } = all.ports.websocket;
  const localAddress = source();
  const webSocket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { rejectUnauthorized: false, localAddress });
  webSocket.on('error', () => undefined);
  await once(webSocket, 'open');
  const stream = createWebSocketStream(webSocket).on('error', () => undefined);
  const inner = await recordsOver(stream, {});
  const end = once(webSocket, 'close');
  stream.write(inner.records.keyUpdates(MANY));
  await end;
  t.ok(all.unauthenticatedCpu.usedBy(localAddress) > 500);
});

t.test(
  'a stranger whose records are nearly all padding is disconnected',
  { skip: whyNoSystemLibrary() ?? false },
  async (t) => {
    await using all = await network();
    for (const [name, target] of Object.entries(all.ports)) {
      const client = await openRecords({ ...target, localAddress: source() });
      for (let count = 0; count < 20; count++) client.network.write(client.records.data(Buffer.alloc(1), PADDING));
      await closed(client.network);
      t.pass(name);
    }
  },
);

t.test('a client cannot renegotiate TLS', async (t) => {
  await using all = await network();
  const socket = connect({ host: '127.0.0.1', ...all.ports.API, maxVersion: 'TLSv1.2', rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.renegotiate({ rejectUnauthorized: false }, () => undefined);
  await closed(socket.resume());
  t.pass('closed');
});

t.test('what follows the handshake waits for its turn, too', { skip: whyNoSystemLibrary() ?? false }, async (t) => {
  await using all = await network();
  const { port } = all.ports.websocket;
  const open = async (localAddress: string) => {
    const options = { host: '127.0.0.1', port, localAddress, rejectUnauthorized: false, ALPNProtocols: [HTTP] };
    const socket = connect(options);
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  const [attacker, other] = [source(), source()];
  const [waiting, served] = [await open(attacker), await open(other)];
  all.unauthenticatedCpu.punish({ remoteAddress: attacker });
  let answers = 0;
  waiting.on('data', () => answers++).write(UPGRADE);
  served.write(UPGRADE);
  const [answer] = (await once(served, 'data')) as [Buffer];
  t.match(answer.toString(), /^HTTP\/1\.1 101/);
  t.equal(answers, 0, 'the upgrade of a source that has used its time waits');
  for (const socket of [waiting, served]) socket.destroy();
});

t.test('a handshake does not begin with more bytes than its first message has', async (t) => {
  await using all = await network();
  const socket: Socket = connectTcp({ host: '127.0.0.1', port: all.ports.link.port });
  socket.on('error', () => undefined).write(Buffer.alloc(1024 * 1024, 22));
  await closed(socket.resume());
  t.pass('closed');
});

// Attacks on WebSockets below their messages: broken upgrades and frames, floods of frames without data, messages in
// thousands of parts, messages that never end. Each connection is closed, others continue, and nothing remains.

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import WebSocket, { createWebSocketStream } from 'ws';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ManagementClient } from '../support/clients/management-client.ts';
import { enrollDevice, loginLegacy, SdkClient } from '../support/clients/sdk-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { untilClosed } from '../support/hostile/attacker.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Sockets that the network itself may open meanwhile: groups of links and control channels grow after the start. */
const OWN_SOCKETS = 40;
/** Connections of one attack. */
const MANY = 20;
/** The same of floods, each of which ends with its connection. */
const FLOODS = RELEASE ? MANY : 2;
/** Seconds for the inner handshake: longer than the test, so that only the limits of frames end a connection. */
const PATIENT = 300;
const HEAD = { Continuation: 0x00, Text: 0x01, Binary: 0x02, Close: 0x08, Ping: 0x09, Pong: 0x0a } as const;
const FIN = 0x80;
const RESERVED = 0x70;

/** A frame as clients send it, masked with zeros. `length` may claim more bytes than there are. */
function frame(head: number, data: Buffer = Buffer.alloc(0), length = data.length): Buffer {
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  const start = length < 126 ? [head, FIN | length] : [head, FIN | 127, ...long];
  return Buffer.concat([Buffer.from(start), Buffer.alloc(4), data]);
}

const repeat = (count: number, bytes: Buffer) => Buffer.concat(Array.from({ length: count }, () => bytes));

function upgrade(fields: Readonly<Record<string, string>> = {}, line = 'GET /ws HTTP/1.1'): string {
  const all = {
    host: 'x',
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
  };
  return `${[line, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;
}

/** A router with a listener for browsers. */
async function network() {
  const io = new IoContext({ clock: new SystemClock() });
  const overlay = await Overlay.start({ churnLimit: 0 }, io);
  const { router, sdkPort: port } = await overlay.addRouter(
    {
      name: 'a',
      mode: 'host',
      listeners: [edgeListener(0, 'wss')],
      extra: { transport: { wss: { handshakeTimeout: PATIENT, readTimeout: 1 } } },
    },
    { io },
  );
  const { unauthenticatedCpu } = io;
  return { overlay, port, router, unauthenticatedCpu, [Symbol.asyncDispose]: () => overlay.close() };
}

async function open(port: number, localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const at = { host: '127.0.0.1', port, localAddress };
  const socket = connect({ ...at, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined); // the router may reset the connection while the client writes
  return socket;
}

async function openWebSocket(port: number): Promise<TLSSocket> {
  const socket = await open(port);
  socket.write(upgrade());
  await once(socket, 'data');
  return socket.resume();
}

/** Writes `bytes` again and again until the connection is closed. */
function flood(socket: TLSSocket, bytes: Buffer): Promise<unknown> {
  const fill = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on('drain', fill);
  fill();
  return untilClosed(socket);
}

t.test('an upgrade waits while the source of its client rests, whether it will be rejected or not', async (t) => {
  await using all = await network();
  const lines = ['GET /ws HTTP/1.1', 'GET /other HTTP/1.1', 'GET //[:: HTTP/1.1'];
  const localAddress = '127.0.0.9';
  const sockets = await Promise.all(lines.map(() => open(all.port, localAddress)));
  let answers = 0;
  for (const socket of sockets) socket.once('data', () => void answers++);
  all.unauthenticatedCpu.punish({ remoteAddress: localAddress });
  for (const [index, line] of lines.entries()) sockets[index]?.write(upgrade({}, line));
  const other = await openWebSocket(all.port);
  await until('the upgrades to wait', () => all.unauthenticatedCpu.waiting === lines.length);
  t.equal(answers, 0);
  for (const socket of [...sockets, other]) socket.destroy();
  await until('nothing to wait', () => all.unauthenticatedCpu.waiting === 0);
});

t.test('broken upgrades are answered with an error or closed', async (t) => {
  await using all = await network();
  const before = holdings();
  const broken: [status: RegExp, text: string][] = [
    [/ 400 /, upgrade({ 'sec-websocket-version': '99' })],
    [/ 400 /, upgrade({ 'sec-websocket-key': 'short' })],
    [/ 400 /, upgrade({ upgrade: 'h2c' })],
    [/ 405 /, upgrade({}, 'POST /ws HTTP/1.1')],
    [/ 404 /, upgrade({}, 'GET //[:: HTTP/1.1')],
    [/ 400 /, upgrade({ 'sec-websocket-protocol': ',,' })],
    [/ 431 /, upgrade({ filler: 'x'.repeat(20_000) })],
    [/^$/, 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
    [/ 101 /, `${upgrade()}${upgrade()}`],
    [/^$/, upgrade().slice(0, 100)],
  ];
  for (const [status, text] of broken) {
    const socket = await open(all.port);
    socket.write(text);
    const [line = ''] = (await untilClosed(socket)).toString('latin1').split('\r\n');
    t.match(line, status, JSON.stringify(text.slice(0, 40)));
  }
  for (let count = 0; count < MANY; count++) {
    const socket = await open(all.port);
    socket.write(upgrade({}, count % 2 === 0 ? 'GET /ws HTTP/1.1' : 'GET /other HTTP/1.1'));
    setImmediate(() => socket.destroy());
  }
  const left = await leftSince(before);
  t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
  t.ok(left.memory < 8 * MIB, `${left.memory} bytes`);
});

t.test('broken frames close the connection', async (t) => {
  await using all = await network();
  const five = Buffer.alloc(5);
  const broken = {
    'without a mask': Buffer.from([FIN | HEAD.Binary, 5, ...five]),
    'reserved bits': frame(FIN | RESERVED | HEAD.Binary, five),
    'an unknown kind': frame(FIN | 0x03),
    'a continuation of nothing': frame(FIN | HEAD.Continuation, five),
    'two starts': Buffer.concat([frame(HEAD.Binary, five), frame(FIN | HEAD.Binary, five)]),
    'a huge frame': frame(FIN | HEAD.Binary, five, 2 ** 40),
    'an impossible length': frame(FIN | HEAD.Binary, five, 2 ** 62),
    'a long ping': frame(FIN | HEAD.Ping, five, 200),
    'a ping in parts': frame(HEAD.Ping, five),
    'an invalid close': frame(FIN | HEAD.Close, Buffer.alloc(2, 1)),
    'invalid text': frame(FIN | HEAD.Text, Buffer.alloc(5, 0xff)),
    'text instead of TLS': frame(FIN | HEAD.Text, Buffer.from('hello, router')),
  };
  for (const [what, bytes] of Object.entries(broken)) {
    const socket = await openWebSocket(all.port);
    socket.write(bytes);
    await untilClosed(socket);
    t.pass(what);
  }
});

t.test('frames without data, and messages in too many parts, close the connection', async (t) => {
  await using all = await network();
  const { overlay, port } = all;
  const record = Buffer.from('1603014000', 'hex'); // the head of a TLS record of 16 KiB
  const floods: Record<string, (socket: TLSSocket) => Promise<unknown>> = {
    'empty messages': (socket) => flood(socket, repeat(1_000, frame(FIN | HEAD.Binary))),
    pongs: (socket) => flood(socket, repeat(1_000, frame(FIN | HEAD.Pong, Buffer.alloc(125)))),
    pings: (socket) => flood(socket, repeat(1_000, frame(FIN | HEAD.Ping, Buffer.alloc(125)))),
    'messages of one byte': (socket) => {
      for (const byte of record) socket.write(frame(FIN | HEAD.Binary, Buffer.from([byte])));
      return flood(socket, repeat(500, frame(FIN | HEAD.Binary, Buffer.from([1]))));
    },
    'fragments of one byte': (socket) => {
      socket.write(frame(HEAD.Binary, Buffer.from([0x16])));
      return flood(socket, repeat(500, frame(HEAD.Continuation, Buffer.from([1]))));
    },
    'empty fragments': (socket) => {
      socket.write(frame(HEAD.Binary));
      return flood(socket, repeat(500, frame(HEAD.Continuation)));
    },
  };
  const before = holdings();
  for (const [what, attack] of Object.entries(floods)) {
    const sockets = await Promise.all(Array.from({ length: FLOODS }, () => openWebSocket(port)));
    await Promise.all(sockets.map(attack));
    t.pass(`closed: ${what}`);
  }
  const device = await enrollDevice(overlay, 'device');
  t.teardown(() => device.http.close());
  const token = await loginLegacy(overlay, device);
  const left = await leftSince(before);
  t.ok(left.sockets <= OWN_SOCKETS, `${left.sockets} sockets`);
  t.ok(left.memory < 8 * MIB, `${left.memory} bytes`);
  t.notOk(
    all.router.describe().timers.some((name) => name.startsWith('websocket')),
    'no timer is left',
  );
  const webSocket = new WebSocket(`wss://127.0.0.1:${port}/ws`, { rejectUnauthorized: false });
  await once(webSocket, 'open');
  const key = device.key.export({ type: 'pkcs8', format: 'pem' });
  const stream = createWebSocketStream(webSocket).on('error', () => undefined);
  const inner = connect({ socket: stream, rejectUnauthorized: false, cert: device.cert, key });
  const client = await SdkClient.over(
    inner.on('error', () => undefined),
    token,
  );
  await until('the client', () => all.router.describe().sdkClients === 1);
  for (let count = 0; count < 3_000; count++) webSocket.ping();
  await client.channel.closed;
  t.pass('closed: a client of the network that sends pings without end');
  await until('no client is left', () => all.router.describe().sdkClients === 0);
});

t.test('a message that never ends holds no more than its limit', async (t) => {
  await using all = await network();
  const before = holdings();
  const sockets = await Promise.all(Array.from({ length: MANY }, () => openWebSocket(all.port)));
  for (const socket of sockets) socket.write(frame(FIN | HEAD.Binary, Buffer.alloc(MIB / 2), MIB));
  await until('the bytes to be sent', () => sockets.every(({ writableLength }) => writableLength === 0));
  // The sent copies of the clients are released some turns later.
  await until('the router to hold half of each message', () => holdings().memory - before.memory < MANY * MIB);
  const records = sockets.slice(0, RELEASE ? 2 : 1);
  // Many records of one byte each: the router holds each of them as an object of its own.
  const trickles = records.map(async (socket) => {
    let sent = 0;
    const trickle = () => {
      for (let count = 0; count < 50 && !socket.destroyed; count++, sent++) socket.write(Buffer.from([1]));
      if (!socket.destroyed && sent < MIB / 2 - 1) setImmediate(trickle);
    };
    trickle();
    await untilClosed(socket);
    return sent;
  });
  for (const sent of await Promise.all(trickles)) t.ok(sent < MIB / 4, `closed after ${sent} records`);
  for (const socket of sockets) socket.destroy();
  const left = await leftSince(before);
  t.ok(left.memory < 8 * MIB, `${left.memory} bytes`);
});

t.test('a management channel that sends frames without data is closed, and others continue', async (t) => {
  await using overlay = await Overlay.start();
  const { simulator, management } = overlay;
  const [flooding, other] = [
    await ManagementClient.open(simulator, management.sessionToken),
    await ManagementClient.open(simulator, management.sessionToken),
  ];
  for (let count = 0; count < 3_000; count++) flooding.sendBytes(Buffer.alloc(0));
  await until('the end of the channel', () => flooding.isClosed);
  for (let count = 0; count < 3_000; count++) other.send(new Message(ManagementType.ValidateRouterLinks));
  t.match((await other.validate('router-links')).response, { success: true });
  other.close();
});

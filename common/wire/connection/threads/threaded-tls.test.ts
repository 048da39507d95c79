// TLS connections in threads, at both ends: frames arrive whole and in order while both threads are late, failures have
// the reasons of other connections, and nothing is left of a connection or of a stranger.

import { type EventEmitter, once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect, type SecureContextOptions, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { createLog } from '#lib/log/log.ts';
import { descriptorOf } from '#lib/net/descriptor.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { seededRandom } from '#lib/random.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { commonName, peerCertificates } from '#pki/certificates.ts';
import { issue, makeAuthority } from '../../../../test/support/clients/certificates.ts';
import { kindOf } from '../../../../test/support/rooms/crossing.ts';
import { until } from '../../../../test/support/until.ts';
import type { Frame } from '../../frame.ts';
import { Message } from '../../message.ts';
import { dialTls, dialTlsInThread } from '../dial.ts';
import type { PortConnection } from '../port-connections.ts';
import { TlsPort } from '../tls-port.ts';
import { Underlay } from '../underlay.ts';
import { ThreadedTls, type TlsConnection } from './threaded-tls.ts';
import { LINK_CONNECTION } from './tls-crossing.ts';

const HOST = '127.0.0.1';
const PROTOCOL = 'frames';
const PROGRAM = new URL('../../../../agent/assembly/io-thread.ts', import.meta.url);
/** Its notifications and messages are late, and it is busy now and then. */
const SLOW_PROGRAM = new URL('../../../../test/support/rooms/slow-io-thread.ts', import.meta.url);
const LIMITS = { maxHeaders: 64 * 1024, maxBody: 4 * 1024 * 1024 };
const skip = whyNoSystemLibrary() ?? false;
const clock = new SystemClock();
const authority = await makeAuthority('network');

async function contextOf(name: string, ips: string[] = [HOST]): Promise<SecureContextOptions> {
  const { pem, key } = await issue(authority, name, { ips, hosts: [name] });
  const ca = authority.certificate.toString('pem');
  return { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) as string, ca };
}

interface Accepted {
  readonly socket: TlsConnection;
  readonly connection: PortConnection;
}

interface RoomOptions {
  readonly program?: URL;
  /** Whether threads shall carry accepted connections. */
  readonly isForThread?: boolean;
  readonly count?: number;
  readonly handshakeTimeout?: number;
}

async function rooms(
  t: Test,
  { program = PROGRAM, isForThread = true, count = 1, handshakeTimeout = 5_000 }: RoomOptions = {},
) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  const threads = new IoThreads({ count, program, clock, log });
  const io = new IoContext({ clock, threads });
  const context = await contextOf('server');
  const other = await contextOf('other.example');
  const port = await TlsPort.open({ io, host: HOST, port: 0, context: [context, other], handshakeTimeout, log });
  const accepted: Accepted[] = [];
  port.handle(PROTOCOL, {
    isForThread: () => isForThread,
    accept: (socket, connection) => {
      const emitter: EventEmitter = socket;
      emitter.on('error', () => undefined);
      accepted.push({ socket, connection });
    },
  });
  await threads.start();
  const carried = () => threads.inspect().reduce((sum, { connections }) => sum + connections, 0);
  t.teardown(async () => {
    await port.close();
    await threads.close();
  });
  const dialOptions = {
    address: { type: 'tls', host: HOST, port: port.address.port },
    alpn: [PROTOCOL],
    context: await contextOf('client'),
    timeout: 5_000,
    clock,
  } as const;
  return { threads, io, port, accepted, carried, lines, dialOptions };
}

/** The frames that arrive, and what becomes of the connection. */
function start(underlay: Underlay, writable: () => void = () => undefined) {
  const frames: Frame[] = [];
  const onFrame = (frame: Frame) => void frames.push(frame.copy());
  underlay.start({ onFrame, onWritable: writable }, { limits: LIMITS, reuseMemory: true });
  return frames;
}

/** Two connected underlays. */
async function pair(t: Test, options: RoomOptions = {}) {
  const room = await rooms(t, options);
  const socket = await dialTlsInThread(room.dialOptions, room.threads);
  await until('the accepted connection', () => room.accepted.length > 0);
  const other = room.accepted[0]?.socket as ThreadedTls;
  const left = new Underlay({ socket, io: room.io });
  const right = new Underlay({ socket: other, io: room.io });
  return { ...room, socket: socket as ThreadedTls, other, left, right };
}

/** Sends frames of random sizes, and waits while the connection is full. */
async function send(underlay: Underlay, seed: number, bytes: number): Promise<number[]> {
  const random = seededRandom(seed);
  const sizes: number[] = [];
  for (let sent = 0; sent < bytes; ) {
    while (!underlay.writable) await new Promise(setImmediate);
    const size = Math.floor(random.next() ** 5 * 1_000_000);
    const message = new Message(7, [], Buffer.alloc(size, `${seed} ${sizes.length} `));
    message.sequence = sizes.length;
    underlay.write(message.encode());
    sizes.push(size);
    sent += size;
    if (random.next() < 0.2) await new Promise(setImmediate);
  }
  return sizes;
}

function check(t: Test, frames: Frame[], seed: number, sizes: number[]): void {
  t.same(
    frames.map(({ sequence }) => sequence),
    sizes.map((_size, index) => index),
  );
  t.ok(frames.every(({ body }, index) => body.equals(Buffer.alloc(sizes[index] ?? 0, `${seed} ${index} `))));
}

for (const program of [PROGRAM, SLOW_PROGRAM]) {
  const kind = program === PROGRAM ? 'threads' : 'late threads';
  t.test(
    `frames of any size cross ${kind} in both directions, whatever pauses the readers make`,
    { skip },
    async (t) => {
      const { socket, other, left, right, carried } = await pair(t, { program });
      t.ok(left.isThreaded && right.isThreaded);
      t.equal(socket.alpnProtocol, PROTOCOL);
      t.equal(commonName(peerCertificates(socket)[0] as never), 'server');
      t.equal(commonName(peerCertificates(other)[0] as never), 'client');
      const [atLeft, atRight] = [start(left), start(right)];
      let isReading = true;
      const pauses = setInterval(() => {
        isReading = !isReading;
        right.setReading(isReading);
      }, 5);
      const [toRight, toLeft] = await Promise.all([send(left, 1, 24_000_000), send(right, 2, 24_000_000)]);
      await until('all frames', () => atRight.length === toRight.length && atLeft.length === toLeft.length);
      clearInterval(pauses);
      right.setReading(true);
      check(t, atRight, 1, toRight);
      check(t, atLeft, 2, toLeft);
      left.close();
      t.equal(await right.closed, null, 'an orderly end');
      t.equal(await left.closed, null);
      await until('free threads', () => carried() === 0);
    },
  );
}

t.test('what was written before an orderly close arrives, also if the reader pauses', { skip }, async (t) => {
  const { left, right, carried } = await pair(t);
  const frames = start(right);
  start(left);
  right.setReading(false);
  for (let count = 0; count < 20; count++) left.write(new Message(7, [], Buffer.alloc(10_000, count)).encode());
  left.close();
  await left.closed;
  right.setReading(true);
  await right.closed;
  t.equal(frames.length, 20);
  await until('free threads', () => carried() === 0);
});

t.test('a thread that ends closes its connections with the reason', { skip }, async (t) => {
  const { left, right, threads } = await pair(t, { program: SLOW_PROGRAM });
  threads.open(kindOf('end'), () => ({}));
  t.match(await left.closed, { code: 'THREAD_ENDED', message: /exit code 1/ });
  t.match(await right.closed, { code: 'THREAD_ENDED' });
});

t.test('a peer that vanishes is reported with the cause', { skip }, async (t) => {
  const { left, right, socket, carried } = await pair(t);
  start(left);
  start(right);
  resetSocket(socket.network);
  t.equal(await left.closed, null);
  t.match(await right.closed, { message: /ECONNRESET/ });
  await until('free threads', () => carried() === 0);
});

t.test('a server that cannot be trusted is explained as by other dials', { skip }, async (t) => {
  const room = await rooms(t, { isForThread: false });
  const foreign = (await makeAuthority('foreign')).certificate.toString('pem');
  const cases = [
    { context: { ...room.dialOptions.context, ca: foreign }, authorities: 'identity.ca' },
    { context: { cert: 'not a certificate', key: 'not a key' } },
    { alpn: ['other'] },
    { address: { ...room.dialOptions.address, host: 'localhost' } },
    { address: { ...room.dialOptions.address, port: 1 } },
  ];
  for (const change of cases) {
    const options = { ...room.dialOptions, ...change };
    const text = async (dialing: Promise<unknown>) => {
      const error = await dialing.then(
        () => undefined,
        (reason: Error & { remedy?: string }) => reason,
      );
      return { message: error?.message, remedy: error?.remedy };
    };
    const here = await text(dialTls(options));
    t.ok(here.message);
    t.same(await text(dialTlsInThread(options, room.threads)), here);
  }
  await until('free threads', () => room.carried() === 0);
});

t.test('without a place in a thread, the main thread carries the connection', { skip }, async (t) => {
  const room = await rooms(t);
  const all = Array.from({ length: 64 }, () =>
    room.threads.open(LINK_CONNECTION, () => ({ side: 'accepted', descriptor: -1 })),
  );
  t.ok(all.every((each) => each));
  const socket = await dialTlsInThread(room.dialOptions, room.threads);
  t.notOk(socket instanceof ThreadedTls);
  await until('the accepted connection', () => room.accepted.length > 0);
  const other = room.accepted[0]?.socket as TLSSocket;
  t.notOk(other instanceof ThreadedTls);
  const [left, right] = [new Underlay({ socket, io: room.io }), new Underlay({ socket: other, io: room.io })];
  const frames = start(right);
  start(left);
  const sizes = await send(left, 1, 100_000);
  await until('all frames', () => frames.length === sizes.length);
  check(t, frames, 1, sizes);
  left.close();
  await right.closed;
});

t.test('a client gets the certificate for the name that it asks for', { skip }, async (t) => {
  const room = await rooms(t);
  const { port } = room.port.address;
  for (const [index, servername] of ['other.example', 'server'].entries()) {
    const options = { port, host: HOST, servername, ALPNProtocols: [PROTOCOL], ca: room.dialOptions.context.ca };
    const socket = connect({ ...options, checkServerIdentity: () => undefined });
    await once(socket, 'secureConnect');
    t.equal(socket.getPeerCertificate().subject.CN, servername);
    await until('the accepted connection', () => room.accepted.length === index + 1);
    socket.destroy();
  }
  t.ok(room.accepted.every(({ socket }) => socket instanceof ThreadedTls));
  await until('free threads', () => room.carried() === 0);
});

t.test('clients of other protocols, and those without TLS, stay on the main thread', { skip }, async (t) => {
  const room = await rooms(t);
  let served = 0;
  room.port.handle('other', (socket) => {
    served++;
    socket.end();
  });
  const { port } = room.port.address;
  const socket = connect({ port, host: HOST, ALPNProtocols: ['other'], rejectUnauthorized: false });
  await once(socket, 'end');
  t.equal(served, 1);
  const plain = connectTcp(port, HOST);
  plain.end('GET / HTTP/1.1\r\n\r\n');
  plain.resume();
  await once(plain, 'close');
  t.equal(room.threads.inspect()[0]?.carried, 0);
});

t.test('a stranger that does not finish its handshake loses its place in the thread', { skip }, async (t) => {
  const room = await rooms(t, { handshakeTimeout: 300 });
  const { port } = room.port.address;
  /** The first message of a client, without anything that follows. */
  const [ours, theirs] = duplexPair();
  connect({ ALPNProtocols: [PROTOCOL], servername: 'server', socket: ours as Socket }).on('error', () => undefined);
  const [captured] = (await once(theirs, 'data')) as [Buffer];
  const strangers = Array.from({ length: 10 }, () => connectTcp(port, HOST));
  for (const each of strangers) {
    each.on('error', () => undefined).resume();
    each.write(captured);
  }
  await until('the handshakes', () => room.carried() > 0);
  await Promise.all(strangers.map((each) => once(each, 'close')));
  await until('free threads', () => room.carried() === 0);
  t.same(room.accepted, []);
});

t.test('the port resets a connection in a thread, and evicts it', { skip }, async (t) => {
  const { right, left, accepted, carried } = await pair(t);
  start(left);
  start(right);
  t.type(descriptorOf(accepted[0]?.connection.socket as Socket), 'number', 'the socket stays with the port');
  accepted[0]?.connection.reset();
  t.equal(await right.closed, null);
  t.ok(await left.closed, 'the peer sees a reset');
  await until('free threads', () => carried() === 0);
});

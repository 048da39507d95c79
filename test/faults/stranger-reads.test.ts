// The bytes of a TLS client, which JavaScript reads until the client is accepted, and TLS itself afterwards: all of
// them arrive, in order and once, whenever the client is accepted, however it sends, ends and is read.

import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { seededRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { TlsPort } from '#wire/connection/tls-port.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 20261128);
const RUNS = Number(process.env.FAULTS_RUNS ?? 300);
const KIB = 1024;
/** Clients and servers send its first bytes. */
const BYTES = seededRandom(SEED).bytes(512 * KIB);
/** A socket that is not read keeps its own 64 KiB, and the piece that was more than that. */
const MAX_UNREAD = (64 + 64 + 16) * KIB;
/** Milliseconds, beside the load of other tests. */
const PATIENCE = 30_000;
const O_CLOEXEC = 0o2000000;
/** Turns of the event loop in which bytes arrive that wait. */
const TURNS = 40;

interface Round {
  readonly version: SecureVersion;
  /** Sizes of what the client writes. */
  readonly writes: readonly number[];
  /** Size of what the network transports at once. */
  readonly piece: number;
  readonly reading: 'flowing' | 'readable' | 'slow' | 'late';
  /** The client is accepted after this percentage of its bytes. */
  readonly part: number;
  readonly accept: 'while reading' | 'next tick' | 'later';
  /** The source rests before the client is accepted, so that bytes wait for their turn. */
  readonly rests: boolean;
  readonly end: 'close_notify' | 'FIN' | 'reset';
  /** The end follows the bytes at once; else the server has received them before. */
  readonly isEarly: boolean;
  readonly answer: number;
}

const ROUND = fc.record<Round>({
  version: fc.constantFrom('TLSv1.2', 'TLSv1.3'),
  writes: fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 12 }),
  piece: fc.constantFrom(300, 5_000, 16_384, 70_000),
  reading: fc.constantFrom('flowing', 'readable', 'slow', 'late'),
  part: fc.integer({ min: 0, max: 100 }),
  accept: fc.constantFrom('while reading', 'next tick', 'later'),
  rests: fc.boolean(),
  end: fc.constantFrom('close_notify', 'FIN', 'reset'),
  isEarly: fc.boolean(),
  answer: fc.integer({ min: 0, max: 50_000 }),
});

/** Shared by all rounds: nothing of one is left for the next. */
const io = new IoContext({ clock: new SystemClock() });
const { clientSockets, unauthenticatedCpu } = io;

/** Each connection has a source of its own, so that one that rests does not delay the next ones. */
let sources = 0;
const nextSource = () => `127.3.${(sources >> 8) & 0xff}.${++sources & 0xff}`;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Looks in each turn of the event loop, because a round takes few. */
async function soon(what: string, look: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE; !look(); await turn())
    if (performance.now() > end) throw new Error(`timed out waiting for ${what}`);
}

async function openPort() {
  const { pem, key } = await issue(await makeAuthority('network'), 'localhost');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const port = await TlsPort.open({ io, host: '127.0.0.1', port: 0, requestCert: false, context, log: silentLog });
  const accepted: ((socket: TLSSocket) => void)[] = [];
  port.handle('', (socket) => {
    socket.allowHalfOpen = true;
    accepted.shift()?.(socket as TLSSocket);
  });
  const next = () => new Promise<TLSSocket>((resolve) => accepted.push(resolve));
  return { number: port.address.port, next, [Symbol.asyncDispose]: () => port.close() };
}

/** A client's TLS over a connection that transports pieces of this size, one in each turn. */
async function open(port: number, version: SecureVersion, piece: number) {
  const network: Socket = connectTcp({ port, host: '127.0.0.1', localAddress: nextSource(), noDelay: true });
  network.on('error', () => undefined); // its 'close' follows
  await once(network, 'connect');
  const write = async (bytes: Buffer) => {
    for (let at = 0; at < bytes.length && !network.destroyed; at += piece) {
      network.write(bytes.subarray(at, at + piece));
      await turn();
    }
  };
  const between = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _encoding, done) => void write(bytes).then(() => done()),
  });
  network.on('data', (bytes: Buffer) => between.push(bytes)).once('end', () => between.push(null));
  network.once('close', () => between.destroy());
  const versions = { minVersion: version, maxVersion: version };
  const client = connect({ socket: between, rejectUnauthorized: false, allowHalfOpen: true, ...versions } as object);
  client.on('error', () => undefined);
  return { network, client };
}

/** The bytes and the end that a server receives from its client. */
class Seen {
  received = 0;
  mostUnread = 0;
  isInOrder = true;
  /** The events that end a connection, in order. */
  readonly ends: string[] = [];
  readonly #socket: TLSSocket;
  /** Called after each read. */
  onRead: () => void = () => undefined;

  constructor(socket: TLSSocket, reading: Round['reading']) {
    this.#socket = socket;
    socket.once('end', () => this.ends.push('end'));
    socket.on('error', (error: NodeJS.ErrnoException) => this.ends.push(error.code ?? error.message));
    if (reading === 'late') return;
    if (reading === 'readable') this.#readWhenReadable();
    else socket.on('data', (bytes: Buffer) => this.#take(bytes));
    if (reading === 'slow')
      socket.on('data', () => {
        socket.pause();
        setImmediate(() => setImmediate(() => socket.resume()));
      });
  }

  /** Begins to read what was late until now. */
  readNow(): void {
    this.measure();
    this.#readWhenReadable();
  }

  measure(): void {
    this.mostUnread = Math.max(this.mostUnread, this.#socket.readableLength);
  }

  #readWhenReadable(): void {
    this.#socket.on('readable', () => {
      for (let bytes = this.#socket.read(); bytes !== null; bytes = this.#socket.read()) this.#take(bytes as Buffer);
    });
  }

  #take(bytes: Buffer): void {
    this.measure();
    this.isInOrder &&= bytes.equals(BYTES.subarray(this.received, this.received + bytes.length));
    this.received += bytes.length;
    this.onRead();
  }
}

/** Accepts the client when the round says so. */
async function accept(socket: TLSSocket, seen: Seen, round: Round, total: number): Promise<void> {
  const least = Math.floor((total * round.part) / 100);
  if (round.accept === 'while reading' && round.reading !== 'late' && !round.rests && least > 0) {
    await new Promise<void>((resolve) => {
      seen.onRead = () => {
        if (seen.received < least) return;
        unauthenticatedCpu.accept(socket);
        resolve();
      };
      socket.once('close', resolve);
    });
    return;
  }
  for (let count = 0; socket.bytesRead < least && count < TURNS; count++) await turn();
  if (round.rests) unauthenticatedCpu.punish(socket);
  for (let count = 0; round.rests && unauthenticatedCpu.waiting === 0 && count < TURNS; count++) await turn();
  if (round.accept === 'next tick') await new Promise<void>((resolve) => process.nextTick(resolve));
  else await turn();
  unauthenticatedCpu.accept(socket);
  if (round.reading !== 'late') return;
  for (let count = 0; count < TURNS; count++) await turn();
  seen.readNow();
}

/** Returns what is wrong. */
async function problems(port: Awaited<ReturnType<typeof openPort>>, round: Round): Promise<string[]> {
  const total = round.writes.reduce((sum, size) => sum + size, 0);
  const connected = port.next();
  const { network, client } = await open(port.number, round.version, round.piece);
  let answered = 0;
  let isAnswerInOrder = true;
  client.on('data', (bytes: Buffer) => {
    isAnswerInOrder &&= bytes.equals(BYTES.subarray(answered, answered + bytes.length));
    answered += bytes.length;
  });
  let sent = 0;
  for (const size of round.writes) {
    client.write(BYTES.subarray(sent, sent + size));
    sent += size;
  }
  const written = new Promise<void>((resolve) => client.write('', () => resolve()));
  const socket = await connected;
  const seen = new Seen(socket, round.reading);
  const accepted = accept(socket, seen, round, total);
  await written;
  if (!round.isEarly) await soon('all bytes', () => seen.received >= total || socket.destroyed);
  if (round.end === 'close_notify') client.end();
  if (round.end === 'reset') resetSocket(network);
  else if (round.end === 'FIN') network.end();
  await accepted;
  const isReset = round.end === 'reset';
  if (isReset) await soon('the reset', () => socket.destroyed);
  else await soon('the end', () => seen.ends.length > 0);
  await turn();
  const descriptors = clientSockets.open;
  if (round.end === 'close_notify') network.end();
  socket.end(BYTES.subarray(0, round.answer));
  if (!isReset) await soon('the whole answer', () => client.readableEnded || client.destroyed);
  for (const each of [client, network, socket]) each.destroy();
  await soon('no connection', () => clientSockets.open === 0);
  const found = {
    'bytes in wrong order': !seen.isInOrder,
    [`${seen.received} of ${total} bytes`]: isReset ? seen.received > total : seen.received !== total,
    [`${seen.mostUnread} unread bytes`]: seen.mostUnread > MAX_UNREAD,
    [`ends: ${seen.ends}`]: `${seen.ends}` !== (isReset ? 'ECONNRESET' : 'end'),
    [`${answered} of ${round.answer} bytes of the answer`]: !isReset && answered !== round.answer,
    'an answer in wrong order': !isAnswerInOrder,
    [`${descriptors} descriptors`]: descriptors > 1,
    [`${unauthenticatedCpu.waiting} tasks wait`]: unauthenticatedCpu.waiting > 0,
  };
  return Object.keys(found).filter((each) => found[each]);
}

/** A connection that the server does not read, with a piece that waits because its source rests. */
async function waitingPiece(port: Awaited<ReturnType<typeof openPort>>, before: Buffer, piece: Buffer) {
  const connected = port.next();
  const { network, client } = await open(port.number, 'TLSv1.3', 16 * KIB);
  const socket = await connected;
  client.write(before);
  await soon('the first bytes', () => socket.bytesRead === before.length);
  const { waiting } = unauthenticatedCpu;
  unauthenticatedCpu.punish(socket);
  client.write(piece);
  await soon('a piece that waits', () => unauthenticatedCpu.waiting > waiting);
  return { network, client, socket };
}

t.test('a piece that waits is complete, and its reader may get more than it wants', async (t) => {
  await using port = await openPort();
  const whole = BYTES.subarray(0, 75_000);
  const parts = [whole.subarray(0, 60_000), whole.subarray(60_000, 70_000), whole.subarray(70_000)] as const;
  const [first, second] = [await waitingPiece(port, parts[0], parts[1]), await waitingPiece(port, parts[0], parts[1])];
  for (const { socket, client } of [first, second]) {
    // As Node's HTTP server does when it has no room for a moment.
    const { _handle: handle } = socket as unknown as {
      _handle: { reading: boolean; readStop(): void; readStart(): void };
    };
    handle.reading = false;
    handle.readStop();
    handle.reading = true;
    handle.readStart();
    client.write(parts[2]);
  }
  for (let count = 0; count < TURNS; count++) await turn();
  for (const { socket, client } of [first, second]) {
    unauthenticatedCpu.accept(socket);
    const received: Buffer[] = [];
    socket.on('error', (error) => t.fail(error.message));
    socket.on('data', (bytes: Buffer) => received.push(bytes));
    await soon('all bytes', () => Buffer.concat(received).length >= whole.length || socket.destroyed);
    t.ok(Buffer.concat(received).equals(whole));
    client.destroy();
    socket.destroy();
  }
  t.equal(unauthenticatedCpu.waiting, 0);
  await soon('no connection', () => clientSockets.open === 0);
});

t.test('before a client is accepted, its end is an end, and its reset is an error', async (t) => {
  await using port = await openPort();
  for (const end of ['end', 'ECONNRESET']) {
    const connected = port.next();
    const { network } = await open(port.number, 'TLSv1.3', 16 * KIB);
    const socket = await connected;
    const seen = new Seen(socket, 'flowing');
    if (end === 'end') network.end();
    else resetSocket(network);
    await soon(end, () => seen.ends.length > 0);
    t.same(seen.ends, [end]);
    socket.destroy();
    await soon('no connection', () => clientSockets.open === 0);
  }
});

const needsReader = { skip: whyNoSystemLibrary() ?? false };

t.test(
  'a client has two descriptors until it is accepted or closed, and programs inherit none',
  needsReader,
  async (t) => {
    await using port = await openPort();
    const { socket, network } = await waitingPiece(port, BYTES.subarray(0, 10), BYTES.subarray(0, 20));
    t.equal(clientSockets.open, 2);
    for (const name of readdirSync('/proc/self/fd')) {
      if (!linkOf(name).startsWith('socket:')) continue;
      const [, flags = '0'] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? [];
      t.ok(Number.parseInt(flags, 8) & O_CLOEXEC, `descriptor ${name}`);
    }
    socket.destroy();
    await soon('no connection', () => clientSockets.open === 0);
    t.equal(unauthenticatedCpu.waiting, 0, 'nothing of it waits');
    network.destroy();
  },
);

/** Empty for a descriptor that was closed. */
function linkOf(name: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${name}`);
  } catch {
    return '';
  }
}

t.test('all bytes of a client arrive in order, whenever it is accepted', async (t) => {
  await using port = await openPort();
  const property = fc.asyncProperty(ROUND, async (round) => {
    const wrong = await problems(port, round);
    if (wrong.length > 0) throw new Error(wrong.join(', '));
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  t.pass(`${RUNS} clients`);
});

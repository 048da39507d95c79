// A client that sends or receives much moves to an I/O thread in the middle of its data: nothing is lost or changed,
// ends and resets reach both sides, and a thread that ends cuts only the circuits of its clients.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { type Clock, SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { openSockets } from '../../../test/support/hostile/leftovers.ts';
import { crossing } from '../../../test/support/rooms/crossing.ts';
import { until } from '../../../test/support/until.ts';
import { FIN_HEADERS } from '../end-marks.ts';
import type { Xgress } from '../xgress.ts';
import { EncryptedStream, makeKeyPair, sessionKeys } from './end-to-end.ts';
import { SocketClient } from './socket-client.ts';

const PROGRAM = new URL('../../assembly/io-thread.ts', import.meta.url);
/** It carries other connections only. */
const OTHER_PROGRAM = new URL('../../../test/support/rooms/echo-thread.ts', import.meta.url);
const MIB = 1024 * 1024;
const skip = whyNoSystemLibrary() ?? false;

/** One end of a circuit without a network: what its client writes goes to the other client. */
class End {
  client: SocketClient | undefined;
  other: End | undefined;
  writeLimit = Number.POSITIVE_INFINITY;
  readonly circuitId = 'circuit';
  /** Payloads that the client has not accepted, in order; their sender waits. */
  readonly waiting: { readonly data: Buffer; readonly isFin: boolean }[] = [];
  readonly sizes: number[] = [];
  isBlocked = false;
  isAborted = false;
  isRejecting = false;
  hasEnded = false;
  /** Changes payloads on the way. */
  damage: ((data: Buffer) => void) | undefined;

  get canWrite(): boolean {
    return !this.other?.isBlocked;
  }

  write(data: Buffer): boolean {
    this.sizes.push(data.length);
    const copy = Buffer.from(data);
    this.damage?.(copy);
    this.other?.receive(copy, false);
    return this.canWrite;
  }

  end(): void {
    this.hasEnded = true;
    this.other?.receive(Buffer.alloc(0), true);
  }

  receive(data: Buffer, isEnd: boolean): void {
    if (this.isBlocked) this.waiting.push({ data, isFin: isEnd });
    else if (!this.client?.deliver(data, isEnd ? FIN_HEADERS : undefined)) this.isBlocked = true;
  }

  /** The client accepts data again. */
  resume(): void {
    if (!this.isBlocked) return;
    this.isBlocked = false;
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      this.receive(next.data, next.isFin);
      if (this.isBlocked) return;
    }
    this.other?.client?.writable();
  }

  abort(): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.client?.closed('cut');
    this.other?.abort();
  }

  rejectData(): void {
    this.isRejecting = true;
  }
}

/** A TCP connection: what a program has, and what the router has. */
async function connection(server: Server): Promise<{ outside: Socket; inside: Socket }> {
  const { port } = server.address() as { port: number };
  const outside = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [inside] = (await once(server, 'connection')) as [Socket];
  return { outside, inside };
}

interface CircuitOptions {
  isEncrypted?: boolean;
  writeLimit?: number;
  program?: URL;
  clock?: Clock;
  bulk?: number;
  maxPayload?: number;
  ioThreads?: IoThreads;
  /** Bytes that the sockets have read before they become clients. */
  buffered?: Buffer;
}

async function circuit({
  isEncrypted = true,
  writeLimit = Number.POSITIVE_INFINITY,
  program = PROGRAM,
  clock = new SystemClock(),
  bulk,
  maxPayload = 64 * 1024,
  buffered,
  ...other
}: CircuitOptions = {}) {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  const ioThreads = other.ioThreads ?? new IoThreads({ count: 1, program, clock, log });
  if (!other.ioThreads) await ioThreads.start();
  const io = new IoContext({ clock, threads: ioThreads });
  const [a, b] = [makeKeyPair(), makeKeyPair()];
  const streams = [
    EncryptedStream.begin(sessionKeys('dialer', a, b.publicKey)),
    EncryptedStream.begin(sessionKeys('host', b, a.publicKey)),
  ];
  const [left, right] = [new End(), new End()];
  left.other = right;
  right.other = left;
  const outside: Socket[] = [];
  const inside: Socket[] = [];
  for (const [index, end] of [left, right].entries()) {
    const pair = await connection(server);
    pair.outside.on('error', () => undefined); // tests that expect one wait for it
    outside.push(pair.outside);
    inside.push(pair.inside);
    const encryption = isEncrypted ? streams[index] : undefined;
    end.writeLimit = writeLimit;
    if (buffered) pair.inside.unshift(buffered);
    end.client = new SocketClient({
      socket: pair.inside,
      halfClose: true,
      encryption,
      maxPayload,
      io,
      ...(bulk === undefined ? {} : { bulk }),
      log,
    });
  }
  for (const end of [left, right]) end.client?.attach(end as unknown as Xgress);
  for (const end of [left, right]) end.client?.writable();
  const carried = () => ioThreads.inspect().reduce((sum, { connections }) => sum + connections, 0);
  const close = async () => {
    for (const socket of [...outside, ...inside]) socket.destroy();
    server.close();
    if (!other.ioThreads) await ioThreads.close();
  };
  const [one, two] = outside as [Socket, Socket];
  return {
    left,
    right,
    one,
    two,
    inside,
    lines,
    ioThreads,
    clientSockets: io.clientSockets,
    carried,
    [Symbol.asyncDispose]: close,
  };
}

function content(bytes: number): Buffer {
  return Buffer.from(Uint32Array.from({ length: bytes / 4 }, (_, index) => Math.imul(index, 0x9e37_79b1)).buffer);
}

/** Resolves with this many bytes of a socket. */
async function read(socket: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = bytes;
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    left -= chunk.length;
    if (left <= 0) break;
  }
  return Buffer.concat(chunks);
}

for (const isEncrypted of [true, false]) {
  const kind = isEncrypted ? 'encrypted' : 'clear';
  t.test(`${kind} data of both directions survives the move, and the ends follow it`, { skip }, async (t) => {
    await using net = await circuit({ isEncrypted });
    const data = content(6 * MIB);
    net.one.write(data);
    t.ok((await read(net.two, data.length)).equals(data), 'from the client to the service');
    await until('both moves', () => net.carried() === 2);
    const answer = content(5 * MIB);
    net.two.write(answer);
    t.ok((await read(net.one, answer.length)).equals(answer), 'and back');
    net.one.end(Buffer.from('last'));
    t.equal((await read(net.two, 4)).toString(), 'last');
    await once(net.two.resume(), 'end');
    t.ok(net.left.hasEnded);
    net.two.end('answer');
    t.equal((await read(net.one, 6)).toString(), 'answer', 'the other direction goes on after the end of one');
    await once(net.one.resume(), 'end');
    for (const end of [net.left, net.right]) end.client?.closed('complete');
    await until('closed sockets', () => net.carried() === 0 && net.inside.every((socket) => socket.destroyed));
    t.notOk(net.left.isAborted || net.right.isAborted);
    t.match(net.ioThreads.inspect(), [{ carried: 2 }]);
  });
}

t.test('payloads stay as small as the first link wants them', { skip }, async (t) => {
  await using net = await circuit({ writeLimit: 10_000 });
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  t.equal(net.carried(), 2);
  t.ok(Math.max(...net.left.sizes) <= 10_000 + 17);
  net.left.writeLimit = 5_000;
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  t.ok(net.left.sizes.slice(-100).every((size) => size <= 5_000 + 17));
});

t.test('a client that reads nothing stops its sender, and gets everything later', { skip }, async (t) => {
  await using net = await circuit();
  net.one.write(content(2 * MIB));
  await read(net.two, 2 * MIB);
  t.equal(net.carried(), 2);
  net.two.pause();
  const data = content(64 * MIB);
  net.one.write(data);
  await until('a blocked circuit', () => net.right.isBlocked);
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(net.left.sizes.length * 64 * 1024 < 32 * MIB, 'most of it waits at the client');
  t.ok((await read(net.two, data.length)).equals(data));
});

t.test('a reset of one client resets the other one', { skip }, async (t) => {
  await using net = await circuit();
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  t.equal(net.carried(), 2);
  const reset = once(net.two, 'error');
  resetSocket(net.one);
  t.match(await reset, [{ code: 'ECONNRESET' }]);
  await until('free threads', () => net.carried() === 0);
  t.ok(net.left.isAborted && net.right.isAborted);
});

t.test('data that does not verify cuts the circuit, with the reason in the log', { skip }, async (t) => {
  await using net = await circuit();
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  net.left.damage = (data) => void data.writeUInt8((data[10] as number) ^ 1, 10);
  net.one.write(content(MIB));
  await until('the end of the circuit', () => net.left.isAborted && net.carried() === 0);
  t.match(
    net.lines.find(({ level }) => level === 'warn'),
    { msg: 'circuit cut: its data cannot be decrypted', error: /^an encrypted message does not verify/ },
  );
});

t.test('a thread that ends cuts the circuits of its clients', { skip }, async (t) => {
  await using net = await circuit();
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  t.equal(net.carried(), 2);
  const resets = [once(net.one, 'error'), once(net.two, 'error')];
  await net.ioThreads.close();
  t.match(await Promise.all(resets), [[{ code: 'ECONNRESET' }], [{ code: 'ECONNRESET' }]]);
  t.ok(net.left.isAborted && net.right.isAborted);
});

for (const [what, program] of [
  ['a thread that ends before it takes its clients', PROGRAM],
  ['a thread that cannot carry its clients', OTHER_PROGRAM],
] as const)
  t.test(`${what} cuts their circuits, and leaves no descriptor`, { skip }, async (t) => {
    await using net = await circuit({ program, bulk: 1 });
    const sockets = openSockets();
    const counted = net.clientSockets.open;
    const resets = [once(net.one, 'error'), once(net.two, 'error')];
    for (const socket of [net.one, net.two]) socket.write('hello');
    while (net.carried() !== 2) await new Promise(setImmediate); // only for a moment
    t.equal(net.clientSockets.open, counted + 2);
    t.equal(openSockets(), sockets + 2);
    if (program === PROGRAM) await net.ioThreads.close();
    t.match(await Promise.all(resets), [[{ code: 'ECONNRESET' }], [{ code: 'ECONNRESET' }]]);
    await until('closed descriptors', () => openSockets() === sockets - 4);
    t.equal(net.clientSockets.open, counted);
  });

t.test('clients stay while all descriptors for clients are in use', { skip }, async (t) => {
  await using net = await circuit({ bulk: 1 });
  const closed: (() => void)[] = [];
  while (net.clientSockets.admit({ once: (_, listener) => closed.push(listener) }));
  net.one.write('hello');
  t.equal((await read(net.two, 5)).toString(), 'hello');
  t.equal(net.carried(), 0);
  for (const close of closed) close();
  for (const socket of [net.one, net.two]) socket.write('again');
  t.equal((await read(net.two, 5)).toString(), 'again');
  t.equal((await read(net.one, 5)).toString(), 'again');
  t.equal(net.carried(), 2);
});

t.test('payloads of peers may be larger than the memory between threads', { skip }, async (t) => {
  await using net = await circuit({ isEncrypted: false, bulk: 1 });
  for (const socket of [net.one, net.two]) socket.write('hello');
  for (const socket of [net.one, net.two]) await read(socket, 5);
  t.equal(net.carried(), 2);
  const data = content(16 * MIB);
  net.right.receive(data, false);
  net.right.receive(Buffer.alloc(0), true);
  t.ok((await read(net.two, data.length)).equals(data));
  await once(net.two.resume(), 'end');
});

t.test('data that was read before the move is sealed before it', { skip }, async (t) => {
  const buffered = content(40_000);
  await using net = await circuit({ bulk: 1, maxPayload: 1_000, buffered });
  t.ok((await read(net.two, buffered.length)).equals(buffered));
  t.ok((await read(net.one, buffered.length)).equals(buffered));
  net.one.write('more');
  t.equal((await read(net.two, 4)).toString(), 'more');
  t.equal(net.carried(), 2);
});

t.test('a slow client has time while it reads what waits for the thread, else it is reset', { skip }, async (t) => {
  const clock = new VirtualClock();
  const { main, thread } = crossing();
  const commands: unknown[] = [];
  thread.owner = {
    onTurn: () => false,
    onMessage: (message) => commands.push(message),
    onLost: () => undefined,
  };
  const ioThreads = { open: (_kind: string, describe: () => unknown) => describe() && main } as unknown as IoThreads;
  await using net = await circuit({ isEncrypted: false, clock, bulk: 1, ioThreads });
  net.right.client?.deliver(content(1_000), undefined);
  for (let index = 0; index < 3; index++) net.right.client?.deliver(content(1_000), undefined);
  net.right.client?.end();
  net.right.client?.closed('complete');
  t.same(commands, [{ type: 'end' }]);
  for (let index = 0; index < 3; index++) {
    await clock.advance(9_999);
    thread.received.next();
    thread.release();
    await clock.advance(1);
    t.equal(commands.length, 1);
  }
  net.one.on('error', () => undefined);
  const reset = once(net.two, 'error');
  await clock.advance(10_000);
  t.same(commands.slice(0, 2), [{ type: 'end' }, { type: 'cut' }]);
  thread.post({ type: 'closed' });
  t.match(await reset, [{ code: 'ECONNRESET' }]);
});

t.test('a circuit is cut if its client is gone, and the other one neither reads nor can write', { skip }, async (t) => {
  await using net = await blockedAfterEnd();
  net.one.write(content(32 * MIB));
  await until('a blocked circuit', () => net.right.isBlocked);
  resetSocket(net.two);
  await until('the end of the circuit', () => net.left.isAborted && net.carried() === 0);
  t.ok(net.right.isAborted);
});

t.test('a client that is gone does not wait for a circuit that rejects its data', { skip }, async (t) => {
  await using net = await blockedAfterEnd();
  net.right.client?.rejected();
  resetSocket(net.two);
  net.right.receive(content(MIB), false); // the system tells the reset to those who write
  await until('a closed socket', () => net.inside[1]?.destroyed === true);
  t.ok(net.right.isAborted);
});

/** A circuit whose left client does not read; the right one has ended, and some of its data waits in the thread. */
async function blockedAfterEnd() {
  const net = await circuit({ isEncrypted: false });
  for (const socket of [net.one, net.two]) socket.on('error', () => undefined);
  net.one.write(content(2 * MIB));
  await read(net.two, 2 * MIB);
  net.one.pause();
  net.two.pause();
  while (!net.left.isBlocked) {
    net.two.write(content(64 * 1024));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await until('an empty socket', () => net.two.writableLength === 0);
  net.two.end(content(64 * 1024));
  await until('the end of the writes', () => net.two.writableFinished);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return net;
}

t.test('clients with few bytes stay', { skip }, async (t) => {
  await using net = await circuit();
  for (let count = 0; count < 10; count++) {
    net.one.write(content(64 * 1024));
    await read(net.two, 64 * 1024);
  }
  t.match(net.ioThreads.inspect(), [{ carried: 0 }]);
});

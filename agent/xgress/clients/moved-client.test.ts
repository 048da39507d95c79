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
import { SystemClock } from '#lib/time/clock.ts';
import { FIN_HEADERS } from '../end-marks.ts';
import type { Xgress } from '../xgress.ts';
import { EncryptedStream, makeKeyPair, sessionKeys } from './end-to-end.ts';
import { SocketClient } from './socket-client.ts';

const PROGRAM = new URL('../../assembly/io-thread.ts', import.meta.url);
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

async function circuit({ isEncrypted = true, writeLimit = Number.POSITIVE_INFINITY } = {}) {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', write: (line) => void lines.push(JSON.parse(line)) });
  const clock = new SystemClock();
  const ioThreads = new IoThreads({ count: 1, program: PROGRAM, clock, log });
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
    const maxPayload = 64 * 1024;
    end.writeLimit = writeLimit;
    end.client = new SocketClient({
      socket: pair.inside,
      halfClose: true,
      encryption,
      maxPayload,
      io,
      log,
    });
  }
  for (const end of [left, right]) end.client?.attach(end as unknown as Xgress);
  for (const end of [left, right]) end.client?.writable();
  const carried = () => ioThreads.inspect().reduce((sum, { connections }) => sum + connections, 0);
  const close = async () => {
    for (const socket of [...outside, ...inside]) socket.destroy();
    server.close();
    await ioThreads.close();
  };
  const [one, two] = outside as [Socket, Socket];
  return { left, right, one, two, inside, lines, ioThreads, carried, [Symbol.asyncDispose]: close };
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

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

for (const isEncrypted of [true, false]) {
  const kind = isEncrypted ? 'encrypted' : 'clear';
  t.test(`${kind} data of both directions survives the move, and the ends follow it`, { skip }, async (t) => {
    await using net = await circuit({ isEncrypted });
    const data = content(6 * MIB);
    net.one.write(data);
    t.ok((await read(net.two, data.length)).equals(data), 'from the client to the service');
    await until(() => net.carried() === 2);
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
    await until(() => net.carried() === 0 && net.inside.every((socket) => socket.destroyed));
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
  await until(() => net.right.isBlocked);
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
  await until(() => net.carried() === 0);
  t.ok(net.left.isAborted && net.right.isAborted);
});

t.test('data that does not verify cuts the circuit, with the reason in the log', { skip }, async (t) => {
  await using net = await circuit();
  net.one.write(content(4 * MIB));
  await read(net.two, 4 * MIB);
  net.left.damage = (data) => void data.writeUInt8((data[10] as number) ^ 1, 10);
  net.one.write(content(MIB));
  await until(() => net.left.isAborted && net.carried() === 0);
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
  const reset = once(net.two, 'error');
  await net.ioThreads.close();
  t.match(await reset, [{ code: 'ECONNRESET' }]);
  t.ok(net.left.isAborted && net.right.isAborted);
});

t.test('a thread that ends before it took the client over leaves no descriptor', { skip }, async (t) => {
  await using net = await circuit();
  const reset = once(net.one.resume(), 'error');
  net.one.write(content(2 * MIB));
  await until(() => net.carried() > 0); // the thread has not even loaded its program
  await net.ioThreads.close();
  t.match(await reset, [{ code: 'ECONNRESET' }]);
});

t.test('clients with few bytes stay', { skip }, async (t) => {
  await using net = await circuit();
  for (let count = 0; count < 10; count++) {
    net.one.write(content(64 * 1024));
    await read(net.two, 64 * 1024);
  }
  t.same(net.ioThreads.inspect(), []);
});

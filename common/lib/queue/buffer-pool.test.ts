// Reused memory: the pool is bounded, and reads into shared memory keep all bytes in order.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { readInto } from '../net/read-into.ts';
import { BufferPool, memoryOf } from './buffer-pool.ts';

t.test('a pool reuses released memory', async (t) => {
  const pool = new BufferPool();
  const first = pool.acquire(65_000);
  t.equal(first.length, 65_000);
  pool.release(first);
  t.equal(pool.idleBytes, memoryOf(65_000));
  const second = pool.acquire(60_000);
  t.equal(second.buffer, first.buffer, 'for another length of the same size of blocks');
  t.equal(second.length, 60_000);
  t.not(pool.acquire(60_000).buffer, first.buffer, 'and only once');
  t.equal(pool.idleBytes, 0);
});

t.test('a pool keeps at most its limit, and only its own memory', async (t) => {
  const pool = new BufferPool(200_000);
  const acquired = Array.from({ length: 10 }, () => pool.acquire(65_000));
  for (const buffer of acquired) pool.release(buffer);
  t.ok(pool.idleBytes > 100_000 && pool.idleBytes <= 200_000, `${pool.idleBytes} bytes are idle`);
  pool.clear();
  for (const length of [0, 1, 4_095, 1_000_000]) {
    const buffer = pool.acquire(length);
    t.equal(buffer.length, length);
    pool.release(buffer);
  }
  pool.release(Buffer.alloc(5_000));
  pool.release(pool.acquire(65_000).subarray(1_000));
  t.equal(pool.idleBytes, 0);
});

t.test('a pool sheds the memory that nobody needed, and keeps the rest', async (t) => {
  const pool = new BufferPool();
  const size = memoryOf(65_000);
  const use = (count: number) => {
    const acquired = Array.from({ length: count }, () => pool.acquire(65_000));
    for (const buffer of acquired) pool.release(buffer);
    return acquired;
  };
  const [first] = use(10);
  pool.shed();
  t.equal(pool.idleBytes, 10 * size, 'nothing directly after it was used');
  use(4);
  use(3);
  pool.shed();
  t.equal(pool.idleBytes, 4 * size, 'all but the most that was in use at one time');
  t.equal(first?.byteLength, 0, 'and frees it at once');
  const [kept] = use(4);
  pool.shed();
  t.equal(kept?.byteLength, 65_000);
  pool.shed();
  t.equal(pool.idleBytes, 0);
  t.equal(pool.acquire(65_000).length, 65_000, 'and still serves');
});

t.test('all kinds of sockets read into shared memory in order, before and after pauses', async (t) => {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sent = Buffer.alloc(3_000_000, 'every byte in its place ');
  const memory = Buffer.alloc(16_384);
  for (const isDialed of [true, false]) {
    const dialed = connect((server.address() as { port: number }).port, '127.0.0.1');
    await once(dialed, 'connect');
    while (accepted.length === 0) await once(server, 'connection');
    const other = accepted.shift() as Socket;
    const [reader, writer] = isDialed ? [dialed, other] : [other, dialed];
    writer.write('before ');
    reader.read(0); // like a socket that is not paused
    await once(reader, 'readable');
    const received: Buffer[] = [];
    let calls = 0;
    const onData = (data: Buffer) => {
      received.push(Buffer.from(data));
      if (++calls % 50 !== 0) return;
      reader.pause();
      setImmediate(() => reader.resume());
    };
    reader.on('data', onData);
    t.ok(readInto(reader, memory, onData), "the project's own Node supports it");
    reader.resume();
    writer.end(sent);
    await once(reader, 'end');
    t.ok(
      Buffer.concat(received).equals(Buffer.concat([Buffer.from('before '), sent])),
      isDialed ? 'dialed' : 'accepted',
    );
    t.ok(received.every(({ length }) => length <= memory.length));
    reader.destroy();
  }
  server.close();
});

t.test('a socket that cannot read into shared memory stays unchanged', async (t) => {
  const socket = new (class {})() as unknown as Socket;
  t.notOk(readInto(socket, Buffer.alloc(10), () => undefined));
});

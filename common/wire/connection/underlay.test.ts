// Single connections of a channel: when they write, how long a write may take, and memory that is reused for sent and
// received frames.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { issue, makeAuthority } from '../../../test/support/clients/certificates.ts';
import { channel, join, LIMITS, pair, soon } from '../../../test/support/rooms/channels.ts';
import type { Frame } from '../frame.ts';
import { DEFAULT_LANE } from '../lanes/lane-name.ts';
import { Message } from '../message.ts';
import { FrameReader } from './frame-reader.ts';
import { Underlay } from './underlay.ts';

t.test('a connection whose write takes longer than the limit is closed; slow progress is not', async (t) => {
  const clock = new VirtualClock();
  const one = channel(clock, 'a', { writeTimeout: 5_000 });
  const [left, right] = duplexPair();
  one.addUnderlay(new Underlay({ socket: left, io: new IoContext({ clock }), type: 'default' }));
  const block = new Message(1, [], Buffer.alloc(200_000));
  for (let message = 0; message < 4; message++) one.send(block);
  await soon();
  for (let read = 0; read < 3; read++) {
    await clock.advance(4_000);
    t.notOk(one.isClosed, 'a write ends before each limit');
    t.ok(right.read(), 'the peer reads one block');
    await soon();
  }
  await clock.advance(4_999);
  t.notOk(one.isClosed);
  await clock.advance(1);
  t.match(await one.closed, { code: 'TIMEOUT', message: /a write .*longer than 5000 ms/ });
  t.notOk(
    clock.timers().some((name) => name.startsWith('write')),
    'no timer is left',
  );
  const idle = channel(clock, 'idle', { writeTimeout: 5_000 });
  const [ours, theirs] = duplexPair();
  theirs.resume();
  idle.addUnderlay(new Underlay({ socket: ours, io: new IoContext({ clock }), type: 'default' }));
  idle.send(new Message(1));
  await soon();
  await clock.advance(60_000);
  t.notOk(idle.isClosed, 'nothing to write');
  idle.close();
});

t.test('so is one whose peer acknowledges nothing for as long while bytes wait for it', async (t) => {
  for (const writeTimeout of [5_000, 0]) {
    const clock = new VirtualClock();
    const one = channel(clock, 'a', { writeTimeout });
    const [ours] = duplexPair();
    const underlay = new Underlay({ socket: ours, io: new IoContext({ clock }), type: 'default' });
    one.addUnderlay(underlay);
    underlay.noteUnacknowledged(5_000);
    t.notOk(one.isClosed);
    underlay.noteUnacknowledged(5_001);
    await soon();
    t.equal(one.isClosed, writeTimeout > 0, `${writeTimeout}`);
    if (one.isClosed) t.match(await one.closed, { code: 'TIMEOUT', message: /a write .*longer than 5000 ms/ });
    one.close();
  }
});

t.test('the caller may reuse sent memory at once, whether it is written or queued', async (t) => {
  const clock = new VirtualClock();
  const b = channel(clock, 'b');
  const received: string[] = [];
  const shortened = (body: Buffer) => `${body.toString('latin1').replaceAll(/(.)\1*/g, '$1')} ${body.length}`;
  b.onFrame(60_785, (frame) => received.push(shortened(frame.body)));
  const a = channel(clock, 'a', { survivesWithoutUnderlay: true });
  const frame = new Message(60_785, [], 'x'.repeat(70_000)).encode();
  for (const letter of ['a', 'b', 'c']) {
    frame.fill(letter, 20);
    t.ok(a.lane().trySendFrame(frame.subarray(0, 20), frame.subarray(20)), 'waits in the queue');
  }
  t.notOk(a.lane().trySendFrame(frame, undefined), 'the queue is full');
  join(clock, a, b, 'default');
  for (const letter of ['d', 'e']) {
    frame.fill(letter, 20);
    t.ok(a.lane().trySendFrame(frame, undefined));
  }
  frame.fill('z', 20);
  while (received.length < 5) await soon();
  t.same(
    received,
    ['a', 'b', 'c', 'd', 'e'].map((letter) => `${letter} 70000`),
  );
});

t.test('small messages wait for those that follow closely, bulk data does not', async (t) => {
  const [ours] = duplexPair();
  let written = 0;
  ours._write = (chunk: Buffer, _encoding, done) => {
    written += chunk.length;
    done();
  };
  const underlay = new Underlay({ socket: ours, io: new IoContext({ clock: new VirtualClock() }) });
  underlay.write(Buffer.alloc(100));
  await new Promise((resolve) => process.nextTick(resolve));
  t.equal(written, 0);
  underlay.write(Buffer.alloc(100), Buffer.alloc(16 * 1024));
  t.equal(written, 0, 'the frames of one turn are written together');
  await new Promise((resolve) => process.nextTick(resolve));
  t.equal(written, 16 * 1024 + 200);
  underlay.close(new Error('end'));
});

t.test('frames that span reads are gathered in the same memory if it is reused', async (t) => {
  for (const reuseMemory of [true, false]) {
    const reader = new FrameReader(LIMITS);
    if (reuseMemory) reader.buffers = new BufferPool();
    const frames: Frame[] = [];
    const texts: string[] = [];
    for (const letter of ['a', 'b', 'c']) {
      const bytes = new Message(1, [], letter.repeat(10_000)).encode();
      for (const piece of [bytes.subarray(0, 10), bytes.subarray(10, 500), bytes.subarray(500)])
        reader.push(piece, (frame) => (frames.push(frame), texts.push(frame.body.toString()), true));
    }
    t.same(texts, ['a'.repeat(10_000), 'b'.repeat(10_000), 'c'.repeat(10_000)]);
    t.equal(frames[0]?.bytes.buffer === frames[2]?.bytes.buffer, reuseMemory);
  }
});

t.test('messages are copied if frames are lent', async (t) => {
  const { a, b } = pair({ reuseMemory: true });
  const messages: Message[] = [];
  b.on(60_786, (message) => messages.push(message));
  for (const letter of ['a', 'b', 'c'])
    a.send(new Message(60_786, [[1, letter.repeat(50_000)]], letter.repeat(50_000)));
  while (messages.length < 3) await soon();
  t.same(
    messages.map(({ headers, body }) => `${headers.get(1)}${body}`),
    ['a', 'b', 'c'].map((letter) => letter.repeat(100_000)),
  );
  t.equal(new Set(messages.map(({ body }) => body.buffer)).size, 3);
});

t.test('bytes that wait while a channel is paused survive the reads of other connections', async (t) => {
  const clock = new VirtualClock();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = async () => {
    const client = connect(port, '127.0.0.1');
    const [accepted] = (await once(server, 'connection')) as [Socket];
    const sender = channel(clock, 'sender', { lanes: new Map([[DEFAULT_LANE, { types: [''], queueLimit: 9 }]]) });
    const receiver = channel(clock, 'receiver', { reuseMemory: true });
    sender.addUnderlay(new Underlay({ socket: client, io: new IoContext({ clock }) }));
    receiver.addUnderlay(new Underlay({ socket: accepted, io: new IoContext({ clock }) }));
    t.teardown(() => {
      for (const each of [sender, receiver]) each.close();
    });
    return { sender, receiver };
  };
  const paused = await connection();
  const other = await connection();
  const received: string[] = [];
  paused.receiver.onFrame(1, (frame) => {
    received.push(frame.body.toString());
    paused.receiver.setReading(false);
  });
  let others = 0;
  other.receiver.onFrame(1, () => others++);
  const texts = ['first', 'second', 'third'];
  for (const text of texts) paused.sender.send(new Message(1, [], text));
  while (received.length < 1) await soon();
  for (let count = 1; count <= 3; count++) {
    other.sender.send(new Message(1, [], '#'.repeat(60_000)));
    while (others < count) await soon();
    t.same(received, texts.slice(0, count));
    paused.receiver.setReading(true);
    while (received.length < Math.min(count + 1, texts.length)) await soon();
  }
  server.close();
});

t.test('frames that arrived before the end of a connection are received, even if the channel is paused', async (t) => {
  const { pem, key } = await issue(await makeAuthority('network'), 'router');
  const context = { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
  for (const isSecure of [false, true])
    for (const reuseMemory of [false, true]) {
      const clock = new VirtualClock();
      const server = isSecure ? createTlsServer(context) : createServer();
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      const client = isSecure ? connectTls({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1');
      const [accepted] = (await once(server, isSecure ? 'secureConnection' : 'connection')) as [Socket];
      const receiver = channel(clock, 'receiver', { reuseMemory });
      t.teardown(() => (receiver.close(new Error('end of test')), client.destroy(), server.close()));
      const received: string[] = [];
      receiver.onFrame(1, (frame) => {
        received.push(frame.body.toString());
        receiver.setReading(false);
      });
      receiver.addUnderlay(new Underlay({ socket: accepted, io: new IoContext({ clock }) }));
      const texts = ['first', 'second', 'third'];
      client.end(Buffer.concat(texts.map((text) => new Message(1, [], text).encode())));
      for (; !receiver.isClosed; receiver.setReading(true)) await soon();
      t.equal(await receiver.closed, null);
      t.same(received, texts, `${isSecure ? 'TLS' : 'TCP'}${reuseMemory ? ', reused memory' : ''}`);
    }
});

t.test('a connection that breaks during a write leaves no timer', async (t) => {
  const clock = new VirtualClock();
  const one = channel(clock, 'a', { writeTimeout: 5_000 });
  const [left] = duplexPair();
  one.addUnderlay(new Underlay({ socket: left, io: new IoContext({ clock }), type: 'default' }));
  for (let message = 0; message < 4; message++) one.send(new Message(1, [], Buffer.alloc(200_000)));
  await soon();
  const writes = () => clock.timers().filter((name) => name.startsWith('write'));
  t.equal(writes().length, 1, 'a write is in progress');
  left.destroy(Object.assign(new Error('reset by the peer'), { code: 'ECONNRESET' }));
  await one.closed;
  t.same(writes(), []);
});

// Channels over in-memory pipes with a virtual clock: requests, lanes, bounds, heartbeats, groups, and unauthenticated
// peers.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { ClosedError, TimeoutError } from '#lib/errors.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import { Channel, type ChannelOptions } from './channel.ts';
import { ChannelListener } from './channel-listener.ts';
import { HelloRejectedError, SendQueueFullError } from './errors.ts';
import type { Frame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import { ChannelHeader } from './gen/numbers.ts';
import { GroupDialer } from './group-dialer.ts';
import { TRUE } from './header-values.ts';
import { sendHello } from './hello.ts';
import { type HeaderEntries, Message } from './message.ts';
import { Underlay } from './underlay.ts';

const LIMITS = { maxHeaders: 1 << 16, maxBody: 1 << 20 };
const QUIET = { sendInterval: 1e9, checkInterval: 1e9, closeUnresponsiveTimeout: 0 };

function channel(clock: VirtualClock, name: string, options: Partial<ChannelOptions> = {}): Channel {
  return new Channel({
    name,
    peerId: 'peer',
    connectionId: 'connection',
    clock,
    log: silentLog,
    limits: LIMITS,
    lanes: {
      default: { types: ['default', 'high'], queueLimit: 3 },
      high: { types: ['high', 'default'], queueLimit: 3 },
    },
    heartbeat: QUIET,
    ...options,
  });
}

/** Joins two channels by one more connection. */
function join(clock: VirtualClock, a: Channel, b: Channel, type: string): { a: Duplex; b: Duplex } {
  const [left, right] = duplexPair();
  a.addUnderlay(new Underlay({ socket: left, clock, type }));
  b.addUnderlay(new Underlay({ socket: right, clock, type }));
  return { a: left, b: right };
}

function pair(options: Partial<ChannelOptions> = {}) {
  const clock = new VirtualClock();
  const [a, b] = [channel(clock, 'a', options), channel(clock, 'b', options)];
  join(clock, a, b, 'default');
  return { clock, a, b };
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

t.test('a connection whose write takes longer than the limit is closed; slow progress is not', async (t) => {
  const clock = new VirtualClock();
  const one = channel(clock, 'a', { writeTimeout: 5_000 });
  const [left, right] = duplexPair();
  one.addUnderlay(new Underlay({ socket: left, clock, type: 'default' }));
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
  idle.addUnderlay(new Underlay({ socket: ours, clock, type: 'default' }));
  idle.send(new Message(1));
  await soon();
  await clock.advance(60_000);
  t.notOk(idle.isClosed, 'nothing to write');
  idle.close();
});

t.test('requests get their replies, regardless of messages in between', async (t) => {
  const { a, b } = pair();
  const waiting: Message[] = [];
  b.on(1, (message) => void waiting.push(message));
  const answers = ['one', 'two', 'three'].map((body) => a.request(new Message(1, [], body), { timeout: 1_000 }));
  await soon();
  b.send(new Message(99, [], 'nobody handles this'));
  for (const message of waiting.toReversed()) b.reply(message, new Message(2, [], `re: ${message.body}`));
  t.same(
    (await Promise.all(answers)).map(({ body }) => body.toString()),
    ['re: one', 're: two', 're: three'],
  );
});

t.test('an unanswered request ends: by timeout, by the signal, by the end of the channel', async (t) => {
  const { clock, a, b } = pair();
  b.on(1, () => undefined);
  const late = a.request(new Message(1), { timeout: 1_000 });
  const expected = t.rejects(late, TimeoutError);
  await clock.advance(1_000);
  await expected;
  const abort = new AbortController();
  const aborted = a.request(new Message(1), { timeout: 1_000, signal: abort.signal });
  abort.abort(new Error('not wanted any more'));
  await t.rejects(aborted, /not wanted/);
  await t.rejects(a.request(new Message(1), { timeout: 1_000, signal: abort.signal }), /not wanted/);
  const cut = a.request(new Message(1), { timeout: 1_000 });
  a.close();
  await t.rejects(cut, ClosedError);
  await t.rejects(a.request(new Message(1), { timeout: 1_000 }), ClosedError);
  t.same(
    clock.timers().filter((name) => name === 'channel request'),
    [],
    'no timer is left',
  );
});

t.test('a failing handler loses its message, not the channel', async (t) => {
  const { a, b } = pair();
  b.on(1, () => {
    throw new Error('cannot digest this');
  });
  b.on(2, (message) => void b.reply(message, new Message(3)));
  a.send(new Message(1));
  t.equal((await a.request(new Message(2), { timeout: 1_000 })).contentType, 3);
});

t.test('a peer that keeps sending invalid messages loses the channel', async (t) => {
  const { clock, a, b } = pair();
  b.on(1, () => {
    throw new Error('cannot digest this');
  });
  const send = async (count: number) => {
    for (let index = 0; index < count; index++) a.send(new Message(1));
    await soon();
  };
  await send(100);
  t.notOk(b.isClosed, 'a burst is forgiven');
  await clock.advance(1_000_000);
  await send(100);
  t.notOk(b.isClosed, 'and another one after some time');
  await send(2);
  t.match(await b.closed, /more than 100 messages/);
});

t.test('lanes use the best connection in order, and move when it closes', async (t) => {
  const clock = new VirtualClock();
  const [a, b] = [
    channel(clock, 'a', { survivesWithoutUnderlay: true }),
    channel(clock, 'b', { survivesWithoutUnderlay: true }),
  ];
  const got: string[] = [];
  b.on(1, (message) => void got.push(message.body.toString()));
  for (const text of ['1', '2', '3']) a.send(new Message(1, [], text), 'high');
  t.throws(() => a.send(new Message(1, [], 'too many'), 'high'), SendQueueFullError);
  t.equal(a.queued('high'), 3);
  const first = join(clock, a, b, 'default');
  await soon();
  t.same(got, ['1', '2', '3'], 'without another connection the default one carries the high lane');
  const high = join(clock, a, b, 'high');
  first.a.destroy();
  await soon();
  a.send(new Message(1, [], '4'), 'default');
  a.send(new Message(1, [], '5'), 'high');
  await soon();
  t.same(got.slice(3).toSorted(), ['4', '5']);
  high.a.destroy();
  await soon();
  t.notOk(a.isClosed, 'it survives without a connection');
});

t.test('the channel ends with its last connection, or with the essential one', async (t) => {
  const clock = new VirtualClock();
  const [a, b] = [channel(clock, 'a', { essentialType: 'default' }), channel(clock, 'b')];
  const essential = join(clock, a, b, 'default');
  join(clock, a, b, 'high');
  essential.a.destroy();
  await a.closed;
  t.ok(a.isClosed);
});

t.test('heartbeats are answered; a silent peer is closed', async (t) => {
  const heartbeat = { sendInterval: 1_000, checkInterval: 100, closeUnresponsiveTimeout: 3_000 };
  const { clock, a, b } = pair({ heartbeat });
  const latencies: number[] = [];
  a.onLatency = (nanoseconds) => latencies.push(nanoseconds);
  for (let round = 0; round < 100; round++) {
    await clock.advance(100);
    await soon();
  }
  t.notOk(a.isClosed || b.isClosed);
  t.ok(latencies.length >= 9, `${latencies.length} round trips`);
  const [silent] = duplexPair();
  const lonely = channel(clock, 'lonely', { heartbeat });
  lonely.addUnderlay(new Underlay({ socket: silent, clock, type: 'default' }));
  await clock.advance(4_000);
  t.match(await lonely.closed, /heartbeat/);
});

function listener(clock: VirtualClock, options: { maxHellos?: number; check?: () => void | Promise<void> } = {}) {
  const opened: Channel[] = [];
  const made = new ChannelListener({
    id: 'listener',
    clock,
    log: silentLog,
    random: seededRandom(1),
    helloTimeout: 5_000,
    maxHellos: options.maxHellos ?? 10,
    check: options.check ?? (() => undefined),
    open: () => {
      const made = channel(clock, `accepted ${opened.length}`);
      opened.push(made);
      return made;
    },
  });
  const dial = (): { underlay: Underlay; raw: Duplex; accepted: Duplex } => {
    const [ours, theirs] = duplexPair();
    made.accept(theirs as TLSSocket);
    return { underlay: new Underlay({ socket: ours, clock, type: 'default' }), raw: ours, accepted: theirs };
  };
  return { opened, dial, made };
}

const FIRST: HeaderEntries = [
  [ChannelHeader.UnderlayType, 'default'],
  [ChannelHeader.IsGrouped, TRUE],
  [ChannelHeader.FirstInGroup, TRUE],
];

t.test('connections join a group only with its id and secret', async (t) => {
  const clock = new VirtualClock();
  const { opened, dial } = listener(clock);
  const answer = await sendHello(dial().underlay, 'router', FIRST, 5_000);
  const id = answer.string(ChannelHeader.ConnectionId) ?? '';
  const secret = answer.headers.get(ChannelHeader.GroupSecret) ?? Buffer.alloc(0);
  t.equal(secret.length, 16);
  const further = (connection: string, shown: Buffer): HeaderEntries => [
    [ChannelHeader.UnderlayType, 'high'],
    [ChannelHeader.IsGrouped, TRUE],
    [ChannelHeader.ConnectionId, connection],
    [ChannelHeader.GroupSecret, shown],
  ];
  await sendHello(dial().underlay, 'router', further(id, secret), 5_000);
  t.equal(opened.length, 1);
  t.equal(opened[0]?.underlays.length, 2);
  const { underlay: guesser } = dial();
  await sendHello(guesser, 'router', further(id, Buffer.alloc(16)), 5_000);
  await guesser.closed;
  t.equal(opened[0]?.underlays.length, 2, 'a wrong secret does not join');
  await t.rejects(sendHello(dial().underlay, 'router', further('nobody', secret), 5_000), HelloRejectedError);
  const { underlay: thief } = dial();
  await sendHello(thief, 'router', [...FIRST, [ChannelHeader.ConnectionId, id]], 5_000);
  await thief.closed;
  await sendHello(dial().underlay, 'router', further(id, secret), 5_000);
  t.equal(opened.length, 1, 'the id alone cannot replace a group');
  t.equal(opened[0]?.underlays.length, 3);
});

t.test('a group that opens while another first hello is checked is not replaced', async (t) => {
  const checked: (() => void)[] = [];
  const { opened, dial } = listener(new VirtualClock(), {
    check: () => new Promise((resolve) => checked.push(resolve)),
  });
  const withSecret = (fill: number): HeaderEntries => [
    ...FIRST,
    [ChannelHeader.ConnectionId, 'same'],
    [ChannelHeader.GroupSecret, Buffer.alloc(16, fill)],
  ];
  const { underlay: owner } = dial();
  const { underlay: thief } = dial();
  const hellos = [sendHello(owner, 'router', withSecret(1), 5_000), sendHello(thief, 'router', withSecret(2), 5_000)];
  while (checked.length < 2) await soon();
  for (const resolve of checked) resolve();
  await Promise.all(hellos);
  await thief.closed;
  t.notOk(owner.isClosed);
  t.same(
    opened.map(({ underlays }) => underlays.length),
    [1],
  );
});

t.test('a peer with a missing, invalid or rejected hello is closed', async (t) => {
  const clock = new VirtualClock();
  const { opened, dial } = listener(clock, {
    maxHellos: 2,
    check: () => {
      throw new HelloRejectedError('not you');
    },
  });
  await t.rejects(sendHello(dial().underlay, 'router', FIRST, 5_000), HelloRejectedError);
  const { raw } = dial();
  const answered = new Promise<Buffer>((resolve) => raw.once('data', resolve));
  raw.write('GET / HTTP/1.1\r\n\r\n');
  t.equal(
    (await answered).subarray(0, 4).toString('hex'),
    '0306090a',
    'a peer with another protocol receives the versions',
  );
  await soon();
  const { accepted: oldest } = dial();
  const [second, third] = [dial().accepted, dial().accepted];
  t.same(
    [oldest, second, third].map(({ destroyed }) => destroyed),
    [true, false, false],
  );
  t.pass('a third one evicts the oldest of two silent ones');
  await clock.advance(5_000);
  t.same(
    clock.timers().filter((name) => name.startsWith('hello')),
    [],
    'they timed out',
  );
  t.equal(opened.length, 0);
});

t.test('a group is completed one connection at a time, and redialed with growing pauses', async (t) => {
  const clock = new VirtualClock();
  const a = channel(clock, 'a', { survivesWithoutUnderlay: true });
  const b = channel(clock, 'b', { survivesWithoutUnderlay: true });
  join(clock, a, b, 'default');
  const dials: [string, number][] = [];
  let isRejecting = false;
  const group = new GroupDialer({
    channel: a,
    wanted: { default: 2, high: 1 },
    startDelay: 5_000,
    minInterval: 1_000,
    backoff: { min: 2_000, max: 60_000, factor: 2, jitter: 0 },
    dial: (type) => {
      dials.push([type, clock.monotonic()]);
      if (isRejecting) return Promise.reject(new Error('rejected'));
      const [left, right] = duplexPair();
      b.addUnderlay(new Underlay({ socket: right, clock, type }));
      return Promise.resolve(new Underlay({ socket: left, clock, type }));
    },
    clock,
    random: seededRandom(1),
    log: silentLog,
  });
  group.start();
  await clock.advance(4_999);
  t.same(dials, []);
  await clock.advance(5_001);
  t.same(
    dials.map(([type]) => type),
    ['default', 'high'],
  );
  t.equal(a.underlays.length, 3);
  isRejecting = true;
  const before = dials.length;
  a.underlays.find(({ type }) => type === 'high')?.close();
  await soon();
  await clock.advance(120_000);
  const gaps = dials
    .slice(before)
    .map(([, at], index, all) => at - (all[index - 1]?.[1] ?? at))
    .slice(1);
  t.ok(gaps.length >= 3 && gaps.every((gap, index) => gap >= (gaps[index - 1] ?? 0)), `gaps ${gaps.join(', ')}`);
  group.stop();
  await clock.advance(200_000);
  t.equal(dials.slice(before).length, gaps.length + 1, 'a stopped one does not dial');
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
    t.ok(a.trySendFrame(frame.subarray(0, 20), frame.subarray(20), 'default'), 'waits in the queue');
  }
  t.notOk(a.trySendFrame(frame, undefined, 'default'), 'the queue is full');
  join(clock, a, b, 'default');
  for (const letter of ['d', 'e']) {
    frame.fill(letter, 20);
    t.ok(a.trySendFrame(frame, undefined, 'default'));
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
  const underlay = new Underlay({ socket: ours, clock: new VirtualClock() });
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
    reader.reuseMemory = reuseMemory;
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
    const sender = channel(clock, 'sender', { lanes: { default: { types: [''], queueLimit: 9 } } });
    const receiver = channel(clock, 'receiver', { reuseMemory: true });
    sender.addUnderlay(new Underlay({ socket: client, clock }));
    receiver.addUnderlay(new Underlay({ socket: accepted, clock }));
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

t.test('a silent connection of a group is closed, and the others continue', async (t) => {
  const interval = 10_000;
  const clock = new VirtualClock();
  const heartbeat = { sendInterval: interval, checkInterval: 1_000, closeUnresponsiveTimeout: 60_000 };
  const a = channel(clock, 'a', { heartbeat, probesUnderlays: true });
  const b = channel(clock, 'b');
  const joined = Array.from({ length: 3 }, () => join(clock, a, b, 'default'));
  const latencies: number[] = [];
  a.onLatency = (nanoseconds) => latencies.push(nanoseconds);
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 1_000) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await pass(6 * interval);
  t.equal(a.underlays.length, 3, 'all of them answer');
  t.ok(latencies.length >= 12, 'each connection is probed');
  joined[0]?.b.pause();
  await pass(3 * interval);
  t.equal(a.underlays.length, 3, 'a few late answers have no effect');
  await pass(2 * interval);
  t.equal(a.underlays.length, 2);
  await pass(12 * interval);
  t.equal(a.underlays.length, 2, 'nothing else happens');
  for (const { b: end } of joined) end.pause();
  await pass(5 * interval);
  t.equal(a.underlays.length, 2, 'if all connections are silent, only the timeout of the channel applies');
  await pass(4 * interval);
  t.ok(a.isClosed);
  b.close();
});

t.test('connections with equal load take turns if a lane requires it', async (t) => {
  const lanes = { default: { types: ['default'], queueLimit: 3, takesTurns: true } };
  const { clock, a, b } = pair({ lanes });
  join(clock, a, b, 'default');
  const used = new Set<unknown>();
  for (const underlay of a.underlays) {
    const write = underlay.write.bind(underlay);
    underlay.write = (head, body) => (used.add(underlay), write(head, body));
  }
  for (let count = 0; count < 2; count++) {
    a.send(new Message(1));
    await soon();
  }
  t.equal(used.size, 2);
  for (const each of [a, b]) each.close();
});

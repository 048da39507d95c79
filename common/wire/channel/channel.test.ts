// Channels over in-memory pipes with a virtual clock: requests, failing handlers, lanes, ends, heartbeats.

import { duplexPair } from 'node:stream';
import t from 'tap';
import { ClosedError, TimeoutError } from '#lib/errors.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { channel, join, pair, soon } from '../../../test/support/rooms/channels.ts';
import { Underlay } from '../connection/underlay.ts';
import { SendQueueFullError } from '../errors.ts';
import { ChannelHeader } from '../gen/numbers.ts';
import { DEFAULT_LANE } from '../lanes/lane-name.ts';
import { Message } from '../message.ts';
import { HIGH_LANE } from './control-lanes.ts';

t.test('requests get their replies, regardless of messages in between', async (t) => {
  const { a, b } = pair();
  const waiting: Message[] = [];
  b.on(1_001, (message) => void waiting.push(message));
  const answers = ['one', 'two', 'three'].map((body) => a.request(new Message(1_001, [], body), { timeout: 1_000 }));
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
  b.on(1_001, () => undefined);
  const late = a.request(new Message(1_001), { timeout: 1_000 });
  const expected = t.rejects(late, TimeoutError);
  await clock.advance(1_000);
  await expected;
  const abort = new AbortController();
  const aborted = a.request(new Message(1_001), { timeout: 1_000, signal: abort.signal });
  abort.abort(new Error('not wanted any more'));
  await t.rejects(aborted, /not wanted/);
  await t.rejects(a.request(new Message(1_001), { timeout: 1_000, signal: abort.signal }), /not wanted/);
  const cut = a.request(new Message(1_001), { timeout: 1_000 });
  a.close();
  await t.rejects(cut, ClosedError);
  await t.rejects(a.request(new Message(1_001), { timeout: 1_000 }), ClosedError);
  t.same(
    clock.timers().filter((name) => name === 'channel request'),
    [],
    'no timer is left',
  );
});

t.test('a failing handler loses its message, not the channel', async (t) => {
  const { a, b } = pair();
  b.on(1_001, () => {
    throw new Error('cannot digest this');
  });
  b.on(2, (message) => void b.reply(message, new Message(3)));
  a.send(new Message(1_001));
  t.equal((await a.request(new Message(2), { timeout: 1_000 })).contentType, 3);
});

t.test('a peer that keeps sending invalid messages loses the channel', async (t) => {
  const { clock, a, b } = pair();
  b.on(1_001, () => {
    throw new Error('cannot digest this');
  });
  const send = async (count: number) => {
    for (let index = 0; index < count; index++) a.send(new Message(1_001));
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
  b.on(1_001, (message) => void got.push(message.body.toString()));
  for (const text of ['1', '2', '3']) a.send(new Message(1_001, [], text), HIGH_LANE);
  t.throws(() => a.send(new Message(1_001, [], 'too many'), HIGH_LANE), SendQueueFullError);
  t.equal(a.lane(HIGH_LANE).queued, 3);
  const first = join(clock, a, b, 'default');
  await soon();
  t.same(got, ['1', '2', '3'], 'without another connection the default one carries the high lane');
  const high = join(clock, a, b, 'high');
  first.a.destroy();
  await soon();
  a.send(new Message(1_001, [], '4'));
  a.send(new Message(1_001, [], '5'), HIGH_LANE);
  await soon();
  t.same(got.slice(3).toSorted(), ['4', '5']);
  high.a.destroy();
  await soon();
  t.notOk(a.isClosed, 'it survives without a connection');
});

t.test('a lane with too many bytes is full until the peer reads', async (t) => {
  const LIMIT = 1_000_000;
  const lanes = new Map([[DEFAULT_LANE, { types: ['default'], queueLimit: 1_000, byteLimit: LIMIT }]]);
  const { a, b } = pair({ lanes });
  let received = 0;
  let writable = 0;
  b.on(1_001, () => {
    received++;
  });
  a.lane().onWritable(() => {
    writable++;
  });
  b.setReading(false);
  const message = () => new Message(1_001, [], Buffer.alloc(300_000));
  let accepted = 0;
  while (accepted < 100 && a.trySend(message())) accepted++;
  t.equal(a.lane().queued, 4, 'the last one exceeds the limit');
  b.setReading(true);
  while (received < accepted) await soon();
  t.equal(writable, 1);
  t.ok(a.trySend(message()));
  for (const each of [a, b]) each.close();
});

t.test('a connection of an unknown type carries the default lane', async (t) => {
  const clock = new VirtualClock();
  const [a, b] = [channel(clock, 'a', { essentialType: 'default' }), channel(clock, 'b')];
  b.on(1_001, (message) => void b.reply(message, new Message(2)));
  const { a: socket } = join(clock, a, b, 'low');
  t.equal((await a.request(new Message(1_001), { timeout: 1_000 })).contentType, 2);
  join(clock, a, b, 'high');
  socket.destroy();
  await a.closed;
  t.ok(a.isClosed, 'it is essential like others of that lane');
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
  a.onLatency((nanoseconds) => latencies.push(nanoseconds));
  for (let round = 0; round < 100; round++) {
    await clock.advance(100);
    await soon();
  }
  t.notOk(a.isClosed || b.isClosed);
  t.ok(latencies.length >= 9, `${latencies.length} round trips`);
  const [silent] = duplexPair();
  const lonely = channel(clock, 'lonely', { heartbeat });
  lonely.addUnderlay(new Underlay({ socket: silent, io: new IoContext({ clock }), type: 'default' }));
  await clock.advance(4_000);
  t.match(await lonely.closed, /heartbeat/);
});

t.test('a heartbeat in a forwarded frame is answered, and does not travel on', async (t) => {
  const heartbeat = { sendInterval: 1_000, checkInterval: 100, closeUnresponsiveTimeout: 30_000 };
  const { clock, a, b } = pair({ heartbeat });
  const forwarded: Message[] = [];
  b.onFrame(7, (frame) => void forwarded.push(Message.fromFrame(frame)));
  const latencies: number[] = [];
  a.onLatency((nanoseconds) => latencies.push(nanoseconds));
  const asked = Buffer.alloc(8);
  asked.writeBigUInt64LE(123n);
  const other = Buffer.alloc(8, 1);
  const headers = [
    [ChannelHeader.Heartbeat, asked],
    [1_000, other],
    [1_001, Buffer.from('short')],
  ] as const;
  a.send(new Message(7, headers, 'body'));
  await soon();
  t.same([...(forwarded[0]?.headers.keys() ?? [])], [1_000, 1_001]);
  t.same([forwarded[0]?.headers.get(1_000), String(forwarded[0]?.body)], [other, 'body']);
  for (let round = 0; round < 5; round++) {
    await clock.advance(100);
    await soon();
  }
  t.equal(
    latencies[0],
    Number(clock.nowNanoseconds() - 123n - 500_000_000n),
    'the answer has the time of the question',
  );
});

t.test('a connection that ends slowly does not hold back the lanes of the others', async (t) => {
  const clock = new VirtualClock();
  const [a, b] = [channel(clock, 'a'), channel(clock, 'b')];
  const [ending] = duplexPair();
  const underlay = new Underlay({ socket: ending, io: new IoContext({ clock }), type: 'default' });
  a.addUnderlay(underlay);
  underlay.write(new Message(1_001).encode());
  underlay.close(); // the peer does not read, so this takes until a timeout
  join(clock, a, b, 'default');
  let received = 0;
  b.on(1_001, () => received++);
  const body = Buffer.alloc(10_000);
  for (let sent = 0; sent < 10; sent++) t.ok(a.trySend(new Message(1_001, [], body)), `message ${sent}`);
  await soon();
  t.same([received, a.lane().queued, a.underlays.length], [10, 0, 2]);
  for (const channel of [a, b]) channel.close(new Error('end of test'));
});

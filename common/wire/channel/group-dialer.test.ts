// Channels with a group of connections: missing ones are dialed, silent ones are closed, the others share the load.

import { duplexPair } from 'node:stream';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { channel, join, pair, soon } from '../../../test/support/rooms/channels.ts';
import { Underlay } from '../connection/underlay.ts';
import { DEFAULT_LANE, LaneName } from '../lanes/lane-name.ts';
import { Message } from '../message.ts';
import { GroupDialer } from './group-dialer.ts';

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
      b.addUnderlay(new Underlay({ socket: right, io: new IoContext({ clock }), type }));
      return Promise.resolve(new Underlay({ socket: left, io: new IoContext({ clock }), type }));
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

t.test('a silent connection of a group is closed, and the others continue', async (t) => {
  const interval = 10_000;
  const clock = new VirtualClock();
  const heartbeat = { sendInterval: interval, checkInterval: 1_000, closeUnresponsiveTimeout: 60_000 };
  const a = channel(clock, 'a', { heartbeat, probesUnderlays: true });
  const b = channel(clock, 'b');
  const joined = Array.from({ length: 3 }, () => join(clock, a, b, 'default'));
  const latencies: number[] = [];
  a.onLatency((nanoseconds) => latencies.push(nanoseconds));
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
  const lanes = new Map([[DEFAULT_LANE, { types: ['default'], queueLimit: 3, takesTurns: true }]]);
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

t.test('frames that wait for the same write share a connection if a lane gathers them', async (t) => {
  const lane = (types: string[]) => ({ types, queueLimit: 64, takesTurns: true, gathers: true });
  const [ack, probe] = [new LaneName('ack'), new LaneName('probe')];
  const lanes = new Map([
    [DEFAULT_LANE, lane(['default'])],
    [ack, lane(['ack', 'default'])],
    [probe, { ...lane(['default']), gathers: false }],
  ]);
  const { clock, a, b } = pair({ lanes });
  join(clock, a, b, 'default');
  join(clock, a, b, 'ack');
  const used: string[] = [];
  for (const [index, underlay] of a.underlays.entries()) {
    const write = underlay.write.bind(underlay);
    underlay.write = (head, body) => (used.push(`${underlay.type} ${index}`), write(head, body));
  }
  const [first, second, acks] = ['default 0', 'default 1', 'ack 2'];
  const usedBy = async (...sent: [size: number, lane: LaneName][]) => {
    used.length = 0;
    for (const [size, name] of sent) a.send(new Message(1, [], Buffer.alloc(size)), name);
    await soon();
    return [...used];
  };
  t.same(await usedBy([100, DEFAULT_LANE], [100, DEFAULT_LANE], [100, ack], [100, DEFAULT_LANE]), [
    first,
    first,
    first,
    first,
  ]);
  t.same(
    await usedBy([100, DEFAULT_LANE], [100, DEFAULT_LANE]),
    [second, second],
    'the next write is the turn of the other',
  );
  t.same(await usedBy([100, ack], [100, ack]), [acks, acks], 'a lane begins with its best type');
  t.same(await usedBy([100, ack], [100, DEFAULT_LANE]), [acks, first], 'no lane uses a type that is not its own');
  t.same(await usedBy([20_000, DEFAULT_LANE], [100, DEFAULT_LANE]), [second, first], 'nothing joins a large write');
  t.same(await usedBy([100, DEFAULT_LANE], [100, probe]), [second, first], 'other lanes do not join');
  for (const each of [a, b]) each.close();
});

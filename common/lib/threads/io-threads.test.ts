// Connections in threads: bytes arrive in order, a thread that ends takes only its own connections with it, and another
// one takes its place.

import t from 'tap';
import { kindOf } from '../../../test/support/rooms/crossing.ts';
import { until } from '../../../test/support/until.ts';
import { createLog } from '../log/log.ts';
import { seededRandom } from '../random.ts';
import { VirtualClock } from '../time/clock.ts';
import { type Crossing, CrossingRecord, CrossingSide, createAlarms, createCrossing } from './crossings.ts';
import { IoThreads, ThreadEndedError } from './io-threads.ts';

const PROGRAM = new URL('../../../test/support/rooms/echo-thread.ts', import.meta.url);

/** A thread that runs, and never says so. */
const SILENT_PROGRAM = new URL(`data:text/javascript,${encodeURIComponent('setInterval(() => 0, 1_000)')}`);

/** The part of an echo that has arrived. */
interface Arrived {
  readonly data: Buffer[];
  readonly messages: unknown[];
  lost: Error | undefined;
}

function threads(count: number, program = PROGRAM) {
  const lines: Record<string, unknown>[] = [];
  const clock = new VirtualClock();
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const all = new IoThreads({ count, program, clock, log });
  const alive = setInterval(() => undefined, 1_000); // threads do not keep a process alive
  const close = async () => {
    clearInterval(alive);
    await all.close();
  };
  return { all, clock, lines, [Symbol.asyncDispose]: close };
}

/** Waits until all threads run: a further one starts for the connection after the first. */
async function startAll(all: IoThreads, count: number): Promise<void> {
  const crossings: (Crossing | undefined)[] = [];
  await all.start();
  while (all.inspect().length < count) {
    crossings.push(open(all)?.crossing);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const crossing of crossings) {
    crossing?.post('end');
    crossing?.close();
  }
}

/** Opens a crossing whose records arrive here; `take` limits them in one turn. */
function open(all: IoThreads, kind = 'echo', take: () => number = () => 4) {
  const crossing = all.open(kindOf(kind), () => ({ greeting: 'hello' }));
  if (!crossing) return undefined;
  const arrived: Arrived = { data: [], messages: [], lost: undefined };
  let wakeUp: () => void = () => undefined;
  const note = () => wakeUp();
  crossing.owner = {
    onTurn() {
      let count = 0;
      for (const max = take(); count < max && crossing.received.next(); count++)
        arrived.data.push(Buffer.from(crossing.received.data));
      if (count > 0) crossing.release();
      note();
      return count > 0;
    },
    onMessage: (message) => (arrived.messages.push(message), note()),
    onLost: (error) => {
      arrived.lost = error;
      note();
    },
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo())
      await new Promise<void>((resolve) => {
        wakeUp = resolve;
      });
  };
  return { crossing, arrived, until };
}

/** Sends records of random lengths, and waits for room where there is none. */
async function send(crossing: Crossing, seed: number, bytes: number): Promise<Buffer[]> {
  const random = seededRandom(seed);
  const all: Buffer[] = [];
  for (let sent = 0; sent < bytes; ) {
    const length = Math.floor(random.next() ** 3 * 70_000);
    const room = crossing.sent.reserve(length);
    if (!room) {
      crossing.publish();
      await new Promise(setImmediate);
      continue;
    }
    room.fill(all.length);
    all.push(Buffer.from(room.map((byte) => byte ^ 0xff)));
    crossing.sent.commit(CrossingRecord.Data, length);
    if (random.next() < 0.5) crossing.publish();
    if (random.next() < 0.2) await new Promise(setImmediate);
    sent += length;
  }
  crossing.publish();
  return all;
}

t.test('records return in order, from several connections and threads, whatever pauses each side makes', async (t) => {
  await using network = threads(2);
  const random = seededRandom(7);
  const take = () => Math.floor(random.next() * 3); // sometimes none, although the turn could have some
  await startAll(network.all, 2);
  const echoes = [1, 2, 3].map(() => open(network.all, 'echo', take));
  t.same(new Set(network.all.inspect().map(({ connections }) => connections)), new Set([1, 2]));
  await Promise.all(
    echoes.map(async (echo, index) => {
      if (!echo) throw new Error('no place');
      const touch = setInterval(() => echo.crossing.touch(), 1); // a turn that took none needs a reason to come back
      const sent = await send(echo.crossing, index + 1, 8 * 1024 * 1024);
      await echo.until(() => echo.arrived.data.length === sent.length);
      clearInterval(touch);
      t.ok(echo.arrived.data.every((data, at) => data.equals(sent[at] as Buffer)));
    }),
  );
});

t.test('messages and the hint arrive, and a connection that cannot be opened is refused with the reason', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const echo = open(network.all);
  if (!echo) throw new Error('no place');
  echo.crossing.sent.hint = 4_096;
  echo.crossing.post({ some: ['thing'] });
  await echo.until(() => echo.arrived.messages.length > 0);
  t.match(echo.arrived.messages, [{ greeting: 'hello', message: { some: ['thing'] }, hint: 4_096 }]);
  const refused = open(network.all, 'refuse');
  await refused?.until(() => refused.arrived.messages.length > 0);
  t.same(refused?.arrived.messages, [{ failed: 'no such connection' }]);
});

t.test('a thread that ends takes its connections with it, others go on, and another one takes its place', async (t) => {
  await using network = threads(2);
  await startAll(network.all, 2);
  const [one, two, three] = [open(network.all), open(network.all), open(network.all)];
  if (!one || !two || !three) throw new Error('no place');
  one.crossing.post('throw');
  await one.until(() => one.arrived.lost !== undefined);
  t.ok(one.arrived.lost instanceof ThreadEndedError);
  t.match(one.arrived.lost, { message: 'the I/O thread of the connection ended: as asked' });
  t.ok(three.arrived.lost, 'it was in the same thread');
  t.equal(two.arrived.lost, undefined);
  t.match(network.lines, [{ error: 'as asked', connections: 2, pause: 1_000 }]);
  t.match(network.all.inspect(), [{ thread: 2, connections: 1, carried: Number, utilization: Number }]);
  const sent = await send(two.crossing, 1, 100_000);
  await two.until(() => two.arrived.data.length === sent.length);

  open(network.all);
  t.equal(network.all.inspect().length, 1, 'not at once: it could end again and again');
  await network.clock.advance(1_000);
  await startAll(network.all, 2);
  const four = open(network.all);
  t.equal(network.all.inspect().filter(({ connections }) => connections === 1).length, 1);
  t.same(
    network.all.inspect().map(({ thread }) => thread),
    [1, 2],
    'its number is free again',
  );
  four?.crossing.post('throw');
  await four?.until(() => four.arrived.lost !== undefined);
  t.match(network.lines[1], { pause: 2_000 });
});

t.test('a thread carries 64 connections; then there is no place until one ends', async (t) => {
  await using network = threads(1);
  t.equal(open(network.all), undefined, 'not before the thread runs');
  await network.all.start();
  const all = Array.from({ length: 64 }, () => open(network.all));
  t.ok(all.every((each) => each));
  const described = () => t.fail('nobody needs the description');
  t.equal(network.all.open(kindOf('echo'), described), undefined);
  t.ok(
    network.all.open(kindOf('other'), () => ({})),
    'others have places of their own',
  );
  all[3]?.crossing.close();
  t.equal(
    network.all.open(kindOf('echo'), () => undefined),
    undefined,
    'the caller has nothing to hand over',
  );
  t.ok(open(network.all));
  await network.all.close();
  t.ok(all[0]?.arrived.lost);
  t.equal(all[3]?.arrived.lost, undefined, 'it had ended before');
  t.same(network.lines, [], 'nobody needs to know of threads that were ended');
  t.equal(open(network.all), undefined);
  t.equal(await network.all.start(), false);
});

t.test('a side tells when its last crossing has ended', async (t) => {
  let idle = 0;
  const [alarms] = createAlarms(2);
  const side = new CrossingSide(
    alarms,
    () => undefined,
    () => void idle++,
  );
  const memory = createCrossing(64);
  const all = [1, 2].map((id) => side.add({ id, slot: side.takeSlot(), memory, kind: 'echo' }));
  all[0]?.close();
  t.equal(idle, 0);
  all[1]?.close();
  t.equal(idle, 1);
  all[1]?.close();
  t.equal(idle, 1, 'once');
});

t.test('a thread that cannot start takes no connection, and is tried again after a pause', async (t) => {
  await using network = threads(1, new URL('https://localhost/program.js'));
  for (const pause of [1_000, 2_000]) {
    t.equal(open(network.all), undefined);
    t.match(network.lines.pop(), { msg: /^an I\/O thread cannot start/, error: String, pause });
    t.equal(await network.all.start(), false);
    t.same(network.lines, []);
    await network.clock.advance(pause);
  }
});

t.test('a thread that does not start in time ends, and those who wait for it stay on the main thread', async (t) => {
  await using network = threads(1, SILENT_PROGRAM);
  const started = network.all.start();
  t.same(network.all.inspect(), []);
  await network.clock.advance(10_000);
  t.equal(await started, false);
  t.match(network.lines, [{ msg: /^an I\/O thread ended/, error: /^its start .* 10000 ms/, pause: 1_000 }]);
});

t.test('a connection of a kind that the thread does not know is refused', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const unknown = open(network.all, 'unknown');
  await unknown?.until(() => unknown.arrived.messages.length > 0);
  t.same(unknown?.arrived.messages, [{ failed: 'an I/O thread carries no unknown' }]);
});

t.test('the memory of a connection that both sides have ended serves the next one, as new', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const memories = new Set<ArrayBufferLike>();
  for (let count = 0; count < 20; count++) {
    const echo = open(network.all);
    if (!echo) throw new Error('no place');
    memories.add(echo.crossing.sent.reserve(0)?.buffer as ArrayBufferLike);
    echo.crossing.sent.hint = 7;
    const sent = await send(echo.crossing, count, 2 * 1024 * 1024);
    await echo.until(() => echo.arrived.data.length === sent.length);
    t.ok(echo.arrived.data.every((data, at) => data.equals(sent[at] as Buffer)));
    echo.crossing.post('end');
    await new Promise((resolve) => setTimeout(resolve, 10));
    echo.crossing.close(true);
  }
  t.equal(memories.size, 1);
});

t.test('an operator sees the connections of a thread by kind, their bytes, and how late its loop is', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const fresh = network.all.inspect();
  t.match(fresh, [{ thread: 1, connections: 0, kinds: {}, carried: 0, bytes: { received: 0, sent: 0 } }]);
  const echoes = [open(network.all), open(network.all)];
  let bytes = 0;
  for (const [index, echo] of echoes.entries()) {
    if (!echo) throw new Error('no place');
    const sent = await send(echo.crossing, index + 1, 3 * 1024 * 1024); // further than the rings are long
    await echo.until(() => echo.arrived.data.length === sent.length);
    bytes += sent.reduce((sum, { length }) => sum + length, 0);
  }
  const all = { connections: 2, kinds: { echo: 2 }, carried: 2, bytes: { received: bytes, sent: bytes } };
  t.match(network.all.inspect(), [all]);
  echoes[1]?.crossing.post('end');
  echoes[1]?.crossing.close();
  t.match(network.all.inspect(), [{ ...all, connections: 1, kinds: { echo: 1 } }], 'the bytes of ended ones count');

  const still = new Int32Array(new SharedArrayBuffer(4));
  echoes[0]?.crossing.post(still);
  const loop = () => network.all.inspect()[0]?.loopDelayMs.longest ?? 0;
  await until('a delay', () => loop() > 1_500);
  Atomics.store(still, 0, 1);
  await network.clock.advance(10_000);
  await until('an interval without delay', async () => {
    await network.clock.advance(5_000);
    return loop() < 1_000;
  });
  await network.all.close();
  t.same(network.clock.timers(), []);
});

t.test('a thread without connections is not woken to measure its loop', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const measured = async () => {
    await network.clock.advance(5_000);
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // longer than the pause between two measurements
    return network.all.inspect()[0]?.loopDelayMs.longest ?? 0;
  };
  t.equal(await measured(), 0);
  const echo = open(network.all);
  await until(
    'a measurement',
    async () => (await network.clock.advance(5_000), (network.all.inspect()[0]?.loopDelayMs.longest ?? 0) > 0),
  );
  echo?.crossing.post('end');
  echo?.crossing.close();
  await until('no measurement', async () => (await measured(), (await measured()) === 0));
});

t.test('as many connections as before need no further memory', async (t) => {
  await using network = threads(1);
  await network.all.start();
  const stays = open(network.all);
  const memories = new Set<ArrayBufferLike>();
  for (let round = 0; round < 3; round++) {
    const all = Array.from({ length: 30 }, () => open(network.all));
    for (const each of all) memories.add(each?.crossing.sent.reserve(0)?.buffer as ArrayBufferLike);
    for (const each of all) each?.crossing.post('end');
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const each of all) each?.crossing.close(true);
  }
  t.equal(memories.size, 30);
  t.ok(stays);
});

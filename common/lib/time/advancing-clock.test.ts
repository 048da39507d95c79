// A clock that runs with the real time and can be advanced.

import t from 'tap';
import { AdvancingClock, realTime } from './advancing-clock.ts';
import { SystemClock, type Timer, VirtualClock } from './clock.ts';

/** A clock whose real time stands still. */
function open() {
  const real = new VirtualClock();
  return { real, clock: new AdvancingClock(real) };
}

/** Its timers have the resolution of those of the system. */
class CoarseClock extends VirtualClock {
  override after(name: string, milliseconds: number, task: () => void): Timer {
    return super.after(name, Math.max(1, Math.round(milliseconds)), task);
  }
}

t.test('it runs with the real time, plus what was added', async (t) => {
  const { real, clock } = open();
  const [started, monotonic, nanoseconds] = [clock.now(), clock.monotonic(), clock.nowNanoseconds()];
  await real.advance(5);
  await clock.advance(1_000);
  await real.advance(5);
  t.equal(clock.now() - started, 1_010);
  t.equal(clock.monotonic() - monotonic, 1_010);
  t.equal(clock.nowNanoseconds() - nanoseconds, 1_010_000_000n);
  t.equal(clock.ahead, 1_000);
});

t.test('due timers fire in order and see their time; later ones keep the rest of their wait', async (t) => {
  const { real, clock } = open();
  const started = clock.now();
  const fired: string[] = [];
  const note = (name: string) => () => void fired.push(`${name} ${clock.now() - started}`);
  clock.after('b', 20, note('b'));
  clock.after('a', 10, () => {
    note('a')();
    clock.after('next', 5, note('next'));
  });
  clock.after('later', 100, note('later'));
  clock.after('never', 15, note('never')).cancel();
  await clock.advance(60);
  t.same(fired, ['a 10', 'next 15', 'b 20']);
  await real.advance(39);
  t.same(clock.timers(), ['later']);
  await real.advance(1);
  t.same(fired.slice(3), ['later 100']);
  t.same(clock.timers(), []);
  t.same(real.timers(), []);
});

t.test('a repeated timer fires once for all its missed times, and continues in its rhythm', async (t) => {
  const { real, clock } = open();
  const started = clock.now();
  const fired: number[] = [];
  const timer = clock.every('tick', 8, () => fired.push(clock.now() - started));
  await clock.advance(20);
  t.same(fired, [16]);
  await real.advance(4);
  t.same(fired, [16, 24]);
  await real.advance(8);
  t.same(fired, [16, 24, 32]);
  timer.cancel();
  await clock.advance(100);
  t.same(fired.length, 3);
  t.same(real.timers(), []);
});

t.test('a task may cancel its own and other timers', async (t) => {
  const { clock } = open();
  const fired: string[] = [];
  const own = clock.every('own', 5, () => {
    fired.push('own');
    own.cancel();
    other.cancel();
  });
  const other = clock.after('other', 10, () => fired.push('other'));
  await clock.advance(5);
  await clock.advance(50);
  t.same(fired, ['own']);
  t.same(clock.timers(), []);
});

t.test('concurrent advances add up; a clock never goes back', async (t) => {
  const { clock } = open();
  const started = clock.now();
  await Promise.all([clock.advance(10), clock.advance(20), clock.advance(0)]);
  t.equal(clock.now() - started, 30);
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => clock.advance(wrong));
});

t.test('a year passes at once, although timers repeat every millisecond', async (t) => {
  const clock = new AdvancingClock();
  let ticks = 0;
  const timers = [clock.every('tick', 1, () => void ticks++), clock.every('minute', 60_000, () => undefined)];
  await clock.advance(365 * 24 * 3_600_000);
  t.ok(ticks < 1_000, `${ticks} ticks`);
  for (const timer of timers) timer.cancel();
  t.same(clock.timers(), []);
});

t.test('the failing task of a timer is reported as one of the real clock; the advance goes on', async (t) => {
  const real = new SystemClock();
  const clock = new AdvancingClock(real);
  const failures: string[] = [];
  real.reportFailures((name) => void failures.push(name));
  clock.after('broken', 1_000, () => {
    throw new Error('broken');
  });
  const fired: string[] = [];
  clock.after('next', 2_000, () => void fired.push('next'));
  await clock.advance(5_000);
  await real.sleep(5);
  t.same(failures, ['broken']);
  t.same(fired, ['next']);
  await clock.advance(1);
});

t.test('a clock that stands still fires timers only when it is advanced, and continues where it stood', async (t) => {
  const { real, clock } = open();
  const start = clock.now();
  let fired = 0;
  const timer = clock.every('tick', 1_000, () => fired++);
  await real.advance(400);
  clock.setRate(0);
  t.equal(clock.rate, 0);
  await real.advance(60_000);
  t.equal(clock.now(), start + 400);
  t.equal(clock.nowNanoseconds(), BigInt(start + 400) * 1_000_000n);
  t.equal(fired, 0);
  t.same(real.timers(), []);
  let isNow = false;
  clock.after('at once', 0, () => {
    isNow = true;
  });
  await real.advance(0);
  t.equal(isNow, true, 'what is due needs no time');
  await clock.advance(600);
  t.equal(fired, 1);
  t.equal(clock.now(), start + 1_000);
  clock.setBack(500);
  t.equal(clock.now(), start + 500);
  clock.setRate(1);
  t.equal(clock.now(), start + 500);
  t.equal(clock.ahead, -59_900);
  await real.advance(999);
  t.equal(fired, 1);
  await real.advance(1);
  t.equal(fired, 2);
  timer.cancel();
  t.same(real.timers(), []);
});

t.test('a clock at another rate: its timers wait for its own time, and missed repetitions fire once', async (t) => {
  const real = new CoarseClock();
  const clock = new AdvancingClock(real);
  const start = clock.now();
  const fired: string[] = [];
  const note = (name: string) => () => void fired.push(`${name} ${clock.now() - start}`);
  clock.after('minute', 60_000, note('minute'));
  clock.setRate(60);
  const tick = clock.every('tick', 10, note('tick'));
  await real.advance(1);
  t.same(fired, ['tick 60'], 'at the rate, six were due');
  tick.cancel();
  await real.advance(999);
  t.same(fired.slice(1), ['minute 60000']);
  t.equal(clock.ahead, 59_000);
  await clock.advance(1_000);
  t.equal(clock.now() - start, 61_000);
  clock.setRate(1);
  await real.advance(10);
  t.equal(clock.now() - start, 61_010);
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => clock.setRate(wrong));
  t.throws(() => real.setRate(2), /moves only by advance/);
});

t.test('the time of day can be set back; timers and the monotonic time go on', async (t) => {
  const { real, clock } = open();
  const start = clock.now();
  await clock.advance(60_000);
  const monotonic = clock.monotonic();
  let fired = 0;
  clock.after('later', 1_000, () => fired++);
  clock.setBack(60_000);
  t.equal(clock.now(), start);
  t.equal(clock.ahead, 0);
  t.equal(clock.monotonic(), monotonic);
  await real.advance(1_000);
  t.equal(fired, 1);
  t.equal(clock.now(), start + 1_000);
  await clock.advance(5_000);
  t.equal(clock.now(), start + 6_000);
  t.equal(realTime(clock), start + 1_000);
  t.equal(realTime(real), start + 1_000);
});

// The delay of an event loop: it is measured often while the loop has work, hardly ever otherwise, and others see it.

import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { LoopProbe, overdue } from './loop-delay.ts';
import { LoopLoad } from './loop-load.ts';

/** A loop whose utilization and delay the test decides. */
function loop() {
  const clock = new VirtualClock();
  const state = { late: 0, measured: 0 };
  let share = 0;
  let active = 0;
  let read = clock.monotonic();
  const nanoseconds = () => BigInt(Math.round((clock.monotonic() + state.late) * 1e6));
  const load = (since = { idle: 0, active: 0, utilization: 0 }, before = { idle: 0, active: 0, utilization: 0 }) => {
    if (since.active > 0 || before.active > 0) return part(since.active - before.active, since.idle - before.idle);
    active += (clock.monotonic() - read) * share;
    read = clock.monotonic();
    return part(active, read - active);
  };
  const options = { clock, nanoseconds, loop: load as typeof performance.eventLoopUtilization };
  const probe = new LoopProbe(options);
  const { histogram } = probe.delays;
  const record = histogram.record.bind(histogram);
  histogram.record = (value: number) => (state.measured++, record(value));
  const works = (next: number) => {
    load();
    share = next;
  };
  return { clock, state, works, probe, options: { ...options, delays: probe.delays }, nanoseconds };
}

function part(active: number, idle: number) {
  return { active, idle, utilization: active + idle > 0 ? active / (active + idle) : 0 };
}

t.test('an idle loop is woken once a second, a busy one is measured fifty times', async (t) => {
  const { clock, state, works, probe } = loop();
  t.same(clock.timers(), [], 'not before the start');
  probe.start();
  probe.start();
  await clock.advance(1_020);
  state.measured = 0;
  await clock.advance(60_000);
  t.equal(state.measured, 60);
  works(0.5);
  await clock.advance(1_000);
  state.measured = 0;
  await clock.advance(60_000);
  t.equal(state.measured, 3_000);
  works(0);
  await clock.advance(1_000);
  state.measured = 0;
  await clock.advance(60_000);
  t.ok(state.measured <= 61, `${state.measured}`);
  probe.stop();
  t.same(clock.timers(), []);
  t.equal(probe.delays.due[0], 0n);
});

t.test('a loop that stands still is late although it measures nothing', async (t) => {
  const { clock, state, probe, nanoseconds } = loop();
  t.equal(overdue(probe.delays, nanoseconds()), 0, 'nothing is due before the start');
  probe.start();
  t.equal(overdue(probe.delays, nanoseconds()), 0);
  state.late = 20 + 7_000;
  t.equal(overdue(probe.delays, nanoseconds()), 7_000);
  probe.stop();
  t.equal(overdue(probe.delays, nanoseconds()), 0);
  await clock.advance(10_000);
  t.equal(state.measured, 0);
});

t.test('the load of the last interval shows what is busy now, beside the load since the start', async (t) => {
  const { clock, works, probe, options } = loop();
  const load = new LoopLoad(options);
  probe.start();
  t.match(load.inspect(), { utilization: 0, recentUtilization: 0, loopDelayMs: { median: 0, p99: 0, longest: 0 } });
  await clock.advance(2_000);
  works(0.5);
  await clock.advance(2_000);
  t.match(load.inspect(), { utilization: 0.25, recentUtilization: 0.25 }, 'the first interval is not complete');
  await clock.advance(6_000);
  t.match(load.inspect(), { utilization: 0.4, recentUtilization: 0.5 });
  works(0);
  await clock.advance(10_000);
  t.match(load.inspect(), { utilization: 0.2, recentUtilization: 0 });
  load.close();
  probe.stop();
  t.same(clock.timers(), []);
});

t.test('delays of the last interval are shown, and those of earlier ones are not', async (t) => {
  const { clock, state, works, probe, options } = loop();
  works(1);
  const load = new LoopLoad(options);
  probe.start();
  await clock.advance(2_000);
  for (let times = 0; times < 10; times++) {
    state.late += 80; // for one measurement: the next one is due later, too
    await clock.advance(20);
  }
  await clock.advance(2_800);
  const { median, p99, longest } = load.inspect().loopDelayMs;
  t.ok(median < 1 && p99 >= 79 && longest >= 79 && longest <= 81, `${median} ${p99} ${longest}`);
  await clock.advance(5_000);
  t.ok(load.inspect().loopDelayMs.longest < 1);
  state.late += 3_020;
  t.ok(load.inspect().loopDelayMs.longest >= 2_990, 'it stands still now');
  load.close();
  probe.stop();
});

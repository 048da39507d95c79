// Which measurements count as disturbed, and how often they are repeated.

import t from 'tap';
import { type ProcessorTime, Steal } from './steal.ts';

/**
 * A machine on which the tasks use 100 units each, of which `stolen` are stolen; the last entry repeats. A task takes
 * `duration` milliseconds.
 */
function machine(stolen: readonly number[], duration = 10) {
  const total = { busy: 1_000, stolen: 50 };
  let now = 0;
  let runs = 0;
  return {
    steal: new Steal(
      (): ProcessorTime => ({ ...total }),
      () => now,
    ),
    async task(): Promise<number> {
      now += duration;
      const taken = stolen[Math.min(runs, stolen.length - 1)] ?? 0;
      total.stolen += taken;
      total.busy += 100 - taken;
      return ++runs;
    },
  };
}

t.test('an undisturbed measurement is not repeated, and the report does not mention it', async (t) => {
  const { steal, task } = machine([2]);
  t.equal(await steal.undisturbed(task), 1);
  t.equal(await steal.once(task), 2);
  t.same(steal.notes, []);
});

t.test('a disturbed measurement is repeated until it is undisturbed', async (t) => {
  const { steal, task } = machine([30, 0]);
  t.equal(await steal.undisturbed(task), 2);
  t.match(steal.notes.join('\n'), /more than 2 % of the processor time; repetitions: 1$/);
});

t.test('the least disturbed of three measurements counts', async (t) => {
  const { steal, task } = machine([30, 10, 20]);
  t.equal(await steal.undisturbed(task), 2);
  t.match(steal.notes.join('\n'), /; repetitions: 2\n.* though disturbed: 1 of 1, by up to 10 %$/);
});

t.test('a measurement that cannot be repeated is only counted', async (t) => {
  const { steal, task } = machine([30, 0]);
  t.equal(await steal.once(task), 1);
  t.equal(await steal.undisturbed(task), 2);
  t.match(steal.notes.join('\n'), /; repetitions: 0\n.*: 1 of 2, by up to 30 %$/);
});

t.test('a measurement with its repetitions takes at most 30 seconds', async (t) => {
  for (const [duration, runs] of [
    [10_000, 3],
    [15_000, 2],
    [15_001, 1],
  ] as const) {
    const { steal, task } = machine([30, 20, 10], duration);
    t.equal(await steal.undisturbed(task), runs);
  }
});

t.test('by default the time is that of this machine', async (t) => {
  const steal = new Steal();
  t.equal(await steal.undisturbed(async () => 'result'), 'result');
});

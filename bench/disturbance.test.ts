// Which measurements count as disturbed, how often they are repeated, and whose processor time is whose.

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { Disturbance, describeTaken, isDisturbed } from './disturbance.ts';
import { processTimeOf, readProcessorTimes, timeOfTree } from './processor-times.ts';

/** Processor time that others take in a run, in hundredths of its duration. */
interface Run {
  readonly stolen?: number;
  readonly others?: number;
}

/**
 * A machine with one core, on which each task uses what others leave of `duration` milliseconds; the last run repeats.
 */
function machine(runs: readonly Run[], duration = 1_000) {
  const total = { busy: 1_000, stolen: 50, own: 70 };
  let now = 0;
  let count = 0;
  return {
    disturbance: new Disturbance({ times: () => ({ ...total }), now: () => now, unit: 10, cores: 1 }),
    async task(): Promise<number> {
      now += duration;
      const { stolen = 0, others = 0 } = runs[Math.min(count, runs.length - 1)] ?? {};
      const part = duration / 10 / 100;
      total.stolen += stolen * part;
      total.busy += (100 - stolen) * part;
      total.own += (100 - stolen - others) * part;
      return ++count;
    },
  };
}

t.test('an undisturbed measurement is not repeated, and the report does not mention it', async (t) => {
  const { disturbance, task } = machine([{ stolen: 2, others: 4 }]);
  t.equal(await disturbance.undisturbed(task), 1);
  t.equal(await disturbance.once(task), 2);
  t.same(disturbance.notes, []);
});

t.test('a disturbed measurement is repeated until it is undisturbed', async (t) => {
  for (const run of [{ stolen: 30 }, { others: 30 }]) {
    const { disturbance, task } = machine([run, {}]);
    t.equal(await disturbance.undisturbed(task), 2);
    t.match(disturbance.notes.join('\n'), /more than 2 % of the processor time, or .* more than 5 %; repetitions: 1$/);
  }
});

t.test('the least disturbed of three measurements counts', async (t) => {
  const { disturbance, task } = machine([{ others: 60 }, { stolen: 10 }, { others: 30, stolen: 11 }]);
  t.equal(await disturbance.undisturbed(task), 2);
  t.match(
    disturbance.notes.join('\n'),
    /repetitions: 2\n.* though disturbed: 1 of 1; the worst: other machines 10 %, /,
  );
});

t.test('a measurement that cannot be repeated is only counted', async (t) => {
  const { disturbance, task } = machine([{ others: 30 }, {}]);
  t.equal(await disturbance.once(task), 1);
  t.equal(await disturbance.undisturbed(task), 2);
  t.match(disturbance.notes.join('\n'), /; repetitions: 0\n.*: 1 of 2; the worst: .*, other programs 30 %/);
});

t.test('a measurement with its repetitions takes at most 30 seconds', async (t) => {
  for (const [duration, runs] of [
    [10_000, 3],
    [15_000, 2],
    [15_001, 1],
  ] as const) {
    const { disturbance, task } = machine([{ stolen: 30 }, { stolen: 20 }, { stolen: 10 }], duration);
    t.equal(await disturbance.undisturbed(task), runs);
  }
});

t.test('shares of a run are told', async (t) => {
  const { disturbance, task } = machine([{ stolen: 10, others: 20 }]);
  const { result, taken } = await disturbance.observed(task);
  t.same([result, taken], [1, { stolen: 0.1, others: 0.2 }]);
  t.equal(isDisturbed(taken), true);
  t.equal(describeTaken(taken), 'other machines 10 %, other programs 20 % of the processor time');
});

t.test('by default the times are those of this machine', async (t) => {
  const disturbance = new Disturbance();
  t.equal(await disturbance.undisturbed(async () => 'result'), 'result');
});

t.test('the time of a program contains that of its children, running or ended', async (t) => {
  const line = (pid: number, name: string, parent: number, times: string) =>
    `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 100 0 0 0 ${times} 20 0 1 0 5 0 0`;
  const all = [
    line(10, 'bench', 1, '1 2 3 4'),
    line(11, 'a (b) c', 10, '10 0 0 0'),
    line(12, 'grandchild', 11, '0 100 0 0'),
    line(13, 'stranger', 1, '1000 0 0 0'),
  ].map((each) => processTimeOf(each) ?? { pid: 0, parent: 0, time: Number.NaN });
  t.equal(timeOfTree(10, all), 120);
  t.equal(timeOfTree(99, all), 0);
  t.equal(processTimeOf('no such file'), undefined);
});

t.test('this program and its children use processor time', { skip: process.platform !== 'linux' }, async (t) => {
  const before = readProcessorTimes();
  const busy = 'const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end);';
  spawnSync(process.execPath, ['-e', busy], { env: {} });
  const after = readProcessorTimes();
  t.ok(after.own - before.own >= 25, `${after.own - before.own} hundredths of a second`);
  t.ok(after.busy - before.busy >= 25);
});

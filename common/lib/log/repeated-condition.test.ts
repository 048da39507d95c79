// Occurrences of a continuing condition that are logged.

import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { RepeatedCondition } from './repeated-condition.ts';

t.test('the first occurrence is logged, then one per minute with attempts and duration', async (t) => {
  const clock = new VirtualClock();
  const condition = new RepeatedCondition(clock);
  t.equal(condition.ended(), undefined, 'nothing has happened');
  const lines: unknown[] = [];
  for (let second = 0; second <= 150; second += 10) {
    const due = condition.happened('refused');
    if (due) lines.push(due);
    await clock.advance(10_000);
  }
  t.same(lines, [
    { attempts: 1, seconds: 0 },
    { attempts: 7, seconds: 60 },
    { attempts: 13, seconds: 120 },
  ]);
  t.same(condition.ended(), { attempts: 16, seconds: 160 });
  t.equal(condition.ended(), undefined);
  t.same(condition.happened('refused'), { attempts: 1, seconds: 0 }, 'it begins again');
});

t.test('another kind is logged at once; alternating kinds are logged once per minute each', async (t) => {
  const clock = new VirtualClock();
  const condition = new RepeatedCondition(clock);
  let lines = 0;
  for (let second = 0; second < 120; second++) {
    if (condition.happened(second % 2 ? 'refused' : 'timeout')) lines++;
    await clock.advance(1_000);
  }
  t.equal(lines, 4);
});

t.test('an unbounded number of kinds gives a bounded number of lines', async (t) => {
  const condition = new RepeatedCondition(new VirtualClock());
  let lines = 0;
  for (let kind = 0; kind < 10_000; kind++) if (condition.happened(`kind ${kind}`)) lines++;
  t.ok(lines <= 33, `${lines} lines`);
});

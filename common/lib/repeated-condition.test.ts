// Which occurrences of a condition that goes on give a line of the log.

import t from 'tap';
import { VirtualClock } from './clock.ts';
import { RepeatedCondition } from './repeated-condition.ts';

t.test('the first time gives a line, and then one a minute with attempts and duration', async (t) => {
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
  t.same(condition.happened('refused'), { attempts: 1, seconds: 0 }, 'it begins anew');
});

t.test('another kind gives a line at once; kinds that alternate give one a minute each', async (t) => {
  const clock = new VirtualClock();
  const condition = new RepeatedCondition(clock);
  let lines = 0;
  for (let second = 0; second < 120; second++) {
    if (condition.happened(second % 2 ? 'refused' : 'timeout')) lines++;
    await clock.advance(1_000);
  }
  t.equal(lines, 4);
});

t.test('kinds without end give no lines without end', async (t) => {
  const condition = new RepeatedCondition(new VirtualClock());
  let lines = 0;
  for (let kind = 0; kind < 10_000; kind++) if (condition.happened(`kind ${kind}`)) lines++;
  t.ok(lines <= 33, `${lines} lines`);
});

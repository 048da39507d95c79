// Occurrences of a continuing condition that are logged.

import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { OF_SUBJECTS, RepeatedCondition } from './repeated-condition.ts';

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
    { attempts: 1, seconds: 0, unlogged: 1 },
    { attempts: 7, seconds: 60, unlogged: 6 },
    { attempts: 13, seconds: 120, unlogged: 6 },
  ]);
  t.same(condition.ended(), { attempts: 16, seconds: 160 });
  t.equal(condition.ended(), undefined);
  t.match(condition.happened('refused'), { attempts: 1, seconds: 0 }, 'it begins again');
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

t.test('each kind counts its occurrences since its last line; those beyond the limit share one', async (t) => {
  const clock = new VirtualClock();
  const condition = new RepeatedCondition(clock, { maxKinds: 16 });
  const unlogged = (kind: string) => condition.happened(kind)?.unlogged;
  t.equal(unlogged('no'), 1);
  for (let count = 0; count < 1_000; count++) t.equal(unlogged('no'), undefined);
  t.equal(unlogged('other'), 1);
  await clock.advance(60_000);
  t.equal(unlogged('no'), 1_001);
  const lines = Array.from({ length: 1_000 }, (_each, index) => unlogged(`text ${index}`));
  t.equal(lines.filter((count) => count !== undefined).length, 15);
});

t.test('a kind that a round does not find has ended; others stay known', async (t) => {
  const condition = new RepeatedCondition(new VirtualClock(), OF_SUBJECTS);
  const round = (...kinds: string[]) => {
    const logged = kinds.filter((kind) => condition.happened(kind));
    condition.endRound();
    return logged;
  };
  const many = Array.from({ length: 5_000 }, (_none, index) => `service ${index}`);
  t.same(round('a', 'b'), ['a', 'b']);
  t.same(round('a'), []);
  t.same(round('a', 'b'), ['b'], 'it has returned');
  t.equal(round(...many).length, 5_000);
  t.same(round(...many), []);
});

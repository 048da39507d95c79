// The share of callers in a turn of the event loop.

import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Turns } from './turns.ts';

t.test('each turn of the event loop serves one caller, in their order', async (t) => {
  const turns = new Turns();
  const served: number[] = [];
  for (let caller = 0; caller < 5; caller++) void turns.next().then(() => served.push(caller));
  const counts: number[] = [];
  while (served.length < 5) {
    await nextTurn();
    counts.push(served.length);
  }
  t.same(served, [0, 1, 2, 3, 4]);
  t.same(counts, [1, 2, 3, 4, 5]);
  await turns.next();
  t.pass('a later caller is served');
});

// Work that leaves turns of the event loop to others.

import t from 'tap';
import { atOnce, inSlices } from './slices.ts';

/** Each step takes longer than a slice. */
function* steps(count: number, taken: number[]): Generator<void, string> {
  for (let step = 0; step < count; step++) {
    const end = performance.now() + 6;
    while (performance.now() < end);
    taken.push(step);
    yield;
  }
  return 'done';
}

t.test('other work runs between the slices', async (t) => {
  const taken: number[] = [];
  const seen: number[] = [];
  const work = inSlices(steps(3, taken));
  const look = () => {
    seen.push(taken.length);
    if (taken.length < 3) setImmediate(look);
  };
  setImmediate(look);
  t.equal(await work, 'done');
  t.same(taken, [0, 1, 2]);
  t.same(seen, [2, 3], 'after each slice');
});

t.test('all steps at once have the same result', async (t) => {
  const taken: number[] = [];
  t.equal(atOnce(steps(2, taken)), 'done');
  t.same(taken, [0, 1]);
});

t.test('an error of a step reaches the caller', async (t) => {
  function* broken(): Generator<void, void> {
    yield;
    throw new TypeError('broken');
  }
  await t.rejects(inSlices(broken()), { message: 'broken' });
});

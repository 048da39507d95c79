// Memory is released once after each burst of work, and never while the router works.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { IdleMemory } from './idle-memory.ts';

t.test('memory is released once the router is quiet after its start and after a burst', async (t) => {
  const clock = new VirtualClock();
  let [spent, released] = [1_000, 0];
  const memory = new IdleMemory({
    clock,
    processorTime: () => spent,
    release: () => {
      spent += 400; // the release itself is not a burst
      released++;
    },
  });
  /** Ten seconds with this processor time; returns the number of releases. */
  const work = async (milliseconds: number) => {
    spent += milliseconds;
    await clock.advance(10_000);
    return released;
  };
  t.equal(await work(900), 0, 'still starting');
  t.equal(await work(50), 1, 'quiet after the start');
  t.equal(await work(50), 1, 'once');
  t.equal(await work(700), 1, 'light traffic');
  t.equal(await work(50), 1, 'light traffic leaves little to release');
  t.equal(await work(9_000), 1, 'a burst');
  t.equal(await work(700), 1, 'light traffic after it');
  t.equal(await work(100), 2, 'quiet, whether its circuits are open or not');
  t.equal(await work(100), 2, 'once');
  memory.close();
  await work(9_000);
  t.equal(await work(50), 2, 'closed');
  t.same(clock.timers(), []);
});

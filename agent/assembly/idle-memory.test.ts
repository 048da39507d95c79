// Memory is released once after each burst of work, and never while the router works.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { IdleMemory } from './idle-memory.ts';

t.test('memory is released once the router is quiet after its start and after a burst', async (t) => {
  const clock = new VirtualClock();
  let [spent, released, trimmed] = [1_000, 0, 0];
  const memory = new IdleMemory({
    clock,
    processorTime: () => spent,
    release: () => {
      spent += 400; // the release itself is not a burst
      released++;
    },
    trim: () => trimmed++,
  });
  /** Five seconds with this processor time; returns the number of releases. */
  const work = async (milliseconds: number) => {
    spent += milliseconds;
    await clock.advance(5_000);
    return released;
  };
  t.equal(await work(400), 0, 'still starting');
  t.equal(await work(50), 1, 'quiet after the start');
  t.equal(await work(50), 1, 'once');
  t.equal(await work(350), 1, 'light traffic');
  t.equal(await work(50), 1, 'light traffic leaves little to release');
  t.equal(trimmed, 0);
  t.equal(await work(4_500), 1, 'a burst');
  t.equal(await work(4_500), 1, 'it continues');
  t.equal(trimmed, 2, 'what can be returned without a pause');
  t.equal(await work(350), 1, 'light traffic after it');
  t.equal(await work(50), 2, 'quiet, whether its circuits are open or not');
  t.equal(await work(50), 2, 'once');
  memory.close();
  await work(4_500);
  t.equal(await work(50), 2, 'closed');
  t.same(clock.timers(), []);
});

// Memory is released once after each burst of work, and never while the router works.

import t from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { releaseTime } from '#lib/process/memory.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { RouterContext } from './context.ts';
import { IdleMemory } from './idle-memory.ts';
import { openIdleMemory } from './operations.ts';

const MIB = 1024 * 1024;

t.test('memory is released once the router is quiet after its start and after a burst', async (t) => {
  const clock = new VirtualClock();
  let [spent, released, trimmed] = [1_000, 0, 0];
  let resident = 50 * MIB;
  const memory = new IdleMemory({
    clock,
    processorTime: () => spent,
    residentMemory: () => resident,
    release: (enough) => {
      t.equal(enough, 104 * MIB, 'a small router keeps its compiled code');
      spent += 400; // the release itself is not a burst
      released++;
    },
    trim: () => trimmed++,
  });
  /** A second with this processor time and growth in MiB; returns the number of releases. */
  const work = async (milliseconds: number, growth = 0) => {
    spent += milliseconds;
    resident += growth * MIB;
    await clock.advance(1_000);
    return released;
  };
  const quiet = async (seconds: number) => {
    for (let second = 1; second < seconds; second++) await work(5);
    return work(5);
  };
  t.equal(await work(500), 0, 'connecting');
  t.equal(await quiet(4), 0, 'it may continue');
  t.equal(await work(5), 1, 'quiet after the start');
  t.equal(await quiet(20), 1, 'once');
  t.equal(await work(70), 1, 'light traffic');
  t.equal(await quiet(20), 1, 'light traffic leaves little to release');
  t.equal(trimmed, 1, 'during the start');
  t.equal(await work(900, 0), 1, 'a burst');
  t.equal(trimmed, 2, 'what can be returned without a long pause');
  for (const growth of [20, 2, 2, 0]) await work(900, growth);
  t.equal(trimmed, 2, 'the work needs this memory');
  t.equal(await work(900, 1), 1, 'it continues');
  t.equal(trimmed, 3, 'it grows');
  t.equal(await quiet(3), 1, 'a short rest');
  t.equal(await work(900), 1, 'the next burst');
  t.equal(await quiet(4), 1, 'another rest');
  t.equal(await work(70), 1, 'light traffic after it');
  t.equal(await work(5), 2, 'quiet, whether its circuits are open or not');
  t.equal(await quiet(20), 2, 'once');
  await work(900);
  memory.close();
  t.equal(await quiet(20), 2, 'closed');
  t.same(clock.timers(), []);
});

t.test('only a router that owns its process collects garbage and returns memory of all of it', async (t) => {
  for (const ownsProcess of [true, false]) {
    const clock = new VirtualClock();
    await using owned = new AsyncDisposableStack();
    openIdleMemory({ clock, io: new IoContext({ clock }), owned } as unknown as RouterContext, ownsProcess);
    const before = releaseTime();
    await clock.advance(20_000);
    t.equal(releaseTime() > before, ownsProcess, `ownsProcess: ${ownsProcess}`);
  }
});

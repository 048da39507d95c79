// Requests that wait for the changes of other controllers, while the store hangs or is away.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { AdvancingClock } from '#lib/time/advancing-clock.ts';
import { type Clock, settle, VirtualClock } from '#lib/time/clock.ts';
import type { CatchUp } from './other-controllers.ts';
import { State } from './state.ts';
import { SharedMemory } from './store/shared-memory.ts';

async function open(read: () => Promise<never>, clock: Clock) {
  const store = Object.assign(new SharedMemory().open(), { read });
  Object.defineProperty(store, 'isImmediate', { value: false });
  const state = await State.open({ store, clock, ids: new IdSource() });
  return state;
}

const hangs = () => new Promise<never>(() => undefined);

t.test('a store that hangs holds up a request for 1.5 s', async (t) => {
  const clock = new VirtualClock();
  const state = await open(hangs, clock);
  let outcome: CatchUp | undefined;
  const waiting = state.others?.catchUp().then((caughtUp) => {
    outcome = caughtUp;
  });
  await clock.advance(1_499);
  t.equal(outcome, undefined);
  await clock.advance(1);
  await waiting;
  t.equal(outcome, 'unread');
});

t.test('a jump of the lab clock ends no wait for the store', async (t) => {
  const real = new VirtualClock();
  const clock = new AdvancingClock(real);
  const state = await open(hangs, clock);
  let outcome: CatchUp | undefined;
  const waiting = state.others?.catchUp().then((caughtUp) => {
    outcome = caughtUp;
  });
  await clock.advance(33 * 60_000);
  t.equal(outcome, undefined);
  clock.setRate(0);
  await real.advance(1_500);
  await waiting;
  t.equal(outcome, 'unread', 'even while the lab clock stands still');
});

t.test('a request for an index waits for a store that hangs no longer than it may', async (t) => {
  const clock = new VirtualClock();
  const state = await open(hangs, clock);
  let outcome: boolean | undefined;
  const waiting = state.others?.reach(1n, 2_000).then((isThere) => {
    outcome = isThere;
  });
  for (let time = 0; time < 2_000; time += 10) {
    t.equal(outcome, undefined);
    await clock.advance(10);
    await settle();
  }
  await clock.advance(0);
  await waiting;
  t.equal(outcome, false);
});

t.test('a store that is away is asked for an index at intervals, not all the time', async (t) => {
  let reads = 0;
  const clock = new VirtualClock();
  const read = () => {
    reads++;
    return Promise.reject(new Error('nothing listens'));
  };
  const state = await open(read, clock);
  let outcome: boolean | undefined;
  const waiting = state.others?.reach(1n, 2_000).then((isThere) => {
    outcome = isThere;
  });
  for (let time = 0; outcome === undefined && time <= 3_000; time += 10) {
    await clock.advance(10);
    for (let turn = 0; turn < 5; turn++) await settle();
  }
  await waiting;
  t.equal(outcome, false);
  t.ok(reads > 10 && reads < 110, `${reads} reads`);
  await state.close();
});

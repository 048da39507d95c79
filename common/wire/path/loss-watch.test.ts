// Which paths the watch takes for paths with losses. Each test makes the measurements of a path, one per round trip.

import t from 'tap';
import { type LossSample, LossWatch } from './loss-watch.ts';

const ROUND_TRIP = 50;
/** Bytes in a round trip. */
const ROUND = 500_000;

/** Feeds a watch; each call is a time on the path. */
class Path {
  readonly watch = new LossWatch();
  #now = 0;
  #sent = 0;
  #sentAgain = 0;

  /** Returns the round trips after which the choice changed. */
  run(roundTrips: number, share: number, state: Partial<LossSample> = {}, bytes = ROUND): number[] {
    const changes: number[] = [];
    for (let count = 1; count <= roundTrips; count++) {
      this.#now += ROUND_TRIP;
      this.#sent += bytes;
      this.#sentAgain += bytes * share;
      const sample = { now: this.#now, rtt: ROUND_TRIP, sent: this.#sent, sentAgain: this.#sentAgain };
      if (this.watch.observe({ ...sample, isLimited: true, isQueueShort: true, isOwn: false, ...state }))
        changes.push(count);
    }
    return changes;
  }

  pause(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** The peer resets connections: what was on its way is lost. */
  loseAtOnce(bytes: number): void {
    this.#sentAgain += bytes;
  }
}

t.test('a path that loses packets without a queue gets a tolerant congestion control', async (t) => {
  const path = new Path();
  t.same(path.run(20, 0.005), [3]);
  t.equal(path.watch.isTolerant, true);
  t.ok(Math.abs(path.watch.lossShare - 0.005) < 0.001, `${path.watch.lossShare}`);
  t.same(path.run(400, 0.005), [], 'and keeps it');
});

t.test('losses of a full queue, or that limit nothing, change nothing', async (t) => {
  t.same(new Path().run(1_000, 0.005, { isQueueShort: false }), []);
  t.same(new Path().run(1_000, 0.005, { isLimited: false }), []);
  const mixed = new Path();
  for (let count = 0; count < 100; count++) {
    t.same(mixed.run(2, 0.005), []);
    t.same(mixed.run(1, 0.005, { isQueueShort: false }), [], 'the system was right to slow down');
  }
});

t.test('rare losses change nothing', async (t) => {
  const path = new Path();
  for (let count = 0; count < 50; count++) {
    t.same(path.run(1, 0.005), []);
    path.pause(20_000);
  }
});

t.test(
  'a path on which a tolerant one loses much more has a short queue: the choice returns, for a while',
  async (t) => {
    const path = new Path();
    t.same(path.run(3, 0.001), [3]);
    t.equal(path.run(400, 0.06).length, 1);
    t.equal(path.watch.isTolerant, false);
    t.same(path.run(400, 0.001), []);
    path.pause(600_000);
    t.same(path.run(3, 0.001), [3]);
  },
);

t.test('a path that loses only what is too much keeps the congestion control of the system', async (t) => {
  const path = new Path();
  t.same(path.run(3, 0.02), [3]);
  t.same(path.run(10, 0.02), []);
  t.same(path.run(20, 0.02, { isOwn: true }), [1], 'the choice returns at once');
  t.equal(path.watch.isTolerant, false);
  t.same(path.run(400, 0.02, { isOwn: true }), []);
});

t.test('a single time with many losses, and losses while nobody sends, do not count', async (t) => {
  const path = new Path();
  path.run(3, 0.001);
  for (let count = 0; count < 20; count++) {
    t.same(path.run(40, 0.06), []);
    t.same(path.run(100, 0.001), []);
    path.loseAtOnce(20 * ROUND);
    path.pause(5_000);
  }
});

t.test('nothing is judged before enough was sent', async (t) => {
  const path = new Path();
  path.run(3, 0.001);
  t.same(path.run(1_000, 0.5, {}, 1_000), []);
  t.equal(path.run(1_000, 0.5).length, 1);
});

t.test('losses from before the choice do not count against it', async (t) => {
  const path = new Path();
  t.same(path.run(400, 0.06, { isLimited: false }), [], 'losses that limit nothing');
  t.same(path.run(3, 0.001), [3]);
  t.same(path.run(119, 0.06), [], 'two bad times since then');
  t.same(path.run(1, 0.06), [1], 'the third one');
});

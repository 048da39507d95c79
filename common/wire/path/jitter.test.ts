// Which round trips the estimate takes for jitter, and which for a queue.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { JitterEstimate } from './jitter.ts';

/** The estimate for 200 ms of round trips. */
function estimate(roundTrip: (time: number) => number): number {
  const jitter = new JitterEstimate();
  for (let time = 0; time < 200; time++) jitter.add(time, roundTrip(time));
  return jitter.deviation;
}

t.test('a queue that becomes longer or shorter is not jitter', async (t) => {
  t.equal(new JitterEstimate().deviation, 0);
  for (const slope of [-0.5, 0, 0.01, 2])
    t.ok(estimate((time) => 500 + slope * time) < 0.001, `${slope} ms in each millisecond`);
});

t.test('what differs from one moment to the next is jitter, beside a queue or not', async (t) => {
  for (const slope of [0, 0.3, -0.3]) {
    const deviation = estimate((time) => 100 + slope * time + (time % 2) * 8);
    t.ok(Math.abs(deviation - 4) < 0.1, `${deviation} ms`);
  }
  const random = seededRandom(1);
  const deviation = estimate(() => 40 + 12 * random.next());
  t.ok(Math.abs(deviation - 12 / Math.sqrt(12)) < 0.4, `${deviation} ms`);
});

// A burst passes at once, later takers at the rate, and takers in debt learn how long they wait.

import t from 'tap';
import { TokenBucket } from './token-bucket.ts';

t.test('after the burst, tokens come at the rate, up to the burst', async (t) => {
  const bucket = new TokenBucket({ burst: 3, perSecond: 2 }, 1_000);
  const taken = (now: number, tries: number) =>
    Array.from({ length: tries }, () => bucket.take(now)).filter((each) => each !== undefined);
  t.same(taken(1_000, 5), [0, 0, 0]);
  t.same(taken(1_499, 1), []);
  t.same(taken(1_500, 2), [0], 'a refused attempt costs nothing');
  t.same(taken(60_000, 5), [0, 0, 0], 'a long pause fills it, not more');
});

t.test('tokens are taken ahead of time, up to a bound', async (t) => {
  const bucket = new TokenBucket({ burst: 1, perSecond: 2, ahead: 2 }, 0);
  t.same([bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(0)], [0, 500, 1_000, undefined]);
  t.equal(bucket.take(500), 1_000);
  t.equal(bucket.take(10_000), 0);
});

t.test('changed limits count from then on', async (t) => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 2 }, 0);
  bucket.take(0, 10);
  bucket.change({ burst: 4, perSecond: 100 }, 1_000);
  t.equal(bucket.left(1_000), 2, 'the second before the change gave two');
  t.equal(bucket.left(1_010), 3);
  t.equal(bucket.left(5_000), 4);
});

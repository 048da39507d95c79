// Places that sources share.

import t from 'tap';
import { FairPlaces } from './fair-places.ts';

t.test('a source with fewer places displaces the oldest of the source with most', async (t) => {
  const places = new FairPlaces(3, () => new Error('displaced'));
  const flood = [1, 2, 3].map(() => places.take('a'));
  t.equal(places.take('a'), undefined, 'a source does not displace itself');
  const other = places.take('b');
  t.ok(other);
  t.same(
    flood.map((place) => place?.displaced.aborted),
    [true, false, false],
  );
  t.match(flood[0]?.displaced.reason, { message: 'displaced' });
  t.equal(places.take('b'), undefined, 'two and one: the next one would only swap the shares');
  flood[0]?.release();
  t.equal(places.size, 3, 'a displaced place was already released');
  flood[1]?.release();
  t.ok(places.take('b'));
});

// Places that sources share.

import t from 'tap';
import { FairSlots } from './fair-slots.ts';

t.test('a source with fewer slots displaces the oldest of the source with most', async (t) => {
  const slots = new FairSlots(3, () => new Error('displaced'));
  const flood = [1, 2, 3].map(() => slots.take('a'));
  t.equal(slots.take('a'), undefined, 'a source does not displace itself');
  const other = slots.take('b');
  t.ok(other);
  t.same(
    flood.map((slot) => slot?.displaced.aborted),
    [true, false, false],
  );
  t.match(flood[0]?.displaced.reason, { message: 'displaced' });
  t.equal(slots.take('b'), undefined, 'two and one: the next one would only swap the shares');
  flood[0]?.release();
  t.equal(slots.size, 3, 'a displaced slot was already released');
  flood[1]?.release();
  t.ok(slots.take('b'));
});

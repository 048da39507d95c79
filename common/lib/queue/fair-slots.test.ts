// Slots that sources share: the source with most things loses its oldest, as a search through all sources would find.

import fc from 'fast-check';
import t from 'tap';
import { FairSlots, WorkSlots } from './fair-slots.ts';

t.test('after any operations, the source with most things that may be evicted loses its oldest', async (t) => {
  const step = fc.tuple(
    fc.constantFrom('add', 'add', 'add', 'keep', 'delete', 'evict', 'evictFor'),
    fc.nat(20),
    fc.constantFrom('a', 'b', 'c'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 8 }), (steps, limit) => {
      const evicted: number[] = [];
      const slots = new FairSlots<number>(limit, (thing) => evicted.push(thing));
      let known: { thing: number; source: string; isKept: boolean }[] = [];
      const of = (source: string) => known.filter((each) => each.source === source && !each.isKept);
      const max = () => Math.max(0, ...['a', 'b', 'c'].map((source) => of(source).length));
      /** Whether exactly the right thing was evicted. */
      const loses = (mayEvict: boolean, hasEvicted: boolean) => {
        const loser = known.find((each) => each.thing === evicted[0]);
        const isRight = loser ? of(loser.source).length === max() && of(loser.source)[0] === loser : !mayEvict;
        known = known.filter((each) => each !== loser);
        return isRight && hasEvicted === mayEvict && evicted.splice(0).length === Number(mayEvict);
      };
      for (const [kind, thing, source] of steps) {
        if (kind === 'add') {
          known = known.filter((each) => each.thing !== thing);
          const mustEvict = known.length >= limit;
          const mayEvict = mustEvict && max() > 0;
          const isAdded = slots.add(thing, source);
          if (isAdded !== (!mustEvict || mayEvict) || !loses(mayEvict, mustEvict && isAdded)) return false;
          if (isAdded) known.push({ thing, source, isKept: false });
        } else if (kind === 'keep') {
          slots.setEvictable(thing, false);
          for (const each of known) each.isKept ||= each.thing === thing;
        } else if (kind === 'delete') {
          slots.delete(thing);
          known = known.filter((each) => each.thing !== thing);
        } else if (kind === 'evict') {
          if (!loses(max() > 0, slots.evict())) return false;
        } else if (!loses(max() > of(source).length + 1, slots.evictFor(source))) return false;
        if (slots.size !== known.length || slots.isFull !== known.length >= limit) return false;
      }
      return (
        [...slots].toSorted().join() ===
        known
          .map((each) => each.thing)
          .toSorted()
          .join()
      );
    }),
  );
  t.pass();
});

t.test('a thing that may be evicted again is the newest of its source', async (t) => {
  const evicted: string[] = [];
  const slots = new FairSlots<string>(3, (thing) => evicted.push(thing));
  for (const thing of ['first', 'second', 'third']) slots.add(thing, 'a');
  slots.setEvictable('first', false);
  slots.setEvictable('first', true);
  slots.setEvictable('stranger', true);
  t.ok(slots.add('fourth', 'a'));
  t.same([evicted, [...slots]], [['second'], ['first', 'third', 'fourth']]);
});

t.test('a source with fewer slots displaces the oldest work of the source with most', async (t) => {
  const slots = new WorkSlots(3, () => new Error('displaced'));
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

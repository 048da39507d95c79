// The pool evicts from the source that has most objects, as a search through all sources would.

import fc from 'fast-check';
import t from 'tap';
import { FairPool } from './fair-pool.ts';

t.test('after any operations, the source with most objects loses its oldest', async (t) => {
  const step = fc.tuple(
    fc.constantFrom('add', 'add', 'add', 'delete', 'evict', 'evictFor'),
    fc.nat(20),
    fc.constantFrom('a', 'b', 'c'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pool = new FairPool<number>();
      let known: { thing: number; source: string }[] = [];
      const of = (source: string) => known.filter((each) => each.source === source);
      const max = () => Math.max(0, ...['a', 'b', 'c'].map((source) => of(source).length));
      for (const [kind, thing, source] of steps) {
        const without = known.filter((each) => each.thing !== thing);
        if (kind === 'add') {
          pool.add(thing, source);
          known = [...without, { thing, source }];
        } else if (kind === 'delete') {
          pool.delete(thing);
          known = without;
        } else {
          const before = max();
          const mayEvict = kind === 'evict' ? before > 0 : before > of(source).length + 1;
          const evicted = kind === 'evict' ? pool.evict() : pool.evictFor(source);
          if ((evicted !== undefined) !== mayEvict) return false;
          const loser = known.find((each) => each.thing === evicted);
          if (loser && (of(loser.source).length !== before || of(loser.source)[0] !== loser)) return false;
          known = known.filter((each) => each !== loser);
        }
        if (pool.size !== known.length) return false;
      }
      return true;
    }),
  );
  t.pass();
});

// The order of a table after inserts, updates and deletes, and selections from it.

import fc from 'fast-check';
import t from 'tap';
import { Table } from './table.ts';
import type { Entity } from './types.ts';

interface Thing extends Entity {
  readonly version: number;
}

const thing = (id: string, version: number): Thing => ({
  id,
  version,
  createdAt: '',
  updatedAt: '',
  tags: {},
  isSystem: false,
});

t.test('entities are sorted by id, and pages are found', async (t) => {
  const id = fc.integer({ min: 0, max: 2_000 }).map(String);
  const step = fc.record({ id, isRemoved: fc.boolean() });
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 1_500 }),
      fc.array(step, { maxLength: 2_000 }),
      fc.nat(1_600),
      fc.nat(700),
      (first, steps, from, length) => {
        const table = new Table<Thing>({});
        for (const each of first) table.apply(each, thing(each, 0));
        const expected = new Map(first.map((each) => [each, 0]));
        table.ordered.slice(0, 1); // from now on the order is maintained
        for (const [version, { id: each, isRemoved }] of steps.entries()) {
          table.apply(each, isRemoved ? undefined : thing(each, version));
          if (isRemoved) expected.delete(each);
          else expected.set(each, version);
        }
        const sorted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1));
        const versions = (things: readonly Thing[]) => things.map((each) => [each.id, each.version]);
        t.strictSame(versions(table.ordered.slice(0, Number.MAX_SAFE_INTEGER)), sorted);
        t.strictSame(versions(table.ordered.slice(from, from + length)), sorted.slice(from, from + length));
        const isOdd = ({ id: each }: { id: string }) => Number(each) % 2 === 1;
        const odd = sorted.filter(([each]) => isOdd({ id: each }));
        t.strictSame(versions(table.ordered.filter(isOdd)), odd);
        for (const count of [0, 1, length, from, Number.MAX_SAFE_INTEGER]) {
          const { total, first: chosen } = table.select(isOdd, count);
          t.strictSame([total, versions(chosen)], [odd.length, odd.slice(0, count)]);
        }
      },
    ),
    { numRuns: 50, seed: 4 },
  );
});

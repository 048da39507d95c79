// The orders of a table, and the selection of the first entities of an order.

import fc from 'fast-check';
import t from 'tap';
import type { Entity } from './entity.ts';
import { selectFirst } from './selection.ts';
import { compareBy, type IndexedSort, SORT_KEYS, Table } from './table.ts';

interface Thing extends Entity {
  readonly name: string;
  readonly version: number;
}

/** Several things share a name and a date. */
const thing = (id: string, version: number): Thing => ({
  id,
  version,
  name: `name ${(Number(id) * 7 + version) % 50}${version % 9 === 0 ? '\n7' : ''}`,
  createdAt: new Date(Number(id) % 10).toISOString(),
  updatedAt: new Date(version).toISOString(),
  tags: {},
  isSystem: false,
});

const SORTS = SORT_KEYS.flatMap((key) => [false, true].map((descending): IndexedSort => ({ key, descending })));

/** More than a table remembers. */
const NEEDLES = ['name 1', '7', 'e', 'name 49', 'nowhere'];
const NAMES = { of: ({ name }: Thing) => name };

/** The expected order: by the key, ties by id. */
function inOrder(things: readonly Thing[], { key, descending }: IndexedSort): Thing[] {
  const byId = things.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return byId.sort((a, b) => (a[key] === b[key] ? 0 : a[key] < b[key] === descending ? 1 : -1));
}

t.test('a table maintains its orders through additions, changes and removals', async (t) => {
  const id = fc.integer({ min: 0, max: 2_000 }).map(String);
  const step = fc.record({ id, isRemoved: fc.boolean() });
  fc.assert(
    fc.property(
      fc.uniqueArray(id, { maxLength: 1_500 }),
      fc.array(step, { maxLength: 2_000 }),
      fc.constantFrom(...SORTS),
      fc.nat(1_600),
      fc.nat(700),
      (first, steps, sort, from, length) => {
        const table = new Table<Thing>({});
        for (const each of first) table.apply(each, thing(each, 0));
        // From now on the table maintains these orders and their texts, and remembers the matches of these needles.
        for (const each of [sort, undefined])
          for (const needle of NEEDLES) table.ordered(each).search(NAMES, needle, 0, 1);
        for (const [version, { id: each, isRemoved }] of steps.entries())
          table.apply(each, isRemoved ? undefined : thing(each, version));
        const sorted = inOrder([...table.values()], sort);
        t.strictSame(table.ordered(sort).slice(0, Number.MAX_SAFE_INTEGER), sorted);
        t.strictSame(table.ordered(sort).slice(from, from + length), sorted.slice(from, from + length));
        t.strictSame(
          table.ordered().slice(from, from + 5),
          inOrder(sorted, SORTS[0] as IndexedSort).slice(from, from + 5),
        );
        const isOdd = ({ id: each }: Thing) => Number(each) % 2 === 1;
        const odd = sorted.filter(isOdd);
        t.strictSame(table.ordered(sort).filter(isOdd), odd);
        for (const needle of NEEDLES) {
          const named = sorted.filter(({ name }) => name.includes(needle));
          const all = table.ordered(sort).search(NAMES, needle, 0, Number.MAX_SAFE_INTEGER);
          t.strictSame(all, { total: named.length, found: named }, needle);
          const { found } = table.ordered(sort).search(NAMES, needle, 3, 8);
          t.strictSame(found, named.slice(3, 8), needle);
        }
        for (const count of [0, 1, length, from, Number.MAX_SAFE_INTEGER])
          t.strictSame(selectFirst(table.values(), isOdd, compareBy(sort), count), {
            total: odd.length,
            first: odd.slice(0, count),
          });
      },
    ),
    { numRuns: 60, seed: 4 },
  );
});

// The map with a limit: which keys it keeps.

import t from 'tap';
import { BoundedMap } from './bounded-map.ts';

t.test('a further key evicts the oldest one; a known key keeps its age', async (t) => {
  const map = new BoundedMap<string, number>(2);
  t.equal(map.set('a', 1), map);
  map.set('b', 2).set('a', 3);
  t.same(Object.fromEntries(map), { a: 3, b: 2 });
  map.set('c', 4);
  t.same([...map.keys()], ['b', 'c']);
  map.delete('b');
  map.set('b', 5).set('d', 6);
  t.same([...map.keys()], ['b', 'd'], 'a deleted key is new again');
});

t.test('a limit of one keeps the newest key', async (t) => {
  const map = new BoundedMap<number, undefined>(1);
  for (let key = 0; key < 3; key++) map.set(key, undefined);
  t.same([...map.keys()], [2]);
});

// The entries that the page keeps, and the rows of them that exist.

import t from 'tap';
import { entriesWith, journalQuery, MAX_KEPT, merged, ROW_HEIGHT, visibleRows } from './journal-window.js';

const entries = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ sequence: from + index }));
const span = (list: readonly { sequence: number }[]) => [list.at(0)?.sequence, list.at(-1)?.sequence, list.length];

t.test('later entries are added once, and the oldest are dropped', async (t) => {
  t.same(span(merged([], entries(5, 9))), [5, 9, 5]);
  t.same(span(merged(entries(5, 9), entries(8, 12))), [5, 12, 8]);
  const kept = entries(1, 3);
  t.equal(merged(kept, []), kept, 'the same list');
  t.equal(merged(kept, entries(2, 3)), kept);
  t.same(span(merged(entries(1, MAX_KEPT), entries(MAX_KEPT + 1, MAX_KEPT + 10))), [11, MAX_KEPT + 10, MAX_KEPT]);
});

t.test('a search finds a text in any field, whatever its case', async (t) => {
  const kept = [{ path: '/services', body: '{"name":"Wiki"}' }, { path: '/identities' }];
  t.same(entriesWith(kept, ' wIKI '), [kept[0]]);
  t.same(entriesWith(kept, '/'), kept);
  t.same(entriesWith(kept, 'nothing'), []);
  t.equal(entriesWith(kept, ' '), kept, 'the same list');
});

t.test('entries that the simulator no longer has disappear', async (t) => {
  t.same(span(merged(entries(1, 10), [], { entries: 4, last: 10 })), [7, 10, 4]);
  t.same(merged(entries(1, 10), [], { entries: 0, last: 10 }), []);
  const kept = entries(1, 10);
  t.equal(merged(kept, [], { entries: 12, last: 12 }), kept);
});

t.test('only rows near the visible ones exist, and all of them have their height', async (t) => {
  for (const count of [0, 1, 30, 10_000])
    for (const top of [0, 13, 5_000, count * ROW_HEIGHT, 1e9]) {
      const { from, to, above, below } = visibleRows(count, top, 600);
      t.ok(to - from <= 600 / ROW_HEIGHT + 20, `${count} at ${top}: ${from} to ${to}`);
      t.ok(from >= 0 && to <= Math.max(count, from), `${count} at ${top}: ${from} to ${to}`);
      if (top <= count * ROW_HEIGHT) t.equal(above + (to - from) * ROW_HEIGHT + below, count * ROW_HEIGHT);
    }
  t.match(visibleRows(10_000, 0, 260), { from: 0, to: 18, above: 0 });
});

t.test('a query has the fields that are filled', async (t) => {
  t.equal(journalQuery({ kind: '', failed: false, identity: ' ', path: '', router: '' }), '');
  t.equal(
    journalQuery({ kind: 'http', failed: true, identity: 'jané & co', path: '/edge', router: '' }),
    'kind=http&failed=true&identity=jan%C3%A9+%26+co&path=%2Fedge',
  );
});

// Counters of links that survive reconnects, duplicates and the end of links, in bounded memory.

import t from 'tap';
import { LinkTotals } from './link-totals.ts';

const LIMIT = 500;
const link = (key: string, peerId = 'b') => ({ key, peerId, protocol: 'tls' });
const NAME = 'link.tx.bytesrate';

function sums(totals: LinkTotals): Record<string, number | undefined> {
  return Object.fromEntries([...totals.values()].map(({ key, total }) => [key, total.counts[NAME]]));
}

t.test('a link that is established again goes on counting, and a duplicate counts in the same total', async (t) => {
  const totals = new LinkTotals();
  totals.use(link('k')).add(NAME, 5);
  totals.release(link('k'));
  t.same(sums(totals), { k: 5 }, 'a link that has ended');
  totals.use(link('k')).add(NAME, 3);
  totals.use(link('k')).add(NAME, 2);
  totals.release(link('k'));
  t.same(sums(totals), { k: 10 });
});

t.test('the oldest ended key is forgotten first, and never one of an open link', async (t) => {
  const totals = new LinkTotals();
  totals.use(link('open'));
  for (let each = 0; each < LIMIT + 2; each++) {
    totals.use(link(`ended ${each}`));
    totals.release(link(`ended ${each}`));
  }
  const keys = Object.keys(sums(totals));
  t.equal(keys.length, LIMIT + 1);
  t.ok(keys.includes('open'));
  t.notOk(keys.includes('ended 0') || keys.includes('ended 1'));
  totals.use(link('ended 2'));
  totals.use(link('another'));
  totals.release(link('another'));
  t.ok(Object.hasOwn(sums(totals), 'ended 2'), 'it is open again');
});

t.test('the keys of a deleted router are forgotten, those of open links when the links have ended', async (t) => {
  const totals = new LinkTotals();
  for (const key of ['ended', 'open', 'returned']) totals.use(link(key, 'deleted'));
  totals.use(link('other'));
  totals.release(link('ended', 'deleted'));
  totals.forget('deleted');
  t.same(Object.keys(sums(totals)).sort(), ['open', 'other', 'returned']);
  totals.use(link('returned', 'deleted'));
  for (const key of ['open', 'returned', 'returned']) totals.release(link(key, 'deleted'));
  t.same(Object.keys(sums(totals)).sort(), ['other', 'returned'], 'the router was added again');
});

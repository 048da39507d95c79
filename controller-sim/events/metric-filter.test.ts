// Filters of metric subscriptions, by router, metric and figure.

import t from 'tap';
import { loadPatterns } from '#lib/text/linear-pattern.ts';
import type { Event } from './events.ts';
import { metricFilter } from './metric-filter.ts';

await loadPatterns();

const event = (source_id: string, metric: string, metrics: object): Event => ({
  namespace: 'metrics',
  event_src_id: 'ctrl',
  timestamp: '2026-01-01T00:00:00Z',
  source_id,
  metric,
  metrics,
});
const latency = event('r1', 'link.latency', { min: 1, p50: 2, p95: 3 });
const open = event('r2', 'xgress.open', { value: 4 });

t.test('routers and names are chosen by regular expressions, figures by the name with theirs', async (t) => {
  const table: [options: object | undefined, latency: object | undefined, open: object | undefined][] = [
    [undefined, latency, open],
    [{ sourceFilter: '', metricFilter: '' }, latency, open],
    [{ sourceFilter: '^r1$' }, latency, undefined],
    [{ metricFilter: 'link' }, latency, undefined],
    [{ metricFilter: '\\.p\\d+$' }, { ...latency, metrics: { p50: 2, p95: 3 } }, undefined],
    [{ metricFilter: 'open$' }, undefined, open],
    [{ sourceFilter: 'r2', metricFilter: 'link' }, undefined, undefined],
  ];
  const long = event('r1', `link.${'x'.repeat(300)}`, { value: 1 });
  const links = metricFilter({ metricFilter: '^link' });
  for (const _again of [1, 2]) t.same(links(long), long, 'too long for the cache');
  for (const [options, ...expected] of table) {
    const filter = metricFilter(options);
    for (const _again of [1, 2]) t.same([filter(latency), filter(open)], expected, JSON.stringify(options));
  }
});

t.test('invalid expressions are rejected; hostile ones match in linear time', async (t) => {
  t.throws(() => metricFilter({ metricFilter: '(' }), /missing closing \)/);
  t.throws(() => metricFilter({ sourceFilter: 5 }), /invalid sourceFilter/);
  t.throws(() => metricFilter({ metricFilter: '[a-z]{500}' }), /at most 200 are allowed/);
  const hostile = metricFilter({ metricFilter: '^(a+)+$' });
  t.equal(hostile(event('r', `${'a'.repeat(60)}!`, { value: 1 })), undefined);
  t.match(hostile(event('r', 'a'.repeat(60), { value: 1 })), { source_id: 'r' });
});

// Events about the traffic of circuits: both versions, and what a subscription gets of them.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import { usageEvents, usageOptions, withKinds } from './usage.ts';

const INTERVAL = { intervalStartUTC: 1_700_000_000n, intervalLength: 60n };
const VALUES = { 'ingress.rx': 5n, 'ingress.tx': 7n };

t.test('a circuit has an event of version 2 for each kind, and one of version 3 for all', async (t) => {
  const message = (tags: Record<string, string>, doNotPropagate = false) =>
    create(MetricsMessageSchema, {
      doNotPropagate,
      usageCounters: [{ ...INTERVAL, buckets: { circuit: { values: VALUES, tags } } }],
    });
  const common = { source_id: 'router', circuit_id: 'circuit', interval_start_utc: 1_700_000_000, interval_length: 60 };
  const tags = { serviceId: 's' };
  t.same(usageEvents('router', message(tags)), [
    { ...common, tags, version: 2, event_type: 'usage.ingress.rx', usage: 5 },
    { ...common, tags, version: 2, event_type: 'usage.ingress.tx', usage: 7 },
    { ...common, tags, version: 3, usage: { 'ingress.rx': 5, 'ingress.tx': 7 } },
  ]);
  t.match(usageEvents('router', message({})), [{ tags: null }, { tags: null }, { tags: null }]);
  t.same(usageEvents('router', message(tags, true)), []);
});

t.test('a subscription gets the kinds that it includes, of version 3 only', async (t) => {
  const second = { version: 2, event_type: 'usage.ingress.rx', usage: 5 };
  const third = { version: 3, usage: { 'ingress.rx': 5, 'ingress.tx': 7 } };
  const wanted = new Set(['ingress.tx', 'egress.tx']);
  t.same(withKinds(third, undefined), third);
  t.same(withKinds(third, wanted), { version: 3, usage: { 'ingress.tx': 7 } });
  t.equal(withKinds(third, new Set(['egress.tx'])), undefined);
  t.same(withKinds(second, wanted), second);
});

t.test('options of a subscription are checked', async (t) => {
  t.same(usageOptions({}), { version: 2, kinds: undefined });
  t.same(usageOptions({ version: '3' }), { version: 3, kinds: undefined });
  t.same(usageOptions({ version: 2, include: ['ingress.rx'] }), { version: 2, kinds: undefined });
  t.same(usageOptions({ version: 3, include: ['ingress.rx'] }), { version: 3, kinds: new Set(['ingress.rx']) });
  for (const version of [1, 4, 'x']) t.throws(() => usageOptions({ version }), `unsupported usage version: ${version}`);
  for (const include of ['ingress.rx', [1], ['ingress.rx', 1]])
    t.throws(() => usageOptions({ version: 3, include }), /must be string list/);
  t.throws(() => usageOptions({ version: 3, include: [] }), /no values provided/);
});

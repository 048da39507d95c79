// Router metrics as events: name, subject and figures.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import type { NetworkLink } from '../network/links.ts';
import { metricEvents } from './metrics.ts';

const link = { id: 'a.b', source: 'r1', destination: 'r2' } as NetworkLink;
const find = (id: string) => (id === link.id ? link : undefined);

t.test('each metric becomes one event with all figures and its subject', async (t) => {
  const message = create(MetricsMessageSchema, {
    tags: { zone: 'z' },
    intValues: { 'xgress.dropped_payloads': 7n },
    floatValues: { load: 0.5 },
    meters: { 'link.a.b.tx.msgrate': { count: 3n, m1Rate: 1.5 } },
    histograms: { 'link.a.b.latency': { count: 2n, min: 1n, max: 3n, mean: 2, p9999: 3 } },
    timers: { 'ctrl.latency:c1': { count: 4n, meanRate: 0.1, stdDev: 0.2 } },
  });
  const events = metricEvents('r1', message, find, 'e');
  const of = (name: string) => events.find(({ metric }) => metric === name);
  const common = { source_id: 'r1', version: 3, source_event_id: 'e', tags: { zone: 'z' } };
  t.same(of('xgress.dropped_payloads'), {
    ...common,
    metric_type: 'intValue',
    metric: 'xgress.dropped_payloads',
    metrics: { value: 7 },
  });
  t.match(of('load'), { metric_type: 'floatValue', metrics: { value: 0.5 } });
  t.match(of('link.tx.msgrate'), {
    metric_type: 'meter',
    source_entity_id: 'a.b',
    metrics: { count: 3, m1_rate: 1.5, m15_rate: 0 },
    tags: { zone: 'z', sourceRouterId: 'r1', targetRouterId: 'r2' },
  });
  t.match(of('link.latency'), {
    metric_type: 'histogram',
    source_entity_id: 'a.b',
    metrics: { count: 2, min: 1, max: 3, mean: 2, p9999: 3 },
  });
  t.match(of('ctrl.latency'), {
    metric_type: 'timer',
    source_entity_id: 'c1',
    metrics: { count: 4, mean_rate: 0.1, std_dev: 0.2 },
    tags: { zone: 'z', sourceRouterId: undefined },
  });
  t.equal(events.length, 5);
});

t.test('metrics that are meant for the controller only are not published', async (t) => {
  const message = create(MetricsMessageSchema, { intValues: { a: 1n }, doNotPropagate: true });
  t.same(metricEvents('r1', message, find, 'e'), []);
});

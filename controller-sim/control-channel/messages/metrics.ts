// Metrics of routers. The latency of links makes the cost of paths; the newest values of everything else are kept for who asks.

import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import type { ControlHandler } from '../context.ts';

const LINK_LATENCY = /^link\.(.+)\.latency$/;

export const onMetrics: ControlHandler = ({ network, metrics, clock }, router, message) => {
  const { histograms, timers, meters, intValues, floatValues } = message.decode(MetricsMessageSchema);
  for (const [name, { mean }] of Object.entries(histograms)) {
    const linkId = LINK_LATENCY.exec(name)?.[1];
    if (linkId === undefined) continue;
    const queued = histograms[`link.${linkId}.queue_time`]?.mean ?? timers[`link.${linkId}.queue_time`]?.mean ?? 0;
    network.links.measured(linkId, router.id, mean + queued);
  }
  const values: Record<string, number> = { ...floatValues };
  for (const [name, value] of Object.entries(intValues)) values[name] = Number(value);
  for (const [name, { count, m1Rate }] of Object.entries(meters))
    Object.assign(values, { [`${name}.count`]: Number(count), [`${name}.m1_rate`]: m1Rate });
  for (const [name, { mean, p99 }] of Object.entries({ ...histograms, ...timers }))
    Object.assign(values, { [`${name}.mean`]: mean, [`${name}.p99`]: p99 });
  metrics.set(router.id, { receivedAt: clock.now(), values });
  network.events.emit({ kind: 'metrics', routerId: router.id, values });
};

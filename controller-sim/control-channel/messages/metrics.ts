// Metrics of routers. Link latencies determine path costs; all metrics are published as network events.

import { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import type { ControlHandler } from '../context.ts';

const LINK_LATENCY = /^link\.(.+)\.latency$/;

export const onMetrics: ControlHandler<'network'> = ({ network }, router, message) => {
  const measured = message.decode(MetricsMessageSchema);
  const { histograms, timers } = measured;
  for (const [name, { mean, count }] of Object.entries(histograms)) {
    const linkId = LINK_LATENCY.exec(name)?.[1];
    if (linkId === undefined || count === 0n) continue;
    const queued = histograms[`link.${linkId}.queue_time`]?.mean ?? timers[`link.${linkId}.queue_time`]?.mean ?? 0;
    network.links.measured(linkId, router.id, mean + queued);
  }
  network.events.emit({ kind: 'metrics', routerId: router.id, measured });
};

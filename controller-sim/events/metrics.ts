// Converts router metrics to events: one for each metric with all figures (reference fact: version 3 of its metric
// events). The subject of a metric, a link or a control channel, has its own field.

import type { MetricsMessage } from '#wire/gen/metrics_pb.js';
import type { NetworkLink } from '../network/links.ts';

type Figures = Readonly<Record<string, number>>;

interface Measured {
  readonly metric_type: 'intValue' | 'floatValue' | 'meter' | 'histogram' | 'timer';
  readonly name: string;
  readonly metrics: Figures;
}

const VERSION = 3;
/** Metric names after a link id: `link.ID.latency`, `link.ID.tx.msgrate`. */
const AFTER_LINK_ID = /^link\.(.+)\.(latency|queue_time|[^.]+\.[^.]+)$/;

/** The fields of the events for one message of a router, without the common ones. */
export function metricEvents(
  routerId: string,
  message: MetricsMessage,
  link: (id: string) => NetworkLink | undefined,
  source_event_id: string,
) {
  if (message.doNotPropagate) return [];
  return measured(message).map(({ metric_type, name, metrics }) => {
    const { metric, about } = nameOf(name);
    const known = about === undefined || !metric.startsWith('link.') ? undefined : link(about);
    const tags = {
      ...message.tags,
      ...(known && { sourceRouterId: known.source, targetRouterId: known.destination }),
    };
    return {
      metric_type,
      source_id: routerId,
      ...(about !== undefined && { source_entity_id: about }),
      version: VERSION,
      metric,
      metrics,
      ...(Object.keys(tags).length > 0 && { tags }),
      source_event_id,
    };
  });
}

function measured({ intValues, floatValues, meters, histograms, timers }: MetricsMessage): Measured[] {
  return [
    ...each('intValue', intValues, (value) => ({ value: Number(value) })),
    ...each('floatValue', floatValues, (value) => ({ value })),
    ...each('meter', meters, rates),
    ...each('histogram', histograms, distribution),
    ...each('timer', timers, (timer) => ({ ...rates(timer), ...distribution(timer) })),
  ];
}

function each<T>(
  metric_type: Measured['metric_type'],
  values: Readonly<Record<string, T>>,
  figures: (value: T) => Figures,
): Measured[] {
  return Object.entries(values).map(([name, value]) => ({ metric_type, name, metrics: figures(value) }));
}

type Plain<T> = Omit<T, '$typeName' | '$unknown'>;

function rates({ count, meanRate, m1Rate, m5Rate, m15Rate }: Plain<MetricsMessage['meters'][string]>): Figures {
  return { count: Number(count), mean_rate: meanRate, m1_rate: m1Rate, m5_rate: m5Rate, m15_rate: m15Rate };
}

type Distribution = Plain<MetricsMessage['histograms'][string]>;

function distribution({ count, min, max, mean, stdDev: std_dev, variance, ...percentiles }: Distribution): Figures {
  const { p50, p75, p95, p99, p999, p9999 } = percentiles;
  const bounds = { count: Number(count), min: Number(min), max: Number(max) };
  return { ...bounds, mean, std_dev, variance, p50, p75, p95, p99, p999, p9999 };
}

/** Splits `link.ID.latency` and `ctrl.latency:ID`. */
function nameOf(name: string): { metric: string; about?: string } {
  const [before = '', after] = name.split(':');
  if (after !== undefined && /^(?:ctrl|link)\./.test(name)) return { metric: before, about: after };
  const [, id, rest] = AFTER_LINK_ID.exec(name) ?? [];
  return id === undefined ? { metric: name } : { metric: `link.${rest}`, about: id };
}

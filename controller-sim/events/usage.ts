// Converts routers' reports of circuit traffic to events in both formats of the reference.

import type { MetricsMessage } from '#wire/gen/metrics_pb.js';

/** Kinds of traffic of a subscription; undefined for all. */
export type UsageKinds = ReadonlySet<string> | undefined;

/** The fields of the events for one message of a router, without the common ones. */
export function usageEvents(routerId: string, message: MetricsMessage) {
  if (message.doNotPropagate) return [];
  return message.usageCounters.flatMap(({ intervalStartUTC, intervalLength, buckets }) => {
    const interval = { interval_start_utc: Number(intervalStartUTC), interval_length: Number(intervalLength) };
    return Object.entries(buckets).flatMap(([circuit_id, { values, tags }]) => {
      const common = { source_id: routerId, circuit_id, ...interval, tags: nullWhenEmpty(tags) };
      const usage = Object.fromEntries(Object.entries(values).map(([kind, bytes]) => [kind, Number(bytes)]));
      const single = Object.entries(usage).map(([kind, bytes]) => ({
        version: 2,
        event_type: `usage.${kind}`,
        ...common,
        usage: bytes,
      }));
      return [...single, { version: 3, ...common, usage }];
    });
  });
}

/** An event of version 3 with only the requested kinds; undefined if none remain. */
export function withKinds<T extends { readonly [key: string]: unknown }>(event: T, kinds: UsageKinds): T | undefined {
  if (!kinds || event.version !== 3) return event;
  const wanted = Object.entries(event.usage as Record<string, number>).filter(([kind]) => kinds.has(kind));
  return wanted.length > 0 ? { ...event, usage: Object.fromEntries(wanted) } : undefined;
}

/** The options of a subscription. Throws Error with the reference's messages. */
export function usageOptions(options: { readonly version?: unknown; readonly include?: unknown }): {
  version: 2 | 3;
  kinds: UsageKinds;
} {
  const { version = 2, include } = options;
  const number = Number(version);
  if (number !== 2 && number !== 3) throw new Error(`unsupported usage version: ${version}`);
  if (number === 2 || include === undefined) return { version: number, kinds: undefined };
  if (!Array.isArray(include) || !include.every((each) => typeof each === 'string'))
    throw new Error('invalid value type for usage include list, must be string list');
  if (include.length === 0) throw new Error('no values provided in include list for usage events');
  return { version: number, kinds: new Set(include) };
}

function nullWhenEmpty(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> | null {
  return Object.keys(tags).length > 0 ? tags : null;
}

// Usage intervals as counters of metrics messages, in parts: encoding all circuits of a busy minute at once would stop
// the traffic for up to seconds.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MetricsMessageSchema } from '#wire/gen/metrics_pb.js';
import { type CircuitUsage, NO_TAGS, type UsageInterval, type UsageKind, type UsageTags } from './usage.ts';

export type UsageCounters = MessageInitShape<typeof MetricsMessageSchema>['usageCounters'] & object;

interface Period {
  readonly intervalStartUTC: bigint;
  readonly intervalLength: bigint;
}

/** Limit on circuits in one part. */
const MAX_IN_PART = 250;
/** Traffic of clients and of links are two counters. */
const CLIENT_KINDS: readonly UsageKind[] = ['ingress.rx', 'ingress.tx', 'egress.rx', 'egress.tx'];
const FABRIC_KINDS: readonly UsageKind[] = ['fabric.rx', 'fabric.tx'];

/** The parts of an interval; `length` in milliseconds. */
export function* usageParts({ since, circuits }: UsageInterval, length: number): Generator<UsageCounters, undefined> {
  // Intervals begin at multiples of their length, as in the reference.
  const start = Math.floor(since / length) * length;
  const period = {
    intervalStartUTC: BigInt(Math.floor(start / 1000)),
    intervalLength: BigInt(Math.max(1, Math.round(length / 1000))),
  };
  const all = circuits.entries();
  for (let part = all.take(MAX_IN_PART).toArray(); part.length > 0; part = all.take(MAX_IN_PART).toArray())
    yield [
      ...counter(period, part, CLIENT_KINDS, ({ tags }) => tags),
      ...counter(period, part, FABRIC_KINDS, () => NO_TAGS),
    ];
}

function counter(
  period: Period,
  part: readonly [id: string, CircuitUsage][],
  kinds: readonly UsageKind[],
  tagsOf: (usage: CircuitUsage) => UsageTags,
): UsageCounters {
  const used = part.filter(([, usage]) => kinds.some((kind) => usage[kind] > 0));
  if (used.length === 0) return [];
  const buckets = used.map(([id, usage]) => [id, { values: values(usage, kinds), tags: tagsOf(usage) }]);
  return [{ ...period, buckets: Object.fromEntries(buckets) }];
}

function values(usage: CircuitUsage, kinds: readonly UsageKind[]): Record<string, bigint> {
  return Object.fromEntries(kinds.filter((kind) => usage[kind] > 0).map((kind) => [kind, BigInt(usage[kind])]));
}

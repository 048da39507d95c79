// The single registry of the router's metrics, the source of the metrics messages to controllers and of the Prometheus
// page. Names are those of the network (`link.<id>.latency`, `pool.link.dialer.queue_size`). It has no timer: rates
// decay when they are read.

import type { Clock } from '#lib/clock.ts';
import { Histogram } from './histogram.ts';
import { Meter } from './meter.ts';

/** A histogram of durations in nanoseconds, and the rate of its events. */
export class Timer {
  readonly histogram: Histogram;
  readonly meter: Meter;

  constructor(clock: Clock, random: () => number) {
    this.histogram = new Histogram(clock, random);
    this.meter = new Meter(clock);
  }

  /** Records a duration in milliseconds. */
  update(milliseconds: number): void {
    this.histogram.update(milliseconds * 1e6);
    this.meter.mark();
  }
}

/** Bytes of one circuit in one interval, by kind (`ingress.rx`, `fabric.tx`, …). */
export interface UsageBucket {
  readonly values: Map<string, number>;
  readonly tags: Readonly<Record<string, string>>;
}

/** `usage` counts the traffic of clients, `fabricUsage` the traffic of links; the reference reports them separately. */
export type UsageCounterName = 'usage' | 'fabricUsage';

export interface UsageInterval {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Buckets of circuits, by their id. */
  readonly counters: readonly ReadonlyMap<string, UsageBucket>[];
}

/** Limit on circuits of one counter in one interval: a router cannot open more in a minute. */
const MOST_CIRCUITS = 200_000;

export class MetricsRegistry {
  readonly gauges = new Map<string, () => number>();
  readonly meters = new Map<string, Meter>();
  readonly histograms = new Map<string, Histogram>();
  readonly timers = new Map<string, Timer>();
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #usageSources: (() => void)[] = [];
  #usage = usageTables();
  #usageSince: number;

  /** @param random Returns numbers in [0, 1); it decides which values a histogram keeps. */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#usageSince = clock.now();
  }

  /** Registers a value that is computed when read. A second gauge of a name replaces the first. */
  gauge(name: string, read: () => number): void {
    this.gauges.set(name, read);
  }

  meter(name: string): Meter {
    return getOrMake(this.meters, name, () => new Meter(this.#clock));
  }

  histogram(name: string): Histogram {
    return getOrMake(this.histograms, name, () => new Histogram(this.#clock, this.#random));
  }

  timer(name: string): Timer {
    return getOrMake(this.timers, name, () => new Timer(this.#clock, this.#random));
  }

  /** `source` is called before an interval ends, to add usage that is not reported yet. */
  addUsageSource(source: () => void): void {
    this.#usageSources.push(source);
  }

  /** Adds bytes to the current usage interval of a circuit. */
  usage(circuitId: string, kind: string, bytes: number, tags: Readonly<Record<string, string>>): void {
    const table = this.#usage[kind.startsWith('fabric.') ? 'fabricUsage' : 'usage'];
    if (table.size >= MOST_CIRCUITS && !table.has(circuitId)) return;
    const bucket = getOrMake(table, circuitId, () => ({ values: new Map<string, number>(), tags }));
    bucket.values.set(kind, (bucket.values.get(kind) ?? 0) + bytes);
  }

  /** Ends the usage interval and returns it, without counters that have no usage. */
  endUsageInterval(): UsageInterval {
    for (const source of this.#usageSources) source();
    const counters = Object.values(this.#usage).filter((table) => table.size > 0);
    const reported = { since: this.#usageSince, counters };
    this.#usage = usageTables();
    this.#usageSince = this.#clock.now();
    return reported;
  }

  /** Removes all metrics whose name begins with `prefix`. */
  dispose(prefix: string): void {
    for (const table of [this.gauges, this.meters, this.histograms, this.timers]) {
      for (const name of table.keys()) if (name.startsWith(prefix)) table.delete(name);
    }
  }
}

function usageTables(): Record<UsageCounterName, Map<string, UsageBucket>> {
  return { usage: new Map(), fabricUsage: new Map() };
}

function getOrMake<T>(table: Map<string, T>, name: string, make: () => T): T {
  const known = table.get(name);
  if (known) return known;
  const made = make();
  table.set(name, made);
  return made;
}

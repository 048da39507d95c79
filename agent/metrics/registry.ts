// The one registry of the router's figures. From it come the metrics messages to controllers and the Prometheus page. Names are
// those of the network (`link.<id>.latency`, `pool.link.dialer.queue_size`). No timer of its own: rates decay when they are looked
// at.

import type { Clock } from '#lib/clock.ts';
import { Histogram } from './histogram.ts';
import { Meter } from './meter.ts';

/** A histogram of durations in nanoseconds together with the rate of its events. */
export class Timer {
  readonly histogram: Histogram;
  readonly meter: Meter;

  constructor(clock: Clock, random: () => number) {
    this.histogram = new Histogram(clock, random);
    this.meter = new Meter(clock);
  }

  /** `milliseconds` that something took. */
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

/** `usage` is what clients sent and got, `fabricUsage` what went over links; the reference reports them apart. */
export type UsageCounterName = 'usage' | 'fabricUsage';

export interface UsageInterval {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Buckets of circuits, by their id. */
  readonly counters: readonly ReadonlyMap<string, UsageBucket>[];
}

/** Circuits of one counter in one interval: more cannot be opened in a minute. */
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

  /** `random` answers numbers in [0, 1) and decides which values a histogram keeps. */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#usageSince = clock.now();
  }

  /** A value that is read when somebody looks. A second gauge of a name replaces the first. */
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

  /** `source` is called before an interval ends, to add what it has not told yet. */
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

  /** Ends the usage interval and hands it out. Counters without usage are left out. */
  takeUsage(): UsageInterval {
    for (const source of this.#usageSources) source();
    const counters = Object.values(this.#usage).filter((table) => table.size > 0);
    const taken = { since: this.#usageSince, counters };
    this.#usage = usageTables();
    this.#usageSince = this.#clock.now();
    return taken;
  }

  /** Removes everything whose name begins with `prefix`. */
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

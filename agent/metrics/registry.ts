// The single registry of the router's metrics, the source of the metrics messages to controllers and of the Prometheus
// page. Names are those of the network (`link.<id>.latency`, `pool.link.dialer.queue_size`). It has no timer: rates
// decay when they are read.

import type { Clock } from '#lib/time/clock.ts';
import { Histogram } from './histogram.ts';
import { Meter } from './meter.ts';
import { UsageRecorder } from './usage.ts';

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

export class MetricsRegistry {
  readonly gauges = new Map<string, () => number>();
  readonly meters = new Map<string, Meter>();
  readonly histograms = new Map<string, Histogram>();
  readonly timers = new Map<string, Timer>();
  readonly usage: UsageRecorder;
  readonly #clock: Clock;
  readonly #random: () => number;

  /** @param random Returns numbers in [0, 1); it decides which values a histogram keeps. */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.usage = new UsageRecorder(clock);
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

  /** Removes the metrics with these names, of any kind. */
  dispose(names: Iterable<string>): void {
    for (const name of names)
      for (const table of [this.gauges, this.meters, this.histograms, this.timers]) table.delete(name);
  }
}

function getOrMake<T>(table: Map<string, T>, name: string, make: () => T): T {
  const known = table.get(name);
  if (known) return known;
  const made = make();
  table.set(name, made);
  return made;
}

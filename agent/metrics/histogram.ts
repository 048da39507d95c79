// The distribution of recent values: a bounded sample in which new values replace old ones, preferably the oldest
// (reference fact: 128 values, weight e^(0.015 per second)). All results except the counts and the sum come from the
// sample, so that a mean follows a change: the latency of a link determines its cost.

import type { Distribution } from '#lib/text/exposition.ts';
import type { Clock } from '#lib/time/clock.ts';

const SAMPLE_SIZE = 128;
/** Per second. A value is half as likely to stay as one that is 46 seconds younger. */
const DECAY = 0.015;

export interface HistogramSnapshot extends Distribution {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stdDev: number;
  readonly variance: number;
}

export class Histogram {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #values: number[] = [];
  /** Stored as logarithms, which cannot overflow. */
  readonly #priorities: number[] = [];
  #count = 0;
  #measurements = 0;
  #sum = 0;

  /** @param random Returns numbers in [0, 1). */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get count(): number {
    return this.#count;
  }

  update(value: number): void {
    this.#measurements++;
    this.#sum += value;
    this.#add(value);
  }

  /** Replaces all values by one that was not measured. */
  replace(value: number): void {
    this.clear();
    this.#add(value);
  }

  /** Discards all values; the number and the sum of all measurements stay. */
  clear(): void {
    this.#values.length = this.#priorities.length = this.#count = 0;
  }

  snapshot(): HistogramSnapshot {
    const sorted = this.#values.toSorted((a, b) => a - b);
    const size = Math.max(1, sorted.length);
    const mean = sorted.reduce((sum, value) => sum + value, 0) / size;
    const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / size;
    return {
      count: this.#count,
      measured: { count: this.#measurements, sum: this.#sum },
      min: sorted[0] ?? 0,
      max: sorted.at(-1) ?? 0,
      mean,
      variance,
      stdDev: Math.sqrt(variance),
      quantile: (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0,
    };
  }

  #add(value: number): void {
    this.#count++;
    const priority = (DECAY * this.#clock.monotonic()) / 1_000 - Math.log(1 - this.#random());
    if (this.#values.length < SAMPLE_SIZE) {
      this.#values.push(value);
      this.#priorities.push(priority);
      return;
    }
    const min = this.#min();
    if (priority <= (this.#priorities[min] ?? 0)) return;
    this.#values[min] = value;
    this.#priorities[min] = priority;
  }

  #min(): number {
    let min = 0;
    for (let index = 1; index < this.#priorities.length; index++)
      if ((this.#priorities[index] ?? 0) < (this.#priorities[min] ?? 0)) min = index;
    return min;
  }
}

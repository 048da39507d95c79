// Events per second: over the lifetime, and as exponentially weighted averages over 1, 5 and 15 minutes that decay in
// steps of 5 s. Elapsed steps are applied when the meter is marked or read.

import type { Clock } from '#lib/time/clock.ts';

const STEP = 5_000;
const STEP_SECONDS = STEP / 1000;
const ALPHAS = [1, 5, 15].map((minutes) => 1 - Math.exp(-STEP_SECONDS / 60 / minutes));
/** After this many empty steps every average is practically zero. */
const MAX_STEPS = 5_000;

export interface MeterSnapshot {
  readonly count: number;
  readonly m1: number;
  readonly m5: number;
  readonly m15: number;
  readonly mean: number;
}

export class Meter {
  readonly #clock: Clock;
  readonly #born: number;
  readonly #rates = [0, 0, 0];
  #count = 0;
  #uncounted = 0;
  #lastStep: number;
  #first = true;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#born = clock.monotonic();
    this.#lastStep = this.#born;
  }

  get count(): number {
    return this.#count;
  }

  mark(events = 1): void {
    this.#count += events;
    this.#uncounted += events;
  }

  /** Rates are events per second. */
  snapshot(): MeterSnapshot {
    this.#catchUp();
    const seconds = (this.#clock.monotonic() - this.#born) / 1000;
    const [m1 = 0, m5 = 0, m15 = 0] = this.#rates;
    return { count: this.#count, m1, m5, m15, mean: seconds > 0 ? this.#count / seconds : 0 };
  }

  #catchUp(): void {
    const steps = Math.floor((this.#clock.monotonic() - this.#lastStep) / STEP);
    if (steps <= 0) return;
    this.#lastStep += steps * STEP;
    // Spreads the marks since the last update evenly over the steps in between.
    const rate = this.#uncounted / steps / STEP_SECONDS;
    this.#uncounted = 0;
    for (let index = 0; index < ALPHAS.length; index++)
      this.#rates[index] = this.#decayed(index, rate, Math.min(steps, MAX_STEPS));
    this.#first = false;
  }

  #decayed(index: number, rate: number, steps: number): number {
    if (this.#first) return rate;
    const kept = (1 - (ALPHAS[index] ?? 0)) ** steps;
    return (this.#rates[index] ?? 0) * kept + rate * (1 - kept);
  }
}

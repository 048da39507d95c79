// The distribution of values since the start, from a uniform sample of bounded size; count, sum, extremes and deviation are exact
// over everything (Welford's method), quantiles are of the sample.

const SAMPLE_SIZE = 128;

export interface HistogramSnapshot {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stdDev: number;
  readonly variance: number;
  /** The value below which a share (0 to 1) of the sample lies. */
  quantile(share: number): number;
}

export class Histogram {
  readonly #random: () => number;
  #sample: number[] = [];
  #count = 0;
  #mean = 0;
  #squares = 0;
  #min = 0;
  #max = 0;

  /** `random` answers numbers in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  update(value: number): void {
    this.#count++;
    this.#min = this.#count === 1 ? value : Math.min(this.#min, value);
    this.#max = this.#count === 1 ? value : Math.max(this.#max, value);
    const delta = value - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (value - this.#mean);
    if (this.#sample.length < SAMPLE_SIZE) {
      this.#sample.push(value);
      return;
    }
    const slot = Math.floor(this.#random() * this.#count);
    if (slot < SAMPLE_SIZE) this.#sample[slot] = value;
  }

  /** Forgets everything. */
  clear(): void {
    this.#sample = [];
    this.#count = this.#mean = this.#squares = this.#min = this.#max = 0;
  }

  snapshot(): HistogramSnapshot {
    const sorted = this.#sample.toSorted((a, b) => a - b);
    const variance = this.#count > 1 ? this.#squares / this.#count : 0;
    return {
      count: this.#count,
      min: this.#min,
      max: this.#max,
      mean: this.#mean,
      variance,
      stdDev: Math.sqrt(variance),
      quantile: (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0,
    };
  }
}

// A delay that jitters and a rate that walks, for the model of a path and for the emulated one. Times in milliseconds.

export type Draw = () => number;

/** A further delay, often short. */
export class Jitter {
  readonly #random: Draw;
  #delay = 0;
  #until = Number.NEGATIVE_INFINITY;

  /** @param random Returns numbers in [0, 1). */
  constructor(random: Draw) {
    this.#random = random;
  }

  /** The delay at a time: at most `max`, and a new one every `every`. */
  at(now: number, max: number, every: number): number {
    if (now >= this.#until) {
      this.#until = now + every;
      this.#delay = max * this.#random() ** 3;
    }
    return this.#delay;
  }
}

const WALK_INTERVAL = 100;
/** The largest difference of two rates, as a share of the top. */
const WALK_STEP = 0.3;
/** The rates repeat after so many, so that all measurements of a few seconds meet the same ones. */
const WALK_LENGTH = 25;

/** A rate that walks below its top. */
export class Walk {
  readonly #random: Draw;
  #shares: readonly number[] = [];

  /** @param random Returns numbers in [0, 1). */
  constructor(random: Draw) {
    this.#random = random;
  }

  /** The share of the top at a time, between `min` and 1. */
  at(now: number, min: number): number {
    if (this.#shares.length === 0) this.#shares = this.#walk(min);
    return this.#shares[Math.floor(now / WALK_INTERVAL) % WALK_LENGTH] as number;
  }

  #walk(min: number): number[] {
    const shares = [1];
    while (shares.length < WALK_LENGTH) {
      const step = WALK_STEP * (2 * this.#random() - 1);
      shares.push(Math.min(1, Math.max(min, (shares.at(-1) as number) + step)));
    }
    return shares;
  }
}

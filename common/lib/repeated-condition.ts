// A condition that goes on, such as a peer that cannot be reached: the log gets a line when it begins, one after each interval while it goes
// on, and the figures of the whole when it ends.

import type { Clock } from './clock.ts';

export interface ConditionFigures {
  /** How often it happened since it began. */
  readonly attempts: number;
  /** Since it began. */
  readonly seconds: number;
}

/** Milliseconds between two lines about the same. */
const INTERVAL = 60_000;
/** Kinds that are told apart; others wait for the interval together. */
const MOST_KINDS = 32;

export class RepeatedCondition {
  readonly #clock: Clock;
  readonly #interval: number;
  /** Kind → time of its last line. */
  readonly #lines = new Map<string, number>();
  #attempts = 0;
  #began = 0;

  constructor(clock: Clock, interval = INTERVAL) {
    this.#clock = clock;
    this.#interval = interval;
  }

  /** The figures when a line is due: for the first time of a `kind`, and when its last line is old. */
  happened(kind = ''): ConditionFigures | undefined {
    const now = this.#clock.monotonic();
    if (this.#attempts === 0) this.#began = now;
    this.#attempts++;
    const key = this.#lines.has(kind) || this.#lines.size < MOST_KINDS ? kind : '';
    const last = this.#lines.get(key);
    if (last !== undefined && now - last < this.#interval) return undefined;
    this.#lines.set(key, now);
    return this.#figures(now);
  }

  /** It is over. Returns its figures, or undefined when there was nothing. */
  ended(): ConditionFigures | undefined {
    if (this.#attempts === 0) return undefined;
    const figures = this.#figures(this.#clock.monotonic());
    this.#attempts = 0;
    this.#lines.clear();
    return figures;
  }

  #figures(now: number): ConditionFigures {
    return { attempts: this.#attempts, seconds: Math.round((now - this.#began) / 1_000) };
  }
}

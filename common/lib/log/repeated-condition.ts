// A continuing condition, for example an unreachable peer: the log gets a line when it begins, one per interval while
// it lasts, and totals when it ends.

import type { Clock } from '../time/clock.ts';

export interface ConditionFigures {
  /** Occurrences since it began. */
  readonly attempts: number;
  /** Duration since it began. */
  readonly seconds: number;
}

/** Milliseconds between two lines about the same kind. */
const INTERVAL = 60_000;
/** Limit on distinguished kinds; further kinds share one interval. */
const MAX_KINDS = 32;

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

  /** Returns the totals if a line is due: for the first occurrence of a `kind`, and after the interval. */
  happened(kind = ''): ConditionFigures | undefined {
    const now = this.#clock.monotonic();
    if (this.#attempts === 0) this.#began = now;
    this.#attempts++;
    const key = this.#lines.has(kind) || this.#lines.size < MAX_KINDS ? kind : '';
    const last = this.#lines.get(key);
    if (last !== undefined && now - last < this.#interval) return undefined;
    this.#lines.set(key, now);
    return this.#figures(now);
  }

  /** The condition ended. Returns its totals, or undefined if it never began. */
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

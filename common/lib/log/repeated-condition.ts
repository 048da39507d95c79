// A continuing condition, for example an unreachable peer: the log gets a line when it begins or takes another form,
// one per interval while it lasts, and totals when it ends.

import type { Clock } from '../time/clock.ts';

export interface ConditionFigures {
  /** Occurrences since it began. */
  readonly attempts: number;
  /** Duration since it began. */
  readonly seconds: number;
}

export interface ConditionLine extends ConditionFigures {
  /** Occurrences of this kind since its last line, with this one. */
  readonly unlogged: number;
}

export interface RepeatedConditionOptions {
  /** Milliseconds between two lines about the same kind; by default a minute. */
  readonly interval?: number;
  /** Limit on distinguished kinds; further kinds share one interval. By default MAX_KINDS. */
  readonly maxKinds?: number;
}

interface Kind {
  loggedAt: number;
  unlogged: number;
  /** It has happened in the current round. */
  isCurrent: boolean;
}

const INTERVAL = 60_000;
const MAX_KINDS = 32;
const HOUR = 3_600_000;

/** For a condition that somebody must end: a line about it each hour. */
export const LASTING: RepeatedConditionOptions = { interval: HOUR };
/** The same for conditions of many subjects, which bound the number of kinds: services of the data model. */
export const OF_SUBJECTS: RepeatedConditionOptions = { interval: HOUR, maxKinds: Number.POSITIVE_INFINITY };

export class RepeatedCondition {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #maxKinds: number;
  readonly #kinds = new Map<string, Kind>();
  #attempts = 0;
  #began = 0;

  constructor(clock: Clock, { interval = INTERVAL, maxKinds = MAX_KINDS }: RepeatedConditionOptions = {}) {
    this.#clock = clock;
    this.#interval = interval;
    this.#maxKinds = maxKinds;
  }

  /** Returns the totals if a line is due: for the first occurrence of a `kind`, and after the interval. */
  happened(kind = ''): ConditionLine | undefined {
    const now = this.#clock.monotonic();
    if (this.#attempts === 0) this.#began = now;
    this.#attempts++;
    const key = this.#kinds.has(kind) || this.#kinds.size < this.#maxKinds ? kind : '';
    const known = this.#kinds.get(key) ?? { loggedAt: Number.NEGATIVE_INFINITY, unlogged: 0, isCurrent: true };
    this.#kinds.set(key, known);
    known.isCurrent = true;
    known.unlogged++;
    if (now - known.loggedAt < this.#interval) return undefined;
    const { unlogged } = known;
    known.loggedAt = now;
    known.unlogged = 0;
    return { ...this.#figures(now), unlogged };
  }

  /** The condition ended. Returns its totals, or undefined if it never began. */
  ended(): ConditionFigures | undefined {
    if (this.#attempts === 0) return undefined;
    const figures = this.#figures(this.#clock.monotonic());
    this.#attempts = 0;
    this.#kinds.clear();
    return figures;
  }

  /** All subjects were looked at: the kinds that have not happened since the last call have ended. */
  endRound(): void {
    for (const [key, kind] of this.#kinds) {
      if (!kind.isCurrent) this.#kinds.delete(key);
      kind.isCurrent = false;
    }
    if (this.#kinds.size === 0) this.#attempts = 0;
  }

  #figures(now: number): ConditionFigures {
    return { attempts: this.#attempts, seconds: Math.round((now - this.#began) / 1_000) };
  }
}

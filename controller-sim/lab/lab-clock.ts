// The simulator's time under the control of its user. Connections keep real time: heartbeats and time limits of
// requests do not notice an advance.

import type { AdvanceableClock } from '#lib/clock.ts';
import { parseDuration } from '#lib/duration.ts';
import { describeError } from '#lib/errors.ts';
import { InvalidError } from './lab-error.ts';

/** Hours of the units that the network's durations lack. */
const HOURS: Readonly<Record<string, number>> = { d: 24, w: 168 };
const LONG_UNIT = /(\d+(?:\.\d+)?)([dw])/g;
/** Milliseconds: ten years, after which the simulator's own certificates have expired. */
const LONGEST = 10 * 365 * 24 * 3_600_000;

/** Milliseconds that were added to each clock: the labs of several controllers in one process share one. */
const added = new WeakMap<AdvanceableClock, number>();

export class LabClock {
  readonly #clock: AdvanceableClock;

  constructor(clock: AdvanceableClock) {
    this.#clock = clock;
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  /** Milliseconds that were added so far. */
  get advanced(): number {
    return added.get(this.#clock) ?? 0;
  }

  /**
   * Adds milliseconds, or a duration such as `31m`, `2d` or `1w`. Sessions, tokens and locks expire, and all that waits for this time
   * happens before it resolves. Rejects with InvalidError for a wrong or negative duration, and beyond ten years in
   * total.
   */
  async advance(duration: string | number): Promise<void> {
    const milliseconds = typeof duration === 'number' ? duration : read(duration);
    if (!(milliseconds >= 0))
      throw new InvalidError('duration', 'the time cannot go back; use a duration such as 31m', duration);
    if (this.advanced + milliseconds > LONGEST)
      throw new InvalidError('duration', 'the time can be advanced by ten years in total', duration);
    added.set(this.#clock, this.advanced + milliseconds);
    await this.#clock.advance(milliseconds);
  }

  /**
   * Returns to the time that has so many milliseconds added; 0: the real time. Going back fires no timers, and what has
   * expired remains so.
   */
  async returnTo(advanced: number): Promise<void> {
    const difference = advanced - this.advanced;
    if (difference > 0) return this.advance(difference);
    added.set(this.#clock, advanced);
    this.#clock.setBack(-difference);
  }
}

function read(duration: string): number {
  const text = duration.replaceAll(
    LONG_UNIT,
    (_, count: string, unit: string) => `${Number(count) * (HOURS[unit] ?? 0)}h`,
  );
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidError('duration', describeError(error), duration);
  }
}

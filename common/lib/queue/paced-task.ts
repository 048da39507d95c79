// Runs a task when others ask for it, but not as often as they ask.

import type { Clock, Timer } from '../time/clock.ts';
import { TokenBucket } from './token-bucket.ts';

export interface Pace {
  /** Runs at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export class PacedTask {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #pace: TokenBucket;
  /** Milliseconds between two runs after the burst. */
  readonly #interval: number;
  readonly #task: () => void;
  #waiting: Timer | undefined;
  #isClosed = false;

  /** `name` is that of the timer. */
  constructor(clock: Clock, name: string, pace: Pace, task: () => void) {
    this.#clock = clock;
    this.#name = name;
    this.#pace = new TokenBucket({ ...pace, ahead: 1 }, clock.monotonic());
    this.#interval = 1_000 / pace.perSecond;
    this.#task = task;
  }

  /** Runs the task now, or later if it has run too often: one run then serves all requests until it begins. */
  request(): void {
    if (this.#waiting || this.#isClosed) return;
    // A timer may end a little before its token is there.
    const delay = this.#pace.take(this.#clock.monotonic()) ?? this.#interval;
    if (delay === 0) {
      this.#task();
      return;
    }
    this.#waiting = this.#clock.after(this.#name, delay, () => {
      this.#waiting = undefined;
      this.#task();
    });
  }

  /** A run that waits does not take place. */
  close(): void {
    this.#isClosed = true;
    this.#waiting?.cancel();
    this.#waiting = undefined;
  }
}

// A clock that follows the real time and can skip hours, for routers with real sockets. During a skip, sockets get a
// moment of real time after each slice. A heartbeat sent in one slice is therefore answered before the next.

import { setTimeout as wait } from 'node:timers/promises';
import { VirtualClock } from '#lib/time/clock.ts';

/** Milliseconds of real time between updates. */
const STEP = 5;
/** Milliseconds of real time after each slice. */
const REST = 2;
/** Virtual milliseconds of a slice: shorter than every heartbeat's time limit. */
const SLICE = 5_000;

export class SkippingClock extends VirtualClock {
  #seen = performance.now();
  #isSkipping = false;
  readonly #ticker: NodeJS.Timeout;

  constructor() {
    super(Date.now());
    this.#ticker = setInterval(() => void this.#follow(), STEP);
  }

  /** Skips this many milliseconds in a fraction of the time. */
  async skip(milliseconds: number): Promise<void> {
    this.#isSkipping = true;
    for (let left = milliseconds; left > 0; left -= SLICE) {
      await this.advance(Math.min(SLICE, left));
      await wait(REST);
    }
    this.#seen = performance.now();
    this.#isSkipping = false;
  }

  stop(): void {
    clearInterval(this.#ticker);
  }

  async #follow(): Promise<void> {
    if (this.#isSkipping) return;
    const now = performance.now();
    const passed = now - this.#seen;
    this.#seen = now;
    await this.advance(passed);
  }
}

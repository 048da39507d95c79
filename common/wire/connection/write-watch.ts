// Limits the time of one write to a connection. A peer that stops reading fills the buffers of the network; then
// writes no longer complete. The timer runs only while bytes are written, and once per limit at most.

import type { Clock, Timer } from '#lib/time/clock.ts';

export class WriteWatch {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #onLate: () => void;
  #since: number | undefined;
  #timer: Timer | undefined;

  /** @param limit Milliseconds. `onLate` is called once for a write that takes longer. */
  constructor(clock: Clock, limit: number, onLate: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#onLate = onLate;
  }

  /** A write begins. Only one is in progress at a time. */
  begin(): void {
    this.#since = this.#clock.monotonic();
    if (!this.#timer) this.#wait(this.#limit);
  }

  end(): void {
    this.#since = undefined;
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#since = undefined;
  }

  #wait(milliseconds: number): void {
    this.#timer = this.#clock.after('write', milliseconds, () => this.#check());
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#since === undefined) return;
    const left = this.#since + this.#limit - this.#clock.monotonic();
    if (left > 0) this.#wait(left);
    else this.#onLate();
  }
}

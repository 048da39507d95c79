// The watch of the writes to one connection decides that the peer no longer takes bytes. A peer that stops reading
// fills the buffers of the network; then a write no longer completes. A path keeps these buffers nearly empty, so that
// writes complete and bytes wait in the lanes: it notes for how long the peer has acknowledged nothing. The timer runs
// only while bytes are written, and once per limit at most.

import type { Clock, Timer } from '#lib/time/clock.ts';

export class WriteWatch {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #onLate: () => void;
  readonly #look: () => void;
  #since: number | undefined;
  #timer: Timer | undefined;

  /**
   * @param limit Milliseconds. `onLate` is called when the peer takes longer for bytes; it closes the connection.
   * @param look Called before it judges: progress may only be seen by those who look.
   */
  constructor(clock: Clock, limit: number, onLate: () => void, look: () => void = () => undefined) {
    this.#look = look;
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

  /** Bytes wait for the peer, and its system has acknowledged nothing for so many milliseconds. */
  noteUnacknowledged(milliseconds: number): void {
    if (milliseconds > this.#limit) this.#onLate();
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
    this.#look();
    if (this.#since === undefined || this.#timer) return;
    const left = this.#since + this.#limit - this.#clock.monotonic();
    if (left > 0) this.#wait(left);
    else this.#onLate();
  }
}

// Decides when connections write the bytes that they queued. A write of a small message costs a system call, a TLS
// record and a wakeup of the peer, more than all other work on it. While several circuits are busy, the next messages
// for the same connection follow within a fraction of a millisecond. So writes wait while further input arrives, for a
// short time; a message that arrives alone is written at the end of the same turn of the event loop.

import type { Clock } from '../time/clock.ts';

/** Milliseconds that queued bytes wait at most while input arrives. Longer waits save little more. */
const MAX_WAIT_MS = 0.2;

export class FlushSchedule {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #inputs = 0;
  #seenInputs = 0;
  #begun = 0;
  #flushes: (() => void)[] = [];
  readonly #check = () => {
    const isOver = this.#inputs === this.#seenInputs || this.#clock.monotonic() - this.#begun >= MAX_WAIT_MS;
    if (isOver) this.#flushAll();
    else this.#waitOneTurn();
  };

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Any connection received bytes. */
  noteInput(): void {
    this.#inputs++;
  }

  /** Calls `flush` once, soon. */
  add(flush: () => void): void {
    this.#flushes.push(flush);
    if (this.#flushes.length > 1) return;
    this.#begun = this.#clock.monotonic();
    this.#waitOneTurn();
  }

  #waitOneTurn(): void {
    this.#seenInputs = this.#inputs;
    setImmediate(this.#check);
  }

  #flushAll(): void {
    const flushes = this.#flushes;
    this.#flushes = [];
    for (const flush of flushes) flush();
  }
}

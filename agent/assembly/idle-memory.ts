// Releases memory when the router becomes idle: after its start, and after each burst of traffic. The processor time
// tells both, for every kind of traffic: short circuits, long ones that become quiet, and those that only pass. During
// a burst it returns what costs nothing: memory that compilers and network buffers used for a moment.

import type { Clock, Timer } from '#lib/clock.ts';

export interface IdleMemoryComponents {
  clock: Clock;
  /** Processor time that this process has used, in milliseconds. */
  processorTime(): number;
  /** Pauses the router for some tens of milliseconds. */
  release(): void;
  /** Pauses it for about a millisecond. */
  trim(): void;
}

const INTERVAL = 5_000;
/** Shares of one processor during an interval. Between the two, traffic continues, and garbage is collected as usual. */
const BUSY = 0.1;
const QUIET = 0.02;

export class IdleMemory {
  readonly #components: IdleMemoryComponents;
  readonly #timer: Timer;
  #spent: number;
  /** The start is a burst, too: it compiles code and reads files. */
  #hadBurst = true;

  constructor(components: IdleMemoryComponents) {
    this.#components = components;
    this.#spent = components.processorTime();
    this.#timer = components.clock.every('idle memory', INTERVAL, () => this.#check());
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Releases once after each burst. A router that is never quiet must not pause. */
  #check(): void {
    const { processorTime, release, trim } = this.#components;
    const share = (processorTime() - this.#spent) / INTERVAL;
    if (share > BUSY) {
      this.#hadBurst = true;
      trim();
    } else if (share < QUIET && this.#hadBurst) {
      this.#hadBurst = false;
      release();
    }
    this.#spent = processorTime();
  }
}

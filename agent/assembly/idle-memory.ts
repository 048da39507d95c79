// Gives memory back when the router has come to rest: after its start, and after each burst of circuits.

import type { Clock, Timer } from '#lib/clock.ts';

export interface IdleMemoryComponents {
  clock: Clock;
  /** Whether circuits are open. */
  isBusy(): boolean;
  /** Grows with every circuit. */
  circuitsSoFar(): number;
  release(): void;
}

const INTERVAL = 10_000;

export class IdleMemory {
  readonly #components: IdleMemoryComponents;
  readonly #timer: Timer;
  /** Circuits that had been seen when memory was last given back; none yet. */
  #released = -1;
  #seen = 0;

  constructor(components: IdleMemoryComponents) {
    this.#components = components;
    this.#timer = components.clock.every('idle memory', INTERVAL, () => this.#look());
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Once, when nothing has happened since the last look. */
  #look(): void {
    const { circuitsSoFar, isBusy, release } = this.#components;
    const count = circuitsSoFar();
    const quiet = count === this.#seen && !isBusy();
    this.#seen = count;
    if (!quiet || this.#released === count) return;
    this.#released = count;
    release();
  }
}

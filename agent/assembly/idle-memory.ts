// Releases memory when the router becomes idle: after its start, and after each burst of circuits.

import type { Clock, Timer } from '#lib/clock.ts';

export interface IdleMemoryComponents {
  clock: Clock;
  /** Whether circuits are open. */
  isBusy(): boolean;
  /** Increases with every circuit. */
  circuitsSoFar(): number;
  release(): void;
}

const INTERVAL = 10_000;

export class IdleMemory {
  readonly #components: IdleMemoryComponents;
  readonly #timer: Timer;
  /** The circuit count at the last release; -1 before the first. */
  #released = -1;
  #seen = 0;

  constructor(components: IdleMemoryComponents) {
    this.#components = components;
    this.#timer = components.clock.every('idle memory', INTERVAL, () => this.#check());
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Releases once, if nothing has happened since the last check. */
  #check(): void {
    const { circuitsSoFar, isBusy, release } = this.#components;
    const count = circuitsSoFar();
    const quiet = count === this.#seen && !isBusy();
    this.#seen = count;
    if (!quiet || this.#released === count) return;
    this.#released = count;
    release();
  }
}

// Releases memory when the router becomes idle: after its start, and after each burst of traffic. The processor time
// tells both, for every kind of traffic: short circuits, long ones that become quiet, and those that only pass. During
// a burst it returns what costs little, memory that compilers and network buffers used for a moment: once after
// its begin, and again when it has grown.

import type { Clock, Timer } from '#lib/time/clock.ts';

export interface IdleMemoryComponents {
  clock: Clock;
  /** Processor time that this process has used, in milliseconds. */
  processorTime(): number;
  /** Memory of this process, in bytes. */
  residentMemory(): number;
  /**
   * Pauses the router for some tens of milliseconds if it is larger than `enough` bytes, otherwise for a few, like
   * `trim`.
   */
  release(enough: number): void;
  /** Pauses it for some milliseconds. */
  trim(): void;
}

const INTERVAL = 1_000;
/**
 * Shares of one processor during an interval. Between the two, traffic continues, and garbage is collected as usual.
 */
const BUSY = 0.1;
const QUIET = 0.02;
/**
 * Milliseconds without a busy interval that end a burst. A release makes V8 discard compiled code
 * (docs/experiments.md), which slows a burst that soon follows another.
 */
const BURST_END = 5_000;
/** Bytes of growth after a trim that are worth the next: more than traffic maps again of the program and the pool. */
const GROWTH = 24 * 1024 * 1024;
/**
 * Bytes. An idle router up to this size keeps its garbage, because V8 would discard compiled code with it: the next
 * circuits need up to a third less processor time (docs/experiments.md).
 */
const IDLE_SIZE = 104 * 1024 * 1024;

export class IdleMemory {
  readonly #components: IdleMemoryComponents;
  readonly #timer: Timer;
  #spent: number;
  /** End of the last busy interval; undefined when its memory is released. */
  #lastBusy: number | undefined;
  /** Resident memory, in bytes, beyond which a burst is trimmed. */
  #limit = 0;

  constructor(components: IdleMemoryComponents) {
    this.#components = components;
    this.#spent = components.processorTime();
    this.#lastBusy = components.clock.monotonic();
    this.#timer = components.clock.every('idle memory', INTERVAL, () => this.#check());
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Releases once after each burst. A router that is never quiet must not pause. */
  #check(): void {
    const { clock, processorTime, release } = this.#components;
    const share = (processorTime() - this.#spent) / INTERVAL;
    const now = clock.monotonic();
    if (share > BUSY) {
      this.#lastBusy = now;
      this.#trimGrowth();
    } else if (share < QUIET && this.#lastBusy !== undefined && now - this.#lastBusy >= BURST_END) {
      this.#lastBusy = undefined;
      this.#limit = 0;
      release(IDLE_SIZE);
    }
    this.#spent = processorTime();
  }

  /** Light traffic waits for every trim, and needs only the first. */
  #trimGrowth(): void {
    const { residentMemory, trim } = this.#components;
    if (residentMemory() <= this.#limit) return;
    trim();
    this.#limit = residentMemory() + GROWTH;
  }
}

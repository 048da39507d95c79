// The waits of tasks, from the time at which the producer wants to offer a task until it starts. A queue that rejects
// offers would else look fast: while the producer waits, so do its users (coordinated omission).

import type { Values } from '../rounds.ts';
import type { Task } from './subjects.ts';

export class WaitTimes {
  readonly #intended: Float64Array;
  readonly #waits: Float64Array;
  readonly #wasRejected: Uint8Array;
  #retries = 0;

  constructor(count: number) {
    this.#intended = new Float64Array(count).fill(performance.now());
    this.#waits = new Float64Array(count).fill(Number.NaN);
    this.#wasRejected = new Uint8Array(count);
  }

  /** The producer wants to offer a task at this time, even if it does so later. Without a call: at the start. */
  intend(index: number, at: number): void {
    this.#intended[index] = at;
  }

  /** The task to offer, or to offer again. */
  timed(index: number, task: Task): Task {
    if (this.#wasRejected[index]) this.#retries++;
    return () => {
      this.#waits[index] = performance.now() - (this.#intended[index] ?? 0);
      return task();
    };
  }

  rejected(index: number): void {
    this.#wasRejected[index] = 1;
  }

  /** Waits of the tasks that have started, rejected tasks, and further offers of those. */
  values(): Values {
    const waits = this.#waits.filter((wait) => !Number.isNaN(wait)).sort();
    const rejected = this.#wasRejected.reduce((sum, each) => sum + each, 0);
    return { 'wait p50': quantile(waits, 0.5), 'wait p99': quantile(waits, 0.99), rejected, retries: this.#retries };
  }
}

export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

// A limited number of slots for work in progress. Beyond the limit, a source with fewer slots displaces the oldest of
// the source with most, so that one source cannot use up all slots.

import { FairPool } from './fair-pool.ts';

export interface Slot {
  /** Aborts if another source gets the slot. */
  readonly displaced: AbortSignal;
  /** Ends the use of the slot. */
  release(): void;
}

export class FairSlots {
  readonly #limit: number;
  readonly #reason: () => Error;
  readonly #taken = new FairPool<AbortController>();

  /** @param reason creates the reason of the signal of a displaced slot */
  constructor(limit: number, reason: () => Error) {
    this.#limit = limit;
    this.#reason = reason;
  }

  /** Number of taken slots. */
  get size(): number {
    return this.#taken.size;
  }

  /** Takes a slot for a source. Returns undefined if all are taken and no other source has more of them. */
  take(source: string): Slot | undefined {
    if (this.#taken.size >= this.#limit) {
      const displaced = this.#taken.evictFor(source);
      if (!displaced) return undefined;
      displaced.abort(this.#reason());
    }
    const slot = new AbortController();
    this.#taken.add(slot, source);
    return { displaced: slot.signal, release: () => this.#taken.delete(slot) };
  }
}

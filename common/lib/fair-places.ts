// A limited number of places for work in progress. Beyond the limit, a source with fewer places displaces the oldest of
// the source with most, so that one source cannot use up all places.

import { FairPool } from './fair-pool.ts';

export interface Place {
  /** Aborts if another source gets the place. */
  readonly displaced: AbortSignal;
  /** Ends the use of the place. */
  release(): void;
}

export class FairPlaces {
  readonly #limit: number;
  readonly #reason: () => Error;
  readonly #taken = new FairPool<AbortController>();

  /** @param reason creates the reason of the signal of a displaced place */
  constructor(limit: number, reason: () => Error) {
    this.#limit = limit;
    this.#reason = reason;
  }

  /** Number of taken places. */
  get size(): number {
    return this.#taken.size;
  }

  /** Takes a place for a source. Returns undefined if all are taken and no other source has more of them. */
  take(source: string): Place | undefined {
    if (this.#taken.size >= this.#limit) {
      const displaced = this.#taken.evictFor(source);
      if (!displaced) return undefined;
      displaced.abort(this.#reason());
    }
    const place = new AbortController();
    this.#taken.add(place, source);
    return { displaced: place.signal, release: () => this.#taken.delete(place) };
  }
}

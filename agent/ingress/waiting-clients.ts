// The clients of a listener that wait for their circuit. Their number is limited; a client of a source with fewer of them
// displaces the oldest of the source with most, so that one source cannot use up all places.

import { ProjectError } from '#lib/errors.ts';
import { FairPool } from '#lib/fair-pool.ts';

/** Clients of one listener, or sessions of a UDP port, that may wait for their circuit. */
const MOST_WAITING = 1_000;

export class WaitingClients {
  readonly #waiting = new FairPool<AbortController>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Returns a place for a client; undefined if there is none. `displaced` aborts if another client gets the place. */
  add(source: string): { readonly displaced: AbortSignal; release(): void } | undefined {
    if (this.#waiting.size >= MOST_WAITING) {
      const displaced = this.#waiting.evictFor(source);
      if (!displaced) return undefined;
      displaced.abort(new ProjectError('DISPLACED', 'clients of other sources displaced the connection'));
    }
    const place = new AbortController();
    this.#waiting.add(place, source);
    return { displaced: place.signal, release: () => this.#waiting.delete(place) };
  }
}

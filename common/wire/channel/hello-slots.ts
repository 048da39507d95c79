// Places for connections before their hello is complete. A listener has few, and unauthenticated clients can take them,
// so a full listener evicts instead of rejecting: an attacker who holds connections open displaces mostly his own, and
// a router that sends its hello promptly succeeds.

import { sourceOf } from '#lib/net/source-address.ts';
import { FairPool } from '#lib/queue/fair-pool.ts';
import type { Underlay } from '../connection/underlay.ts';

export class HelloSlots {
  readonly #limit: number;
  /** Connections that have not sent their hello. */
  readonly #waiting = new FairPool<Underlay>();
  readonly #all = new Set<Underlay>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Reserves a place for `underlay`.
   * @returns the connection that lost its place, which the caller must close: `underlay` itself if all others have sent
   * their hello; undefined if a place was free.
   */
  enter(underlay: Underlay): Underlay | undefined {
    const isFull = this.#all.size >= this.#limit;
    const evicted = isFull ? this.#waiting.evict() : undefined;
    if (isFull && !evicted) return underlay;
    if (evicted) this.#all.delete(evicted);
    this.#all.add(underlay);
    this.#waiting.add(underlay, sourceOf(underlay.remoteHost));
    return evicted;
  }

  /** The hello of `underlay` arrived; it can no longer be evicted. */
  greeted(underlay: Underlay): void {
    this.#waiting.delete(underlay);
  }

  leave(underlay: Underlay): void {
    this.#all.delete(underlay);
    this.#waiting.delete(underlay);
  }

  /** Closes every connection that has a place. */
  close(): void {
    for (const underlay of this.#all) underlay.close();
  }
}

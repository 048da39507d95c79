// Places for connections that have not finished their hello. A listener has few, and anybody can take them without a
// login, so a full listener evicts instead of refusing: the address with the most waiting connections loses its oldest.
// A stranger who holds connections open therefore displaces mostly his own, and a router that greets promptly gets in.

import type { Underlay } from './underlay.ts';

interface Slot {
  readonly address: string;
  /** The hello has arrived and is being checked. */
  greeted: boolean;
}

export class HelloSlots {
  readonly #limit: number;
  /** In the order of their arrival. */
  readonly #slots = new Map<Underlay, Slot>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Connections whose hello is in progress. */
  get size(): number {
    return this.#slots.size;
  }

  /**
   * Takes a place for `underlay`.
   * @returns the connection that lost its place, for the caller to close: `underlay` itself when every other one has
   * sent its hello; undefined when a place was free.
   */
  enter(underlay: Underlay): Underlay | undefined {
    const evicted = this.#slots.size < this.#limit ? undefined : this.#oldestOfBusiestAddress();
    if (this.#slots.size >= this.#limit && !evicted) return underlay;
    if (evicted) this.#slots.delete(evicted);
    this.#slots.set(underlay, { address: underlay.remoteHost, greeted: false });
    return evicted;
  }

  /** The hello of `underlay` has arrived; it is not evicted any longer. */
  greeted(underlay: Underlay): void {
    const slot = this.#slots.get(underlay);
    if (slot) slot.greeted = true;
  }

  leave(underlay: Underlay): void {
    this.#slots.delete(underlay);
  }

  /** Closes every connection that has a place. */
  close(): void {
    for (const underlay of this.#slots.keys()) underlay.close();
    this.#slots.clear();
  }

  #oldestOfBusiestAddress(): Underlay | undefined {
    const waiting = [...this.#slots].filter(([, slot]) => !slot.greeted);
    const counts = new Map<string, number>();
    for (const [, { address }] of waiting) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    return waiting.find(([, { address }]) => counts.get(address) === most)?.[0];
  }
}

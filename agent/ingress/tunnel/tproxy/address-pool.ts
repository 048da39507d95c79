// Assigns addresses of `dnsSvcIpRange` to names. Names of services keep their address. Names that match a wildcard get
// one at their first lookup, and may lose it after a long time without lookups. An address is reused only when the
// range is used up: programs may have cached it for another name.

import type { Clock } from '#lib/clock.ts';
import { type Ipv4Network, ipv4ToText } from './ipv4.ts';

interface Entry {
  readonly address: number;
  /** The name matches a wildcard. */
  readonly isFound: boolean;
  lastAsked: number;
}

/** Limit on wildcard names with an address. */
const MOST_FOUND_NAMES = 10_000;
/** Milliseconds after which such a name may lose its address: ten times the time to live of the answers. */
const KEEP = 600_000;

export class AddressPool {
  readonly #clock: Clock;
  readonly #network: Ipv4Network;
  /** Wildcard names are ordered by their last lookup. */
  readonly #entries = new Map<string, Entry>();
  readonly #names = new Map<number, string>();
  readonly #released: number[] = [];
  #next: number;
  #found = 0;

  /** The first two addresses of the range stay free: the network's own, and the source address of connections. */
  constructor(clock: Clock, network: Ipv4Network) {
    this.#clock = clock;
    this.#network = network;
    this.#next = network.first + 2;
  }

  get size(): number {
    return this.#entries.size;
  }

  nameOf(address: number): string | undefined {
    return this.#names.get(address);
  }

  /** Returns the address of a name, assigning one if needed; undefined if none is left. */
  addressOf(name: string, kind: 'exact' | 'wildcard'): string | undefined {
    const known = this.#entries.get(name);
    const now = this.#clock.monotonic();
    if (known) {
      known.lastAsked = now;
      if (known.isFound) this.#entries.delete(name); // moves it to the end of the order
      this.#entries.set(name, known);
      return ipv4ToText(known.address);
    }
    const isFound = kind === 'wildcard';
    if (isFound && this.#found >= MOST_FOUND_NAMES && !this.#evict(now)) return undefined;
    const address = this.#nextFree();
    if (address === undefined) return undefined;
    this.#entries.set(name, { address, isFound, lastAsked: now });
    this.#names.set(address, name);
    if (isFound) this.#found++;
    return ipv4ToText(address);
  }

  /** Releases the names that are no longer wanted. */
  keep(isWanted: (name: string) => boolean): void {
    for (const name of [...this.#entries.keys()]) if (!isWanted(name)) this.#release(name);
  }

  #nextFree(): number | undefined {
    return this.#next <= this.#network.last ? this.#next++ : this.#released.shift();
  }

  #evict(now: number): boolean {
    for (const [name, { isFound, lastAsked }] of this.#entries) {
      if (!isFound) continue;
      if (lastAsked > now - KEEP) return false;
      this.#release(name);
      return true;
    }
    return false;
  }

  #release(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#names.delete(entry.address);
    this.#released.push(entry.address);
    if (entry.isFound) this.#found--;
  }
}

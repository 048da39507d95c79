// Assigns addresses of `dnsSvcIpRange` to names. Names of services keep their address. Names that match a wildcard get
// one at their first lookup, and may lose it after a long time without lookups. An address is reused only when the
// range is used up: programs may have cached it for another name. A name changes its kind with the services.

import type { Clock } from '#lib/clock.ts';
import { type Ipv4Network, ipv4ToText } from './ipv4.ts';

/** How services intercept a name. */
export type NameKind = 'exact' | 'wildcard';

interface Entry {
  readonly address: number;
  lastAsked: number;
}

/** Limit on wildcard names with an address. */
const MOST_FOUND_NAMES = 10_000;
/** Milliseconds after which such a name may lose its address: ten times the time to live of the answers. */
const KEEP = 600_000;

export class AddressPool {
  readonly #clock: Clock;
  readonly #network: Ipv4Network;
  readonly #entries = new Map<string, Entry>();
  /** The entries of names that match only a wildcard, ordered by their last lookup. */
  readonly #found = new Map<string, Entry>();
  readonly #names = new Map<number, string>();
  readonly #released: number[] = [];
  #next: number;

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
  addressOf(name: string, kind: NameKind): string | undefined {
    const now = this.#clock.monotonic();
    this.#changeKind(name, kind, now);
    const known = this.#entries.get(name);
    if (known) {
      known.lastAsked = now;
      if (this.#found.delete(name)) this.#found.set(name, known); // moves it to the end of the order
      return ipv4ToText(known.address);
    }
    if (kind === 'wildcard' && !this.#hasRoom(now)) return undefined;
    const address = this.#nextFree();
    if (address === undefined) return undefined;
    const entry = { address, lastAsked: now };
    this.#entries.set(name, entry);
    this.#names.set(address, name);
    if (kind === 'wildcard') this.#found.set(name, entry);
    return ipv4ToText(address);
  }

  /** Releases the names that are no longer intercepted, and those above the limit that now match only a wildcard. */
  keep(kindOf: (name: string) => NameKind | undefined): void {
    const now = this.#clock.monotonic();
    for (const name of [...this.#entries.keys()]) {
      const kind = kindOf(name);
      if (kind === undefined) this.#release(name);
      else this.#changeKind(name, kind, now);
    }
  }

  #changeKind(name: string, kind: NameKind, now: number): void {
    const entry = this.#entries.get(name);
    if (kind === 'exact') this.#found.delete(name);
    if (!entry || kind === 'exact' || this.#found.has(name)) return;
    if (this.#hasRoom(now)) {
      entry.lastAsked = now;
      this.#found.set(name, entry);
    } else {
      this.#release(name);
    }
  }

  /** Whether another wildcard name may have an address; evicts an old one if needed. */
  #hasRoom(now: number): boolean {
    return this.#found.size < MOST_FOUND_NAMES || this.#evict(now);
  }

  #nextFree(): number | undefined {
    return this.#next <= this.#network.last ? this.#next++ : this.#released.shift();
  }

  #evict(now: number): boolean {
    const [oldest] = this.#found;
    if (!oldest || oldest[1].lastAsked > now - KEEP) return false;
    this.#release(oldest[0]);
    return true;
  }

  #release(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#found.delete(name);
    this.#names.delete(entry.address);
    this.#released.push(entry.address);
  }
}

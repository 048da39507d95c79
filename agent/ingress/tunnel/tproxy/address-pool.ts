// Assigns addresses of `dnsSvcIpRange` to names. Names of services keep their address. Names that match a wildcard get
// one at their first lookup, and may lose it after a long time without lookups. An address is reused only when the
// range is used up: programs may have cached it for another name. A name changes its kind with the services. A client
// that looks up names without end uses its own part of the addresses; nothing evicts those of others.

import type { Clock } from '#lib/time/clock.ts';
import { type Ipv4Network, ipv4ToText } from './ipv4.ts';

/** How services intercept a name. */
export type NameKind = 'exact' | 'wildcard';

interface Entry {
  readonly address: number;
  /** The client that looked the name up first; empty for the router itself. */
  readonly source: string;
  lastAsked: number;
}

/** Limit on wildcard names with an address. */
const MAX_FOUND_NAMES = 10_000;
/** Limit on such names that one source has looked up first: a quarter, so that others find room. */
const MAX_NAMES_OF_SOURCE = 2_500;
/** In a small range, names of services keep a quarter of the addresses, and each source has at least a few. */
const FOUND_PART = 3 / 4;
const SOURCE_PART = 1 / 4;
const MIN_PART = 16;
/** Milliseconds after which such a name may lose its address: ten times the time to live of the answers. */
const KEEP = 600_000;

export class AddressPool {
  readonly #clock: Clock;
  readonly #network: Ipv4Network;
  readonly #entries = new Map<string, Entry>();
  /** The entries of names that match only a wildcard, ordered by their last lookup. */
  readonly #found = new Map<string, Entry>();
  /** The same by source. */
  readonly #foundBy = new Map<string, Map<string, Entry>>();
  readonly #maxFound: number;
  readonly #maxOfSource: number;
  readonly #names = new Map<number, string>();
  readonly #released: number[] = [];
  #next: number;

  /** The first two addresses of the range stay free: the network's own, and the source address of connections. */
  constructor(clock: Clock, network: Ipv4Network) {
    this.#clock = clock;
    this.#network = network;
    this.#next = network.first + 2;
    const part = (whole: number, share: number) => Math.max(MIN_PART, Math.floor(whole * share));
    this.#maxFound = Math.min(MAX_FOUND_NAMES, part(network.last - network.first - 1, FOUND_PART));
    this.#maxOfSource = Math.min(MAX_NAMES_OF_SOURCE, part(this.#maxFound, SOURCE_PART));
  }

  get size(): number {
    return this.#entries.size;
  }

  nameOf(address: number): string | undefined {
    return this.#names.get(address);
  }

  /** Returns the address of a name, assigning one if needed; undefined if none is left for the source. */
  addressOf(name: string, kind: NameKind, source = ''): string | undefined {
    const now = this.#clock.monotonic();
    this.#changeKind(name, kind, now);
    const known = this.#entries.get(name);
    if (known) {
      known.lastAsked = now;
      if (this.#forget(name)) this.#remember(name, known); // moves it to the end of the order
      return ipv4ToText(known.address);
    }
    if (kind === 'wildcard' && !this.#hasRoom(now, source)) return undefined;
    const address = this.#nextFree();
    if (address === undefined) return undefined;
    const entry = { address, source: kind === 'wildcard' ? source : '', lastAsked: now };
    this.#entries.set(name, entry);
    this.#names.set(address, name);
    if (kind === 'wildcard') this.#remember(name, entry);
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
    if (kind === 'exact') this.#forget(name);
    if (!entry || kind === 'exact' || this.#found.has(name)) return;
    if (this.#hasRoom(now, entry.source)) {
      entry.lastAsked = now;
      this.#remember(name, entry);
    } else {
      this.#release(name);
    }
  }

  /** Whether another wildcard name may have an address; evicts an old one if needed, first one of the same source. */
  #hasRoom(now: number, source: string): boolean {
    const own = this.#foundBy.get(source);
    if (own && source !== '' && own.size >= this.#maxOfSource) return this.#evict(own, now);
    return this.#found.size < this.#maxFound || this.#evict(this.#found, now);
  }

  #remember(name: string, entry: Entry): void {
    this.#found.set(name, entry);
    const own = this.#foundBy.get(entry.source) ?? new Map<string, Entry>();
    this.#foundBy.set(entry.source, own.set(name, entry));
  }

  /** Returns false if the name does not match a wildcard only. */
  #forget(name: string): boolean {
    const entry = this.#found.get(name);
    if (!entry) return false;
    this.#found.delete(name);
    const own = this.#foundBy.get(entry.source);
    own?.delete(name);
    if (own?.size === 0) this.#foundBy.delete(entry.source);
    return true;
  }

  #nextFree(): number | undefined {
    return this.#next <= this.#network.last ? this.#next++ : this.#released.shift();
  }

  #evict(found: ReadonlyMap<string, Entry>, now: number): boolean {
    const [oldest] = found;
    if (!oldest || oldest[1].lastAsked > now - KEEP) return false;
    this.#release(oldest[0]);
    return true;
  }

  #release(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#forget(name);
    this.#names.delete(entry.address);
    this.#released.push(entry.address);
  }
}

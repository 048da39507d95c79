// A limited number of slots for things of many sources: connections, sessions, work in progress. At the limit, the
// source with the most things that may be evicted loses its oldest, so that a flooding source displaces only its own.
// Every operation takes the same time, whatever the number of sources: strangers may use many.

export class FairSlots<T> {
  readonly #limit: number;
  readonly #evict: (thing: T) => void;
  /** The source of each thing. */
  readonly #sources = new Map<T, string>();
  /** Things that may be evicted: sources unordered, the things of each from oldest to newest. */
  readonly #bySource = new Map<string, Set<T>>();
  /** Sources by their number of these things. */
  readonly #bySize = new Map<number, Set<string>>();
  /** Such things of the largest source. */
  #max = 0;

  /** @param evict ends a thing that has lost its slot */
  constructor(limit: number, evict: (thing: T) => void) {
    this.#limit = limit;
    this.#evict = evict;
  }

  /** Number of taken slots. */
  get size(): number {
    return this.#sources.size;
  }

  get isFull(): boolean {
    return this.size >= this.#limit;
  }

  /** All things that have a slot. */
  [Symbol.iterator](): Iterator<T> {
    return this.#sources.keys();
  }

  /**
   * Takes a slot for a thing of `source`, which may be evicted. At the limit, another one is evicted; returns false,
   * and takes no slot, if none may be.
   */
  add(thing: T, source: string): boolean {
    this.delete(thing);
    if (this.isFull && !this.evict()) return false;
    this.#sources.set(thing, source);
    this.setEvictable(thing, true);
    return true;
  }

  /** A thing that becomes evictable is the newest of its source. */
  setEvictable(thing: T, isEvictable: boolean): void {
    const source = this.#sources.get(thing);
    if (source === undefined) return;
    const things = this.#bySource.get(source) ?? new Set();
    const before = things.size;
    things.delete(thing);
    if (isEvictable) things.add(thing);
    if (things.size > 0) this.#bySource.set(source, things);
    else this.#bySource.delete(source);
    if (things.size !== before) this.#resize(source, before, things.size);
  }

  /** Releases the slot of a thing. */
  delete(thing: T): void {
    this.setEvictable(thing, false);
    this.#sources.delete(thing);
  }

  /** Evicts the oldest thing of the largest source; returns false if none may be evicted. */
  evict(): boolean {
    const [source = ''] = this.#bySize.get(this.#max) ?? [];
    const things = this.#bySource.get(source);
    if (!things) return false;
    const [oldest] = things as Set<T> & [T]; // a source without things has no entry
    this.delete(oldest);
    this.#evict(oldest);
    return true;
  }

  /**
   * As `evict`, to make room for another thing of `source`. Returns false if no other source has more things than this
   * one would have then.
   */
  evictFor(source: string): boolean {
    const own = this.#bySource.get(source)?.size ?? 0;
    return this.#max > own + 1 && this.evict();
  }

  #resize(source: string, before: number, after: number): void {
    const smaller = this.#bySize.get(before);
    smaller?.delete(source);
    if (smaller?.size === 0) this.#bySize.delete(before);
    if (after > 0) this.#bySize.set(after, (this.#bySize.get(after) ?? new Set<string>()).add(source));
    if (after > this.#max || (before === this.#max && !this.#bySize.has(before))) this.#max = after;
  }
}

export interface WorkSlot {
  /** Aborts if another source gets the slot. */
  readonly displaced: AbortSignal;
  /** Ends the use of the slot. */
  release(): void;
}

/** Slots for work in progress. Only a source with fewer slots displaces the work of another one. */
export class WorkSlots {
  readonly #slots: FairSlots<AbortController>;

  /** @param reason creates the reason of the signal of displaced work */
  constructor(limit: number, reason: () => Error) {
    this.#slots = new FairSlots(limit, (slot) => slot.abort(reason()));
  }

  /** Number of taken slots. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes a slot for a source. Returns undefined if all are taken and no other source has more of them. */
  take(source: string): WorkSlot | undefined {
    if (this.#slots.isFull && !this.#slots.evictFor(source)) return undefined;
    const slot = new AbortController();
    this.#slots.add(slot, source);
    return { displaced: slot.signal, release: () => this.#slots.delete(slot) };
  }
}

// Things that may be evicted, by their source. The source that has most loses its oldest, so that one that floods a limit
// displaces its own.

export class FairPool<T> {
  /** Sources in no order; the things of each from the oldest to the newest. */
  readonly #bySource = new Map<string, Set<T>>();
  readonly #sources = new Map<T, string>();

  get size(): number {
    return this.#sources.size;
  }

  /** Adds a thing as the newest of its source. */
  add(thing: T, source: string): void {
    this.delete(thing);
    const things = this.#bySource.get(source) ?? new Set();
    this.#bySource.set(source, things);
    things.add(thing);
    this.#sources.set(thing, source);
  }

  delete(thing: T): void {
    const source = this.#sources.get(thing);
    if (source === undefined) return;
    this.#sources.delete(thing);
    const things = this.#bySource.get(source);
    things?.delete(thing);
    if (things?.size === 0) this.#bySource.delete(source);
  }

  /** Removes and returns the oldest thing of the source with the most; undefined when the pool is empty. */
  evict(): T | undefined {
    let largest: Set<T> | undefined;
    for (const things of this.#bySource.values()) if (!largest || things.size > largest.size) largest = things;
    const [oldest] = largest ?? [];
    if (oldest !== undefined) this.delete(oldest);
    return oldest;
  }
}

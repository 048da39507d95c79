// Evictable objects, grouped by source. The source with the most objects loses its oldest, so that a flooding source
// displaces only its own.

export class FairPool<T> {
  /** Sources unordered; the objects of each from oldest to newest. */
  readonly #bySource = new Map<string, Set<T>>();
  readonly #sources = new Map<T, string>();

  get size(): number {
    return this.#sources.size;
  }

  /** Adds an object as the newest of its source. */
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

  /** Removes and returns the oldest object of the largest source; undefined if the pool is empty. */
  evict(): T | undefined {
    const [oldest] = this.#largest() ?? [];
    if (oldest !== undefined) this.delete(oldest);
    return oldest;
  }

  /**
   * As `evict`, to make room for another object of `source`. Returns undefined if no other source has more objects than
   * this one would have then.
   */
  evictFor(source: string): T | undefined {
    const own = this.#bySource.get(source)?.size ?? 0;
    const largest = this.#largest()?.size ?? 0;
    return largest > own + 1 ? this.evict() : undefined;
  }

  #largest(): Set<T> | undefined {
    let largest: Set<T> | undefined;
    for (const things of this.#bySource.values()) if (!largest || things.size > largest.size) largest = things;
    return largest;
  }
}

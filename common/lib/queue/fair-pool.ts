// Evictable objects, grouped by source. The source with the most objects loses its oldest, so that a flooding source
// displaces only its own. Every operation takes the same time, whatever the number of sources: strangers may use many.

export class FairPool<T> {
  /** Sources unordered; the objects of each from oldest to newest. */
  readonly #bySource = new Map<string, Set<T>>();
  readonly #sources = new Map<T, string>();
  /** Sources by their number of objects. */
  readonly #bySize = new Map<number, Set<string>>();
  /** Objects of the largest source. */
  #max = 0;

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
    this.#resize(source, things.size - 1, things.size);
  }

  delete(thing: T): void {
    const source = this.#sources.get(thing);
    if (source === undefined) return;
    this.#sources.delete(thing);
    const things = this.#bySource.get(source);
    if (!things) return;
    things.delete(thing);
    if (things.size === 0) this.#bySource.delete(source);
    this.#resize(source, things.size + 1, things.size);
  }

  /** Removes and returns the oldest object of the largest source; undefined if the pool is empty. */
  evict(): T | undefined {
    const [source = ''] = this.#bySize.get(this.#max) ?? [];
    const [oldest] = this.#bySource.get(source) ?? [];
    if (oldest !== undefined) this.delete(oldest);
    return oldest;
  }

  /**
   * As `evict`, to make room for another object of `source`. Returns undefined if no other source has more objects than
   * this one would have then.
   */
  evictFor(source: string): T | undefined {
    const own = this.#bySource.get(source)?.size ?? 0;
    return this.#max > own + 1 ? this.evict() : undefined;
  }

  #resize(source: string, before: number, after: number): void {
    const smaller = this.#bySize.get(before);
    smaller?.delete(source);
    if (smaller?.size === 0) this.#bySize.delete(before);
    if (after > 0) this.#bySize.set(after, (this.#bySize.get(after) ?? new Set<string>()).add(source));
    if (after > this.#max || (before === this.#max && !this.#bySize.has(before))) this.#max = after;
  }
}

// A map with a limit: a further key evicts the oldest one. For knowledge about others that may be lost.

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;

  /** @param limit Limit on keys, at least 1. */
  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  /** A known key keeps its age; delete it first to make it the newest one. */
  override set(key: Key, value: Value): this {
    super.set(key, value);
    if (this.size > this.#limit) this.delete(this.keys().next().value as Key); // there is one beyond the limit
    return this;
  }
}

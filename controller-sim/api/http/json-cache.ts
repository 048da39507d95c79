// Caches entities as JSON across answers. Bytes, not texts: an answer of 100 identities is copied together, without
// being encoded again.

export interface JsonCache {
  /** The cached JSON of an id, in UTF-8. On a miss, caches what `show` returns. */
  jsonOf(id: string, show: () => unknown): Buffer;
}

/** An entity as JSON in UTF-8. */
export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

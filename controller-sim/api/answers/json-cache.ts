// Caches entities as JSON across answers. It stores bytes, not texts, so that a list is concatenated from them without
// encoding it again.

export interface JsonCache {
  /** The cached JSON of an id, in UTF-8. On a miss, caches the result of `show`. */
  jsonOf(id: string, show: () => unknown): Buffer;
}

/** An entity as JSON in UTF-8. */
export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

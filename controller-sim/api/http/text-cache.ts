// Caches entities as JSON texts across answers.

export interface TextCache {
  /** The cached text of an id. On a miss, calls `make` and caches its result. */
  textOf(id: string, make: () => string): string;
}

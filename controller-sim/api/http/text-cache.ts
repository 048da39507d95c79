// JSON texts of entities, kept from answer to answer.

export interface TextCache {
  /** The text that is kept for an id, or what `make` makes. */
  textOf(id: string, make: () => string): string;
}

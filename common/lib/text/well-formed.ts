// Texts that UTF-8 can encode. JSON can contain half of a surrogate pair; data files and clients cannot.

/**
 * Replaces halves of surrogate pairs in a JSON value, as the reference does: stored names would change at the next
 * start otherwise.
 */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), wellFormed(each)]));
}

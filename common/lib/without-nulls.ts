// Fields of JSON objects, where null often stands for a field that is left out.

/** A copy without the fields that are null or undefined. */
export function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

// The one test for a map of a JSON document: the first step of every reader of such documents.

/** Whether a value is an object, and neither null nor a list. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Fields of JSON objects, where null often stands for a field that is left out.

/** The fields of `T` that have a value. */
type WithoutNulls<T> = { [K in keyof T]: Exclude<T[K], null | undefined> };

/** A copy without the fields that are null or undefined. */
export function withoutNulls<T extends object>(fields: T): WithoutNulls<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given) as WithoutNulls<T>;
}

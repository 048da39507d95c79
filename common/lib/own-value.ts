// Looking up text of somebody else in an object. Plain indexing finds `constructor` and `__proto__` in every object.

/** The value under a key of the object itself, or undefined. */
export function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

// Looks up foreign text in an object. Plain indexing would find `constructor` and `__proto__` in every object.

/** The value of an object's own key, or undefined. */
export function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

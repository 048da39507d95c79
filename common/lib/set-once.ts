// Handlers by key, of which each key has one: a second one would replace the first without a word.

import { InvariantError } from './errors.ts';

/** Sets the only handler of `key`. @throws InvariantError if it has one; `of` names the owner in its message */
export function setOnce<Key, Handler>(handlers: Map<Key, Handler>, key: Key, handler: Handler, of: string): void {
  if (handlers.has(key)) throw new InvariantError(`${of} has a handler for ${key} already`);
  handlers.set(key, handler);
}

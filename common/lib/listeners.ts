// Functions that are called when something has happened. What happened stands, whatever a listener makes of it: its error is
// logged, and the next listener is called.

import { asError, describeError } from './errors.ts';
import type { Log } from './log.ts';

export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #name: string;
  readonly #log: Log;

  /** `name` tells in the log what the listeners listen to. */
  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  /** Calls `listener` from now on, until the returned function is called. */
  add(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls all listeners in the order in which they were added. Never throws. */
  call(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        const { stack } = asError(error);
        this.#log.error({ of: this.#name, error: describeError(error), stack }, 'a listener failed');
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}

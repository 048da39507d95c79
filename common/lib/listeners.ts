// Functions that are called after an event. The error of a listener is logged; it neither undoes the event nor affects
// the other listeners.

import { asError, describeError } from './errors.ts';
import type { Log } from './log/log.ts';
import { type Subscription, subscription } from './subscription.ts';

export class Listeners<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly #name: string;
  readonly #log: Log;

  /** @param name Name of the event for the log. */
  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  /** Calls `listener` from now on, until the subscription ends. */
  add(listener: (value: T) => void): Subscription {
    this.#listeners.add(listener);
    return subscription(() => this.#listeners.delete(listener));
  }

  /** Calls all listeners in the order of their registration. Never throws. */
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

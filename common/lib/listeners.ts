// Functions that are called after an event. The error of a listener is logged; it neither undoes the event nor affects
// the other listeners.

import { asError, describeError } from './errors.ts';
import type { Log } from './log/log.ts';
import { type Subscription, subscription } from './subscription.ts';

/** Shared by all without a listener: a router has one for each lane of each SDK client. */
const NONE: readonly never[] = [];

export class Listeners<T> {
  /** In the order of their registration; replaced with each change, so that a call may add and remove listeners. */
  #listeners: readonly ((value: T) => void)[] = NONE;
  readonly #name: string;
  readonly #log: Log;

  /** @param name Name of the event for the log. */
  constructor(name: string, log: Log) {
    this.#name = name;
    this.#log = log;
  }

  /** Calls `listener` from now on, until the subscription ends. */
  add(listener: (value: T) => void): Subscription {
    const others = () => this.#listeners.filter((each) => each !== listener);
    this.#listeners = [...others(), listener];
    return subscription(() => {
      this.#listeners = others();
    });
  }

  /** Calls all listeners in the order of their registration. Never throws. */
  call(value: T): void {
    const current = this.#listeners;
    for (const listener of current) {
      if (current !== this.#listeners && !this.#listeners.includes(listener)) continue; // an earlier one removed it
      try {
        listener(value);
      } catch (error) {
        const { stack } = asError(error);
        this.#log.error({ of: this.#name, error: describeError(error), stack }, 'a listener failed');
      }
    }
  }

  clear(): void {
    this.#listeners = NONE;
  }
}

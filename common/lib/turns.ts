// Serves its callers one in each turn of the event loop, in their order. Other work of the process then waits for one
// of them at most, however many there are. The queue has no limit of its own: callers bound their number.

export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a later turn of the event loop, in which no other caller is served. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#serve());
    });
  }

  #serve(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#serve());
  }
}

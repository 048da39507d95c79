// Work that runs one after the other, in the order of its calls. The callers bound how much of it waits.

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after all earlier work, whether that succeeded or failed. Settles as it does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined); // the caller handles the error
    return done;
  }

  /** Resolves when all work that was asked for until now has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

// Work of many sources in one thread: they take turns, and the event loop goes on in between. Without it, twenty
// requests of a stranger that arrive together hold up everything for the time of all of them, and an administrator's
// request waits behind each.
//
// The first task of an idle turn of the event loop runs at once; so a single client never waits.

/** Milliseconds of tasks in one turn of the event loop. Circuits wait for these, or for a longer task. */
const SLICE = 1;

export class FairTurns {
  /** By source; whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #now: () => number;
  #isBusy = false;

  /** @param now Milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Runs a task: at once, or in a later turn. */
  run(source: string, task: () => void): void {
    if (!this.#isBusy) {
      this.#continueLater();
      task();
      return;
    }
    const own = this.#waiting.get(source);
    if (own) own.push(task);
    else this.#waiting.set(source, [task]);
  }

  #continueLater(): void {
    this.#isBusy = true;
    setImmediate(() => this.#runSlice());
  }

  #runSlice(): void {
    const end = this.#now() + SLICE;
    if (this.#waiting.size === 0) {
      this.#isBusy = false;
      return;
    }
    this.#continueLater();
    while (this.#waiting.size > 0 && this.#now() < end) this.#runNext();
  }

  #runNext(): void {
    for (const [source, tasks] of this.#waiting) {
      this.#waiting.delete(source);
      const task = tasks.shift();
      if (tasks.length > 0) this.#waiting.set(source, tasks); // behind the others
      task?.();
      return;
    }
  }
}

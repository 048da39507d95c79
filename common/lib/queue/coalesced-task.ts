// A task that requests start: one run at a time. Requests during a run share the next one, which follows at once.

import { background } from '../background.ts';
import type { Log } from '../log/log.ts';

export class CoalescedTask {
  readonly #log: Log;
  readonly #name: string;
  readonly #task: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isClosed = false;

  /** The log gets the errors of the task, with this name. */
  constructor(log: Log, name: string, task: () => Promise<void>) {
    this.#log = log;
    this.#name = name;
    this.#task = task;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs the task now, or again after the run in progress. */
  request(): void {
    this.#isRequested = true;
    if (this.#running || this.#isClosed) return;
    this.#isRequested = false;
    this.#running = this.#task().finally(() => {
      this.#running = undefined;
      if (this.#isRequested) this.request();
    });
    background(this.#log, this.#name, this.#running);
  }

  /** Resolves after the run in progress, whether it succeeded or failed. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined); // it was logged
  }

  /** No run follows. Waits for the one in progress. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.settled();
  }
}

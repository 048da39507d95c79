// A task that requests start: one run at a time. Requests during a run share the next one, which follows at once.

import { background } from '../background.ts';
import { describeError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { nextTurn } from '../slices.ts';

export interface CoalescedTaskOptions {
  /**
   * A run starts in the turn of the event loop after its first request, so that all requests of a turn share it:
   * changes arrive in bursts.
   */
  readonly inNextTurn?: boolean;
}

export class CoalescedTask {
  readonly #log: Log;
  readonly #name: string;
  readonly #task: () => Promise<void> | undefined | void;
  readonly #inNextTurn: boolean;
  #scheduled: NodeJS.Immediate | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isClosed = false;

  /** The log gets the errors of the task, with this name. */
  constructor(
    log: Log,
    name: string,
    task: () => Promise<void> | undefined | void,
    { inNextTurn = false }: CoalescedTaskOptions = {},
  ) {
    this.#log = log;
    this.#name = name;
    this.#task = task;
    this.#inNextTurn = inNextTurn;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs the task now or in the next turn; after the run in progress, if there is one. */
  request(): void {
    this.#isRequested = true;
    if (this.#running || this.#scheduled || this.#isClosed) return;
    if (this.#inNextTurn) this.#scheduled = setImmediate(() => this.#run());
    else this.#run();
  }

  /** Resolves after the run that is due or in progress, whether it succeeded or failed. */
  async settled(): Promise<void> {
    if (this.#scheduled) await nextTurn();
    await this.#running?.catch(() => undefined); // it was logged
  }

  /** No run follows. Waits for the one in progress. */
  close(): Promise<void> {
    this.#isClosed = true;
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    return this.settled();
  }

  #run(): void {
    this.#scheduled = undefined;
    this.#isRequested = false;
    try {
      const running = this.#task();
      if (!running) return;
      this.#running = running.finally(() => {
        this.#running = undefined;
        if (this.#isRequested) this.request();
      });
      background(this.#log, this.#name, this.#running);
    } catch (error) {
      this.#log.error({ task: this.#name, error: describeError(error) }, 'background task failed');
    }
  }
}

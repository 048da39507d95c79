// A task that requests start: one run at a time. Requests before a run share it, and those during a run share the next
// one, which follows at once.

import { background, logFailure } from '../background.ts';
import type { Log } from '../log/log.ts';
import { nextTurn } from '../slices.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { TokenBucket } from './token-bucket.ts';

export interface CoalescedTaskOptions {
  /**
   * A run starts in the turn of the event loop after its first request, so that all requests of a turn share it:
   * changes arrive in bursts.
   */
  readonly inNextTurn?: boolean;
  /** Runs beyond it wait: the task does not run as often as others ask. */
  readonly pace?: Pace;
}

export interface Pace {
  readonly clock: Clock;
  /** Runs at once. */
  readonly burst: number;
  readonly perSecond: number;
}

export class CoalescedTask {
  readonly #log: Log;
  readonly #name: string;
  readonly #task: () => Promise<void> | undefined | void;
  readonly #inNextTurn: boolean;
  readonly #pace: Pace | undefined;
  readonly #runs: TokenBucket | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #waiting: Timer | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isClosed = false;

  /** The log gets the errors of the task, with this name. */
  constructor(
    log: Log,
    name: string,
    task: () => Promise<void> | undefined | void,
    { inNextTurn = false, pace }: CoalescedTaskOptions = {},
  ) {
    this.#log = log;
    this.#name = name;
    this.#task = task;
    this.#inNextTurn = inNextTurn;
    this.#pace = pace;
    this.#runs = pace && new TokenBucket({ ...pace, ahead: 1 }, pace.clock.monotonic());
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Runs the task now, in the next turn, or when its pace permits; after the run in progress, if there is one. */
  request(): void {
    this.#isRequested = true;
    if (this.#running || this.#scheduled || this.#waiting || this.#isClosed) return;
    const delay = this.#delay;
    if (this.#pace && delay > 0) this.#waiting = this.#pace.clock.after(this.#name, delay, () => this.#run());
    else if (this.#inNextTurn) this.#scheduled = setImmediate(() => this.#run());
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
    this.#waiting?.cancel();
    return this.settled();
  }

  /** Milliseconds until the next run may begin. A timer may end a little before its token is there. */
  get #delay(): number {
    if (!this.#pace || !this.#runs) return 0;
    return this.#runs.take(this.#pace.clock.monotonic()) ?? 1_000 / this.#pace.perSecond;
  }

  #run(): void {
    this.#scheduled = undefined;
    this.#waiting = undefined;
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
      logFailure(this.#log, this.#name, error);
    }
  }
}

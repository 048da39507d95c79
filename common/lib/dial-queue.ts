// A bounded queue for work that waits on the network: link dials, egress dials, rate-limited requests to a controller.
// p-queue does the concurrency; this adds what it has not: a maximum length (a full queue refuses at once), an end to waiting
// on shutdown, and figures. Never for payloads: a promise costs more than forwarding one.

import PQueue from 'p-queue';
import type { Clock } from './clock.ts';
import { ClosedError, ProjectError } from './errors.ts';

export interface DialQueueOptions {
  /** For errors and figures, such as `pool.link.dialer`. */
  name: string;
  /** Tasks that may wait. */
  length: number;
  /** Tasks that run at once. */
  workers: number;
  clock: Clock;
  /** Milliseconds that a task waited, when it begins. */
  onWait?: (milliseconds: number) => void;
  /** Milliseconds that a task worked, when it ends. */
  onWork?: (milliseconds: number) => void;
}

export interface DialTaskOptions<T = unknown> {
  signal?: AbortSignal | undefined;
  /** Gets the result of a task that ends after its signal: nobody else does. */
  discard?: (result: T) => void;
}

/** As many tasks wait as the queue may hold; the same call may succeed later. */
export class QueueFullError extends ProjectError {
  constructor(name: string, length: number) {
    super('QUEUE_FULL', `${name} is full: ${length} tasks wait already`, { retriable: true });
  }
}

export class DialQueue {
  readonly name: string;
  readonly length: number;
  readonly workers: number;
  readonly #queue: PQueue;
  readonly #clock: Clock;
  readonly #options: DialQueueOptions;
  readonly #abort = new AbortController();
  #rejected = 0;

  constructor(options: DialQueueOptions) {
    this.name = options.name;
    this.length = options.length;
    this.workers = options.workers;
    this.#options = options;
    this.#clock = options.clock;
    this.#queue = new PQueue({ concurrency: options.workers });
  }

  /** Tasks that wait, tasks that run, and tasks that were refused so far. */
  get depth(): number {
    return this.#queue.size;
  }

  get busy(): number {
    return this.#queue.pending;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /**
   * Runs `task` when a worker is free. Rejects with QueueFullError or ClosedError without running it, with the signal's reason
   * when that comes first, else with what the task does. The task gets a signal that also ends with the queue.
   */
  add<T>(task: (signal: AbortSignal) => Promise<T>, options: DialTaskOptions<T> = {}): Promise<T> {
    if (this.#abort.signal.aborted) return Promise.reject(new ClosedError(this.name));
    // A free worker takes the task at once, so that a queue of length 0 would still work.
    if (this.#queue.size >= this.length && this.#queue.pending >= this.workers) {
      this.#rejected++;
      return Promise.reject(new QueueFullError(this.name, this.length));
    }
    const signal = options.signal ? AbortSignal.any([this.#abort.signal, options.signal]) : this.#abort.signal;
    const added = this.#clock.monotonic();
    return this.#queue.add(() => this.#run(task, signal, added, options.discard), { signal });
  }

  /** Refuses new tasks, ends the waiting ones, and gives the running ones `milliseconds` before their signal aborts. */
  async close(milliseconds = 0): Promise<void> {
    if (this.#abort.signal.aborted) return;
    const closed = new ClosedError(this.name);
    if (milliseconds > 0 && this.#queue.pending > 0) {
      const { signal, timer } = this.#clock.deadline('dial queue close', milliseconds, () => closed);
      await Promise.race([
        this.#queue.onIdle(),
        new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true })),
      ]);
      timer.cancel();
    }
    this.#abort.abort(closed);
    this.#queue.clear();
  }

  async #run<T>(
    task: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    added: number,
    discard: ((result: T) => void) | undefined,
  ): Promise<T> {
    const begun = this.#clock.monotonic();
    this.#options.onWait?.(begun - added);
    try {
      const result = await task(signal);
      if (signal.aborted) discard?.(result);
      return result;
    } finally {
      this.#options.onWork?.(this.#clock.monotonic() - begun);
    }
  }
}

// A bounded queue for work that waits for the network: link dials, egress dials, rate-limited requests to a controller.
// p-queue provides concurrency; this class adds a maximum length (a full queue rejects at once), an end of all waits on
// shutdown, and metrics. Never use it for payloads: a promise costs more than forwarding one.

import PQueue from 'p-queue';
import type { Clock } from './clock.ts';
import { ClosedError, ProjectError } from './errors.ts';

export interface DialQueueOptions {
  /** For errors and metrics, for example `pool.link.dialer`. */
  name: string;
  /** Limit on waiting tasks. */
  length: number;
  /** Limit on running tasks. */
  workers: number;
  clock: Clock;
  /** Receives the wait of a task in milliseconds, when it starts. */
  onWait?: (milliseconds: number) => void;
  /** Receives the duration of a task in milliseconds, when it ends. */
  onWork?: (milliseconds: number) => void;
}

export interface DialTaskOptions<T = unknown> {
  signal?: AbortSignal | undefined;
  /** Receives the result of a task that ends after its signal aborted; no other caller gets it. */
  discard?: (result: T) => void;
}

/** The queue is full; the same call may succeed later. */
export class QueueFullError extends ProjectError {
  constructor(name: string, length: number) {
    super('QUEUE_FULL', `${name} is full: ${length} tasks are waiting`, { retriable: true });
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
  readonly #combinations = new Set<AbortController>();
  #rejected = 0;

  constructor(options: DialQueueOptions) {
    this.name = options.name;
    this.length = options.length;
    this.workers = options.workers;
    this.#options = options;
    this.#clock = options.clock;
    this.#queue = new PQueue({ concurrency: options.workers });
  }

  /** Number of waiting tasks. */
  get depth(): number {
    return this.#queue.size;
  }

  get busy(): number {
    return this.#queue.pending;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /** Whether `add` would reject another task. A free worker starts a task at once, so that a queue of length 0 works. */
  get isFull(): boolean {
    return this.#queue.size >= this.length && this.#queue.pending >= this.workers;
  }

  /**
   * Runs `task` when a worker is free. Rejects with QueueFullError or ClosedError without running it, with the signal's
   * reason if it aborts first, else with the error of the task. The task receives a signal that also aborts with the
   * queue.
   */
  add<T>(task: (signal: AbortSignal) => Promise<T>, options: DialTaskOptions<T> = {}): Promise<T> {
    if (this.#abort.signal.aborted) return Promise.reject(new ClosedError(this.name));
    if (this.isFull) {
      this.#rejected++;
      return Promise.reject(new QueueFullError(this.name, this.length));
    }
    const { signal, release } = this.#combined(options.signal);
    const added = this.#clock.monotonic();
    return this.#queue.add(() => this.#run(task, signal, added, options.discard), { signal }).finally(release);
  }

  /** Rejects new and waiting tasks, and gives the running ones `milliseconds` before their signal aborts. */
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
    for (const controller of this.#combinations) controller.abort(closed);
    this.#queue.clear();
  }

  /** A signal that also aborts with the queue. `AbortSignal.any` would take a third of the time of a short task. */
  #combined(signal: AbortSignal | undefined): { readonly signal: AbortSignal; release(): void } {
    if (!signal) return { signal: this.#abort.signal, release: () => undefined };
    const controller = new AbortController();
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    this.#combinations.add(controller);
    const release = () => {
      signal.removeEventListener('abort', abort);
      this.#combinations.delete(controller);
    };
    return { signal: controller.signal, release };
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

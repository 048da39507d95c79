// A bounded queue for work that waits for the network: link dials, egress dials, rate-limited requests to a controller.
// fair-tasks.ts decides what runs; this class adds promises, an end of all waits on shutdown, and metrics. A full queue
// rejects at once. Never use it for payloads: a promise costs more than forwarding one.

import { ClosedError, ProjectError } from '../errors.ts';
import { unlessAborted } from '../time/abort.ts';
import type { Clock } from '../time/clock.ts';
import { type Claim, FairTasks } from './fair-tasks.ts';

export interface TaskQueueOptions {
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

/** Owners and targets share the queue: tasks of one that hang do not hold up the others. */
export interface TaskOptions<T = unknown> extends Claim {
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

export class TaskQueue {
  readonly name: string;
  readonly length: number;
  readonly workers: number;
  readonly #tasks: FairTasks<Entry>;
  /** Waiting and running. */
  readonly #entries = new Set<Entry>();
  readonly #clock: Clock;
  readonly #options: TaskQueueOptions;
  readonly #abort = new AbortController();
  #onIdle: (() => void) | undefined;
  #rejected = 0;

  constructor(options: TaskQueueOptions) {
    this.name = options.name;
    this.length = options.length;
    this.workers = options.workers;
    this.#options = options;
    this.#clock = options.clock;
    this.#tasks = new FairTasks(options);
  }

  /** Number of waiting tasks. */
  get depth(): number {
    return this.#tasks.depth;
  }

  get busy(): number {
    return this.#tasks.busy;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /**
   * Whether `add` would reject another task. A free worker starts a task at once, so that a queue of length 0 works.
   */
  get isFull(): boolean {
    return this.#tasks.isFull({});
  }

  /**
   * Runs `task` when a worker is free. Rejects with QueueFullError or ClosedError without running it, with the signal's
   * reason if it aborts first, else with the error of the task. The task receives a signal that also aborts with the
   * queue.
   */
  add<T>(task: (signal: AbortSignal) => Promise<T>, options: TaskOptions<T> = {}): Promise<T> {
    const { signal, owner, target, discard } = options;
    if (this.#abort.signal.aborted) return Promise.reject(new ClosedError(this.name));
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    // A controller of its own costs a third of a short task, so only tasks with a signal get one.
    const controller = signal && new AbortController();
    const added = this.#clock.monotonic();
    const abort = () => entry.abort(signal?.reason);
    const claim = { owner, target };
    const entry: Entry = {
      claim,
      abort: (reason) => {
        controller?.abort(reason);
        reject(reason);
        if (this.#tasks.remove(entry, claim)) this.#forget(entry);
      },
      start: async () => {
        const begun = this.#clock.monotonic();
        const own = controller?.signal ?? this.#abort.signal;
        this.#options.onWait?.(begun - added);
        try {
          const result = await task(own);
          if (own.aborted) discard?.(result);
          resolve(result);
        } catch (error) {
          reject(error);
        } finally {
          this.#options.onWork?.(this.#clock.monotonic() - begun);
        }
      },
      forget: () => signal?.removeEventListener('abort', abort),
    };
    if (!this.#tasks.add(entry, claim)) {
      this.#rejected++;
      return Promise.reject(new QueueFullError(this.name, this.length));
    }
    signal?.addEventListener('abort', abort, { once: true });
    this.#entries.add(entry);
    this.#pump();
    return promise;
  }

  /** Rejects new and waiting tasks, and gives the running ones `milliseconds` before their signal aborts. */
  async close(milliseconds = 0): Promise<void> {
    if (this.#abort.signal.aborted) return;
    const closed = new ClosedError(this.name);
    if (milliseconds > 0 && this.#entries.size > 0) {
      const { signal, timer } = this.#clock.deadline('task queue close', milliseconds, () => closed);
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await unlessAborted(signal, idle).catch(() => undefined); // what remains is aborted
      timer.cancel();
    }
    this.#abort.abort(closed);
    for (const entry of [...this.#entries]) entry.abort(closed);
  }

  #pump(): void {
    for (let entry = this.#tasks.next(); entry; entry = this.#tasks.next()) void this.#run(entry);
  }

  async #run(entry: Entry): Promise<void> {
    await entry.start();
    this.#tasks.done(entry.claim);
    this.#forget(entry);
    this.#pump();
  }

  #forget(entry: Entry): void {
    entry.forget();
    this.#entries.delete(entry);
    if (this.#entries.size === 0) this.#onIdle?.();
  }
}

interface Entry {
  readonly claim: Claim;
  /** Never rejects. */
  start(): Promise<void>;
  abort(reason: unknown): void;
  forget(): void;
}

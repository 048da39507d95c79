// A bounded queue for work that waits for the network: link dials, egress dials, rate-limited requests to a controller.
// p-queue runs the tasks; fair-tasks.ts, as its queue class, decides which one is next. This class adds the limit on
// waiting tasks, an end of all waits on shutdown, and metrics. A full queue rejects at once. Never use it for payloads:
// a promise costs more than forwarding one.

import PQueue from 'p-queue';
import { ClosedError, ProjectError } from '../errors.ts';
import { onAbort, unlessAborted } from '../time/abort.ts';
import type { Clock } from '../time/clock.ts';
import { type Claim, type FairTaskOptions, FairTasks } from './fair-tasks.ts';

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
  readonly #tasks: FairTasks;
  readonly #queue: PQueue<FairTasks, FairTaskOptions>;
  /** Abort the tasks with a signal of their own, waiting or running. */
  readonly #aborts = new Set<(reason: Error) => void>();
  readonly #clock: Clock;
  readonly #options: TaskQueueOptions;
  readonly #abort = new AbortController();
  #rejected = 0;

  constructor(options: TaskQueueOptions) {
    this.name = options.name;
    this.length = options.length;
    this.workers = options.workers;
    this.#options = options;
    this.#clock = options.clock;
    const tasks = new FairTasks(options);
    this.#tasks = tasks;
    this.#queue = new PQueue({ concurrency: options.workers, queueClass: always(tasks) });
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
    const claim = { owner, target };
    if (this.#tasks.isFull(claim)) {
      this.#rejected++;
      return Promise.reject(new QueueFullError(this.name, this.length));
    }
    // A controller of its own costs a third of a short task, so only tasks with a signal get one.
    const followed = signal && this.#follow(signal);
    const own = followed?.signal ?? this.#abort.signal;
    const added = this.#clock.monotonic();
    const run = async () => {
      const begun = this.#clock.monotonic();
      this.#options.onWait?.(begun - added);
      try {
        const result = await task(own);
        if (own.aborted) discard?.(result);
        return result;
      } finally {
        this.#options.onWork?.(this.#clock.monotonic() - begun);
        followed?.leave();
        this.#tasks.done(claim);
        // p-queue went on without a task whose signal aborted, but its worker is free only now.
        if (own.aborted) this.#queue.concurrency = this.workers;
      }
    };
    return this.#queue.add(run, { ...claim, signal: own });
  }

  /** Rejects new and waiting tasks, and gives the running ones `milliseconds` before their signal aborts. */
  async close(milliseconds = 0): Promise<void> {
    if (this.#abort.signal.aborted) return;
    const closed = new ClosedError(this.name);
    if (milliseconds > 0 && this.#tasks.busy > 0) {
      const { signal, timer } = this.#clock.deadline('task queue close', milliseconds, () => closed);
      await unlessAborted(signal, this.#queue.onIdle()).catch(() => undefined); // what remains is aborted
      timer.cancel();
    }
    this.#queue.pause(); // or it would start the next task when one is removed
    this.#abort.abort(closed);
    for (const abort of this.#aborts) abort(closed);
  }

  /** A signal that aborts with `signal` and with the queue. Call `leave` when the task has ended. */
  #follow(signal: AbortSignal): { readonly signal: AbortSignal; leave(): void } {
    const controller = new AbortController();
    const abort = (reason: Error) => {
      leave();
      controller.abort(reason);
    };
    const ended = onAbort(signal, abort);
    const leave = () => {
      ended();
      this.#aborts.delete(abort);
    };
    this.#aborts.add(abort);
    return { signal: controller.signal, leave };
  }
}

/** A class for p-queue, which makes its queue itself. */
function always(tasks: FairTasks): new () => FairTasks {
  return function queue() {
    return tasks;
  } as unknown as new () => FairTasks;
}

// Threads that carry connections for the main thread: each has an event loop of its own, which talks to the kernel and
// encrypts. They start when the first connection needs them. A thread that ends takes its connections with it, with the
// cause in the log; the next connection starts another one, after a pause.

import { Worker } from 'node:worker_threads';
import { asError, describeError, ProjectError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { systemRandom } from '../random.ts';
import { type BackoffPolicy, nextBackoff } from '../time/backoff.ts';
import type { Clock } from '../time/clock.ts';
import {
  type Crossing,
  type CrossingMessage,
  CrossingSide,
  createAlarms,
  createCrossing,
  otherOf,
} from './crossings.ts';
import type { IoThreadData, OpenCrossing } from './thread-host.ts';

export interface IoThreadsOptions {
  /** Threads at most. */
  readonly count: number;
  /** The module of the threads, which calls `hostCrossings`. */
  readonly program: URL;
  readonly clock: Clock;
  readonly log: Log;
}

export interface IoThreadInspection {
  /** The number by which profiles name it. */
  readonly thread: number;
  /** Connections now, and since its start. */
  readonly connections: number;
  readonly carried: number;
  /** Share of the time since its start in which its event loop had work. */
  readonly utilization: number;
}

/** Connections that one thread carries at most; further ones stay on the main thread. */
const MAX_CROSSINGS = 64;
/**
 * Bytes of each of the two rings of a connection: some turns of the event loop at full speed. The system gives memory
 * only for what is used.
 */
const RING_BYTES = 1024 * 1024;
/** MiB of a thread's heap; its buffers are outside of it. */
const HEAP = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };
/** The pause before a place for a thread is used again, and the life after which its end is not a repetition. */
const RESTART: BackoffPolicy = { min: 1_000, max: 60_000, factor: 2, jitter: 0 };
const LONG_LIFE = 60_000;

export class ThreadEndedError extends ProjectError {
  constructor(cause: unknown) {
    super('THREAD_ENDED', `the I/O thread of the connection ended: ${describeError(cause)}`, { cause });
  }
}

/** The place of one thread. */
interface Place {
  thread: IoThread | undefined;
  /** Milliseconds of the last pause, and the monotonic time at which it ends. */
  pause: number;
  pausedUntil: number;
}

interface IoThread {
  readonly worker: Worker;
  readonly side: CrossingSide;
  readonly since: number;
  /** Connections since its start. */
  carried: number;
}

export class IoThreads {
  readonly #options: IoThreadsOptions;
  readonly #places: readonly Place[];
  #ids = 0;
  #isClosed = false;

  constructor(options: IoThreadsOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, () => ({
      thread: undefined,
      pause: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
    }));
  }

  /** The threads that run. */
  inspect(): IoThreadInspection[] {
    return this.#places.flatMap(({ thread }) => {
      if (!thread) return [];
      const { worker, side, carried } = thread;
      const { utilization } = worker.performance.eventLoopUtilization();
      return { thread: worker.threadId, connections: side.size, carried, utilization: round(utilization) };
    });
  }

  /** Whether `open` would hand a connection over. */
  get hasPlace(): boolean {
    return this.#leastUsed() !== undefined;
  }

  /**
   * Hands a connection to the thread with the fewest: `data` goes to its code for this kind, by structured clone. The
   * caller sets the owner of the returned crossing at once. Undefined if no thread can take it.
   */
  open(kind: string, data: unknown): Crossing | undefined {
    const place = this.#leastUsed();
    if (!place) return undefined;
    try {
      place.thread ??= this.#start(place);
      const { worker, side } = place.thread;
      const own = side.takeKept() ?? createCrossing(RING_BYTES);
      const id = ++this.#ids;
      worker.postMessage({ open: { id, kind, memory: otherOf(own), data } } satisfies OpenCrossing);
      place.thread.carried++;
      return side.add(id, own);
    } catch (error) {
      this.#pause(place, place.pause);
      this.#options.log.error(
        { error: describeError(error), pause: place.pause },
        'an I/O thread cannot take a connection; it stays on the main thread',
      );
      return undefined;
    }
  }

  /** Ends all threads, and with them their connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#places.map(({ thread }) => thread?.worker.terminate()));
  }

  /** The place of the thread with the fewest connections; undefined if no thread may have another one. */
  #leastUsed(): Place | undefined {
    if (this.#isClosed) return undefined;
    const now = this.#options.clock.monotonic();
    const usable = this.#places.filter(
      ({ thread, pausedUntil }) => pausedUntil <= now && (thread?.side.size ?? 0) < MAX_CROSSINGS,
    );
    return usable.toSorted((one, other) => (one.thread?.side.size ?? 0) - (other.thread?.side.size ?? 0))[0];
  }

  #start(place: Place): IoThread {
    const { program, clock } = this.#options;
    const [own, other] = createAlarms();
    const workerData: IoThreadData = { alarms: other };
    // trackUnmanagedFds: else Node warns of descriptors that the system library opened.
    const options = { workerData, resourceLimits: HEAP, name: 'edgeweave-io', trackUnmanagedFds: false };
    const worker = new Worker(program, options);
    const side = new CrossingSide(own, (message) => worker.postMessage(message));
    worker.on('message', (message: CrossingMessage) => side.onMessage(message));
    let problem: Error | undefined;
    worker.on('error', (error) => {
      problem = asError(error);
    });
    worker.once('exit', (code) => this.#onEnd(place, problem ?? new Error(`exit code ${code}`)));
    worker.unref();
    return { worker, side, since: clock.monotonic(), carried: 0 };
  }

  #onEnd(place: Place, cause: Error): void {
    const { clock, log } = this.#options;
    const { thread } = place;
    if (!thread) return;
    place.thread = undefined;
    this.#pause(place, clock.monotonic() - thread.since > LONG_LIFE ? 0 : place.pause);
    if (!this.#isClosed)
      log.error(
        { error: describeError(cause), connections: thread.side.size, pause: place.pause },
        'an I/O thread ended, with its connections; others take over',
      );
    thread.side.close(new ThreadEndedError(cause));
  }

  /** The place gets no connection for a while, longer than the last time. */
  #pause(place: Place, last: number): void {
    place.pause = nextBackoff(RESTART, last, systemRandom);
    place.pausedUntil = this.#options.clock.monotonic() + place.pause;
  }
}

function round(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}

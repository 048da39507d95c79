// Threads that carry connections for the main thread: each has an event loop of its own, which talks to the kernel and
// encrypts. They start when a connection needs them, and get connections as soon as they run: until then, connections
// stay where they are. A thread that ends takes its connections with it, with the cause in the log; the next connection
// starts another one, after a pause.

import { Worker } from 'node:worker_threads';
import { asError, describeError, ProjectError, TimeoutError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { systemRandom } from '../random.ts';
import { type BackoffPolicy, nextBackoff } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import {
  type Crossing,
  type CrossingMessage,
  CrossingSide,
  createAlarms,
  createCrossing,
  otherOf,
} from './crossings.ts';
import type { IoThreadData, OpenCrossing, ThreadReady } from './thread-host.ts';

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

/** Connections of one kind that one thread carries at most; further ones stay on the main thread. */
const MAX_CROSSINGS = 64;
/** Milliseconds in which a thread must start. */
const START_TIME = 10_000;
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
  /** Ends the thread if it does not start in time; undefined once it runs. */
  starting: Timer | undefined;
  /** Connections since its start. */
  carried: number;
}

export class IoThreads {
  /** Threads at most. */
  readonly count: number;
  readonly #options: IoThreadsOptions;
  readonly #places: readonly Place[];
  /** Those who wait for a thread that starts. */
  readonly #waiting: (() => void)[] = [];
  #ids = 0;
  #isClosed = false;

  constructor(options: IoThreadsOptions) {
    this.#options = options;
    this.count = options.count;
    this.#places = Array.from({ length: options.count }, () => ({
      thread: undefined,
      pause: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
    }));
  }

  /** The threads that run. */
  inspect(): IoThreadInspection[] {
    return this.#places.filter(runs).flatMap(({ thread }) => {
      if (!thread) return [];
      const { worker, side, carried } = thread;
      const { utilization } = worker.performance.eventLoopUtilization();
      return { thread: worker.threadId, connections: side.size, carried, utilization: round(utilization) };
    });
  }

  /**
   * Hands a connection to the running thread with the fewest; a further thread starts for the next ones while there is
   * none without connections. Its code for this kind gets what `describe` returns, by structured clone; if that is
   * undefined, nothing happens. The caller sets the owner of the returned crossing at once. Undefined if no thread can
   * take it.
   */
  open(kind: string, describe: () => unknown): Crossing | undefined {
    if (this.#isClosed) return undefined;
    this.#startFurther();
    const [place] = this.#places
      .filter((each) => hasRoom(each, kind))
      .toSorted((one, other) => load(one) - load(other));
    const thread = place?.thread;
    const data = thread && describe();
    if (!thread || data === undefined) return undefined;
    const { worker, side } = thread;
    const own = side.takeKept() ?? createCrossing(RING_BYTES);
    const id = ++this.#ids;
    worker.postMessage({ open: { id, kind, memory: otherOf(own), data } } satisfies OpenCrossing);
    thread.carried++;
    return side.add(id, kind, own);
  }

  /** Starts a thread if none runs. Resolves with whether one does, within a bounded time. */
  async start(): Promise<boolean> {
    if (!this.#isClosed) this.#startFurther();
    while (!this.#isClosed && !this.#places.some(runs) && this.#places.some(({ thread }) => thread))
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return !this.#isClosed && this.#places.some(runs);
  }

  /** Ends all threads, and with them their connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#places.map(({ thread }) => thread?.worker.terminate()));
  }

  /** One at a time. */
  #startFurther(): void {
    const running = this.#places.filter(({ thread }) => thread);
    if (running.some((place) => !runs(place) || load(place) === 0)) return;
    const now = this.#options.clock.monotonic();
    const place = this.#places.find(({ thread, pausedUntil }) => !thread && pausedUntil <= now);
    if (!place) return;
    try {
      place.thread = this.#start(place);
    } catch (error) {
      this.#pause(place, place.pause);
      const facts = { error: describeError(error), pause: place.pause };
      this.#options.log.error(facts, 'an I/O thread cannot start; connections stay on the main thread');
    }
  }

  #start(place: Place): IoThread {
    const { program, clock } = this.#options;
    const [own, other] = createAlarms();
    const workerData: IoThreadData = { alarms: other };
    // trackUnmanagedFds: else Node warns of descriptors that the system library opened.
    const options = { workerData, resourceLimits: HEAP, name: 'edgeweave-io', trackUnmanagedFds: false };
    const worker = new Worker(program, options);
    const side = new CrossingSide(own, (message) => worker.postMessage(message));
    let problem: Error | undefined;
    const starting = clock.after('start of an I/O thread', START_TIME, () => {
      problem = new TimeoutError('its start', START_TIME);
      void worker.terminate();
    });
    const thread: IoThread = { worker, side, since: clock.monotonic(), starting, carried: 0 };
    worker.on('message', (message: CrossingMessage | ThreadReady) => {
      if ('ready' in message) this.#onReady(thread);
      else side.onMessage(message);
    });
    worker.on('error', (error) => {
      problem = asError(error);
    });
    worker.once('exit', (code) => this.#onEnd(place, problem ?? new Error(`exit code ${code}`)));
    worker.unref();
    return thread;
  }

  #onReady(thread: IoThread): void {
    thread.starting?.cancel();
    thread.starting = undefined;
    this.#callWaiting();
  }

  #callWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #onEnd(place: Place, cause: Error): void {
    const { clock, log } = this.#options;
    const { thread } = place;
    if (!thread) return;
    place.thread = undefined;
    thread.starting?.cancel();
    this.#pause(place, clock.monotonic() - thread.since > LONG_LIFE ? 0 : place.pause);
    if (!this.#isClosed)
      log.error(
        { error: describeError(cause), connections: thread.side.size, pause: place.pause },
        'an I/O thread ended, with its connections; others take over',
      );
    thread.side.close(new ThreadEndedError(cause));
    this.#callWaiting();
  }

  /** The place gets no connection for a while, longer than the last time. */
  #pause(place: Place, last: number): void {
    place.pause = nextBackoff(RESTART, last, systemRandom);
    place.pausedUntil = this.#options.clock.monotonic() + place.pause;
  }
}

function runs({ thread }: Place): boolean {
  return thread !== undefined && thread.starting === undefined;
}

function hasRoom(place: Place, kind: string): boolean {
  return runs(place) && (place.thread?.side.count(kind) ?? 0) < MAX_CROSSINGS;
}

function load({ thread }: Place): number {
  return thread?.side.size ?? 0;
}

function round(share: number): number {
  return Math.round(share * 1_000) / 1_000;
}

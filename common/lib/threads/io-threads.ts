// Threads that carry connections for the main thread: each has an event loop of its own, which talks to the kernel and
// encrypts. They start when a connection needs them, and get connections as soon as they run: until then, connections
// stay where they are. A thread that ends takes its connections with it, with the cause in the log; the next connection
// starts another one, after a pause.

import { Worker } from 'node:worker_threads';
import { asError, describeError, ProjectError, TimeoutError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { whyNoSystemLibrary } from '../process/system-library.ts';
import { systemRandom } from '../random.ts';
import { type BackoffPolicy, nextBackoff } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import {
  type Crossing,
  type CrossingBytes,
  type CrossingMessage,
  CrossingSide,
  createAlarms,
  createCrossing,
  otherOf,
} from './crossings.ts';
import { type LoopInspection, LoopLoad } from './loop-load.ts';
import type { IoThreadData, OpenCrossing, ThreadReady } from './thread-host.ts';

/** A kind of connections, and what one thread has for it. */
export interface CrossingKindPlaces {
  readonly name: string;
  /** Connections at most; further ones stay on the main thread. */
  readonly places: number;
  /** Bytes of each of the two rings of a connection. The system gives memory only for what is used. */
  readonly ringBytes: number;
}

export interface IoThreadsOptions {
  /** Threads at most. */
  readonly count: number;
  /** The module of the threads, which calls `hostCrossings`. */
  readonly program: URL;
  readonly clock: Clock;
  readonly log: Log;
}

export interface IoThreadInspection extends LoopInspection {
  /** Its number, from 1 on: that of one that has ended serves the next one. */
  readonly thread: number;
  /** Milliseconds since it was started. */
  readonly ageMs: number;
  /** Connections now, all and by kind: `client` of a circuit, `link`, `accepted`. */
  readonly connections: number;
  readonly kinds: Readonly<Record<string, number>>;
  /** Connections since its start. */
  readonly carried: number;
  /** Bytes since its start: what the connections received, and what they were to send. */
  readonly bytes: CrossingBytes;
}

/** A thread whose profile may be recorded, even while it stands still. */
export interface ProfiledThread {
  startCpuProfile(): Promise<ThreadProfile>;
  startHeapProfile(): Promise<ThreadProfile>;
  /** Aborts when the thread ends, with ThreadEndedError: no profile comes any more. */
  readonly ended: AbortSignal;
}

export interface ThreadProfile {
  /** Ends it. Resolves with the text of its file. */
  stop(): Promise<string>;
}

/** Crossings of one thread. */
const MAX_CROSSINGS = 512;
/** Milliseconds in which a thread must start. */
const START_TIME = 10_000;
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
  /** From 1 on. */
  readonly number: number;
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
  readonly ended: AbortController;
  /** Defined once it runs. */
  load: LoopLoad | undefined;
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
    this.#places = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      thread: undefined,
      pause: 0,
      pausedUntil: Number.NEGATIVE_INFINITY,
    }));
  }

  /** Undefined if none are wanted, or Node cannot hand descriptors over, with the reason in the log. */
  static open({ log, ...options }: IoThreadsOptions): IoThreads | undefined {
    if (options.count <= 0) return undefined;
    const reason = whyNoSystemLibrary();
    if (reason === undefined) return new IoThreads({ ...options, log: log.child({ component: 'threads' }) });
    log.info({ reason, wanted: options.count }, 'the main thread carries all connections');
    return undefined;
  }

  /** The threads that run. */
  inspect(): IoThreadInspection[] {
    return this.#places.flatMap(({ number, thread }) => {
      if (!thread?.load) return [];
      const { side, since, carried, load } = thread;
      const { size: connections, kinds, bytes } = side;
      const ageMs = Math.round(this.#options.clock.monotonic() - since);
      return { thread: number, ageMs, connections, kinds, carried, bytes, ...load.inspect() };
    });
  }

  /** The running thread with this number. */
  profiled(number: number): ProfiledThread | undefined {
    const thread = this.#places.find((place) => place.number === number && runs(place))?.thread;
    if (!thread) return undefined;
    const { worker, ended } = thread;
    return {
      startCpuProfile: () => worker.startCpuProfile(),
      startHeapProfile: () => worker.startHeapProfile(),
      ended: ended.signal,
    };
  }

  /**
   * Hands a connection to the running thread with the fewest; a further thread starts for the next ones while there is
   * none without connections. Its code for this kind gets what `describe` returns, by structured clone; if that is
   * undefined, nothing happens. The caller sets the owner of the returned crossing at once. Undefined if no thread can
   * take it.
   */
  open(kind: CrossingKindPlaces, describe: () => unknown): Crossing | undefined {
    if (this.#isClosed) return undefined;
    this.#startFurther();
    const [place] = this.#places
      .filter((each) => hasRoom(each, kind))
      .toSorted((one, other) => load(one) - load(other));
    const thread = place?.thread;
    const data = thread && describe();
    if (!thread || data === undefined) return undefined;
    const { worker, side } = thread;
    const memory = side.takeKept(kind.ringBytes) ?? createCrossing(kind.ringBytes);
    const crossing = { id: ++this.#ids, slot: side.takeSlot(), memory, kind: kind.name };
    const open = { crossing: { ...crossing, memory: otherOf(memory) }, data };
    worker.postMessage({ open } satisfies OpenCrossing);
    thread.carried++;
    return side.add(crossing);
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
    const [own, other] = createAlarms(MAX_CROSSINGS);
    const workerData: IoThreadData = { alarms: other };
    // trackUnmanagedFds: else Node warns of descriptors that the system library opened.
    const name = `edgeweave-io-${place.number}`; // the system shows it, too
    const options = { workerData, resourceLimits: HEAP, name, trackUnmanagedFds: false };
    const worker = new Worker(program, options);
    const side = new CrossingSide(own, (message) => worker.postMessage(message));
    let problem: Error | undefined;
    const starting = clock.after('start of an I/O thread', START_TIME, () => {
      problem = new TimeoutError('its start', START_TIME);
      void worker.terminate();
    });
    const thread: IoThread = {
      worker,
      side,
      since: clock.monotonic(),
      starting,
      load: undefined,
      carried: 0,
      ended: new AbortController(),
    };
    worker.on('message', (message: CrossingMessage | ThreadReady) => {
      if ('ready' in message) this.#onReady(thread, message);
      else side.onMessage(message);
    });
    worker.on('error', (error) => {
      problem = asError(error);
    });
    worker.once('exit', (code) => this.#onEnd(place, problem ?? new Error(`exit code ${code}`)));
    worker.unref();
    return thread;
  }

  #onReady(thread: IoThread, { ready: { delays } }: ThreadReady): void {
    thread.starting?.cancel();
    thread.starting = undefined;
    const { performance } = thread.worker;
    const loop = performance.eventLoopUtilization.bind(performance);
    thread.load = new LoopLoad({ clock: this.#options.clock, loop, delays });
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
    thread.load?.close();
    this.#pause(place, clock.monotonic() - thread.since > LONG_LIFE ? 0 : place.pause);
    if (!this.#isClosed)
      log.error(
        { error: describeError(cause), connections: thread.side.size, pause: place.pause },
        'an I/O thread ended, with its connections; others take over',
      );
    const error = new ThreadEndedError(cause);
    thread.side.close(error);
    thread.ended.abort(error);
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

function hasRoom(place: Place, { name, places }: CrossingKindPlaces): boolean {
  return runs(place) && (place.thread?.side.kinds[name] ?? 0) < places && load(place) < MAX_CROSSINGS;
}

function load({ thread }: Place): number {
  return thread?.side.size ?? 0;
}

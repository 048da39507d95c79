// The processor time that clients take from a thread before they have proved who they are: TLS handshakes, first
// messages, requests without a session. One queue for all ports, because they share the event loop:
//
//   ports ─► sources in turn ─► one task in each turn of the event loop ─► time is counted ─► a proof takes it back
//               └─ rest while they, or all sources together, have used their time
//
// A source may use a burst, then a small share of the time. Clients that prove who they are cost their source nothing,
// so that a thousand of them behind one address connect as fast as the process can serve them. In the turn of a source,
// its clients that have used time come first, because their proof may follow; then its newest client, which so does not
// wait behind idle ones.

import { BoundedMap } from '../queue/bounded-map.ts';
import { TokenBucket } from '../queue/token-bucket.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { sourceOf } from './source-address.ts';

/** The connection of a client. */
export interface UnauthenticatedSocket {
  readonly remoteAddress?: string | undefined;
}

export interface CpuLimits {
  /** Milliseconds that a source may use at once. */
  readonly burst: number;
  /** Share of the time that a source may use afterwards. */
  readonly share: number;
}

/**
 * Enough for about 60 handshakes with an RSA key of 4,096 bits, or 200 with an EC key, then for 40 or 120 a second.
 * Others feel more at once for as long as it lasts; clients that prove who they are give it back.
 */
const SOURCE: CpuLimits = { burst: 150, share: 0.1 };
/** All sources together leave half of the time to authenticated clients. */
const ALL: CpuLimits = { burst: 2_000, share: 0.5 };
/**
 * All sources may use as much before another thread takes over what it can: about 20 handshakes at once, then five in a
 * second. Less than one in a hundred round trips of others meets them.
 */
const UNNOTICED: CpuLimits = { burst: 20, share: 0.005 };
/** A thread that only carries connections may serve more at once: nobody waits for its decisions. */
export const CPU_OF_THREAD = { source: { burst: 1_000, share: 0.2 }, all: ALL } as const;
/** Milliseconds that a source lacks after something that only attackers do. */
const OFFENCE_MS = 1_000;
/** Sources whose use of time is remembered. Beyond it, the one that used none for the longest time is forgotten. */
const MAX_SOURCES = 10_000;

interface Client {
  /** Milliseconds that count for its source, and those that count as unnoticed. */
  used: number;
  unnoticed: number;
  isAuthenticated: boolean;
  isAccepted: boolean;
  /** Called when it is accepted. */
  readonly onAccepted: (() => void)[];
}

interface Task {
  readonly socket: UnauthenticatedSocket;
  readonly run: () => void;
  /** Milliseconds in addition to the measured ones. */
  readonly cost: number;
  state: 'waiting' | 'run' | 'prevented';
}

export interface UnauthenticatedCpuInit {
  readonly clock: Clock;
  /** Milliseconds of processor time that the thread has used; default: what the system tells. */
  readonly used?: () => number;
  readonly source?: CpuLimits;
  readonly all?: CpuLimits;
}

export class UnauthenticatedCpu {
  readonly #clock: Clock;
  readonly #used: () => number;
  readonly #limits: CpuLimits;
  /** The time that is left to all sources, and to each. */
  readonly #all: TokenBucket;
  readonly #sources = new BoundedMap<string, TokenBucket>(MAX_SOURCES);
  readonly #unnoticed: TokenBucket;
  /** By socket. */
  readonly #clients = new WeakMap<object, Client>();
  /** By source; whose turn is next comes first. */
  readonly #waiting = new Map<string, Tasks>();
  /** Sources among them that have used their time, until the timer ends. */
  readonly #resting = new Map<string, Timer>();
  /** Ends the pause of all sources. */
  #pause: Timer | undefined;
  /** Whether a task has run in this turn of the event loop. */
  #isBusy = false;

  constructor({ clock, used = usedByThread, source = SOURCE, all = ALL }: UnauthenticatedCpuInit) {
    this.#clock = clock;
    this.#used = used;
    this.#limits = source;
    this.#all = bucketOf(all, clock.monotonic());
    this.#unnoticed = bucketOf(UNNOTICED, clock.monotonic());
  }

  /** Tasks that wait. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Milliseconds that count for a source now. */
  usedBy(remoteAddress: string): number {
    const left = this.#sources.get(sourceOf(remoteAddress))?.left(this.#clock.monotonic());
    return left === undefined ? 0 : this.#limits.burst - left;
  }

  /** Whether others feel how much unauthenticated clients use, so that another thread should serve the next ones. */
  get isNoticeable(): boolean {
    return pauseOf(this.#unnoticed, this.#clock.monotonic()) > 0;
  }

  isAuthenticated(socket: object): boolean {
    return this.#clients.get(socket)?.isAuthenticated === true;
  }

  /**
   * Runs a task for a client: at once if no other one waits. The time of the task, with that of the callbacks and
   * promises that it settles, is counted for its source, and `cost` milliseconds more for what follows. The returned
   * function prevents it, and returns whether that was still possible.
   */
  run(socket: UnauthenticatedSocket, task: () => void, cost = 0): () => boolean {
    const source = sourceOf(socket.remoteAddress);
    const own = this.#waiting.get(source) ?? new Tasks();
    const entry: Task = { socket, run: task, cost, state: 'waiting' };
    own.push(entry, this.#clients.has(socket));
    this.#waiting.set(source, own);
    if (!this.#isBusy) this.#runNext();
    return () => {
      const isPrevented = own.prevent(entry);
      if (isPrevented && own.size === 0 && this.#waiting.get(source) === own) this.#forget(source);
      return isPrevented;
    };
  }

  /** The client proved who it is: its source gets the time back, and its later tasks need not run here. */
  authenticated(socket: UnauthenticatedSocket): void {
    const client = this.#clientOf(socket);
    client.isAuthenticated = true;
    if (client.used > 0) this.#giveBack(sourceOf(socket.remoteAddress), client, client.used);
    this.accept(socket);
  }

  /** The client may use its connection from now on, although it proved nothing: its later work does not count. */
  accept(socket: object): void {
    const client = this.#clientOf(socket);
    client.isAccepted = true;
    for (const listener of client.onAccepted.splice(0)) listener();
  }

  /** Calls the listener when the client is accepted or authenticated; at once if it is. */
  onAccepted(socket: object, listener: () => void): void {
    const client = this.#clientOf(socket);
    if (client.isAccepted) listener();
    else client.onAccepted.push(listener);
  }

  /** The client did what only attackers do: its source rests. Several such acts at once count as one. */
  punish({ remoteAddress }: UnauthenticatedSocket): void {
    const source = sourceOf(remoteAddress);
    const left = this.#sources.get(source)?.left(this.#clock.monotonic()) ?? this.#limits.burst;
    this.#take(source, Math.max(0, OFFENCE_MS + left));
  }

  /** `inner` belongs to the client of `outer`. */
  joinClient(outer: object, inner: object): void {
    this.#clients.set(inner, this.#clientOf(outer));
  }

  #clientOf(socket: object): Client {
    const known = this.#clients.get(socket);
    const client = known ?? { used: 0, unnoticed: 0, isAuthenticated: false, isAccepted: false, onAccepted: [] };
    if (!known) this.#clients.set(socket, client);
    return client;
  }

  #giveBack(source: string, client: Client, milliseconds: number): void {
    const now = this.#clock.monotonic();
    client.used -= milliseconds;
    this.#all.take(now, -milliseconds);
    this.#unnoticed.take(now, -client.unnoticed);
    client.unnoticed = 0;
    this.#sources.get(source)?.take(now, -milliseconds);
    this.#endPauses(source, now);
  }

  #runNext(): void {
    this.#isBusy = false;
    const now = this.#clock.monotonic();
    const source = this.#nextSource(now);
    if (source === undefined || this.#mustPause(now)) return;
    const tasks = this.#waiting.get(source);
    const task = tasks?.pop();
    this.#waiting.delete(source);
    if (!tasks || !task) return;
    if (tasks.size > 0) this.#waiting.set(source, tasks); // behind the others
    this.#isBusy = true;
    const before = this.#used();
    try {
      task.run();
    } finally {
      afterPromises(() => {
        if (!this.isAuthenticated(task.socket)) this.#count(task.socket, this.#used() - before + task.cost);
        setImmediate(() => this.#runNext());
      });
    }
  }

  /** The next source that has time left. Those that have none rest until they have. */
  #nextSource(now: number): string | undefined {
    for (const source of this.#waiting.keys()) {
      if (this.#resting.has(source)) continue;
      const own = this.#sources.get(source);
      const pause = own ? pauseOf(own, now) : 0;
      if (pause === 0) return source;
      const end = () => {
        this.#resting.delete(source);
        if (!this.#isBusy) this.#runNext();
      };
      this.#resting.set(source, this.#clock.after('processor time of a source', pause, end));
    }
    return undefined;
  }

  /** Whether all sources together have used their time. Then a timer continues. */
  #mustPause(now: number): boolean {
    if (this.#pause) return true;
    const pause = pauseOf(this.#all, now);
    if (pause === 0) return false;
    this.#pause = this.#clock.after('processor time of unauthenticated clients', pause, () => {
      this.#pause = undefined;
      if (!this.#isBusy) this.#runNext();
    });
    return true;
  }

  /** A source got time back. */
  #endPauses(source: string, now: number): void {
    if (pauseOf(this.#all, now) === 0) this.#endPause();
    const own = this.#sources.get(source);
    if (own && pauseOf(own, now) === 0) this.#endRest(source);
    if (!this.#isBusy) this.#runNext();
  }

  #endPause(): void {
    this.#pause?.cancel();
    this.#pause = undefined;
  }

  #endRest(source: string): void {
    this.#resting.get(source)?.cancel();
    this.#resting.delete(source);
  }

  #count(socket: UnauthenticatedSocket, cost: number): void {
    const now = this.#clock.monotonic();
    const client = this.#clientOf(socket);
    client.used += cost;
    this.#all.take(now, cost);
    this.#take(sourceOf(socket.remoteAddress), cost);
    // In advance, as much again may be used: some seconds after an attack, it is over.
    const unnoticed = Math.min(cost, this.#unnoticed.left(now) + UNNOTICED.burst);
    client.unnoticed += unnoticed;
    this.#unnoticed.take(now, unnoticed);
  }

  #take(source: string, cost: number): void {
    const now = this.#clock.monotonic();
    const own = this.#sources.get(source) ?? bucketOf(this.#limits, now);
    own.take(now, cost);
    this.#sources.delete(source); // so that it becomes the newest one
    this.#sources.set(source, own);
  }

  /** The last task of a source was prevented. No timer may be left when nothing waits. */
  #forget(source: string): void {
    this.#waiting.delete(source);
    this.#endRest(source);
    if (this.#waiting.size === 0) this.#endPause();
  }
}

/** Those of one source. */
class Tasks {
  /** From oldest to newest; those of clients that have used time, and others. */
  #begun: Task[] = [];
  #fresh: Task[] = [];
  /** Prevented ones among them. */
  #prevented = 0;

  get size(): number {
    return this.#begun.length + this.#fresh.length - this.#prevented;
  }

  push(task: Task, isBegun: boolean): void {
    (isBegun ? this.#begun : this.#fresh).push(task);
  }

  /** Removes and returns the next one. */
  pop(): Task | undefined {
    for (;;) {
      const task = this.#begun.pop() ?? this.#fresh.pop();
      if (task?.state !== 'prevented') {
        if (task) task.state = 'run';
        return task;
      }
      this.#prevented--;
    }
  }

  /** Returns false for a task that ran or was prevented. Prevented ones are removed when they are more than half. */
  prevent(task: Task): boolean {
    if (task.state !== 'waiting') return false;
    task.state = 'prevented';
    this.#prevented++;
    if (this.#prevented > this.size) {
      this.#begun = this.#begun.filter(({ state }) => state === 'waiting');
      this.#fresh = this.#fresh.filter(({ state }) => state === 'waiting');
      this.#prevented = 0;
    }
    return true;
  }
}

/** After the callbacks for this tick, and after the promises that they settle. */
function afterPromises(callback: () => void): void {
  process.nextTick(() => queueMicrotask(() => process.nextTick(callback)));
}

/** Its tokens are milliseconds, which may be used before they are there. */
function bucketOf({ burst, share }: CpuLimits, now: number): TokenBucket {
  return new TokenBucket({ burst, perSecond: share * 1_000, ahead: Number.POSITIVE_INFINITY }, now);
}

/** Milliseconds until the time that was used in advance is there. */
function pauseOf(bucket: TokenBucket, now: number): number {
  return Math.ceil(bucket.take(now, 0) ?? 0);
}

function usedByThread(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

// The connections that one thread carries for another cross between both: a pair of rings for the bytes of each, and
// messages for everything rare. Both threads use the same classes.
//
//   main thread                                  I/O thread
//   Crossing ── sent ───── ring of records ────► received ── Crossing      its owner reads and writes the socket
//            ◄─ received ─ ring of records ───── sent ──
//            ◄════════════ messages ════════════►

import { createRing, RingReader, RingWriter, renewRing } from './ring.ts';
import { createAlarm, Sleeper, wake } from './sleeper.ts';

/** Milliseconds of a turn of the event loop in which crossings are looked at. */
const TURN_MS = 0.5;

/** Crossings of one thread that have ended, whose memory serves the next ones. */
const MAX_KEPT = 8;

/** The kinds of records: bytes of the connection, the end of its direction, and bytes that the next one continues. */
export const CrossingRecord = Object.freeze({ Data: 1, End: 2, Part: 3 } as const);

export interface CrossingOwner {
  /**
   * Records may have arrived, or there may be room for others. Handles some of them, and returns whether there were
   * any.
   */
  onTurn(): boolean;
  onMessage(message: unknown): void;
  /** The other thread is gone. */
  onLost(error: Error): void;
}

/** One end of the crossing of a connection. */
export class Crossing {
  readonly id: number;
  /** The kind of connection that it carries. */
  readonly kind: string;
  readonly received: RingReader;
  readonly sent: RingWriter;
  owner: CrossingOwner | undefined;
  readonly #side: CrossingSide;
  readonly #memory: CrossingMemory;

  constructor(side: CrossingSide, id: number, memory: CrossingMemory, kind: string) {
    this.#side = side;
    this.#memory = memory;
    this.id = id;
    this.kind = kind;
    this.received = new RingReader(memory.received);
    this.sent = new RingWriter(memory.sent);
  }

  /** Sends a message, which structured clone must support. Messages and records have no common order. */
  post(message: unknown): void {
    this.#side.post({ id: this.id, message });
  }

  /** Shows the complete records to the other thread. */
  publish(): void {
    if (this.sent.publish()) this.#side.wakeOther();
  }

  /** Gives the memory of all records up to the current one back to the other thread. */
  release(): void {
    if (this.received.release()) this.#side.wakeOther();
  }

  /** The owner wants another turn. */
  touch(): void {
    this.#side.touch();
  }

  /** Ends this side; `owner` is no longer called. @param isLast The other side has ended before. */
  close(isLast = false): void {
    this.owner = undefined;
    this.#side.delete(this);
    if (isLast) this.#side.keep(this.#memory);
  }
}

export interface CrossingMemory {
  readonly received: SharedArrayBuffer;
  readonly sent: SharedArrayBuffer;
}

/** Creates the memory of a crossing, for this side. */
export function createCrossing(bytes: number): CrossingMemory {
  return { received: createRing(bytes), sent: createRing(bytes) };
}

/** The same memory for the other side. */
export function otherOf({ received, sent }: CrossingMemory): CrossingMemory {
  return { received: sent, sent: received };
}

export interface Alarms {
  readonly own: Int32Array;
  readonly other: Int32Array;
}

/** Creates the alarms of a pair of threads: of this one, and of the other one. */
export function createAlarms(): readonly [Alarms, Alarms] {
  const [one, two] = [createAlarm(), createAlarm()];
  return [
    { own: one, other: two },
    { own: two, other: one },
  ];
}

/** Bytes of the connections, as they cross: without the TLS of connections, with the seals of circuits. */
export interface CrossingBytes {
  readonly received: number;
  readonly sent: number;
}

export interface CrossingMessage {
  readonly id: number;
  readonly message: unknown;
}

/** All crossings between this thread and another one. */
export class CrossingSide {
  readonly post: (message: CrossingMessage) => void;
  readonly #crossings = new Map<number, Crossing>();
  readonly #alarms: Alarms;
  readonly #onIdle: (() => void) | undefined;
  readonly #sleeper: Sleeper;
  /** Bytes of those that have ended. */
  #ended: CrossingBytes = { received: 0, sent: 0 };
  /**
   * Memory for further crossings. Without it, that of short ones would stay until both threads collect their garbage,
   * which shared memory does not cause.
   */
  readonly #kept: CrossingMemory[] = [];
  /** Those whose turn is next. */
  #rest = this.#crossings.values();
  #isWaking = false;

  /** `onIdle` is called when the last crossing has ended. */
  constructor(alarms: Alarms, post: (message: CrossingMessage) => void, onIdle?: () => void) {
    this.#alarms = alarms;
    this.post = post;
    this.#onIdle = onIdle;
    this.#sleeper = new Sleeper(alarms.own, () => this.#look());
  }

  get size(): number {
    return this.#crossings.size;
  }

  /** Bytes since the beginning. */
  get bytes(): CrossingBytes {
    return [...this.#crossings.values()].reduce(plus, this.#ended);
  }

  /** How many crossings there are of each kind. */
  get kinds(): Record<string, number> {
    const kinds: Record<string, number> = {};
    for (const { kind } of this.#crossings.values()) kinds[kind] = (kinds[kind] ?? 0) + 1;
    return kinds;
  }

  add(id: number, memory: CrossingMemory, kind: string): Crossing {
    const crossing = new Crossing(this, id, memory, kind);
    this.#crossings.set(id, crossing);
    return crossing;
  }

  delete(crossing: Crossing): void {
    if (!this.#crossings.delete(crossing.id)) return;
    this.#ended = plus(this.#ended, crossing);
    if (this.#crossings.size === 0) this.#onIdle?.();
  }

  /** Memory that neither side uses any more. */
  keep(memory: CrossingMemory): void {
    if (this.#kept.length < MAX_KEPT) this.#kept.push(memory);
  }

  /** Memory of an earlier crossing, as new. */
  takeKept(): CrossingMemory | undefined {
    const memory = this.#kept.pop();
    for (const ring of memory ? [memory.received, memory.sent] : []) renewRing(ring);
    return memory;
  }

  /** A message of the other thread arrived. Those of crossings that ended on this side meanwhile are dropped. */
  onMessage({ id, message }: CrossingMessage): void {
    this.#crossings.get(id)?.owner?.onMessage(message);
  }

  touch(): void {
    this.#sleeper.touch();
  }

  /** Once for all records of this turn of the event loop. The other thread may see them earlier. */
  wakeOther(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    setImmediate(() => {
      this.#isWaking = false;
      wake(this.#alarms.other);
    });
  }

  /** The other thread is gone: all crossings end. */
  close(error: Error): void {
    this.#sleeper.close();
    const crossings = [...this.#crossings.values()];
    this.#crossings.clear();
    for (const { owner } of crossings) owner?.onLost(error);
  }

  /** The crossings take turns: a turn of the event loop that ends early continues with the next one. */
  #look(): boolean {
    const end = performance.now() + TURN_MS;
    let worked = false;
    for (;;) {
      const { done, value } = this.#rest.next();
      if (done) {
        this.#rest = this.#crossings.values();
        return worked;
      }
      if (value.owner?.onTurn()) worked = true;
      if (performance.now() >= end) return true;
    }
  }
}

function plus({ received, sent }: CrossingBytes, crossing: Crossing): CrossingBytes {
  return { received: received + crossing.received.bytes, sent: sent + crossing.sent.bytes };
}

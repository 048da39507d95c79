// The connections that one thread carries for another cross between both: a pair of rings for the bytes of each, and
// messages for everything rare. Both threads use the same classes.
//
//   main thread                                  I/O thread
//   Crossing ── sent ───── ring of records ────► received ── Crossing      its owner reads and writes the socket
//            ◄─ received ─ ring of records ───── sent ──
//            ◄════════════ messages ════════════►

import { createMarks, markAt, takeMarks } from './marks.ts';
import { createRing, RingReader, RingWriter, renewRing, ringLength } from './ring.ts';
import { createAlarm, Sleeper, wake } from './sleeper.ts';

/** Milliseconds of a turn of the event loop in which crossings are looked at. */
const TURN_MS = 0.5;

/** Memory of ended crossings, for each size, that is kept when none is left. */
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
  /** Its number among the open ones: both sides mark it when something happened. */
  readonly slot: number;
  /** The kind of connection that it carries. */
  readonly kind: string;
  readonly received: RingReader;
  readonly sent: RingWriter;
  owner: CrossingOwner | undefined;
  /** It waits for its turn. */
  isDue = false;
  readonly #side: CrossingSide;
  readonly #memory: CrossingMemory;

  constructor(side: CrossingSide, { id, slot, memory, kind }: CrossingInit) {
    this.#side = side;
    this.#memory = memory;
    this.id = id;
    this.slot = slot;
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
    if (this.sent.publish()) this.#side.mark(this);
  }

  /** Gives the memory of all records up to the current one back to the other thread. */
  release(): void {
    if (this.received.release()) this.#side.mark(this);
  }

  /** The owner wants another turn. */
  touch(): void {
    this.#side.touch(this);
  }

  /** Ends this side, which forgets its owner. @param isLast The other side ended before. */
  close(isLast = false): void {
    this.owner = undefined;
    this.#side.delete(this);
    if (isLast) this.#side.free(this.slot, this.#memory);
  }
}

export interface CrossingInit {
  readonly id: number;
  readonly slot: number;
  readonly memory: CrossingMemory;
  readonly kind: string;
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

/** One thread writes here what the other one has to look at. */
interface Signals {
  readonly alarm: Int32Array;
  /** Crossings for which there is something to do. */
  readonly marks: Int32Array;
}

export interface Alarms {
  readonly own: Signals;
  readonly other: Signals;
}

/** Creates the alarms of a pair of threads, for so many crossings: of this one, and of the other one. */
export function createAlarms(crossings: number): readonly [Alarms, Alarms] {
  const signals = (): Signals => ({ alarm: createAlarm(), marks: createMarks(crossings) });
  const [one, two] = [signals(), signals()];
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
   * Memory of ended crossings, for the next ones of their size. Otherwise it would stay until both threads collect
   * their garbage, which shared memory does not cause.
   */
  readonly #kept = new Map<number, CrossingMemory[]>();
  readonly #slots: (Crossing | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  #nextSlot = 0;
  /** Those that wait for their turn, in this order. */
  #due: Crossing[] = [];
  #isWaking = false;

  /** `onIdle` is called when the last crossing has ended. */
  constructor(alarms: Alarms, post: (message: CrossingMessage) => void, onIdle?: () => void) {
    this.#alarms = alarms;
    this.post = post;
    this.#onIdle = onIdle;
    this.#sleeper = new Sleeper(alarms.own.alarm, () => this.#look());
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

  /** The number of a further crossing. */
  takeSlot(): number {
    return this.#freeSlots.pop() ?? this.#nextSlot++;
  }

  add(init: CrossingInit): Crossing {
    const crossing = new Crossing(this, init);
    this.#crossings.set(init.id, crossing);
    this.#slots[init.slot] = crossing;
    return crossing;
  }

  delete(crossing: Crossing): void {
    if (!this.#crossings.delete(crossing.id)) return;
    this.#slots[crossing.slot] = undefined;
    this.#ended = plus(this.#ended, crossing);
    if (this.#crossings.size > 0) return;
    for (const kept of this.#kept.values()) kept.splice(MAX_KEPT);
    this.#onIdle?.();
  }

  /** Neither side uses the number and the memory any more. */
  free(slot: number, memory: CrossingMemory): void {
    this.#freeSlots.push(slot);
    const { byteLength } = memory.sent;
    const kept = this.#kept.get(byteLength) ?? [];
    this.#kept.set(byteLength, kept);
    kept.push(memory);
  }

  /** Memory of an earlier crossing, as new. */
  takeKept(bytes: number): CrossingMemory | undefined {
    const memory = this.#kept.get(ringLength(bytes))?.pop();
    for (const ring of memory ? [memory.received, memory.sent] : []) renewRing(ring);
    return memory;
  }

  /** A message of the other thread arrived. Those of crossings that ended on this side meanwhile are dropped. */
  onMessage({ id, message }: CrossingMessage): void {
    this.#crossings.get(id)?.owner?.onMessage(message);
  }

  touch(crossing: Crossing): void {
    this.#addDue(crossing);
    this.#sleeper.touch();
  }

  /** Wakes the other thread once for all crossings of this turn of the event loop. It may see the marks earlier. */
  mark({ slot }: Crossing): void {
    markAt(this.#alarms.other.marks, slot);
    if (this.#isWaking) return;
    this.#isWaking = true;
    setImmediate(() => {
      this.#isWaking = false;
      wake(this.#alarms.other.alarm);
    });
  }

  /** The other thread is gone: all crossings end. */
  close(error: Error): void {
    this.#sleeper.close();
    const crossings = [...this.#crossings.values()];
    this.#crossings.clear();
    for (const { owner } of crossings) owner?.onLost(error);
  }

  /** The due crossings take turns: those that a turn of the event loop does not reach are the first in the next one. */
  #look(): boolean {
    takeMarks(this.#alarms.own.marks, (slot) => this.#addDue(this.#slots[slot]));
    if (this.#due.length === 0) return false;
    const turns = this.#due;
    this.#due = [];
    const end = performance.now() + TURN_MS;
    for (let index = 0; index < turns.length; index++) {
      const crossing = turns[index] as Crossing;
      crossing.isDue = false;
      if (crossing.owner?.onTurn()) this.#addDue(crossing);
      if (performance.now() < end) continue;
      this.#due = [...turns.slice(index + 1), ...this.#due];
      break;
    }
    return this.#due.length > 0;
  }

  #addDue(crossing: Crossing | undefined): void {
    if (!crossing || crossing.isDue) return;
    crossing.isDue = true;
    this.#due.push(crossing);
  }
}

function plus({ received, sent }: CrossingBytes, crossing: Crossing): CrossingBytes {
  return { received: received + crossing.received.bytes, sent: sent + crossing.sent.bytes };
}

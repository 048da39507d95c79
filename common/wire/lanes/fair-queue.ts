// Frames of many flows that wait for one path. Flows take turns by bytes, and a flow that starts to wait goes before
// those that have waited for their next turn: deficit round robin with new flows first, as in FQ-CoDel (RFC 8290,
// section 4.2). So a flow with little traffic waits for at most one turn of the flows that started when it did, however
// many bytes others have queued.
//
//   push ─► flow ──► fresh: flows in their first turn ─┐
//                                                      ├─► next
//                    others, in rotation ──────────────┘
//
// It bounds nothing: the owner asks for the bytes of a flow before it pushes.

import { RingQueue } from '#lib/queue/ring-queue.ts';

/** Bytes that a flow may send in one turn. A frame may exceed them; the flow then misses turns. */
const QUANTUM = 16 * 1024;

export interface WaitingFrame {
  readonly bytes: Buffer;
  /** Monotonic time in milliseconds since when it waits. */
  readonly since: number;
}

/** The id of a circuit, or of a connection. */
export type FlowId = string | number;

interface Flow {
  readonly id: FlowId;
  readonly frames: RingQueue<WaitingFrame>;
  bytes: number;
  /** Bytes that it may still send in this turn; negative after a large frame. */
  credit: number;
}

export class FairQueue {
  readonly #flows = new Map<FlowId, Flow>();
  /** Flows in their first turn. */
  #fresh: Flow[] = [];
  /** All others, in rotation. A set keeps the order of insertion. */
  readonly #others = new Set<Flow>();
  #length = 0;
  #bytes = 0;

  /** Number of frames. */
  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of flows that wait. */
  get flows(): number {
    let waiting = 0;
    for (const { frames } of this.#flows.values()) if (frames.length > 0) waiting++;
    return waiting;
  }

  /** The flows with the most waiting bytes, at most `count`. */
  largest(count: number): { readonly flow: FlowId; readonly bytes: number }[] {
    const waiting = [...this.#flows.values()].filter(({ bytes }) => bytes > 0);
    return waiting
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, count)
      .map(({ id, bytes }) => ({ flow: id, bytes }));
  }

  /** Monotonic time since when the oldest frame waits; undefined if none does. */
  get oldestSince(): number | undefined {
    let oldest: number | undefined;
    for (const { frames } of this.#flows.values()) {
      const since = frames.peek()?.since;
      if (since !== undefined && (oldest === undefined || since < oldest)) oldest = since;
    }
    return oldest;
  }

  /** Monotonic time since when the first frame of a flow waits; undefined if none does. */
  waitsSince(flow: FlowId): number | undefined {
    return this.#flows.get(flow)?.frames.peek()?.since;
  }

  /** Whether a flow has a place in the rotation: its frames wait, or its last one has just left. */
  isActive(flow: FlowId): boolean {
    return this.#flows.has(flow);
  }

  bytesOf(flow: FlowId): number {
    return this.#flows.get(flow)?.bytes ?? 0;
  }

  /** Adds a frame; the queue owns its memory until `shift`. */
  push(id: FlowId, frame: WaitingFrame): void {
    let flow = this.#flows.get(id);
    if (!flow) {
      flow = { id, frames: new RingQueue(Number.POSITIVE_INFINITY), bytes: 0, credit: QUANTUM };
      this.#flows.set(id, flow);
      this.#fresh.push(flow);
    }
    flow.frames.push(frame);
    flow.bytes += frame.bytes.length;
    this.#length++;
    this.#bytes += frame.bytes.length;
  }

  /** Forgets whose turn it is, if no frame waits: nobody has to share. */
  settle(): void {
    if (this.#length === 0 && this.#flows.size > 0) this.clear();
  }

  /**
   * Removes the next frame. Its flow keeps its place in the rotation, so that an owner who pushes the next frame of
   * this flow at once gains nothing by that. Call `settle` when no further frames are removed.
   */
  shift(): { readonly flow: FlowId; readonly frame: WaitingFrame } | undefined {
    const flow = this.#next();
    const frame = flow?.frames.shift();
    if (!flow || !frame) return undefined;
    const size = frame.bytes.length;
    flow.bytes -= size;
    flow.credit -= size;
    this.#length--;
    this.#bytes -= size;
    return { flow: flow.id, frame };
  }

  clear(): void {
    this.#flows.clear();
    this.#fresh = [];
    this.#others.clear();
    this.#length = 0;
    this.#bytes = 0;
  }

  /** The flow whose turn it is; undefined if no frame waits. */
  #next(): Flow | undefined {
    if (this.#length === 0) return undefined;
    for (;;) {
      const isFresh = this.#fresh.length > 0;
      const flow = isFresh ? this.#fresh[0] : first(this.#others);
      if (!flow) return undefined;
      if (flow.frames.length > 0 && flow.credit > 0) return flow;
      if (isFresh) this.#fresh.shift();
      else this.#others.delete(flow);
      if (flow.frames.length > 0) {
        flow.credit += QUANTUM;
        this.#others.add(flow);
      } else if (isFresh) {
        this.#others.add(flow); // else it would be fresh again at once, before the others
      } else this.#flows.delete(flow.id);
    }
  }
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  for (const each of set) return each;
  return undefined;
}

// Frames of many flows that wait for one path. The owners of the flows take turns by bytes, and within the turn of an
// owner its flows do: deficit round robin on two levels. So an owner gets the same part of the path with one flow or
// with sixty. A flow that starts to wait goes before those that have waited for their next turn, as in FQ-CoDel
// (RFC 8290, section 4.2), also before those of other owners: its owner then uses its next turn early. So a flow with
// little traffic waits for at most one turn of the flows that started when it did, however many bytes others have
// queued. Each second turn of an owner begins with a flow that is not new, so always new ones do not hold it back.
//
//   push ─► flow ─► owner ──► fresh: owners with a flow in its first turn, and credit ─┐
//                                                                                      ├─► owner ─► flow ─► next
//                             rotation: all owners ────────────────────────────────────┘
//
// It bounds nothing: the caller asks for the bytes of a flow and its owner before it pushes.

import { RingQueue } from '#lib/queue/ring-queue.ts';

/** Bytes that an owner, or a flow of it, may send in one turn. A frame may exceed them; turns are then missed. */
const QUANTUM = 16 * 1024;

export interface WaitingFrame {
  readonly bytes: Buffer;
  /** Monotonic time in milliseconds since when it waits. */
  readonly since: number;
}

/** The id of a circuit, or of a connection. */
export type FlowId = string | number;

/** The identity that has opened a flow, or the place where it enters this router. */
export type OwnerId = string;

interface Flow {
  readonly id: FlowId;
  readonly owner: Owner;
  readonly frames: RingQueue<WaitingFrame>;
  bytes: number;
  /** Bytes that it may still send in this turn; negative after a large frame. */
  credit: number;
}

interface Owner {
  readonly id: OwnerId;
  /** Flows in their first turn, and all others in rotation. */
  readonly fresh: RingQueue<Flow>;
  readonly others: RingQueue<Flow>;
  bytes: number;
  /** As of a flow. */
  credit: number;
  /** Whether it is among the fresh owners. */
  isFresh: boolean;
  /** Whether a flow in its first turn has used the last turn; the next turn then begins with another one. */
  hasServedFresh: boolean;
}

export class FairQueue {
  readonly #flows = new Map<FlowId, Flow>();
  readonly #owners = new Map<OwnerId, Owner>();
  /** Owners with credit and a flow in its first turn. */
  readonly #fresh = new RingQueue<Owner>(Number.POSITIVE_INFINITY);
  /** All owners. */
  readonly #rotation = new RingQueue<Owner>(Number.POSITIVE_INFINITY);
  #length = 0;
  #bytes = 0;
  /** Returns the owner of a flow that starts to wait. By default, all flows have the same one. */
  ownerOf: (flow: FlowId) => OwnerId = () => '';

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

  bytesOfOwner(owner: OwnerId): number {
    return this.#owners.get(owner)?.bytes ?? 0;
  }

  /** Bytes of the other flows of the same owner. */
  bytesBeside(id: FlowId): number {
    const flow = this.#flows.get(id);
    return flow ? flow.owner.bytes - flow.bytes : this.bytesOfOwner(this.ownerOf(id));
  }

  /** Adds a frame; the queue owns its memory until `shift`. */
  push(id: FlowId, frame: WaitingFrame): void {
    const flow = this.#flows.get(id) ?? this.#start(id);
    flow.frames.push(frame);
    const size = frame.bytes.length;
    flow.bytes += size;
    flow.owner.bytes += size;
    this.#length++;
    this.#bytes += size;
  }

  /** Forgets whose turn it is, if no frame waits: nobody has to share. */
  settle(): void {
    if (this.#length === 0 && this.#owners.size > 0) this.clear();
  }

  /**
   * Removes the next frame. Its flow keeps its place in the rotation, so that a caller who pushes the next frame of
   * this flow at once gains nothing by that. Call `settle` when no further frames are removed.
   */
  shift(): { readonly flow: FlowId; readonly frame: WaitingFrame } | undefined {
    if (this.#length === 0) return undefined;
    const flow = this.#next();
    const { owner } = flow;
    const frame = flow.frames.shift() as WaitingFrame;
    const size = frame.bytes.length;
    flow.bytes -= size;
    flow.credit -= size;
    owner.bytes -= size;
    owner.credit -= size;
    this.#length--;
    this.#bytes -= size;
    return { flow: flow.id, frame };
  }

  clear(): void {
    this.#flows.clear();
    this.#owners.clear();
    this.#fresh.clear();
    this.#rotation.clear();
    this.#length = 0;
    this.#bytes = 0;
  }

  #start(id: FlowId): Flow {
    const ownerId = this.ownerOf(id);
    let owner = this.#owners.get(ownerId);
    if (!owner) {
      const [fresh, others] = [endless<Flow>(), endless<Flow>()];
      owner = { id: ownerId, fresh, others, bytes: 0, credit: QUANTUM, isFresh: false, hasServedFresh: false };
      this.#owners.set(ownerId, owner);
      this.#rotation.push(owner);
    }
    const flow = { id, owner, frames: endless<WaitingFrame>(), bytes: 0, credit: QUANTUM };
    this.#flows.set(id, flow);
    owner.fresh.push(flow);
    this.#refresh(owner);
    return flow;
  }

  /** Puts an owner among the fresh ones, if it belongs there. */
  #refresh(owner: Owner): void {
    if (owner.isFresh || owner.credit <= 0 || owner.fresh.length === 0) return;
    owner.isFresh = true;
    this.#fresh.push(owner);
  }

  /** The flow whose turn it is. Some frame waits. */
  #next(): Flow {
    for (let owner = this.#fresh.peek(); owner; owner = this.#fresh.peek()) {
      const flow = owner.credit > 0 ? this.#nextFresh(owner) : undefined;
      if (flow) return flow;
      this.#fresh.shift();
      owner.isFresh = false;
    }
    for (;;) {
      const owner = this.#rotation.peek() as Owner;
      if (owner.bytes > 0 && owner.credit > 0) return this.#nextFresh(owner) ?? (this.#nextOther(owner) as Flow);
      this.#rotation.shift();
      if (owner.bytes === 0) this.#forgetFlows(owner);
      // An owner pays for its last frames, also if none waits when its turn comes.
      if (owner.bytes === 0 && owner.credit > 0) {
        this.#owners.delete(owner.id);
        continue;
      }
      owner.credit += QUANTUM;
      this.#rotation.push(owner);
      this.#refresh(owner);
      // Always new flows would else hold back the others for ever, and the places of those that ended would remain.
      const other = owner.credit > 0 && owner.hasServedFresh ? this.#nextOther(owner) : undefined;
      if (owner.credit > 0) owner.hasServedFresh = false;
      const flow = other ?? (owner.isFresh ? this.#nextFresh(owner) : undefined);
      if (flow) return flow;
    }
  }

  /** A flow of an owner that waits in its first turn. Flows that have used theirs join the others. */
  #nextFresh(owner: Owner): Flow | undefined {
    const { fresh, others } = owner;
    for (let flow = fresh.peek(); flow; flow = fresh.peek()) {
      if (flow.frames.length > 0 && flow.credit > 0) {
        owner.hasServedFresh = true;
        return flow;
      }
      fresh.shift();
      if (flow.frames.length > 0) flow.credit += QUANTUM;
      others.push(flow); // also one without frames: else it would be fresh again at once, before the others
    }
    return undefined;
  }

  /** A waiting flow of an owner after its first turn. Flows without frames lose their places on the way. */
  #nextOther({ others }: Owner): Flow | undefined {
    for (let flow = others.peek(); flow; flow = others.peek()) {
      if (flow.frames.length > 0 && flow.credit > 0) return flow;
      others.shift();
      if (flow.frames.length > 0) {
        flow.credit += QUANTUM;
        others.push(flow);
      } else this.#flows.delete(flow.id);
    }
    return undefined;
  }

  /** An owner of which nothing waits gives up the places of its flows. */
  #forgetFlows({ fresh, others }: Owner): void {
    for (const flows of [fresh, others])
      for (let flow = flows.shift(); flow; flow = flows.shift()) this.#flows.delete(flow.id);
  }
}

function endless<T>(): RingQueue<T> {
  return new RingQueue<T>(Number.POSITIVE_INFINITY);
}

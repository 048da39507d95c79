// The send queues of a channel, one per lane. A lane has a list of underlay types, best first. It uses the first type
// that has an underlay, so order is kept within a lane as long as the set of underlays does not change.
//
//   frame ──► least loaded underlay of the lane's type, if it accepts frames ──► else the lane's queue

import { sharedBuffers } from '#lib/buffer-pool.ts';
import type { Clock } from '#lib/clock.ts';
import { RingQueue } from '#lib/ring-queue.ts';
import type { Underlay } from './underlay.ts';

export interface LanePolicy {
  /** Underlay types that may carry the lane, best first. */
  readonly types: readonly string[];
  /** Limit on frames that wait for an underlay. */
  readonly queueLimit: number;
  /** The lane is full while so many bytes wait. Undefined: only their number counts. */
  readonly byteLimit?: number;
  /**
   * Equally loaded underlays take turns, so that a silent one does not get every retransmission. For receivers that
   * order frames.
   */
  readonly takesTurns?: boolean;
  /**
   * Frames join others that wait for the same write, on an underlay of any of the types: one system call instead of
   * one for each underlay.
   */
  readonly gathers?: boolean;
}

export const DEFAULT_LANE = 'default';

interface Queued {
  bytes: Buffer;
  /** Monotonic time since when it waits. */
  since: number;
}

export interface Lane extends LanePolicy {
  readonly name: string;
  readonly queue: RingQueue<Queued>;
  /** Bytes of the queued frames. */
  bytes: number;
}

export interface SendLanesComponents {
  clock: Clock;
  /** The current underlays of the channel. */
  underlays: ReadonlySet<Underlay>;
  /** A full lane accepts frames again. */
  onWritable(lane: string): void;
}

const NONE: readonly Lane[] = [];

export class SendLanes {
  readonly #components: SendLanesComponents;
  readonly #lanes = new Map<string, Lane>();
  readonly #all: readonly Lane[];
  /** Index of the lane that writes next. */
  #next = 0;
  /** Increases with each write of a lane that takes turns. */
  #turn = 0;

  constructor(components: SendLanesComponents, policies: Readonly<Record<string, LanePolicy>>) {
    this.#components = components;
    for (const [name, policy] of Object.entries(policies))
      this.#lanes.set(name, { ...policy, name, queue: new RingQueue(policy.queueLimit), bytes: 0 });
    this.#all = [...this.#lanes.values()];
  }

  /** The lane of this name, else the default lane; undefined if both are missing. */
  get(name: string): Lane | undefined {
    return this.#lanes.get(name) ?? this.#lanes.get(DEFAULT_LANE);
  }

  /** The type if a lane uses it, else the best one of the first lane: a peer may know further types. */
  knownType(type: string): string {
    return this.#all.some(({ types }) => types.includes(type)) ? type : (this.#all[0]?.types[0] ?? type);
  }

  /** Writes or queues a copy of a frame. Returns false if the lane is full. */
  enqueue(head: Buffer, body: Buffer | undefined, lane: Lane): boolean {
    if (lane.queue.length === 0) {
      const underlay = this.#underlayFor(lane);
      if (underlay?.writable) {
        underlay.write(head, body);
        return true;
      }
    }
    if (isFull(lane)) return false;
    const bytes = inOne(head, body);
    lane.bytes += bytes.length;
    return lane.queue.push({ bytes, since: this.#components.clock.monotonic() });
  }

  #underlayFor(lane: Lane): Underlay | undefined {
    return (lane.gathers ? this.#gathering(lane) : undefined) ?? this.#leastLoaded(lane);
  }

  #gathering(lane: Lane): Underlay | undefined {
    for (const underlay of this.#components.underlays)
      if (underlay.isGathering && lane.types.includes(underlay.type)) return underlay;
    return undefined;
  }

  /** The least loaded underlay of the best available type. */
  #leastLoaded(lane: Lane): Underlay | undefined {
    for (const type of lane.types) {
      let best: Underlay | undefined;
      for (const underlay of this.#components.underlays) {
        if (underlay.type !== type || underlay.isClosed) continue; // an ending one stays until its last bytes are written
        if (
          !best ||
          underlay.backlog < best.backlog ||
          (underlay.backlog === best.backlog && underlay.turn < best.turn)
        )
          best = underlay;
      }
      if (best && lane.takesTurns) best.turn = ++this.#turn;
      if (best) return best;
    }
    return undefined;
  }

  /**
   * Writes queued frames until the underlays are full. Lanes that share an underlay alternate: a lane that is always full
   * would hold back the others for as long as it is.
   */
  pump(): void {
    const full = this.#all.some(isFull) ? this.#all.filter(isFull) : NONE;
    for (let skipped = 0; skipped < this.#all.length; ) {
      const lane = this.#all[this.#next] as Lane;
      this.#next = (this.#next + 1) % this.#all.length;
      skipped = this.#writeNext(lane) ? 0 : skipped + 1;
    }
    for (const lane of full) if (!isFull(lane)) this.#components.onWritable(lane.name);
  }

  /** Returns false if the lane is empty, or its underlay full. */
  #writeNext(lane: Lane): boolean {
    const underlay = lane.queue.length > 0 ? this.#underlayFor(lane) : undefined;
    if (!underlay?.writable) return false;
    this.#write(lane, underlay);
    return true;
  }

  #write(lane: Lane, underlay: Underlay): void {
    const next = lane.queue.shift();
    if (!next) return;
    lane.bytes -= next.bytes.length;
    underlay.write(next.bytes);
    sharedBuffers.release(next.bytes);
  }

  /** Writes all queued frames, although the underlays are full: the channel ends. */
  flush(): void {
    for (const lane of this.#all) {
      const underlay = this.#underlayFor(lane);
      while (underlay && lane.queue.length > 0) this.#write(lane, underlay);
    }
  }

  clear(): void {
    for (const lane of this.#lanes.values()) {
      lane.queue.clear();
      lane.bytes = 0;
    }
  }
}

function inOne(head: Buffer, body: Buffer | undefined): Buffer {
  if (body === undefined) return sharedBuffers.copy(head);
  const bytes = sharedBuffers.acquire(head.length + body.length);
  head.copy(bytes);
  body.copy(bytes, head.length);
  return bytes;
}

/** Whether a lane rejects frames. */
export function isFull({ queue, bytes, byteLimit }: Lane): boolean {
  return queue.full || (byteLimit !== undefined && bytes >= byteLimit);
}

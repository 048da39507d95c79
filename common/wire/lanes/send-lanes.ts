// The send queues of a channel, one per lane. A lane has a list of underlay types, best first. It uses the first type
// that has an underlay, so order is kept within a lane as long as the set of underlays does not change.
//
//   frame ──► least loaded underlay of the lane's type, if it accepts frames ──► else the lane's queue
//
// In a lane of flows, order is kept within a flow, their owners and then the flows of each take turns (fair-queue.ts),
// and the path decides how much the system gets (path/channel-path.ts): the rest waits here. The memory for waiting
// frames is shared in the same way.

import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Underlay } from '../connection/underlay.ts';
import { ChannelPath, type LaneConnections, type PathInspection } from '../path/channel-path.ts';
import type { CongestionChange } from '../path/congestion-choice.ts';
import { FairQueue, type FlowId, type OwnerId, type WaitingFrame } from './fair-queue.ts';
import { DEFAULT_LANE, type LaneMap, type LaneName } from './lane-name.ts';
import { PlainQueue } from './plain-queue.ts';

/** Memory that the waiting frames of several channels share. */
export interface QueueBudget {
  /** Bytes that the flows of one owner may hold at the moment in one lane. */
  readonly share: number;
  /** The flows together hold so much that even one frame of a further flow must wait at its sender. */
  readonly isExhausted: boolean;
  /** Records that `bytes` more are held, or fewer if negative. */
  add(bytes: number): void;
}

/**
 * The types of a lane are those of underlays that may carry it. Equally loaded ones take turns for receivers that order
 * frames, so that a silent one does not get every retransmission. Frames that gather cost one system call for several.
 */
export interface LanePolicy extends LaneConnections {
  /** Limit on frames that wait for an underlay. In a lane of flows: on full frames of one flow, see `FULL_FRAME`. */
  readonly queueLimit: number;
  /** The lane is full while so many bytes wait. Undefined: only their number counts. */
  readonly byteLimit?: number;
  /** Frames belong to flows, which take turns; the waiting frames of all flows use this memory. */
  readonly flows?: QueueBudget;
}

/** Bytes of a payload of the largest size. */
const FULL_FRAME = 64 * 1024;
/** Bytes of a frame that passes bulk traffic, if its flow waits for nothing. */
const LIGHT_FRAME = 4 * 1024;
/**
 * Milliseconds until a lane looks again whether the path has room, since the system does not notify: at least, as a
 * share of the time for which the path has made no progress, and at most.
 */
const MIN_POLL = 1;
const POLL_SHARE = 1 / 8;
const MAX_POLL = 500;
/**
 * Bytes of a flow that may wait before its sender is slowed down, and by how much each further byte slows it down. A
 * sender with the usual window of 4 MiB comes to rest with about half a MiB waiting.
 */
const FREE_WAITING = 128 * 1024;
const BACK_PRESSURE = 8;
/** Bytes. A flow whose share is smaller slows its sender down earlier, in the same proportion. */
const USUAL_SHARE = 8 * 1024 * 1024;
/** Bytes that a waiting frame needs beside its own: objects, places in queues. */
const FRAME_OVERHEAD = 256;
/** Bytes of a flow that may wait, whatever other flows of its owner hold. */
const MIN_SHARE = 16 * 1024;
/**
 * An owner whose flows together hold more than so many shares must wait to queue a frame of a further flow: its flows
 * may each exceed the share by a frame, and others need places, too.
 */
const MAX_SHARES = 2;

export interface Lane extends LanePolicy {
  readonly queue: PlainQueue | FairQueue;
  /** Called when the full lane accepts frames again; for a lane of flows: when some of its waiting frames have left. */
  readonly writable: Listeners<void>;
  /** By flow with a waiting frame: senders that wait until its last one has left. */
  readonly waiting: Map<FlowId, Set<() => void>>;
  /** By owner: senders that wait until it may queue a frame of another flow. */
  readonly starved: Map<OwnerId, Set<() => void>>;
}

export interface SendLanesComponents {
  clock: Clock;
  /** For the frames that wait. */
  buffers: BufferPool;
  log: Log;
  /** The current underlays of the channel. */
  underlays: ReadonlySet<Underlay>;
  /** Asks the peer over this connection for the time that bytes need to reach it; `noteOneWay` receives the answer. */
  ask?(underlay: Underlay): void;
  /** Losses limit the path, or no longer do, and its connections change their congestion control, or may not. */
  onCongestionChange?(change: CongestionChange): void;
}

const NONE: readonly Lane[] = [];

export class SendLanes {
  readonly #components: SendLanesComponents;
  readonly #buffers: BufferPool;
  readonly #lanes = new Map<LaneName, Lane>();
  readonly #all: readonly Lane[];
  /** Those with flows. */
  readonly #paced: readonly Lane[];
  readonly #path: ChannelPath;
  #poll: Timer | undefined;
  #pollInterval = MIN_POLL;
  /** Index of the lane that writes next. */
  #next = 0;

  constructor(components: SendLanesComponents, policies: LaneMap<LanePolicy>) {
    this.#components = components;
    this.#buffers = components.buffers;
    for (const [name, policy] of policies) {
      const queue = policy.flows ? new FairQueue() : new PlainQueue(policy.queueLimit, policy.byteLimit);
      const writable = new Listeners<void>('lanes with room', components.log);
      this.#lanes.set(name, { ...policy, queue, writable, waiting: new Map(), starved: new Map() });
    }
    this.#all = [...this.#lanes.values()];
    this.#paced = this.#all.filter(({ flows }) => flows);
    const { clock, underlays, onCongestionChange } = components;
    this.#path = new ChannelPath({ clock, underlays, hasFlows: this.#paced.length > 0, onCongestionChange });
  }

  /** The lane of this name, else the default lane; undefined if both are missing. */
  get(name: LaneName): Lane | undefined {
    return this.#lanes.get(name) ?? this.#lanes.get(DEFAULT_LANE);
  }

  /** The type if a lane uses it, else the best one of the first lane: a peer may know further types. */
  knownType(type: string): string {
    return this.#all.some(({ types }) => types.includes(type)) ? type : (this.#all[0]?.types[0] ?? type);
  }

  /**
   * Bytes to add to the receive buffer that acknowledgements of a flow report, because frames of the flow wait here:
   * its sender slows down before the flow is full and its frames are dropped.
   */
  backPressure(lane: Lane, flow: FlowId): number {
    const { queue, flows } = lane;
    const waiting = queue.bytesOf(flow);
    if (!flows || waiting === 0) return 0;
    const scarcity = Math.max(1, USUAL_SHARE / shareOf(lane, flow));
    return waiting * scarcity <= FREE_WAITING ? 0 : Math.round(waiting * BACK_PRESSURE * scarcity);
  }

  /** Frames have left the path, but did not arrive: the next ones use another connection. */
  preferNext(): void {
    this.#path.preferNext();
  }

  /** Whether the path bounds the bytes that the system holds. */
  get isPaced(): boolean {
    return this.#path.isPaced;
  }

  /** Bytes of a frame of bulk traffic that is short enough for the path. */
  get frameLimit(): number {
    return this.#path.frameLimit;
  }

  /** Monotonic time before which all frames of a flow have reached the peer's system; undefined if unknown. */
  deliveredBefore({ queue }: Lane, flow: FlowId): number | undefined {
    if (!this.#path.isKnown) return undefined;
    return Math.min(this.#path.deliveredBefore, queue.waitsSince(flow) ?? Number.POSITIVE_INFINITY);
  }

  /** The answer to `ask`; undefined if the peer does not know it. */
  noteOneWay(milliseconds: number | undefined): void {
    this.#path.noteOneWay(milliseconds);
  }

  inspectPath(): PathInspection | undefined {
    return this.#path.inspect();
  }

  /** The set of underlays changed. */
  update(): void {
    this.#path.update();
    this.pump();
  }

  /**
   * Calls `task` once: when the last waiting frame of a flow has left, or if none waits, when its owner may queue one
   * or the path has room for it. Also if the channel closes first. Returns how to cancel it.
   */
  onceWritable({ queue, waiting, starved }: Lane, flow: FlowId, task: () => void): () => void {
    if (queue.bytesOf(flow) > 0) return addTask(waiting, flow, task);
    this.#pollPath();
    return addTask(starved, queue instanceof FairQueue ? queue.ownerOf(flow) : '', task);
  }

  /** Writes or queues a copy of a frame. Returns false if the lane is full; in a lane of flows, if the flow is. */
  enqueue(head: Buffer, body: Buffer | undefined, lane: Lane, flow: FlowId): boolean {
    const size = head.length + (body?.length ?? 0);
    const underlay = this.#atOnce(lane, flow, size);
    if (underlay) {
      this.#path.wrote(underlay, size);
      underlay.write(head, body);
      return true;
    }
    if (isFull(lane, flow, size)) return false;
    this.#push(lane, flow, { bytes: inOne(head, body, this.#buffers), since: this.#components.clock.monotonic() });
    return true;
  }

  /** The underlay for a frame that need not wait. */
  #atOnce(lane: Lane, flow: FlowId, size: number): Underlay | undefined {
    const { queue } = lane;
    if (queue instanceof PlainQueue) return queue.length === 0 ? this.#accepting(lane) : undefined;
    if (queue.isActive(flow)) return undefined;
    const isPaced = this.#path.isKnown;
    if (size <= LIGHT_FRAME && !(isPaced && this.#path.isBusy)) return this.#accepting(lane);
    if (size <= LIGHT_FRAME) return this.#path.light(lane.takesTurns ? undefined : lane.types);
    return queue.length > 0 ? undefined : this.#bulk(lane);
  }

  #accepting(lane: Lane): Underlay | undefined {
    const underlay = this.#path.leastLoaded(lane);
    return underlay?.writable ? underlay : undefined;
  }

  #push(lane: Lane, flow: FlowId, frame: WaitingFrame): void {
    lane.flows?.add(frame.bytes.length + FRAME_OVERHEAD);
    lane.queue.push(flow, frame);
    if (lane.flows) this.#pollPath();
  }

  /**
   * Writes queued frames until the underlays are full. Lanes that share an underlay alternate: a lane that is always
   * full would hold back the others for as long as it is.
   */
  pump(): void {
    if (this.#all.every(isEmpty)) {
      for (const lane of this.#paced) this.#settle(lane);
      return;
    }
    const before = this.#paced.map(({ queue }) => queue.length);
    const full = this.#all.some(isFullPlain) ? this.#all.filter(isFullPlain) : NONE;
    for (let skipped = 0; skipped < this.#all.length; ) {
      const lane = this.#all[this.#next] as Lane;
      this.#next = (this.#next + 1) % this.#all.length;
      skipped = this.#writeNext(lane) ? 0 : skipped + 1;
    }
    for (const lane of full) if (!isFullPlain(lane)) lane.writable.call();
    for (const [index, lane] of this.#paced.entries()) {
      if (lane.queue.length < (before[index] ?? 0)) lane.writable.call();
      this.#settle(lane);
    }
  }

  /** Some frames of a lane of flows may have left. */
  #settle(lane: Lane): void {
    const { queue, starved } = lane;
    if (queue instanceof FairQueue) queue.settle();
    if (starved.size > 0) this.#callStarved(lane);
    if (queue.length > 0 || starved.size > 0) this.#pollPath();
  }

  #callStarved(lane: Lane): void {
    const { starved } = lane;
    for (const [owner, tasks] of starved) {
      let left = tasks.size; // those that come back are called later
      for (const task of tasks) {
        if (left-- === 0 || !this.#hasRoom(lane, owner)) break;
        tasks.delete(task);
        task();
      }
      if (tasks.size === 0) starved.delete(owner);
    }
  }

  #hasRoom(lane: Lane, owner: OwnerId): boolean {
    return !isFullFor(lane, owner) || (lane.queue.length === 0 && this.#bulk(lane) !== undefined);
  }

  /** A frame of the peer arrived, so bytes may have been acknowledged: on a fast path, sooner than any timer tells. */
  onInput(bytes: number): void {
    if (bytes > LIGHT_FRAME) this.#path.noteBulkArrived();
    for (const { queue } of this.#paced)
      if (queue.length > 0) {
        this.pump();
        return;
      }
  }

  /** The system does not notify when the peer has acknowledged bytes. */
  #pollPath(): void {
    if (!this.#path.isKnown) return;
    this.#poll ??= this.#components.clock.after('path has room', this.#pollInterval, () => {
      this.#poll = undefined;
      const still = this.#path.check();
      this.#pollInterval = Math.min(MAX_POLL, Math.max(MIN_POLL, still * POLL_SHARE));
      const asked = this.#components.ask && this.#path.takeQuestion();
      if (asked) this.#components.ask?.(asked);
      this.pump();
    });
  }

  /** Returns false if the lane is empty, or its underlays full. */
  #writeNext(lane: Lane): boolean {
    const underlay = lane.queue.length > 0 ? this.#bulk(lane) : undefined;
    if (!underlay) return false;
    this.#write(lane, underlay);
    return true;
  }

  #bulk(lane: Lane): Underlay | undefined {
    return lane.flows && this.#path.isKnown ? this.#path.bulk(lane.types, !lane.takesTurns) : this.#accepting(lane);
  }

  #write(lane: Lane, underlay: Underlay): void {
    const next = lane.queue.shift();
    if (!next) return;
    const { flow, frame } = next;
    this.#path.wrote(underlay, frame.bytes.length);
    underlay.write(frame.bytes);
    this.#buffers.release(frame.bytes);
    if (!lane.flows) return;
    lane.flows.add(-frame.bytes.length - FRAME_OVERHEAD);
    if (lane.waiting.size > 0 && lane.queue.bytesOf(flow) === 0) this.#callWaiting(lane, flow);
  }

  /** The last waiting frame of a flow has left. */
  #callWaiting({ waiting }: Lane, flow: FlowId): void {
    const tasks = waiting.get(flow);
    waiting.delete(flow);
    for (const task of tasks ?? []) task();
  }

  /** Writes all queued frames, although the underlays are full: the channel ends. */
  flush(): void {
    for (const lane of this.#all) {
      const underlay = this.#path.leastLoaded({ types: lane.types });
      while (underlay && lane.queue.length > 0) this.#write(lane, underlay);
    }
  }

  clear(): void {
    this.#poll?.cancel();
    for (const { queue, flows, waiting, starved } of this.#all) {
      flows?.add(-queue.bytes - FRAME_OVERHEAD * queue.length);
      queue.clear();
      const all = [...waiting.values(), ...starved.values()];
      waiting.clear();
      starved.clear();
      for (const tasks of all) for (const task of tasks) task();
    }
  }
}

/** Adds a task under a key; returns how to cancel it. */
function addTask<Key>(all: Map<Key, Set<() => void>>, key: Key, task: () => void): () => void {
  const tasks = all.get(key) ?? new Set();
  all.set(key, tasks);
  tasks.add(task);
  return () => {
    tasks.delete(task);
    if (tasks.size === 0 && all.get(key) === tasks) all.delete(key);
  };
}

function inOne(head: Buffer, body: Buffer | undefined, buffers: BufferPool): Buffer {
  if (body === undefined) return buffers.copy(head);
  const bytes = buffers.acquire(head.length + body.length);
  head.copy(bytes);
  body.copy(bytes, head.length);
  return bytes;
}

function isFullPlain({ queue }: Lane): boolean {
  return queue instanceof PlainQueue && queue.isFull;
}

function isEmpty({ queue }: Lane): boolean {
  return queue.length === 0;
}

/** Whether a lane rejects a frame of a flow. */
function isFull(lane: Lane, flow: FlowId, size: number): boolean {
  const { queue } = lane;
  if (queue instanceof PlainQueue) return queue.isFull;
  const held = queue.bytesOf(flow);
  return held === 0 ? isFullFor(lane, queue.ownerOf(flow), size) : held + size > shareOf(lane, flow);
}

/** Whether a lane of flows rejects a frame of an owner's flow that has none waiting. */
function isFullFor({ queue, flows }: Lane, owner: OwnerId, size: number = FULL_FRAME): boolean {
  if (!(queue instanceof FairQueue) || !flows) return false;
  const held = queue.bytesOfOwner(owner);
  return flows.isExhausted || (held > 0 && held + size > MAX_SHARES * flows.share);
}

/** Bytes of one flow that may wait: the flows of an owner share what others leave. */
function shareOf({ queue, flows, queueLimit }: Lane, flow: FlowId): number {
  if (!(queue instanceof FairQueue) || !flows) return Number.POSITIVE_INFINITY;
  return Math.min(queueLimit * FULL_FRAME, Math.max(MIN_SHARE, flows.share - queue.bytesBeside(flow)));
}

// One lane of a channel, for those who send frames of flows over it: what waits in it, and when it accepts more.

import type { Subscription } from '#lib/subscription.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FairQueue, type FlowId, type OwnerId } from '../lanes/fair-queue.ts';
import type { Lane, SendLanes } from '../lanes/send-lanes.ts';

/** The channel, as its lanes see it. */
export interface LaneOwner {
  readonly clock: Clock;
  readonly lanes: SendLanes;
  /** Numbers and sends a frame. Returns false if the channel is closed, or the lane or flow is full. */
  sendFrame(head: Buffer, body: Buffer | undefined, lane: Lane, flow: FlowId): boolean;
}

export interface WaitingInspection {
  readonly flows: number;
  readonly frames: number;
  readonly bytes: number;
  readonly largest: readonly { readonly flow: FlowId; readonly bytes: number }[];
}

export class ChannelLane {
  readonly #owner: LaneOwner;
  readonly #lane: Lane;

  constructor(owner: LaneOwner, lane: Lane) {
    this.#owner = owner;
    this.#lane = lane;
  }

  /** Number of frames that wait. */
  get queued(): number {
    return this.#lane.queue.length;
  }

  /** Milliseconds that the oldest frame has waited; 0 if none does. */
  get oldestWait(): number {
    const since = this.#lane.queue.oldestSince;
    return since === undefined ? 0 : this.#owner.clock.monotonic() - since;
  }

  /**
   * The hot path: sends a frame whose 20-byte head and headers are in `head`, and whose body is in `body`, if any.
   * Writes the sequence number into `head`. Returns false if the channel is closed or the lane is full; in a lane of
   * flows, if the flow is. The channel copies both.
   */
  trySendFrame(head: Buffer, body: Buffer | undefined, flow: FlowId = ''): boolean {
    return this.#owner.sendFrame(head, body, this.#lane, flow);
  }

  /** Sets who owns each flow: owners take turns, and share the memory for waiting frames. */
  shareByOwner(ownerOf: (flow: FlowId) => OwnerId): void {
    const { queue } = this.#lane;
    if (queue instanceof FairQueue) queue.ownerOf = ownerOf;
  }

  /** Bytes of a flow that wait. */
  waitingBytes(flow: FlowId): number {
    return this.#lane.queue.bytesOf(flow);
  }

  /** Bytes to add to the receive buffer that acknowledgements of a flow report, so that its sender slows down. */
  backPressure(flow: FlowId): number {
    return this.#owner.lanes.backPressure(this.#lane, flow);
  }

  /** Monotonic time before which all frames of a flow have reached the peer's system; undefined if unknown. */
  deliveredBefore(flow: FlowId): number | undefined {
    return this.#owner.lanes.deliveredBefore(this.#lane, flow);
  }

  /** The waiting frames of a lane of flows, and the `count` flows with the most bytes; undefined for other lanes. */
  inspectWaiting(count: number): WaitingInspection | undefined {
    const { queue } = this.#lane;
    if (!(queue instanceof FairQueue)) return undefined;
    const { length: frames, bytes, flows } = queue;
    return { flows, frames, bytes, largest: queue.largest(count) };
  }

  /** Calls `listener` when the full lane accepts frames again; for a lane of flows: when some waiting frames left. */
  onWritable(listener: () => void): Subscription {
    return this.#lane.writable.add(listener);
  }

  /**
   * Calls `task` once: when the last waiting frame of a flow has left, or if none waits, when its owner may queue one.
   * Also if the channel closes. Returns how to cancel it.
   */
  onceWritable(flow: FlowId, task: () => void): () => void {
    return this.#owner.lanes.onceWritable(this.#lane, flow, task);
  }
}

// Frames that wait in the order in which they came: the queue of lanes without flows. It has the methods of FairQueue.

import { RingQueue } from '#lib/queue/ring-queue.ts';
import type { FlowId, WaitingFrame } from './fair-queue.ts';

export class PlainQueue {
  readonly #frames: RingQueue<WaitingFrame>;
  readonly #byteLimit: number;
  #bytes = 0;

  /** @param byteLimit The queue is full while it holds so many bytes. */
  constructor(limit: number, byteLimit: number = Number.POSITIVE_INFINITY) {
    this.#frames = new RingQueue(limit);
    this.#byteLimit = byteLimit;
  }

  get length(): number {
    return this.#frames.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isFull(): boolean {
    return this.#frames.full || this.#bytes >= this.#byteLimit;
  }

  /** Monotonic time since when the oldest frame waits; undefined if none does. */
  get oldestSince(): number | undefined {
    return this.#frames.peek()?.since;
  }

  waitsSince(_flow: FlowId): number | undefined {
    return this.oldestSince;
  }

  bytesOf(_flow: FlowId): number {
    return this.#bytes;
  }

  /** Only if the queue is not full. */
  push(_flow: FlowId, frame: WaitingFrame): void {
    if (this.#frames.push(frame)) this.#bytes += frame.bytes.length;
  }

  shift(): { readonly flow: FlowId; readonly frame: WaitingFrame } | undefined {
    const frame = this.#frames.shift();
    if (!frame) return undefined;
    this.#bytes -= frame.bytes.length;
    return { flow: '', frame };
  }

  clear(): void {
    this.#frames.clear();
    this.#bytes = 0;
  }
}

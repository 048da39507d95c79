// The receiving half of flow control: puts payloads in order, refuses what does not fit, and knows how much the client
// has not taken yet (reference fact: link, section 2.4).

import type { Payload } from '#wire/xgress-frames.ts';

export type Reception = 'accepted' | 'duplicate' | 'dropped';

/** A small payload cut from a large network buffer would keep all of it alive while it waits. */
const WORTH_COPYING = 8;

export class ReceiveBuffer {
  readonly #limit: number;
  readonly #stored = new Map<number, Payload>();
  #handedOver = -1;
  #highest = -1;
  #size = 0;

  /** `limit` in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that have arrived and that the client has not finished. */
  get size(): number {
    return this.#size;
  }

  /** What is to be acknowledged: everything but `dropped`. */
  receive(payload: Payload): Reception {
    const { sequence } = payload;
    if (sequence <= this.#handedOver || this.#stored.has(sequence)) return 'duplicate';
    if (this.#size > this.#limit && sequence > this.#highest) return 'dropped';
    this.#stored.set(sequence, sequence === this.#handedOver + 1 ? payload : compact(payload));
    this.#highest = Math.max(this.#highest, sequence);
    this.#size += payload.dataLength;
    return 'accepted';
  }

  /** The next payload in order, if it is there. It counts until `finished` is called for it. */
  take(): Payload | undefined {
    const next = this.#stored.get(this.#handedOver + 1);
    if (!next) return undefined;
    this.#handedOver++;
    this.#stored.delete(this.#handedOver);
    return next;
  }

  /** The client has taken `length` bytes. */
  finished(length: number): void {
    this.#size -= length;
  }
}

function compact(payload: Payload): Payload {
  if (payload.head.length * WORTH_COPYING >= payload.head.buffer.byteLength) return payload;
  return payload.copy();
}

// The receiving half of flow control: puts payloads in order, drops what does not fit, and knows how much the client has not
// taken yet (reference fact: link, section 2.4). What was dropped is not acknowledged, so the peer sends it again.

import type { Payload } from '#wire/xgress-frames.ts';
import type { BufferBudget } from './buffer-budget.ts';
import { isEnd, isFin } from './end-marks.ts';

export type Reception = 'accepted' | 'duplicate' | 'dropped';

/** Bytes that a stored payload takes beside its frame: objects and table entries. Payloads without data count by it. */
const PAYLOAD_OVERHEAD = 256;
/** Payloads that are further ahead of the next one are dropped: no sender has so many on their way. */
const MAX_AHEAD = 65_536;
/** The field of an acknowledgement has 32 bits. */
const MOST_REPORTED = 0xffff_ffff;

export class ReceiveBuffer {
  readonly #limit: number;
  readonly #budget: BufferBudget;
  readonly #stored = new Map<number, Payload>();
  #handedOver = -1;
  #size = 0;

  /** `limit` in bytes of memory, in addition to the budget of all ends. */
  constructor(limit: number, budget: BufferBudget) {
    this.#limit = limit;
    this.#budget = budget;
  }

  /** Bytes of memory that payloads take which the client has not finished. */
  get size(): number {
    return this.#size;
  }

  /**
   * The size as reported to the peer: in proportion to what this end may hold now. A peer compares it with a limit of its own, so a buffer
   * whose share is used up has to look as full as one that holds the configured limit.
   */
  get reportedSize(): number {
    return Math.min(MOST_REPORTED, Math.floor(this.#size * (this.#limit / this.#allowed)));
  }

  /** For inspections, with the reference's names. */
  inspect(): Record<string, unknown> {
    const stored = [...this.#stored.keys()];
    const next = stored.length > 0 ? String(stored.reduce((least, each) => Math.min(least, each))) : 'none';
    return {
      size: this.#size,
      payloadCount: stored.length,
      sequence: this.#handedOver,
      maxSequence: stored.reduce((most, each) => Math.max(most, each), this.#handedOver),
      nextPayload: next,
      acquiredSafely: true,
    };
  }

  /** Whether everything up to the end of the peer's direction is here. */
  get holdsEnd(): boolean {
    for (let sequence = this.#handedOver + 1; ; sequence++) {
      const payload = this.#stored.get(sequence);
      if (!payload) return false;
      if (isEnd(payload) || isFin(payload.headers())) return true;
    }
  }

  /**
   * Everything but `dropped` has to be acknowledged. `isTakenNow`: the next payload in order is taken within this call of the caller, so it
   * needs no copy; all others are kept in memory of their own.
   */
  receive(payload: Payload, isTakenNow: boolean): Reception {
    const { sequence } = payload;
    const next = this.#handedOver + 1;
    if (sequence < next || this.#stored.has(sequence)) return 'duplicate';
    // The next one in order always fits: everything that is stored may be waiting for it.
    const isNext = sequence === next;
    if (!isNext && (this.#size >= this.#allowed || sequence - next > MAX_AHEAD)) return 'dropped';
    this.#stored.set(sequence, isNext && isTakenNow ? payload : payload.copy());
    this.#grow(costOf(payload));
    return 'accepted';
  }

  /** The next payload in order, if it is there; the caller releases it. Its cost counts until `finished` is called for it. */
  take(): Payload | undefined {
    const next = this.#stored.get(this.#handedOver + 1);
    if (!next) return undefined;
    this.#handedOver++;
    this.#stored.delete(this.#handedOver);
    return next;
  }

  /** The client has taken payloads that cost so much. */
  finished(cost: number): void {
    this.#grow(-cost);
  }

  clear(): void {
    for (const payload of this.#stored.values()) payload.release();
    this.#stored.clear();
    this.#grow(-this.#size);
  }

  get #allowed(): number {
    return Math.max(1, Math.min(this.#limit, this.#budget.share));
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    this.#budget.add(bytes);
  }
}

/** Bytes of memory that a payload takes while it waits. */
export function costOf(payload: Payload): number {
  return payload.bytes.length + PAYLOAD_OVERHEAD;
}

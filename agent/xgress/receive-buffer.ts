// The receiving half of flow control: orders payloads, drops payloads that do not fit, and counts the bytes that the
// client has not consumed (reference fact: link, section 2.4). Dropped payloads are not acknowledged, so the peer
// retransmits them.

import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import type { Payload } from '#wire/xgress-frames.ts';
import { isEnd, isFin } from './end-marks.ts';

export type Reception = 'accepted' | 'duplicate' | 'dropped';

/**
 * Bytes that a stored payload needs beside its frame: objects and table entries. They also bound payloads without data.
 */
const PAYLOAD_OVERHEAD = 256;
/** Payloads further ahead of the next one are dropped: no sender has that many in flight. */
const MAX_AHEAD = 65_536;
/** The field of an acknowledgement has 32 bits. */
const MAX_REPORTED = 0xffff_ffff;

export class ReceiveBuffer {
  readonly #limit: number;
  readonly #budget: EndBudget;
  readonly #buffers: BufferPool;
  readonly #stored = new Map<number, Payload>();
  /** Payloads that this buffer copied. */
  readonly #copies = new Set<Payload>();
  #handedOver = -1;
  #size = 0;

  /**
   * @param limit Bytes of memory for this end; the budget of all ends applies in addition.
   * @param buffers For copies.
   */
  constructor(limit: number, budget: EndBudget, buffers: BufferPool) {
    this.#limit = limit;
    this.#budget = budget;
    this.#buffers = buffers;
  }

  /** Bytes of memory of payloads that the client has not consumed. */
  get size(): number {
    return this.#size;
  }

  /**
   * The size as reported to the peer, scaled by the share that this end may hold at the moment. A peer compares it with
   * its own limit, so a buffer that has used its share must look as full as one that holds the configured limit.
   */
  get reportedSize(): number {
    return Math.min(MAX_REPORTED, Math.floor(this.#size * (this.#limit / this.#allowed)));
  }

  /** For inspections, with the reference's names. */
  inspect() {
    const stored = [...this.#stored.keys()];
    const next = stored.length > 0 ? String(stored.reduce((min, each) => Math.min(min, each))) : 'none';
    return {
      size: this.#size,
      payloadCount: stored.length,
      sequence: this.#handedOver,
      maxSequence: stored.reduce((max, each) => Math.max(max, each), this.#handedOver),
      nextPayload: next,
      acquiredSafely: true,
    };
  }

  /** Whether every payload up to the end of the peer's direction has arrived. */
  get holdsEnd(): boolean {
    for (let sequence = this.#handedOver + 1; ; sequence++) {
      const payload = this.#stored.get(sequence);
      if (!payload) return false;
      if (isEnd(payload) || isFin(payload.headers())) return true;
    }
  }

  /**
   * The caller acknowledges every payload unless the result is `dropped`. `isConsumedNow`: the caller consumes the next
   * payload in order within this call, so it needs no copy; all other payloads are copied.
   */
  receive(payload: Payload, isConsumedNow: boolean): Reception {
    const { sequence } = payload;
    const next = this.#handedOver + 1;
    if (sequence < next || this.#stored.has(sequence)) return 'duplicate';
    if (!this.#budget.fits(costOf(payload))) return 'dropped';
    // The next payload in order may exceed the share: all stored payloads may be waiting for it.
    const isNext = sequence === next;
    if (!isNext && (this.#size >= this.#allowed || sequence - next > MAX_AHEAD)) return 'dropped';
    if (isNext && isConsumedNow) this.#stored.set(sequence, payload);
    else this.#keepCopy(sequence, payload.copy(this.#buffers));
    this.#grow(costOf(payload));
    return 'accepted';
  }

  /**
   * Removes and returns the next payload in order, if it has arrived; the caller releases it. Its cost counts until
   * `finished`.
   */
  shift(): Payload | undefined {
    const next = this.#stored.get(this.#handedOver + 1);
    if (!next) return undefined;
    this.#handedOver++;
    this.#stored.delete(this.#handedOver);
    return next;
  }

  /**
   * Call once for each payload of `shift`, when it is consumed. Only copies return to the pool: the memory of others
   * belongs to their sender, which may be the other end of the circuit on this router and may have to retransmit them.
   */
  release(payload: Payload): void {
    if (this.#copies.delete(payload)) payload.release();
  }

  /** The client consumed payloads of this cost. */
  finished(cost: number): void {
    this.#grow(-cost);
  }

  clear(): void {
    for (const payload of this.#stored.values()) this.release(payload);
    this.#stored.clear();
    this.#grow(-this.#size);
  }

  #keepCopy(sequence: number, copy: Payload): void {
    this.#stored.set(sequence, copy);
    this.#copies.add(copy);
  }

  get #allowed(): number {
    return Math.max(1, Math.min(this.#limit, this.#budget.share));
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    this.#budget.add(bytes);
  }
}

/** Bytes of memory that a stored payload needs. */
export function costOf(payload: Payload): number {
  return payload.bytes.length + PAYLOAD_OVERHEAD;
}

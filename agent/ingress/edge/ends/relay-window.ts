// The window of a circuit end whose SDK client does its own flow control: the payloads that the client may have on
// their way without an acknowledgement. The router enforces it before the queue of the link, which the circuits of
// others share. A client that respects its own window never has more on the way than this one allows: acknowledgements
// pass here before they reach the client.

import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Bytes of data on their way: the largest window of the reference's SDKs. As there, one payload may exceed it. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Payloads on their way: a window full of payloads of 1 KiB. Smaller ones need as much work. */
const MAX_PAYLOADS = 4_096;
/** Milliseconds between two retransmissions of a payload, after the first one; the wait doubles each time. */
const FIRST_REPEAT = 50;
const MAX_REPEAT = 1_000;
/** Acknowledgements that a delivered payload permits: its own, and a report when it is read. */
const ANSWERS_PER_PAYLOAD = 2;
/** Limit on such permissions. */
const MAX_ANSWERS = 16_384;
/** Control frames, acknowledgements without a payload, and repetitions of acknowledged payloads. */
const OTHERS = { burst: 1_000, perSecond: 100 };

interface Repeat {
  at: number;
  wait: number;
}

export class RelayWindow {
  readonly #clock: Clock;
  readonly #others: TokenBucket;
  /** Bytes by the sequences of the payloads on their way. */
  readonly #sizes = new Map<number, number>();
  /** The last retransmissions of these payloads. */
  readonly #repeats = new Map<number, Repeat>();
  /** All payloads before this sequence are acknowledged, and those of `#acknowledgedAhead`. */
  #acknowledgedBelow = 0;
  readonly #acknowledgedAhead = new Set<number>();
  #bytes = 0;
  #answers = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#others = new TokenBucket(OTHERS, clock.monotonic());
  }

  /** Bytes on their way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the client may send this payload now. */
  admits(sequence: number, bytes: number): boolean {
    const known = this.#sizes.get(sequence);
    if (known !== undefined) return bytes <= known && this.#mayRepeat(sequence);
    if (this.#isAcknowledged(sequence)) return this.takeOther();
    return this.#bytes <= MAX_BYTES && this.#sizes.size < MAX_PAYLOADS;
  }

  /**
   * The payload is on its way. One that the client repeats although it is acknowledged does not count: its
   * acknowledgement has crossed the repetition, and the peer may have ended since.
   */
  sent(sequence: number, bytes: number): void {
    if (this.#sizes.has(sequence) || this.#isAcknowledged(sequence)) return;
    this.#sizes.set(sequence, bytes);
    this.#bytes += bytes;
  }

  /** The peer acknowledged these payloads. */
  acknowledged(sequences: readonly number[]): void {
    for (const sequence of sequences) {
      const bytes = this.#sizes.get(sequence);
      if (bytes === undefined) continue;
      this.#sizes.delete(sequence);
      this.#bytes -= bytes;
      this.#remember(sequence);
      if (this.#repeats.size > 0) this.#repeats.delete(sequence);
    }
  }

  /** A payload was delivered to the client, which acknowledges it. */
  delivered(): void {
    this.#answers = Math.min(MAX_ANSWERS, this.#answers + ANSWERS_PER_PAYLOAD);
  }

  /** Whether the client may send an acknowledgement now. */
  takeAnswer(): boolean {
    if (this.#answers === 0) return this.takeOther();
    this.#answers--;
    return true;
  }

  /** Whether the client may send a control frame now. */
  takeOther(): boolean {
    return this.#others.take(this.#clock.monotonic()) !== undefined;
  }

  #isAcknowledged(sequence: number): boolean {
    return sequence < this.#acknowledgedBelow || this.#acknowledgedAhead.has(sequence);
  }

  /** Forgets acknowledgements far beyond a gap: a repetition of their payloads counts again. */
  #remember(sequence: number): void {
    if (sequence !== this.#acknowledgedBelow) {
      if (this.#acknowledgedAhead.size < MAX_PAYLOADS) this.#acknowledgedAhead.add(sequence);
      return;
    }
    this.#acknowledgedBelow++;
    while (this.#acknowledgedAhead.delete(this.#acknowledgedBelow)) this.#acknowledgedBelow++;
  }

  #mayRepeat(sequence: number): boolean {
    const now = this.#clock.monotonic();
    const last = this.#repeats.get(sequence);
    if (!last) {
      this.#repeats.set(sequence, { at: now, wait: FIRST_REPEAT });
      return true;
    }
    if (now - last.at < last.wait) return false;
    last.at = now;
    last.wait = Math.min(MAX_REPEAT, 2 * last.wait);
    return true;
  }
}

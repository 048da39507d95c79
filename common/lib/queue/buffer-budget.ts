// Bounds the memory of all circuit ends of a router: payloads that wait for a client or an acknowledgement; and that of
// all proxied connections of the simulator. Each end may hold as many bytes as are free. So n ends whose clients do
// not read share the budget evenly (1/(n + 1) each), and a later end gets the same share. No data is lost: an end that
// has used its share stops reading, or drops payloads without acknowledging them, and the peer retransmits. An end may
// exceed its share by one payload, since messages of SDK clients are not split; large ones wait while all ends together
// hold too much. Ends without a socket of their own share a part of the budget: see holder-budgets.ts.

/** Bytes; enough for 15 circuits with full default windows. */
export const BUFFER_BUDGET = 64 * 1024 * 1024;
/** Bytes that an end may always hold, so that it makes progress: the smallest window. */
export const MIN_SHARE_BYTES = 16 * 1024;
/** Bytes of memory of a payload that an end may hold beyond its share at any time: one read of a stream. */
const ORDINARY_PAYLOAD = 68 * 1024;
/** Holders may each exceed their share by a payload: together up to this multiple of the budget. */
export const EXHAUSTED = 2;
/** Larger payloads may exceed the budget up to this multiple of it. */
const MAX_EXCESS_FACTOR = 4;

export class BufferBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number = BUFFER_BUDGET) {
    this.#limit = limit;
  }

  /** Bytes held by all ends. */
  get used(): number {
    return this.#used;
  }

  /** Bytes that nobody holds; negative if ends exceed their shares. */
  get free(): number {
    return this.#limit - this.#used;
  }

  /** Bytes that one end may hold at the moment. */
  get share(): number {
    return Math.max(MIN_SHARE_BYTES, this.free);
  }

  /** So much is held that even one ordinary payload of a further holder is too much. */
  get isExhausted(): boolean {
    return this.#used >= EXHAUSTED * this.#limit;
  }

  /** Whether an end may hold this many more bytes for one payload, even if it has used its share. */
  fits(bytes: number): boolean {
    return bytes <= ORDINARY_PAYLOAD || this.#used + bytes <= MAX_EXCESS_FACTOR * this.#limit;
  }

  /** Records that an end holds `bytes` more, or fewer if negative. */
  add(bytes: number): void {
    this.#used += bytes;
  }
}

// Bounds what all circuit ends of a router hold together: payloads that wait for a client or for an acknowledgement. Each end may
// hold as much as is still free, so that n ends whose clients do not read share the budget evenly (1/(n + 1) each) and one that
// comes later gets as much as they have. Nothing is lost: an end that has its share stops reading, or drops payloads
// unacknowledged, which the peer sends again.

/** Bytes; enough for 15 circuits with full default windows. */
export const BUFFER_BUDGET = 64 * 1024 * 1024;
/** Bytes that an end may hold in any case, so that it always makes progress: the least window. */
const LEAST_SHARE = 16 * 1024;

export class BufferBudget {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number = BUFFER_BUDGET) {
    this.#limit = limit;
  }

  /** Bytes that all ends hold. */
  get used(): number {
    return this.#used;
  }

  /** Bytes that one end may hold now. */
  get share(): number {
    return Math.max(LEAST_SHARE, this.#limit - this.#used);
  }

  /** An end holds so many bytes more, or less. */
  add(bytes: number): void {
    this.#used += bytes;
  }
}

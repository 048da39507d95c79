// Which head of the log the reports of members are compared with. A report is up to `interval` old, while the head is
// current: a member that follows busy changes at once would look behind.

export class ReportedHead {
  readonly #interval: number;
  /** A head that was read at least `interval` ago. */
  #reported = 0n;
  #next = 0n;
  #nextAt = Number.NEGATIVE_INFINITY;

  /** `interval`: milliseconds within which each member reports at least once. */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /**
   * `head` was read at `now` (monotonic milliseconds).
   * @returns a head that was current before the latest report of each member; 0 until there is one
   */
  note(head: bigint, now: number): bigint {
    if (now - this.#nextAt >= this.#interval) {
      this.#reported = this.#next;
      this.#next = head;
      this.#nextAt = now;
    }
    return this.#reported;
  }
}

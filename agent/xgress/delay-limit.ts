// Keeps a circuit from filling queues that it shares with others. The send window bounds what a circuit may have on its way, 4 MiB by
// default; on a short path all of that lies in the buffers of sockets, where each byte of another circuit waits behind it. So the window is
// halved while acknowledgements take much longer than the quickest ones, and grows again by what is acknowledged in time.

/** Bytes that may be on their way in any case, so that a path whose delay varies stays usable. */
const LEAST_LIMIT = 128 * 1024;
/** Milliseconds of delay in addition to the quickest acknowledgements; on longer paths as much as these take. */
const ADDED_DELAY = 3;
/** Milliseconds for which the quickest acknowledgement counts at least: a path can become longer. */
const QUICKEST_COUNTS = 5_000;

export class DelayLimit {
  #bytes = Number.POSITIVE_INFINITY;
  #quickest = Number.POSITIVE_INFINITY;
  #quickestBefore = Number.POSITIVE_INFINITY;
  #since = 0;
  #halvedAt = Number.NEGATIVE_INFINITY;

  /** Bytes that may be on their way. */
  get bytes(): number {
    return this.#bytes;
  }

  /** `size` bytes were on their way when `acknowledged` of them turned out to have taken `delay` milliseconds. */
  measured(delay: number, acknowledged: number, size: number, now: number): void {
    if (now - this.#since > QUICKEST_COUNTS) {
      this.#since = now;
      this.#quickestBefore = this.#quickest;
      this.#quickest = delay;
    }
    this.#quickest = Math.min(this.#quickest, delay);
    const quickest = Math.min(this.#quickest, this.#quickestBefore);
    if (delay <= quickest + Math.max(ADDED_DELAY, quickest)) {
      this.#bytes += acknowledged;
    } else if (now - this.#halvedAt > delay) {
      // Once per round trip: what was sent before has the old delay still.
      this.#halvedAt = now;
      this.#bytes = Math.max(LEAST_LIMIT, Math.min(this.#bytes, size) / 2);
    }
  }
}

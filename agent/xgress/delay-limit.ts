// Keeps a circuit from filling queues that it shares with others, where the path does not bound the bytes in flight
// (#wire/path): within a machine or a rack, where the other router is slower than the path and bytes wait in its
// receive buffers, and where the system does not tell the state of connections. The send window bounds the bytes of a
// circuit in flight, 4 MiB by default. On a short path these bytes fill the socket buffers and delay every other
// circuit. So the window is halved while acknowledgements take much longer than the fastest ones, and grows by the
// bytes acknowledged in time.

/** Bytes that may always be in flight, so that a path with varying delay stays usable. */
const MIN_LIMIT_BYTES = 128 * 1024;
/** Milliseconds of delay allowed beyond the fastest acknowledgement; longer paths are allowed as much as that takes. */
const ADDED_DELAY = 3;
/** Milliseconds for which the fastest acknowledgement stays valid: the path may become longer. */
const QUICKEST_COUNTS = 5_000;

export class DelayLimit {
  #bytes = Number.POSITIVE_INFINITY;
  #quickest = Number.POSITIVE_INFINITY;
  #quickestBefore = Number.POSITIVE_INFINITY;
  #since = 0;
  #halvedAt = Number.NEGATIVE_INFINITY;

  /** Bytes that may be in flight. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The path bounds the bytes in flight itself. */
  lift(): void {
    this.#bytes = Number.POSITIVE_INFINITY;
  }

  /** Records a round trip of `delay` milliseconds for `acknowledged` bytes while `size` bytes were in flight. */
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
      // Once per round trip: payloads sent earlier still show the old delay.
      this.#halvedAt = now;
      this.#bytes = Math.max(MIN_LIMIT_BYTES, Math.min(this.#bytes, size) / 2);
    }
  }
}

// The payloads of the peer that have arrived at a circuit end whose client does its own flow control: whether the last
// one and all before it are here. Payloads of one circuit overtake each other on links with several connections.

import { PayloadFlag } from '#wire/gen/numbers.ts';
import type { Payload } from '#wire/xgress-frames.ts';

/**
 * Limit on payloads beyond a gap. With more, the arrivals are never complete, and the circuit ends by its other rules.
 */
const MAX_AHEAD = 256;

export class PeerArrivals {
  /** The next sequence without a gap. */
  #next = 0;
  readonly #ahead = new Set<number>();
  #closeSequence = Number.POSITIVE_INFINITY;
  #eofSequence = Number.POSITIVE_INFINITY;

  add(payload: Payload): void {
    const { sequence } = payload;
    if (payload.has(PayloadFlag.CircuitEnd)) this.#closeSequence = Math.min(this.#closeSequence, sequence);
    else if (payload.has(PayloadFlag.Eof)) this.#eofSequence = Math.min(this.#eofSequence, sequence);
    if (sequence > this.#next) {
      if (this.#ahead.size < MAX_AHEAD) this.#ahead.add(sequence);
      return;
    }
    if (sequence < this.#next) return; // retransmitted
    this.#next++;
    while (this.#ahead.size > 0 && this.#ahead.delete(this.#next)) this.#next++;
  }

  /** The peer ended its data, with EOF or a circuit end, and everything up to it has arrived. */
  get areComplete(): boolean {
    return this.#next > Math.min(this.#closeSequence, this.#eofSequence);
  }

  /**
   * The peer closed the circuit. A circuit end alone may be a half close: peers that do not know EOF send it so, and
   * receive on.
   */
  get isPeerGone(): boolean {
    return this.#eofSequence !== Number.POSITIVE_INFINITY && this.#next > this.#closeSequence;
  }
}

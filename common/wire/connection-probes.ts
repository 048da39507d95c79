// Which connections of a grouped channel still carry anything. The heartbeats of the channel are sent over its connections in turn, and the
// stamp that comes back names the connection that carried the question. The answer may come over any connection.

import type { Underlay } from './underlay.ts';

interface Probe {
  readonly index: number;
  /** Questions in a row without an answer. */
  unanswered: number;
}

/** Stamps are nanoseconds; the last digits give way to the number of a connection. No stamp lies in the future. */
const STAMP_STEP = 1_000n;
/** Questions in a row, one per heartbeat interval, after which a connection counts as silent: half a minute with the interval of links. */
const MOST_UNANSWERED = 3;

export class ConnectionProbes {
  readonly #probes = new Map<Underlay, Probe>();
  #nextIndex = 0;

  get count(): number {
    return this.#probes.size;
  }

  add(underlay: Underlay): void {
    this.#probes.set(underlay, { index: this.#nextIndex, unanswered: 0 });
    this.#nextIndex = (this.#nextIndex + 1) % Number(STAMP_STEP);
  }

  remove(underlay: Underlay): void {
    this.#probes.delete(underlay);
  }

  /**
   * The connection whose turn it is, with the stamp to ask it with. `isSilent` tells that it has left its last questions unanswered while
   * another connection answered.
   */
  next(now: bigint): { underlay: Underlay; stamp: bigint; isSilent: boolean } | undefined {
    const [first] = this.#probes;
    if (!first) return undefined;
    const [underlay, probe] = first;
    // The first one becomes the last one.
    this.#probes.delete(underlay);
    const isSilent = probe.unanswered >= MOST_UNANSWERED && this.#hasAnswering();
    this.#probes.set(underlay, probe);
    probe.unanswered++;
    return { underlay, stamp: (now / STAMP_STEP - 1n) * STAMP_STEP + BigInt(probe.index), isSilent };
  }

  answered(stamp: bigint): void {
    const index = Number(stamp % STAMP_STEP);
    for (const probe of this.#probes.values()) if (probe.index === index) probe.unanswered = 0;
  }

  #hasAnswering(): boolean {
    return [...this.#probes.values()].some(({ unanswered }) => unanswered < 2);
  }
}

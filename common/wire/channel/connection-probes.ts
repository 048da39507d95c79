// Finds silent connections of a grouped channel. Heartbeats are sent over its connections in turn, and the echoed
// timestamp names the connection of the request. The answer may arrive over any connection.

import type { Underlay } from '../connection/underlay.ts';

interface Probe {
  readonly index: number;
  /** Consecutive requests without an answer. */
  unanswered: number;
}

/** Timestamps are nanoseconds; their last digits carry the number of a connection. No timestamp is in the future. */
const STAMP_STEP = 1_000n;
/**
 * Consecutive requests, one per heartbeat interval, after which a connection counts as silent: half a minute with the
 * interval of links.
 */
const MAX_UNANSWERED = 3;

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
   * Returns the next connection in turn and the timestamp for its request. `isSilent`: it left its last requests
   * unanswered while another connection answered.
   */
  next(now: bigint): { underlay: Underlay; stamp: bigint; isSilent: boolean } | undefined {
    const [first] = this.#probes;
    if (!first) return undefined;
    const [underlay, probe] = first;
    // Moves the first connection to the end.
    this.#probes.delete(underlay);
    const isSilent = probe.unanswered >= MAX_UNANSWERED && this.#hasAnswering();
    this.#probes.set(underlay, probe);
    probe.unanswered++;
    return { underlay, stamp: stampOf(probe, now), isSilent };
  }

  /** The timestamp for a further request over a connection. */
  stampFor(underlay: Underlay, now: bigint): bigint {
    const probe = this.#probes.get(underlay);
    return probe ? stampOf(probe, now) : now;
  }

  answered(stamp: bigint): void {
    const index = Number(stamp % STAMP_STEP);
    for (const probe of this.#probes.values()) if (probe.index === index) probe.unanswered = 0;
  }

  #hasAnswering(): boolean {
    return [...this.#probes.values()].some(({ unanswered }) => unanswered < 2);
  }
}

function stampOf({ index }: Probe, now: bigint): bigint {
  return (now / STAMP_STEP - 1n) * STAMP_STEP + BigInt(index);
}

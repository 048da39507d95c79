// Circuit ends that are over for the router and that their client has not closed yet. A client with its own flow
// control names only the circuit when it closes an end, and the controller may dial the same client again for the same
// circuit: the end of the first dial then looks like the end of the dial that followed it.
//
//   a dial fails ─► unanswered ─► the client accepts or ends it ─┐
//   the router closes an end ────────────────────────────────────┴─► closing ─► the client closes the circuit
//
// A client may also accept a dial and close the circuit at once: the router then sees the end before it has one. And a
// client with several connections to the router sends the last payload of an end and the close of its circuit over
// different ones, so either may arrive first.

import { BoundedMap } from '#lib/queue/bounded-map.ts';

/** Limits on ends of each kind; the oldest is evicted. */
const MAX_ENDS = 1_000;

interface Dialing {
  readonly circuitId: string;
  /** The client sent its last payload. */
  hasEnded: boolean;
  /** The client closed the circuit. */
  isClosed: boolean;
}

export class ClosingEnds {
  /** Dials in progress by their connection ids. */
  readonly #dialing = new Map<number, Dialing>();
  /** Circuit ids of failed dials by their connection ids. */
  readonly #unanswered = new BoundedMap<number, string>(MAX_ENDS);
  /** Ends that the client will close, by circuit id. */
  readonly #closing = new BoundedMap<string, number>(MAX_ENDS);

  /** The router dials the client. Call `dialed` at the end. */
  dial(connectionId: number, circuitId: string): void {
    this.#dialing.set(connectionId, { circuitId, hasEnded: false, isClosed: false });
  }

  /** The dial ended. Returns true if the client has already closed its connection. */
  dialed(connectionId: number): boolean {
    const { isClosed = false } = this.#dialing.get(connectionId) ?? {};
    this.#dialing.delete(connectionId);
    return isClosed;
  }

  /** The client may still accept this dial, and may have opened a connection for it. */
  dialFailed(connectionId: number, circuitId: string): void {
    this.#unanswered.set(connectionId, circuitId);
  }

  /** The client sent the last payload of a connection that has no end here: it closes the circuit next. */
  ended(connectionId: number): void {
    const dialing = this.#dialing.get(connectionId);
    if (dialing) dialing.hasEnded = true;
    else this.hasConnection(connectionId);
  }

  /** The client has a connection for a failed dial: it accepted the dial, or sent the end of the circuit. */
  hasConnection(connectionId: number): void {
    const circuitId = this.#unanswered.get(connectionId);
    if (circuitId === undefined) return;
    this.#unanswered.delete(connectionId);
    this.willClose(circuitId);
  }

  /** The router closed an end of the circuit: the client will close it, too. */
  willClose(circuitId: string): void {
    const count = this.#closing.get(circuitId) ?? 0;
    this.#closing.delete(circuitId); // the newest is the last
    this.#closing.set(circuitId, count + 1);
  }

  /**
   * The client closed a circuit. Returns true if that is an end which is over for the router, or does not exist yet.
   * @param hasEnded The client has sent the last payload of an end of the circuit here.
   */
  closed(circuitId: string, hasEnded: boolean): boolean {
    const count = this.#closing.get(circuitId) ?? 0;
    if (count > 1) this.#closing.set(circuitId, count - 1);
    else this.#closing.delete(circuitId);
    if (count > 0) return true;
    if (hasEnded) return false;
    const dials = [...this.#dialing.values()].filter((each) => each.circuitId === circuitId && !each.isClosed);
    const dial = dials.find((each) => each.hasEnded);
    if (!dial && this.#closedUnanswered(circuitId)) return true;
    const closed = dial ?? dials[0];
    if (closed) closed.isClosed = true;
    return closed !== undefined;
  }

  /** A failed dial whose last payload has not arrived yet. */
  #closedUnanswered(circuitId: string): boolean {
    for (const [connectionId, unanswered] of this.#unanswered)
      if (unanswered === circuitId) return this.#unanswered.delete(connectionId);
    return false;
  }
}

// Circuit ends that are over for the router and that their client has not closed yet. A client with its own flow control
// names only the circuit when it closes an end, and the controller may dial the same client again for the same circuit:
// the end of the first dial then looks like the end of the dial that followed it.
//
//   a dial fails ─► unanswered ─► the client accepts or ends it ─┐
//   the router closes an end ────────────────────────────────────┴─► closing ─► the client closes the circuit
//
// A client may also accept a dial and close the circuit at once: the router then sees the end before it has one.

/** Limits on ends of each kind; the oldest is forgotten. */
const MOST_ENDS = 1_000;

export class ClosingEnds {
  /** Dials in progress by their connection ids. */
  readonly #dialing = new Map<number, { readonly circuitId: string; isClosed: boolean }>();
  /** Circuit ids of failed dials by their connection ids. */
  readonly #unanswered = new Map<number, string>();
  /** Ends that the client will close, by circuit id. */
  readonly #closing = new Map<string, number>();

  /** The router dials the client. Call `dialed` at the end. */
  dial(connectionId: number, circuitId: string): void {
    this.#dialing.set(connectionId, { circuitId, isClosed: false });
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
    keepNewest(this.#unanswered);
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
    keepNewest(this.#closing);
  }

  /** The client closed a circuit. Returns true if that is an end which is over for the router, or does not exist yet. */
  closed(circuitId: string): boolean {
    const count = this.#closing.get(circuitId) ?? 0;
    if (count > 1) this.#closing.set(circuitId, count - 1);
    else this.#closing.delete(circuitId);
    return count > 0 || this.#closedDial(circuitId);
  }

  #closedDial(circuitId: string): boolean {
    for (const dial of this.#dialing.values()) {
      if (dial.circuitId !== circuitId || dial.isClosed) continue;
      dial.isClosed = true;
      return true;
    }
    return false;
  }
}

function keepNewest(ends: Map<unknown, unknown>): void {
  const [oldest] = ends.keys();
  if (ends.size > MOST_ENDS) ends.delete(oldest);
}

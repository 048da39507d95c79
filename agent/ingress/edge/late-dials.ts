// Dials that a hosting client has not answered in time. The controller may dial the same client again for the same
// circuit. A client with its own flow control closes a circuit by its id, so the end of a late dial looks like the end
// of the dial that followed it.
//
//   a dial fails ─► unanswered ─► the client accepts it, and is told to close it ─► closing ─► it closes the circuit

/** Limits on dials of each kind; the oldest is forgotten. */
const MOST_DIALS = 1_000;

export class LateDials {
  /** Circuit ids by the connection ids of the dials. */
  readonly #unanswered = new Map<number, string>();
  /** Dials that the client will close, by circuit id. */
  readonly #closing = new Map<string, number>();

  /** The client may still accept this dial. */
  failed(connectionId: number, circuitId: string): void {
    this.#unanswered.set(connectionId, circuitId);
    keepNewest(this.#unanswered);
  }

  /** The client accepted a dial, and is told to close it. */
  accepted(connectionId: number): void {
    const circuitId = this.#unanswered.get(connectionId);
    if (circuitId === undefined) return;
    this.#unanswered.delete(connectionId);
    this.#closing.set(circuitId, (this.#closing.get(circuitId) ?? 0) + 1);
    keepNewest(this.#closing);
  }

  /** The client closed a circuit. Returns true if that is the end of a late dial. */
  closed(circuitId: string): boolean {
    const count = this.#closing.get(circuitId) ?? 0;
    if (count > 1) this.#closing.set(circuitId, count - 1);
    else this.#closing.delete(circuitId);
    return count > 0;
  }
}

function keepNewest(dials: Map<unknown, unknown>): void {
  const [oldest] = dials.keys();
  if (dials.size > MOST_DIALS) dials.delete(oldest);
}

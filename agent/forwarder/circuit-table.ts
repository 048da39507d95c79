// The circuits that pass through this router: owner, last use, and the map from source address to destination address.

import type { Clock } from '#lib/time/clock.ts';

export interface Circuit {
  readonly id: string;
  /** Id of the controller that created the circuit; it receives faults and confirmations. */
  owner: string;
  /** Milliseconds of the clock's `monotonic`. */
  lastActivity: number;
  /** Time of the controller's last route message, in the same unit. */
  routedAt: number;
  /**
   * The circuit lost a link. Its controller may have removed it in the meantime, and that message may have been lost.
   */
  isSuspect: boolean;
  /** Source address to destination address. */
  readonly forwards: Map<string, string>;
  readonly tags: Readonly<Record<string, string>>;
  /** Bytes of data over links since the last usage report. */
  readonly fabric: { rx: number; tx: number };
}

/**
 * Returns the owner of a circuit, for its turns: the identity that has dialed it. Controllers name none for clients
 * without identities; then the link on which it comes, or this router (an empty name).
 */
export function circuitOwner(tags: Circuit['tags'], incomingLink: () => string | undefined): string {
  if (tags.clientId) return tags.clientId;
  const link = incomingLink();
  return link === undefined ? '' : `link ${link}`;
}

export class CircuitTable {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(id: string): Circuit | undefined {
    return this.#circuits.get(id);
  }

  /** Returns the circuit and creates it if it is unknown. A known circuit keeps its forwards and gets the new owner. */
  open(id: string, owner: string, tags: Readonly<Record<string, string>>): Circuit {
    const now = this.#clock.monotonic();
    const known = this.#circuits.get(id);
    if (known) {
      known.owner = owner;
      known.lastActivity = now;
      known.routedAt = now;
      known.isSuspect = false;
      return known;
    }
    const circuit: Circuit = {
      id,
      owner,
      lastActivity: now,
      routedAt: now,
      isSuspect: false,
      forwards: new Map(),
      tags,
      fabric: { rx: 0, tx: 0 },
    };
    this.#circuits.set(id, circuit);
    return circuit;
  }

  delete(id: string): boolean {
    return this.#circuits.delete(id);
  }

  /** Circuits without activity for `milliseconds`. */
  *idle(milliseconds: number): Generator<Circuit> {
    const now = this.#clock.monotonic();
    for (const circuit of this.#circuits.values()) if (now - circuit.lastActivity > milliseconds) yield circuit;
  }

  /** Marks the circuits that use a lost link as suspect, and returns them. */
  suspect(linkId: string): Circuit[] {
    const found = [...this.#circuits.values()].filter(({ forwards }) => forwards.has(linkId));
    for (const circuit of found) circuit.isSuspect = true;
    return found;
  }

  values(): IterableIterator<Circuit> {
    return this.#circuits.values();
  }
}

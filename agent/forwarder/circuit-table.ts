// The circuits that run over this router: who owns them, when they were last used, and from where to where their traffic goes.

import type { Clock } from '#lib/clock.ts';

export interface Circuit {
  readonly id: string;
  /** Id of the controller that made it; faults and confirmations go there. */
  owner: string;
  /** Milliseconds of the clock's `monotonic`. */
  lastActivity: number;
  /** Time of the controller's last route, in the same unit. */
  routedAt: number;
  /** A link of it was lost: its controller may have taken it down without this router hearing of it. */
  isSuspect: boolean;
  /** Source address to destination address. */
  readonly forwards: Map<string, string>;
  readonly tags: Readonly<Record<string, string>>;
  /** Bytes of data over links since the last usage report. */
  readonly fabric: { rx: number; tx: number };
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

  /** The circuit, made when it is not there yet. A known one keeps its forwards and gets the new owner. */
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

  /** Marks the circuits that go over a link which is gone, and answers them. */
  suspect(linkId: string): Circuit[] {
    const found = [...this.#circuits.values()].filter(({ forwards }) => forwards.has(linkId));
    for (const circuit of found) circuit.isSuspect = true;
    return found;
  }

  values(): IterableIterator<Circuit> {
    return this.#circuits.values();
  }
}

// Warns of message types without a handler, once per peer and type: the peer's release sends what this program does not
// serve, and a request of such a type gets no answer.

import type { Log } from '#lib/log/log.ts';

/** Limits on remembered peers and types. Types beyond the limit are not reported; peers choose them. */
const MAX_PEERS = 10_000;
const MAX_TYPES = 32;

export interface UnknownTypePeer {
  readonly id: string;
  /** Release of its program. */
  readonly version: string;
}

export class UnknownTypes {
  readonly #log: Log;
  /** Name of the peer's id in the log, for example `routerId`. */
  readonly #idField: string;
  readonly #reported = new Map<string, Set<number>>();

  constructor(log: Log, idField: string) {
    this.#log = log;
    this.#idField = idField;
  }

  /** A peer sent a message of a type that nothing handles. */
  received({ id, version }: UnknownTypePeer, contentType: number): void {
    const known = this.#reported.get(id) ?? new Set();
    if (known.size === 0 && this.#reported.size >= MAX_PEERS) this.#reported.clear();
    this.#reported.set(id, known);
    if (known.has(contentType) || known.size >= MAX_TYPES) return;
    known.add(contentType);
    this.#log.warn({ [this.#idField]: id, version, contentType }, 'messages of an unknown type are ignored');
  }
}

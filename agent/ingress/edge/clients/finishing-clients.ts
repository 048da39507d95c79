// SDK clients that have disconnected and whose circuits still deliver what they sent before they closed them: a program
// may upload data, close its connection and end. Each circuit ends when the peer has everything, and as long as the
// rights of its client last.

import { Budget } from '#lib/queue/budget.ts';
import type { SdkConnection } from './sdk-connection.ts';

/** Limits on such circuits, and on bytes that wait for them beside their send buffers; the sources are identities. */
const CIRCUITS = { max: 10_000, maxOfSource: 1_000 };
const BYTES = { max: 64 * 1024 * 1024, maxOfSource: 16 * 1024 * 1024 };

export class FinishingClients implements Iterable<SdkConnection> {
  readonly #circuits = new Budget(CIRCUITS);
  readonly #bytes = new Budget(BYTES);
  /** With the task after its last circuit. */
  readonly #connections = new Map<SdkConnection, () => void>();
  #isClosed = false;

  [Symbol.iterator](): Iterator<SdkConnection> {
    return this.#connections.keys();
  }

  /** The client has disconnected. Calls `done` when its last circuit ends; at once if it has none. */
  add(connection: SdkConnection, done: () => void): void {
    const { count, held, session } = connection;
    if (count === 0) {
      done();
      return;
    }
    const release = this.#isClosed ? undefined : this.#acquire(session.identityId, count, held);
    this.#connections.set(connection, () => {
      release?.();
      done();
    });
    if (!release) connection.cutRemaining();
  }

  /** The last circuit of a client is over, whether it has disconnected or not. */
  ended(connection: SdkConnection): void {
    const done = this.#connections.get(connection);
    this.#connections.delete(connection);
    done?.();
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#connections.keys()]) connection.cutRemaining();
  }

  /** Reserves places; undefined if that exceeds a limit. */
  #acquire(identityId: string, circuits: number, bytes: number): (() => void) | undefined {
    if (!this.#circuits.acquire(identityId, circuits)) return undefined;
    if (!this.#bytes.acquire(identityId, bytes)) {
      this.#circuits.release(identityId, circuits);
      return undefined;
    }
    return () => {
      this.#circuits.release(identityId, circuits);
      this.#bytes.release(identityId, bytes);
    };
  }
}

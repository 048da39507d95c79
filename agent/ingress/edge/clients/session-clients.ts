// The connections of each API session on this router. A message that concerns a session reaches them without a look at
// the connections of all others: a client may send thousands of such messages.

import type { SdkConnection } from './sdk-connection.ts';

export class SessionClients {
  readonly #bySession = new Map<string, Set<SdkConnection>>();

  /** Adds a connection, also until the last circuit of a disconnected one is over: call the returned function then. */
  add(connection: SdkConnection): () => void {
    const { id } = connection.session; // a new token has the same
    const connections = this.#bySession.get(id) ?? new Set();
    this.#bySession.set(id, connections.add(connection));
    return () => {
      connections.delete(connection);
      if (connections.size === 0 && this.#bySession.get(id) === connections) this.#bySession.delete(id);
    };
  }

  of(sessionId: string): Iterable<SdkConnection> {
    return this.#bySession.get(sessionId) ?? [];
  }
}

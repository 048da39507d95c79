// The connections of a listening port, with protection against floods. Connections that wait for their client (a
// handshake, the next request) are evictable: when the port or the process is full, the source with the most of them
// loses its oldest.

import type { Socket } from 'node:net';
import type { ClientSockets, EvictableSocket } from '#lib/net/client-sockets.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';

/** The owner of a connection reports its state to the port. */
export interface PortConnection {
  /** The accepted socket, below TLS. */
  readonly socket: Socket;
  /** Whether the connection may be closed in favor of a new one; initially false. */
  setEvictable(isEvictable: boolean): void;
  /** Closes the connection with a TCP reset. TLS sockets have no method for that. */
  reset(): void;
}

export interface PortLimits {
  /** Open connections. */
  readonly connections: number;
  /** Connections with an incomplete TLS handshake among them. */
  readonly handshakes: number;
}

interface Entry extends EvictableSocket {
  readonly socket: Socket;
  readonly source: string;
}

export class PortConnections {
  readonly #sockets: ClientSockets;
  readonly #entries = new Map<string, Entry>();
  /** Those in a handshake, and those that their owner marked, may be evicted. */
  readonly #connections: FairSlots<Entry>;
  readonly #handshaking: FairSlots<Entry>;

  /** @param sockets Those of all ports, with the limit of the process. */
  constructor({ connections, handshakes }: PortLimits, sockets: ClientSockets) {
    this.#sockets = sockets;
    const evict = (entry: Entry) => this.#evict(entry);
    this.#connections = new FairSlots(connections, evict);
    this.#handshaking = new FairSlots(handshakes, evict);
  }

  /**
   * Adds a connection whose handshake begins, and evicts another one if a limit is reached. Closes it if none can be
   * evicted.
   */
  add(socket: Socket): void {
    const key = keyOf(socket);
    if (key === undefined) {
      socket.destroy();
      return;
    }
    const entry: Entry = { socket, source: sourceOf(socket.remoteAddress), evict: () => this.#evict(entry) };
    this.#handshaking.add(entry, entry.source);
    if (!this.#connections.add(entry, entry.source) || !this.#sockets.admit(socket)) {
      this.#evict(entry);
      return;
    }
    this.#entries.set(key, entry);
    this.#sockets.setEvictable(entry, entry.source, true);
    socket.once('close', () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      this.#forget(entry);
    });
  }

  /** Closes the connections whose handshake is incomplete. */
  closeHandshakes(): void {
    while (this.#handshaking.evict());
  }

  /** Closes a connection. Its 'close' event follows later. */
  #evict(entry: Entry): void {
    this.#forget(entry);
    entry.socket.destroy();
  }

  #forget(entry: Entry): void {
    this.#handshaking.delete(entry);
    this.#connections.delete(entry);
    this.#sockets.setEvictable(entry, entry.source, false);
  }

  #setEvictable(entry: Entry, isEvictable: boolean): void {
    this.#connections.setEvictable(entry, isEvictable);
    this.#sockets.setEvictable(entry, entry.source, isEvictable);
  }

  /** The handshake of a connection is complete; undefined if it was closed in the meantime. */
  secured(socket: Socket): PortConnection | undefined {
    const entry = this.#entries.get(keyOf(socket) ?? '');
    if (!entry || entry.socket.destroyed) return undefined;
    this.#handshaking.delete(entry);
    this.#setEvictable(entry, false);
    const setEvictable = (isEvictable: boolean) => this.#setEvictable(entry, isEvictable && !entry.socket.destroyed);
    return {
      socket: entry.socket,
      setEvictable,
      reset: () => resetSocket(socket, () => entry.socket.resetAndDestroy()),
    };
  }
}

/** A TLS socket and the socket below it have the same addresses. */
function keyOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

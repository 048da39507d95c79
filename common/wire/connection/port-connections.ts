// The connections of a listening port, with protection against floods. Connections that wait for their client (a
// handshake, the next request) are evictable: when the port or the process is full, the source with the most of them
// loses its oldest.

import type { Socket } from 'node:net';
import { type ClientSockets, clientSockets, type EvictableSocket } from '#lib/net/client-sockets.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { FairPool } from '#lib/queue/fair-pool.ts';

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
  readonly #limits: PortLimits;
  readonly #sockets: ClientSockets;
  readonly #entries = new Map<string, Entry>();
  readonly #handshaking = new FairPool<Entry>();
  /** Connections in a handshake, and those that their owner marked. */
  readonly #evictable = new FairPool<Entry>();

  /** @param sockets Those of the process, with its limit. */
  constructor(limits: PortLimits, sockets = clientSockets) {
    this.#limits = limits;
    this.#sockets = sockets;
  }

  /**
   * Adds a connection whose handshake begins, and evicts another one if a limit is reached. Closes it if none can be
   * evicted.
   */
  add(socket: Socket): void {
    const { connections, handshakes } = this.#limits;
    const key = keyOf(socket);
    if (key === undefined) {
      socket.destroy();
      return;
    }
    if (this.#handshaking.size >= handshakes) this.#evictFrom(this.#handshaking);
    if (this.#entries.size >= connections && !this.#evictFrom(this.#evictable)) {
      socket.destroy();
      return;
    }
    if (!this.#sockets.admit(socket)) {
      socket.destroy();
      return;
    }
    const entry: Entry = { socket, source: sourceOf(socket.remoteAddress), evict: () => this.#evict(entry) };
    this.#entries.set(key, entry);
    this.#handshaking.add(entry, entry.source);
    this.#setEvictable(entry, true);
    socket.once('close', () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      this.#handshaking.delete(entry);
      this.#setEvictable(entry, false);
    });
  }

  /** Closes the connections whose handshake is incomplete. */
  closeHandshakes(): void {
    while (this.#evictFrom(this.#handshaking));
  }

  /**
   * Closes a connection; returns false if the pool is empty. Its 'close' event follows later; it is not chosen again
   * until then.
   */
  #evictFrom(pool: FairPool<Entry>): boolean {
    const evicted = pool.evict();
    if (evicted) this.#evict(evicted);
    return evicted !== undefined;
  }

  #evict(entry: Entry): void {
    this.#handshaking.delete(entry);
    this.#setEvictable(entry, false);
    entry.socket.destroy();
  }

  #setEvictable(entry: Entry, isEvictable: boolean): void {
    this.#evictable.delete(entry);
    if (isEvictable) this.#evictable.add(entry, entry.source);
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

// The connections of a listening port, so that strangers cannot keep others out. Connections that wait for their client
// (a handshake, the next request) are evictable: when the port is full, the source that has most of them loses its oldest.

import type { Socket } from 'node:net';
import { FairPool } from '#lib/fair-pool.ts';
import { sourceOf } from '#lib/source-address.ts';

/** The owner of a connection reports its state to the port through this. */
export interface PortConnection {
  /** Whether the connection may be closed in favour of a new one; not until its owner says so. */
  setEvictable(isEvictable: boolean): void;
}

export interface PortLimits {
  /** Open connections. */
  readonly connections: number;
  /** Connections without a complete TLS handshake among them. */
  readonly handshakes: number;
}

interface Entry {
  readonly socket: Socket;
  readonly source: string;
}

export class PortConnections {
  readonly #limits: PortLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #handshaking = new FairPool<Entry>();
  /** Those in a handshake, and those whose owner says so. */
  readonly #evictable = new FairPool<Entry>();

  constructor(limits: PortLimits) {
    this.#limits = limits;
  }

  /** Takes a connection whose handshake begins, and evicts another one when a limit is reached. Closes it when it is one too many. */
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
    const entry: Entry = { socket, source: sourceOf(socket.remoteAddress) };
    this.#entries.set(key, entry);
    this.#handshaking.add(entry, entry.source);
    this.#evictable.add(entry, entry.source);
    socket.once('close', () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      this.#handshaking.delete(entry);
      this.#evictable.delete(entry);
    });
  }

  /** Closes a connection; false if the pool is empty. Its 'close' comes later; it is not chosen again until then. */
  #evictFrom(pool: FairPool<Entry>): boolean {
    const evicted = pool.evict();
    if (!evicted) return false;
    this.#handshaking.delete(evicted);
    this.#evictable.delete(evicted);
    evicted.socket.destroy();
    return true;
  }

  /** The handshake of a connection is complete; undefined when it was closed meanwhile. */
  secured(socket: Socket): PortConnection | undefined {
    const entry = this.#entries.get(keyOf(socket) ?? '');
    if (!entry || entry.socket.destroyed) return undefined;
    this.#handshaking.delete(entry);
    this.#evictable.delete(entry);
    const setEvictable = (isEvictable: boolean) => {
      this.#evictable.delete(entry);
      if (isEvictable && !entry.socket.destroyed) this.#evictable.add(entry, entry.source);
    };
    return { setEvictable };
  }
}

/** A TLS socket and the socket below it have the same addresses. */
function keyOf({ remoteAddress, remotePort, localPort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localPort}`;
}

// The connections of a listening port, so that strangers cannot keep others out. Connections that wait for their client
// (a handshake, the next request) are evictable: when the port is full, the source that has most of them loses its oldest.

import type { Socket } from 'node:net';
import { sourceOf } from '#lib/source-address.ts';

/** What the owner of a connection tells its port. */
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
  readonly #handshaking = new Pool();
  /** Those in a handshake, and those whose owner says so. */
  readonly #evictable = new Pool();

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
    if (this.#handshaking.size >= handshakes) this.#handshaking.evict();
    if (this.#entries.size >= connections && !this.#evictable.evict()) {
      socket.destroy();
      return;
    }
    const entry: Entry = { socket, source: sourceOf(socket.remoteAddress) };
    this.#entries.set(key, entry);
    this.#handshaking.add(entry);
    this.#evictable.add(entry);
    socket.once('close', () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
      this.#handshaking.delete(entry);
      this.#evictable.delete(entry);
    });
  }

  /** The handshake of a connection is complete; undefined when it was closed meanwhile. */
  secured(socket: Socket): PortConnection | undefined {
    const entry = this.#entries.get(keyOf(socket) ?? '');
    if (!entry || entry.socket.destroyed) return undefined;
    this.#handshaking.delete(entry);
    this.#evictable.delete(entry);
    const setEvictable = (isEvictable: boolean) => {
      this.#evictable.delete(entry);
      if (isEvictable && !entry.socket.destroyed) this.#evictable.add(entry);
    };
    return { setEvictable };
  }
}

/** Connections by source, the oldest first. */
class Pool {
  readonly #bySource = new Map<string, Set<Entry>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(entry: Entry): void {
    const entries = this.#bySource.get(entry.source) ?? new Set();
    this.#bySource.set(entry.source, entries);
    if (!entries.has(entry)) this.#size++;
    entries.add(entry);
  }

  delete(entry: Entry): void {
    const entries = this.#bySource.get(entry.source);
    if (!entries?.delete(entry)) return;
    this.#size--;
    if (entries.size === 0) this.#bySource.delete(entry.source);
  }

  /** Closes the oldest connection of the source with the most; false when there is none. */
  evict(): boolean {
    let largest: Set<Entry> | undefined;
    for (const entries of this.#bySource.values()) if (!largest || entries.size > largest.size) largest = entries;
    const [oldest] = largest ?? [];
    if (!oldest) return false;
    this.delete(oldest); // its 'close' comes later, and it must not be chosen again until then
    oldest.socket.destroy();
    return true;
  }
}

/** A TLS socket and the socket below it have the same addresses. */
function keyOf({ remoteAddress, remotePort, localPort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${remoteAddress} ${remotePort} ${localPort}`;
}

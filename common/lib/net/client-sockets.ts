// The sockets that clients cause in a program: connections that it accepts, and connections that circuits open. They
// leave a reserve of file descriptors to the process itself: files, control channels, the operator socket. Without a
// free descriptor, these would fail for as long as strangers hold connections.
//
// At the limit, a connection that waits for its client is closed: the oldest of the source with the most of them, at
// whichever port.

import { readFileSync } from 'node:fs';
import { FairSlots } from '../queue/fair-slots.ts';

/** A connection that may be closed for a new one. */
export interface EvictableSocket {
  evict(): void;
}

interface Closable {
  once(event: 'close', listener: () => void): unknown;
}

/** The reason for a socket that is not admitted. */
export const NO_DESCRIPTOR = 'clients use all file descriptors that the limit of open files permits them';
/** Descriptors that clients leave to the process; fewer if it may not open twice as many. */
const MIN_RESERVE = 96;
/** Part of the permitted descriptors that clients may use. */
const SHARE = 0.75;

export class ClientSockets {
  readonly #limit: number;
  readonly #evictable = new FairSlots<EvictableSocket>(Number.POSITIVE_INFINITY, (socket) => socket.evict());
  #open = 0;

  constructor(limit: number = maxClientSockets(openFileLimit())) {
    this.#limit = limit;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a socket until it is closed. Returns false, and counts nothing, at the limit: the caller closes it. */
  admit(socket: Closable): boolean {
    if (this.#open >= this.#limit && !this.#evictable.evict()) return false;
    this.#open++;
    socket.once('close', () => this.#open--);
    return true;
  }

  setEvictable(socket: EvictableSocket, source: string, isEvictable: boolean): void {
    if (isEvictable) this.#evictable.add(socket, source);
    else this.#evictable.delete(socket);
  }
}

/** The number of sockets that clients may cause if the process may open this many files. */
export function maxClientSockets(openFiles: number): number {
  return Math.floor(Math.max(openFiles / 2, Math.min(openFiles * SHARE, openFiles - MIN_RESERVE)));
}

/** Files that this process may open. Node raises the limit that it starts with as far as the system permits. */
export function openFileLimit(): number {
  try {
    const [, soft = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft) || Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY; // this system has no such file
  }
}

// A connection whose socket another thread uses by a second descriptor. The first one stays open, unread, where it is:
// whoever limits or resets connections need not know of threads.

import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ClientSockets } from '../net/client-sockets.ts';
import { copyDescriptor } from '../net/descriptor.ts';
import type { Crossing } from './crossings.ts';
import type { CrossingKindPlaces, IoThreads } from './io-threads.ts';

/** The hint of the thread: it closes the descriptor. Nobody else would, if the thread ended before. */
const TAKEN = 1;

export interface LentSocketInit {
  readonly socket: Socket;
  /** Lent instead of a copy of the socket's own: that of a socket which carries the bytes of the connection. */
  readonly descriptor?: number | undefined;
  /** The descriptor counts among them, if a client causes it. */
  readonly clientSockets?: ClientSockets | undefined;
  /** The kind of the crossing, and the data for its code in the thread, which takes the descriptor. */
  readonly kind: CrossingKindPlaces;
  describe(descriptor: number): object;
}

export class LentSocket {
  readonly crossing: Crossing;
  readonly #descriptor: number;
  readonly #free: () => void;

  private constructor(crossing: Crossing, descriptor: number, free: () => void) {
    this.crossing = crossing;
    this.#descriptor = descriptor;
    this.#free = free;
  }

  /**
   * Hands the connection to a thread. The caller sets the owner of the crossing at once. Returns undefined, without any
   * change, if no thread or no descriptor is free.
   */
  static open(threads: IoThreads, init: LentSocketInit): LentSocket | undefined {
    const { socket, clientSockets, kind, describe } = init;
    let descriptor: number | undefined;
    let free: () => void = () => undefined;
    const once = (_event: 'close', listener: () => void) => {
      free = listener;
    };
    const crossing = threads.open(kind, () => {
      if (clientSockets && !clientSockets.admit({ once })) return undefined;
      descriptor = init.descriptor ?? copyDescriptor(socket);
      if (descriptor !== undefined) return describe(descriptor);
      free();
      return undefined;
    });
    return crossing && descriptor !== undefined ? new LentSocket(crossing, descriptor, free) : undefined;
  }

  /** Call it once, when the thread has ended its part, or itself. */
  end(): void {
    if (this.crossing.received.hint !== TAKEN) closeSync(this.#descriptor);
    this.#free();
    this.crossing.close(true);
  }
}

/** The socket of a lent descriptor, in the thread. It reads nothing yet. @throws Error; it is closed then */
export function takeSocket(
  crossing: Crossing,
  fd: number,
  { allowHalfOpen }: { readonly allowHalfOpen: boolean },
): Socket {
  crossing.sent.hint = TAKEN;
  try {
    return new Socket({ fd, allowHalfOpen, ...{ manualStart: true } });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

// A second descriptor of a connection for another thread. The first one stays open, unread, where it is: whoever limits
// or resets connections need not know of threads.

import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ClientSockets } from './client-sockets.ts';
import { copyDescriptor } from './descriptor.ts';

/** The hint of the thread: it closes the descriptor. Nobody else would, if the thread ended before. */
export const TAKEN = 1;

export class LentDescriptor {
  readonly number: number;
  readonly #free: () => void;

  private constructor(number: number, free: () => void) {
    this.number = number;
    this.#free = free;
  }

  /**
   * @param clientSockets The descriptor counts among them, if a client causes it. Undefined if there is no descriptor
   *   for it.
   */
  static of(socket: Socket, clientSockets?: ClientSockets): LentDescriptor | undefined {
    let free: () => void = () => undefined;
    const once = (_event: 'close', listener: () => void) => {
      free = listener;
    };
    if (clientSockets && !clientSockets.admit({ once })) return undefined;
    const descriptor = copyDescriptor(socket);
    if (descriptor !== undefined) return new LentDescriptor(descriptor, free);
    free();
    return undefined;
  }

  /** The thread has ended its part. @param hint What it told last. */
  end(hint: number): void {
    if (hint !== TAKEN) closeSync(this.number);
    this.#free();
  }
}

/** A socket for a lent descriptor, in the other thread. It reads nothing yet. @throws Error; it is closed then */
export function takeDescriptor(fd: number, { allowHalfOpen }: { readonly allowHalfOpen: boolean }): Socket {
  try {
    return new Socket({ fd, allowHalfOpen, ...{ manualStart: true } });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

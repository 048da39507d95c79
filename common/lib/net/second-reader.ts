// A second descriptor of a connection, which only reads. The owner of the first one, such as Node's TLS, can then leave
// its reading to JavaScript for a while, and continue later. Linux only.

import { type OnReadOpts, Socket } from 'node:net';
import { whyNoSystemLibrary } from '../process/system-library.ts';
import type { ClientSockets } from './client-sockets.ts';
import { copyDescriptor } from './descriptor.ts';

let isSupported: boolean | undefined;

/** Whether this system has second readers. */
export function hasSecondReaders(): boolean {
  isSupported ??= whyNoSystemLibrary() === undefined;
  return isSupported;
}

/**
 * Reads the bytes of a connection from now on; the caller destroys it. Returns undefined if the connection is closed,
 * or if clients use all descriptors that they may.
 */
export function secondReader(socket: Socket, onread: OnReadOpts, clientSockets: ClientSockets): Socket | undefined {
  const fd = copyDescriptor(socket);
  if (fd === undefined) return undefined;
  const reader = new Socket({ fd, readable: true, writable: false, onread });
  if (clientSockets.admit(reader)) return reader;
  reader.destroy();
  return undefined;
}

// A second descriptor of a connection, which only reads. The owner of the first one, such as Node's TLS, can then leave
// its reading to JavaScript for a while, and continue later. Linux only: `fcntl` duplicates the descriptor.

import { type OnReadOpts, Socket } from 'node:net';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '../process/system-library.ts';
import type { ClientSockets } from './client-sockets.ts';

type Calls = Readonly<{ fcntl(fd: number, command: number, value: number): number }>;

const SIGNATURES = { fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } };
/** Duplicates a descriptor, which programs that this one starts do not inherit. */
const F_DUPFD_CLOEXEC = 1030;

let isSupported: boolean | undefined;
let library: SystemLibrary<Calls> | undefined;

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
  const { fd = -1 } = (socket as { _handle?: { fd?: number } | null })._handle ?? {};
  if (fd < 0) return undefined;
  library ??= systemLibrary<Calls>(SIGNATURES);
  const second = library.functions.fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (second < 0) return undefined;
  const reader = new Socket({ fd: second, readable: true, writable: false, onread });
  if (clientSockets.admit(reader)) return reader;
  reader.destroy();
  return undefined;
}

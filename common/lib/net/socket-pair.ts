// Two connected sockets of this process, for bytes that a thread has to read from a descriptor. Linux only.

import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '../process/system-library.ts';
import type { ClientSockets } from './client-sockets.ts';

type Calls = Readonly<{ socketpair(domain: number, type: number, protocol: number, pair: bigint): number }>;

const SIGNATURES = { socketpair: { arguments: ['i32', 'i32', 'i32', 'pointer'], return: 'i32' } };
const AF_UNIX = 1;
/** SOCK_STREAM, SOCK_NONBLOCK and SOCK_CLOEXEC. */
const STREAM = 1 + 0o4_000 + 0o2_000_000;
const DESCRIPTOR_BYTES = 4;
let library: SystemLibrary<Calls> | undefined;

export interface SocketPair {
  readonly socket: Socket;
  /** The other end, for whoever closes it. */
  readonly descriptor: number;
  /** Closes both ends, if nobody uses the other one. */
  close(): void;
}

/** Undefined without free descriptors, and where Node cannot call the system. `clientSockets` counts the socket. */
export function socketPair(clientSockets: ClientSockets): SocketPair | undefined {
  if (whyNoSystemLibrary() !== undefined) return undefined;
  library ??= systemLibrary<Calls>(SIGNATURES);
  const pair = Buffer.alloc(2 * DESCRIPTOR_BYTES);
  if (library.functions.socketpair(AF_UNIX, STREAM, 0, library.getRawPointer(pair)) < 0) return undefined;
  const [fd, descriptor] = [pair.readInt32LE(0), pair.readInt32LE(DESCRIPTOR_BYTES)];
  const socket = new Socket({ fd });
  const close = () => {
    socket.destroy();
    closeSync(descriptor);
  };
  if (clientSockets.admit(socket)) return { socket, descriptor, close };
  close();
  return undefined;
}

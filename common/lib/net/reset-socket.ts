// Resets connections. Node (26.10) loses a socket that is reset while its shutdown is still with the system: libuv
// rejects such a reset (EINVAL), and Node treats the handle as closed nevertheless. The descriptor stays open, the
// socket emits no 'close', and the process spins when it ends, because its environment waits for that handle.

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A socket, or a stream of its bytes. */
export type ResettableSocket = Duplex & Partial<Pick<Socket, 'connecting' | 'resetAndDestroy'>>;

/**
 * Closes a connection with a TCP reset. A connection that is not established, or whose end is just being sent, is
 * closed without one: all its bytes are with the system by then, so the peer has lost nothing.
 *
 * @param socket What the owner writes to, for example a TLS socket.
 * @param reset Resets the TCP connection below a TLS socket, which has no method for that.
 */
export function resetSocket(socket: ResettableSocket, reset: () => unknown = () => socket.resetAndDestroy?.()): void {
  if (socket.connecting || isShuttingDown(socket)) socket.destroy();
  else if (!socket.destroyed) reset();
}

/** Node begins the shutdown when all writes are complete, and completes it with 'finish'. */
function isShuttingDown(socket: ResettableSocket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}

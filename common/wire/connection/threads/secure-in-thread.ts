// Leaves the handshake of an accepted connection to an I/O thread, and the connection with it: a further one of a link,
// and all while strangers use more of this thread than others should feel.

import type { Socket } from 'node:net';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { ServerContexts } from '../server-contexts.ts';
import { ThreadedTls } from './threaded-tls.ts';
import { ACCEPTED_CONNECTION, LINK_CONNECTION } from './tls-crossing.ts';

export interface ThreadedServerOptions {
  /** A connection for the bulk traffic of a link. */
  readonly isLink?: boolean;
  readonly contexts: ServerContexts;
  /** Bytes of the client that were read before. */
  readonly first?: Buffer;
  /** Protocols that the client may choose, and whether they have frames; the empty name: clients that choose none. */
  readonly protocols: ReadonlyMap<string, boolean>;
  readonly requestCert: boolean;
  /** Milliseconds for the handshake. */
  readonly timeout: number;
  /** The thread gets it instead: that of a socket with the bytes of TLS inside of another protocol. */
  readonly descriptor?: number;
}

/** Returns undefined, without any change, if this thread has to perform the handshake. */
export function secureInThread(
  network: Socket,
  io: IoContext,
  { isLink = false, contexts, first, protocols, requestCert, timeout, ...more }: ThreadedServerOptions,
): ThreadedTls | undefined {
  const { threads, clientSockets, unauthenticatedCpu, strangersInThreads } = io;
  if (!threads || !(isLink || unauthenticatedCpu.isNoticeable)) return undefined;
  // Many clients of one source may be a fleet that connects at once: those without a place stay here.
  const isFull = !isLink && strangersInThreads.isFull;
  if (isFull && !strangersInThreads.evictFor(sourceOf(network.remoteAddress))) return undefined;
  const socket = ThreadedTls.open(threads, {
    ...more,
    network,
    kind: isLink ? LINK_CONNECTION : ACCEPTED_CONNECTION,
    clientSockets,
    use: {
      side: 'accepted',
      remoteAddress: network.remoteAddress ?? '',
      contexts: contexts.options,
      first: new Uint8Array(first ?? []), // a copy: with the bytes, all of their memory would cross
      protocols,
      requestCert,
      timeout,
    },
  });
  if (!socket) return undefined;
  if (!isLink) limitStranger(network, io);
  return socket;
}

function limitStranger(network: Socket, { strangersInThreads, unauthenticatedCpu }: IoContext): void {
  const release = () => strangersInThreads.delete(network);
  strangersInThreads.add(network, sourceOf(network.remoteAddress));
  network.once('close', release);
  unauthenticatedCpu.onAccepted(network, release);
}

// The TLS of an accepted connection, or of a stream inside another protocol. Clients cannot renegotiate it, have a
// fixed time for the handshake, and may change their keys a few times only: each change takes 10 µs, and a peer can ask
// for thousands of them in 64 KiB, without any message.

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import { asError } from '#lib/errors.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { UnauthenticatedSocket } from '#lib/net/unauthenticated-cpu.ts';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ProtocolError } from '../errors.ts';
import type { ServerContexts } from './server-contexts.ts';
import { readInTurns } from './stranger-reads.ts';

/** Changes of keys that a peer may make at once, and then in a second: real peers change them after some GiB. */
const KEY_UPDATES = { burst: 16, perSecond: 1 };
/** Begins the line of Node's key log for a change by either side. */
const NEXT_SECRET = /^(?:CLIENT|SERVER)_TRAFFIC_SECRET_N /;

export interface ServerTlsOptions {
  readonly clock: Clock;
  readonly contexts: ServerContexts;
  /** Whether the client is asked for a certificate; its owner verifies it. */
  readonly requestCert: boolean;
  /** Milliseconds for the handshake. */
  readonly timeout: number;
  /** Selects one of the client's protocols. */
  readonly protocolOf?: (protocols: readonly string[]) => string | undefined;
}

/** Emits 'secure' after the handshake. A failure of TLS destroys the socket, as its 'error'. */
export function secureServer(stream: Duplex, options: ServerTlsOptions): TLSSocket {
  const { clock, contexts, requestCert, timeout, protocolOf } = options;
  const socket = new TLSSocket(stream, {
    isServer: true,
    secureContext: contexts.default,
    requestCert,
    rejectUnauthorized: false,
    ...(protocolOf && { ALPNCallback: ({ protocols }: { protocols: string[] }) => protocolOf(protocols) }),
    ...(contexts.options.length > 1 && { SNICallback: (name, done) => answerSni(contexts, name, done) }),
  });
  socket.disableRenegotiation();
  // Node's servers take failures from here; without them, the socket would stay open.
  socket.on('_tlsError', (error: Error) => socket.destroy(error));
  const timer = clock.after('tls handshake', timeout, () => socket.destroy(new ProtocolError('the handshake is late')));
  socket.once('secure', () => timer.cancel()).once('close', () => timer.cancel());
  return socket;
}

/**
 * The TLS of a connection that a stranger opened, within the limits of strangers until a protocol accepts the client.
 */
export function secureClient(network: Socket, io: IoContext, options: Omit<ServerTlsOptions, 'clock'>): TLSSocket {
  const socket = secureServer(network, { ...options, clock: io.realClock });
  io.unauthenticatedCpu.joinClient(network, socket);
  limitKeyUpdates(socket, network, io);
  readInTurns(socket, network, io);
  return socket;
}

/** Closes a connection whose peer changes its keys too often. `network` is the connection below. */
export function limitKeyUpdates(
  socket: TLSSocket,
  network: UnauthenticatedSocket,
  { realClock, unauthenticatedCpu }: Pick<IoContext, 'realClock' | 'unauthenticatedCpu'>,
): void {
  // The handshake logs five secrets, and no changes. It is complete before the record of the first change is read.
  socket.once('secure', () => {
    const bucket = new TokenBucket(KEY_UPDATES, realClock.monotonic());
    socket.on('keylog', (line: Buffer) => {
      if (socket.destroyed || !NEXT_SECRET.test(line.toString('latin1', 0, 24))) return;
      if (bucket.take(realClock.monotonic()) !== undefined) return;
      unauthenticatedCpu.punish(network);
      socket.destroy(new ProtocolError('the peer changes its keys too often'));
    });
  });
}

function answerSni(
  contexts: ServerContexts,
  name: string,
  done: (error: Error | null, context?: SecureContext) => void,
): void {
  try {
    done(null, contexts.contextFor(name));
  } catch (error) {
    done(asError(error));
  }
}

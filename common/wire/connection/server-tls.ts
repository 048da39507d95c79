// The TLS of an accepted connection, or of a stream inside another protocol. Clients cannot renegotiate it, have a
// fixed time for the handshake, and may change their keys a few times only: each change takes 10 µs, and a peer can ask
// for thousands of them in 64 KiB, without any message.

import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import { asError } from '#lib/errors.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { UnauthenticatedSocket } from '#lib/net/unauthenticated-cpu.ts';
import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ProtocolError } from '../errors.ts';
import { readInTurns } from './stranger-reads.ts';

/**
 * Disables session resumption: a resumed session contains only the leaf of the client's chain, which cannot be verified
 * without the intermediates. So every connection needs a full handshake.
 */
export const SERVER_SECURITY = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const;
/** Changes of keys that a peer may make at once, and then in a second: real peers change them after some GiB. */
const KEY_UPDATES = { burst: 16, perSecond: 1 };
/** Begins the line of Node's key log for a change by either side. */
const NEXT_SECRET = /^(?:CLIENT|SERVER)_TRAFFIC_SECRET_N /;

export interface ServerTlsOptions {
  readonly clock: Clock;
  readonly context: SecureContext;
  /** Whether the client is asked for a certificate; its owner verifies it. */
  readonly requestCert: boolean;
  /** Milliseconds for the handshake. */
  readonly timeout: number;
  /** Selects one of the client's protocols. */
  readonly protocolOf?: (protocols: readonly string[]) => string | undefined;
  /** The certificate for a requested server name; undefined for the default one. */
  readonly contextFor?: ((serverName: string) => SecureContext | undefined) | undefined;
}

/** Emits 'secure' after the handshake. A failure of TLS destroys the socket, as its 'error'. */
export function secureServer(stream: Duplex, options: ServerTlsOptions): TLSSocket {
  const { clock, context, requestCert, timeout, protocolOf, contextFor } = options;
  const socket = new TLSSocket(stream, {
    isServer: true,
    secureContext: context,
    requestCert,
    rejectUnauthorized: false,
    ...(protocolOf && { ALPNCallback: ({ protocols }: { protocols: string[] }) => protocolOf(protocols) }),
    ...(contextFor && { SNICallback: (name, done) => answerSni(contextFor, name, done) }),
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

/** @throws Error if OpenSSL rejects certificate or key */
export function serverContext(context: SecureContextOptions): SecureContext {
  return createSecureContext({ ...SERVER_SECURITY, honorCipherOrder: true, sessionIdContext: 'edgeweave', ...context });
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
  contextFor: (name: string) => SecureContext | undefined,
  name: string,
  done: (error: Error | null, context?: SecureContext) => void,
): void {
  try {
    done(null, contextFor(name));
  } catch (error) {
    done(asError(error));
  }
}

// Opens the TCP or TLS connection to a service.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContextOptions } from 'node:tls';
import type { Address } from '#lib/address.ts';
import { formatAddress } from '#lib/address.ts';
import type { Clock } from '#lib/clock.ts';
import { asError, TimeoutError } from '#lib/errors.ts';
import { connectThroughProxy, type HttpProxy } from '#wire/dial.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { EgressError } from './dial-errors.ts';

export interface SocketDialOptions {
  clock: Clock;
  /** For tls addresses. */
  context?: SecureContextOptions;
  localAddress?: string | undefined;
  localPort?: number | undefined;
  /** Milliseconds; 0 means no limit of our own. */
  timeout: number;
  signal: AbortSignal;
}

export interface DialedSocket {
  /** Supports a half close. */
  readonly socket: Socket;
  /** Closes the connection with a TCP reset. */
  reset(): void;
}

/** Resolves with a connected socket. Rejects with the system's error, TimeoutError or EgressError. */
export function dialSocket(address: Address, options: SocketDialOptions): Promise<DialedSocket> {
  if (address.type !== 'tcp' && address.type !== 'tls') {
    return Promise.reject(
      new EgressError(
        RouteErrorCode.MisconfiguredTerminator,
        `${formatAddress(address)}: this router dials tcp, tls and udp services only`,
      ),
    );
  }
  return established(open(address, options), address, options);
}

/** Resolves once the connection, and TLS on it, is established, within the timeout of the options. */
function established(dialed: DialedSocket, address: Address, options: SocketDialOptions): Promise<DialedSocket> {
  const { clock, timeout, signal } = options;
  const { socket } = dialed;
  return new Promise((resolve, reject) => {
    const timer =
      timeout > 0
        ? clock.after('egress dial', timeout, () =>
            fail(new TimeoutError(`dialing ${formatAddress(address)}`, timeout)),
          )
        : undefined;
    const finish = () => {
      timer?.cancel();
      signal.removeEventListener('abort', onAbort);
      socket.off('error', fail);
    };
    const fail = (error: Error) => {
      finish();
      socket.on('error', () => undefined); // the first error was already reported
      socket.destroy();
      reject(error);
    };
    const onAbort = () => fail(asError(signal.reason));
    socket.once('error', fail);
    socket.once(address.type === 'tls' ? 'secureConnect' : 'connect', () => (finish(), resolve(dialed)));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** As `dialSocket`, through an HTTP proxy with CONNECT. */
export async function dialThroughProxy(
  address: Address,
  proxy: HttpProxy,
  options: SocketDialOptions,
): Promise<DialedSocket> {
  const { clock, localAddress, timeout, signal } = options;
  const where = formatAddress(address);
  const late =
    timeout > 0
      ? clock.deadline('egress dial', timeout, () => new TimeoutError(`dialing ${where} through a proxy`, timeout))
      : undefined;
  try {
    const socket = await connectThroughProxy(
      { address, localAddress },
      proxy,
      late ? AbortSignal.any([signal, late.signal]) : signal,
    );
    socket.allowHalfOpen = true;
    if (address.type !== 'tls') return { socket, reset: () => socket.resetAndDestroy() };
    return await established(secured(socket, address, options), address, options);
  } finally {
    late?.timer.cancel();
  }
}

function open(address: Address, options: SocketDialOptions): DialedSocket {
  const { localAddress, localPort } = options;
  const host = address.host || 'localhost';
  const local = { ...(localAddress !== undefined && { localAddress }), ...(localPort !== undefined && { localPort }) };
  const target = { host, port: address.port, allowHalfOpen: true, ...local };
  const tcp = connectTcp(target);
  if (address.type === 'tcp') return { socket: tcp, reset: () => tcp.resetAndDestroy() };
  return secured(tcp, address, options);
}

/** TLS over a connection. */
function secured(tcp: Socket, { host: named }: Address, { context }: SocketDialOptions): DialedSocket {
  const host = named || 'localhost';
  const socket = connectTls({
    rejectUnauthorized: true, // the default depends on the environment
    ...context,
    socket: tcp,
    minVersion: 'TLSv1.2',
    allowPartialTrustChain: true,
    ...(isIP(host) === 0 ? { servername: host } : { host }),
  } as ConnectionOptions);
  return { socket, reset: () => tcp.resetAndDestroy() }; // also closes the TLS socket
}

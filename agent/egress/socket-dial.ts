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
  return connected(address, options);
}

/**
 * TLS begins on the connected socket: Node tries the addresses of a name one after the other, and replaces the handle of
 * the socket for each, which TLS would go on to use.
 */
async function connected(address: Address, options: SocketDialOptions): Promise<DialedSocket> {
  const { clock, timeout } = options;
  const tcp = open(address, options);
  if (address.type === 'tcp') return established(tcp, 'connect', address, options);
  const begin = clock.monotonic();
  const { socket } = await established(tcp, 'connect', address, options);
  const left = timeout > 0 ? Math.max(1, timeout - (clock.monotonic() - begin)) : 0;
  return established(secured(socket, address, options), 'secureConnect', address, { ...options, timeout: left });
}

/** Resolves with the event, within the timeout of the options. */
function established(
  dialed: DialedSocket,
  event: 'connect' | 'secureConnect',
  address: Address,
  options: SocketDialOptions,
): Promise<DialedSocket> {
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
    socket.once(event, () => (finish(), resolve(dialed)));
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
  const { clock, localAddress, localPort, timeout, signal } = options;
  const where = formatAddress(address);
  const late =
    timeout > 0
      ? clock.deadline('egress dial', timeout, () => new TimeoutError(`dialing ${where} through a proxy`, timeout))
      : undefined;
  try {
    const socket = await connectThroughProxy(
      { address, localAddress, localPort },
      proxy,
      late ? AbortSignal.any([signal, late.signal]) : signal,
    );
    socket.allowHalfOpen = true;
    if (address.type !== 'tls') return { socket, reset: () => socket.resetAndDestroy() };
    return await established(secured(socket, address, options), 'secureConnect', address, options);
  } finally {
    late?.timer.cancel();
  }
}

function open(address: Address, options: SocketDialOptions): DialedSocket {
  const { localAddress, localPort } = options;
  const host = address.host || 'localhost';
  const local = { ...(localAddress !== undefined && { localAddress }), ...(localPort !== undefined && { localPort }) };
  const target = { host, port: address.port, allowHalfOpen: true, ...local };
  const socket = connectTcp(target);
  return { socket, reset: () => socket.resetAndDestroy() };
}

/** TLS over an established connection. */
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

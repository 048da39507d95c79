// Opens the TCP or TLS connection to a service.

import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContextOptions } from 'node:tls';
import type { Address } from '#lib/net/address.ts';
import { formatAddress } from '#lib/net/address.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { unlessAborted } from '#lib/time/abort.ts';
import { connectThroughProxy, type HttpProxy } from '#wire/connection/dial.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { requireDescriptor } from './circuit-descriptors.ts';
import { type DialLimits, withinTime } from './dial-deadline.ts';
import { EgressError } from './dial-errors.ts';

export interface SocketDialOptions extends DialLimits {
  /** For tls addresses. */
  context?: SecureContextOptions;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

export interface DialedSocket {
  /** Supports a half close. */
  readonly socket: Socket;
  /** Closes the connection with a TCP reset. */
  reset(): void;
}

/** Resolves with a connected socket. Rejects with the system's error, TimeoutError or EgressError. */
export async function dialSocket(address: Address, options: SocketDialOptions): Promise<DialedSocket> {
  const where = formatAddress(address);
  if (address.type !== 'tcp' && address.type !== 'tls')
    throw new EgressError(
      RouteErrorCode.MisconfiguredTerminator,
      `${where}: this router dials tcp, tls and udp services only`,
    );
  return withinTime(where, options, async (signal) => {
    const tcp = await established(open(address, options), 'connect', signal);
    return address.type === 'tls' ? established(secured(tcp.socket, address, options), 'secureConnect', signal) : tcp;
  });
}

/** As `dialSocket`, through an HTTP proxy with CONNECT. */
export function dialThroughProxy(
  address: Address,
  proxy: HttpProxy,
  options: SocketDialOptions,
): Promise<DialedSocket> {
  const { localAddress, localPort } = options;
  return withinTime(`${formatAddress(address)} through a proxy`, options, async (signal) => {
    const socket = await connectThroughProxy({ address, localAddress, localPort }, proxy, signal);
    requireDescriptor(options.io.clientSockets, socket, () => socket.destroy());
    socket.allowHalfOpen = true;
    if (address.type !== 'tls') return { socket, reset: () => resetSocket(socket) };
    return established(secured(socket, address, options), 'secureConnect', signal);
  });
}

/** Resolves with the event. An error or the signal closes the connection and rejects. */
async function established(
  dialed: DialedSocket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<DialedSocket> {
  const { socket } = dialed;
  try {
    await unlessAborted(signal, once(socket, event));
    return dialed;
  } catch (error) {
    socket.on('error', () => undefined); // the first error is reported
    socket.destroy();
    throw error;
  }
}

function open(address: Address, options: SocketDialOptions): DialedSocket {
  const { localAddress, localPort } = options;
  const host = address.host || 'localhost';
  const local = { ...(localAddress !== undefined && { localAddress }), ...(localPort !== undefined && { localPort }) };
  const target = { host, port: address.port, allowHalfOpen: true, ...local };
  const socket = connectTcp(target);
  requireDescriptor(options.io.clientSockets, socket, () => socket.destroy());
  return { socket, reset: () => resetSocket(socket) };
}

/**
 * TLS over an established connection: Node tries the addresses of a name one after the other, and replaces the handle
 * of the socket for each, which TLS would go on to use.
 */
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
  return { socket, reset: () => resetSocket(socket, () => tcp.resetAndDestroy()) }; // also closes the TLS socket
}

// UDP services: the bindings `transport_udp` (`udp:`, `udp4:`, `udp6:` addresses) and `transport` with a `udp:`
// address, and the code that hosting over UDP shares with them (reference fact: tunnel, section 1).

import type { Socket } from 'node:dgram';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort, splitHostPort } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { PeerDataKey, RouteErrorCode } from '#wire/gen/numbers.ts';
import { DatagramClient, type DatagramPort } from '../xgress/clients/datagram-client.ts';
import type { IdleSweeper } from '../xgress/clients/idle-sweeper.ts';
import { type DatagramTarget, dialDatagram } from './datagram-dial.ts';
import { EgressError } from './dial-errors.ts';
import { type DialedEgress, dialTime, type EgressDialer, type EgressRequest } from './egress.ts';
import { hostEncryption } from './host-encryption.ts';

export interface DatagramComponents {
  io: IoContext;
  log: Log;
  /** Ends idle sessions. */
  sweeper: IdleSweeper;
}

export interface DatagramDialerInit {
  /** Milliseconds; 0 for the limit of the route. */
  connectTimeout: number;
}

const HOP_TYPE = 'xgress/transport_udp';

/** The dialer of the binding `transport_udp`. */
export function datagramDialer(components: DatagramComponents, { connectTimeout }: DatagramDialerInit): EgressDialer {
  return async (request) => {
    const target = parseDatagramAddress(request.destination);
    const timeout = dialTime(request, connectTimeout);
    const socket = await dialDatagram(target, { io: components.io, timeout, signal: request.signal });
    return hostDatagrams(components, request, { socket, encryption: false, peerData: false, hopType: HOP_TYPE });
  };
}

export interface DialedDatagrams {
  readonly socket: Socket;
  /** Perform the host's part of the key agreement if the route carries a key. */
  readonly encryption: boolean;
  /** Send the addresses of the socket to the other end. */
  readonly peerData: boolean;
  readonly hopType: string;
}

/** Makes a connected UDP socket the terminating end of a circuit. */
export function hostDatagrams(
  { io, log, sweeper }: DatagramComponents,
  request: EgressRequest,
  { socket, encryption: isEncrypted, peerData: withAddresses, hopType }: DialedDatagrams,
): DialedEgress {
  const peerData = new Map<number, Buffer>();
  try {
    if (withAddresses) {
      const [local, remote] = [socket.address(), socket.remoteAddress()];
      peerData.set(PeerDataKey.TerminatorLocalAddress, Buffer.from(joinHostPort(local.address, local.port)));
      peerData.set(PeerDataKey.TerminatorRemoteAddress, Buffer.from(joinHostPort(remote.address, remote.port)));
    }
    const encryption = isEncrypted ? hostEncryption(request.peerData, peerData) : undefined;
    const port = portOf(socket);
    const client = new DatagramClient({
      port,
      encryption,
      clock: io.clock,
      log,
      onClosed: () => sweeper.delete(client),
    });
    socket.on('message', (data) => client.receive(data));
    socket.on('error', (error) => client.fail(error));
    sweeper.add(client);
    return { client, peerData, hopType, abandon: () => client.closed('cut') };
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** @throws EgressError if the text is not a valid address */
export function parseDatagramAddress(text: string): DatagramTarget {
  const [, type, rest = ''] = /^(udp|udp4|udp6|unixgram):(.*)$/s.exec(text) ?? [];
  try {
    if (type === undefined) throw new Error('expected udp:, udp4: or udp6:');
    if (type === 'unixgram') throw new Error('Unix datagram sockets are not supported, use udp:');
    const { host, port } = splitHostPort(rest, text);
    return { host, port, ...(type === 'udp4' && { family: 4 }), ...(type === 'udp6' && { family: 6 }) };
  } catch (error) {
    throw new EgressError(
      RouteErrorCode.MisconfiguredTerminator,
      `datagram address (${text}) not parsed: ${describeError(error)}`,
      { cause: error },
    );
  }
}

/** Adapts a connected socket to the port of a session. */
export function portOf(socket: Socket): DatagramPort {
  return {
    send: (data, done) => socket.send(data, done),
    close: () => socket.close(),
  };
}

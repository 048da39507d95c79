// The bindings `transport` and `edge_transport`: dial the address of the terminator. The second also performs the
// host's part of end-to-end encryption (reference fact: tunnel, section 1).

import type { SecureContextOptions } from 'node:tls';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort, parseAddress } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { HttpProxy } from '#wire/connection/dial.ts';
import { PeerDataKey, RouteErrorCode } from '#wire/gen/numbers.ts';
import type { IdleSweeper } from '../xgress/clients/idle-sweeper.ts';
import { SocketClient } from '../xgress/clients/socket-client.ts';
import { announceLargePayloads, maxPayload } from '../xgress/payload-size.ts';
import { hostDatagrams } from './datagram.ts';
import { dialDatagram } from './datagram-dial.ts';
import { EgressError } from './dial-errors.ts';
import { type DialedEgress, dialTime, type EgressDialer, type EgressRequest } from './egress.ts';
import { hostEncryption } from './host-encryption.ts';
import { type DialedSocket, dialSocket, dialThroughProxy } from './socket-dial.ts';

export interface TransportComponents {
  io: IoContext;
  log: Log;
  identity: { clientContext(): SecureContextOptions };
  /** Ends idle UDP sessions. */
  sweeper: IdleSweeper;
}

export interface TransportInit {
  /** Milliseconds; 0 for the limit of the route. */
  connectTimeout: number;
  /** Perform the host's part of the key agreement if the route carries a key. */
  encryption: boolean;
  hopType: string;
  /** For tls addresses. */
  proxy?: HttpProxy | undefined;
}

export function transportDialer(components: TransportComponents, init: TransportInit): EgressDialer {
  return async (request) => {
    const address = tryParse(request.destination);
    const { connectTimeout } = init;
    const timeout = dialTime(request, connectTimeout);
    const { io } = components;
    if (address.type === 'udp') {
      const socket = await dialDatagram(address, { io, timeout, signal: request.signal });
      const { encryption, hopType } = init;
      return hostDatagrams(components, request, { socket, encryption, peerData: true, hopType });
    }
    const options = { io, context: components.identity.clientContext(), timeout, signal: request.signal };
    // The reference uses the proxy of its section `transport` for tls addresses only.
    const dialed =
      init.proxy && address.type === 'tls'
        ? await dialThroughProxy(address, init.proxy, options)
        : await dialSocket(address, options);
    return hostSocket(components, request, {
      ...dialed,
      halfClose: true,
      encryption: init.encryption,
      hopType: init.hopType,
    });
  };
}

/** Makes a connected socket the terminating end of a circuit, encrypted if the other end sent a key. */
export function hostSocket(
  components: { io: IoContext; log: Log },
  request: EgressRequest,
  dialed: DialedSocket & { halfClose: boolean; encryption: boolean; hopType: string },
): DialedEgress {
  const { socket, reset, halfClose, hopType } = dialed;
  const peerData = new Map<number, Buffer>([
    [PeerDataKey.TerminatorLocalAddress, Buffer.from(joinHostPort(socket.localAddress ?? '', socket.localPort ?? 0))],
    [
      PeerDataKey.TerminatorRemoteAddress,
      Buffer.from(joinHostPort(socket.remoteAddress ?? '', socket.remotePort ?? 0)),
    ],
  ]);
  announceLargePayloads(peerData);
  try {
    const encryption = dialed.encryption ? hostEncryption(request.peerData, peerData) : undefined;
    const { io, log } = components;
    const terms = { encryption, maxPayload: maxPayload(request.peerData) };
    const client = new SocketClient({ socket, reset, halfClose, ...terms, io, log });
    return { client, peerData, hopType, abandon: reset };
  } catch (error) {
    reset();
    throw error;
  }
}

function tryParse(destination: string) {
  try {
    return parseAddress(destination);
  } catch (error) {
    throw new EgressError(RouteErrorCode.MisconfiguredTerminator, describeError(error), { cause: error });
  }
}

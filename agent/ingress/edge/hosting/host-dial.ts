// A circuit that ends at a service hosted by an SDK client: the router dials the client, whose answer decides the kind
// of end (reference fact: edge, section 8.3).

import { describeError, TimeoutError } from '#lib/errors.ts';
import { SendQueueFullError } from '#wire/errors.ts';
import { EdgeErrorCode, PeerDataKey, RouteErrorCode, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { decodeUint32, encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { EgressError } from '../../../egress/dial-errors.ts';
import type { DialedEgress, DialedRelay, EgressRequest } from '../../../egress/egress.ts';
import { CONTROL_LANE, type SdkConnection } from '../clients/sdk-connection.ts';
import { type RejectionDetail, stateClosed, stateConnected, textOf } from '../clients/sdk-messages.ts';
import { SDK_HOP } from '../clients/sdk-trace.ts';
import { dataEnd, relayEnd, type SdkEndComponents } from '../ends/sdk-ends.ts';
import type { HostedService } from './hosted-service.ts';

/** Milliseconds within which a client must answer a dial. */
const DIAL_TIMEOUT = 5_000;
const ABANDONED: RejectionDetail = { code: EdgeErrorCode.Internal };
/** Peer data of the dialing side that the host receives, and its header keys. */
const TO_HOST: readonly (readonly [peerData: number, header: number])[] = [
  [PeerDataKey.PublicKey, SdkHeader.PublicKey],
  [PeerDataKey.AppData, SdkHeader.AppData],
  [PeerDataKey.ConnectionMarker, SdkHeader.ConnectionMarker],
  [PeerDataKey.DialerIdentityId, SdkHeader.DialerIdentityId],
  [PeerDataKey.DialerIdentityName, SdkHeader.DialerIdentityName],
];

/** Rejects with EgressError. */
export function dialHost(
  components: SdkEndComponents,
  service: HostedService,
  request: EgressRequest,
): Promise<DialedEgress | DialedRelay> {
  return service.init.routerIds
    ? dialWithOwnId(components, service, request)
    : dialWithClientId(components, service, request);
}

async function dialWithOwnId(
  components: SdkEndComponents,
  service: HostedService,
  request: EgressRequest,
): Promise<DialedEgress | DialedRelay> {
  const { connection, init } = service;
  const connectionId = connection.reserveOwn();
  if (connectionId === undefined)
    throw new EgressError(
      RouteErrorCode.ResourcesNotAvailable,
      connection.whyFull ?? 'the host has too many connections',
    );
  const extra: [number, Uint8Array | string][] = [[SdkHeader.RouterProvidedConnectionId, encodeUint32(connectionId)]];
  if (init.usesXgress)
    extra.push(
      [SdkHeader.UseXgressToSdk, TRUE],
      [SdkHeader.XgressControllerId, request.owner],
      [SdkHeader.XgressAddress, request.address],
    );
  if (init.usesXgress) return dialRelay(components, service, request, connectionId, extra);
  const client = dataEnd(components, connection, init.right, connectionId);
  const abandon = () => {
    client.abandon();
    closeAbandoned(connection, connectionId); // also if it was cut before the host had a connection
  };
  try {
    const answer = await sendDial(service, request, extra);
    return { client, peerData: peerDataOf(answer), hopType: SDK_HOP, abandon };
  } catch (error) {
    if (mayHaveConnection(service, error)) abandon();
    else client.abandon();
    throw error;
  }
}

/** Dials a client with its own flow control, which may close the circuit before its answer is processed. */
async function dialRelay(
  components: SdkEndComponents,
  service: HostedService,
  request: EgressRequest,
  connectionId: number,
  extra: readonly (readonly [number, Uint8Array | string])[],
): Promise<DialedRelay> {
  const { connection, init } = service;
  const { circuitId, address, owner } = request;
  const { closingEnds } = connection;
  closingEnds.dial(connectionId, circuitId);
  try {
    const answer = await sendDial(service, request, extra);
    const ofRelay = { connectionId, circuitId, address, owner, role: 'terminator' as const };
    const relay = relayEnd(components, connection, init.right, ofRelay);
    if (closingEnds.dialed(connectionId)) relay.onClosed();
    return { relay, peerData: peerDataOf(answer), abandon: () => relay.cut('dial abandoned', ABANDONED) };
  } catch (error) {
    connection.remove(connectionId, undefined);
    const isClosed = closingEnds.dialed(connectionId);
    if (!isClosed && mayHaveConnection(service, error)) {
      closingEnds.dialFailed(connectionId, circuitId);
      closeAbandoned(connection, connectionId);
    }
    throw error;
  }
}

/** Dials a client of 2022: it assigns the connection id itself and waits for a confirmation of its answer. */
async function dialWithClientId(
  components: SdkEndComponents,
  service: HostedService,
  request: EgressRequest,
): Promise<DialedEgress> {
  const { connection, init } = service;
  const answer = await sendDial(service, request, []);
  const connectionId = decodeUint32(answer.body);
  if (connectionId === undefined || !connection.reserve(connectionId)) {
    connection.reply(answer, stateClosed(connectionId ?? init.connectionId, 'dial abandoned', ABANDONED));
    throw new EgressError(RouteErrorCode.RejectedByApplication, 'the host answered without a free connection id');
  }
  const client = dataEnd(components, connection, init.right, connectionId);
  const abandon = () => {
    client.abandon();
    connection.reply(answer, stateClosed(connectionId, 'dial abandoned', ABANDONED));
  };
  const opened = () => connection.reply(answer, stateConnected(init.connectionId));
  return { client, peerData: peerDataOf(answer), hopType: SDK_HOP, abandon, opened };
}

/**
 * A client accepted a dial that was abandoned: without this message, it would wait for data of the circuit forever. A
 * second answer to a dial changes nothing.
 */
export function onLateAnswer(connection: SdkConnection, answer: Message): void {
  const connectionId = decodeUint32(answer.body);
  if (connectionId === undefined || connection.isUsed(connectionId)) return;
  connection.closingEnds.hasConnection(connectionId);
  closeAbandoned(connection, connectionId);
}

/**
 * Returns true if the client may have opened a connection for a dial that failed with `error`. The Go SDK keeps one
 * with its own flow control for three minutes, even if its application rejected the dial or never accepts it.
 */
function mayHaveConnection({ connection, init }: HostedService, error: unknown): boolean {
  const { cause } = error as EgressError;
  if (connection.isClosed || cause instanceof SendQueueFullError) return false;
  const isAnswered = cause === undefined;
  return init.usesXgress || !isAnswered;
}

/** Sent like the dial, so that it does not wait for data and arrives after the dial. */
function closeAbandoned(connection: SdkConnection, connectionId: number): void {
  const message = stateClosed(connectionId, 'dial abandoned', ABANDONED);
  if (!connection.channel.trySend(message, CONTROL_LANE)) connection.send(message);
}

/** Sends a Dial to the client and waits for its answer. Rejects with EgressError. */
async function sendDial(
  { connection, init }: HostedService,
  request: EgressRequest,
  extra: readonly (readonly [number, Uint8Array | string])[],
): Promise<Message> {
  const { peerData, timeLeft, signal, circuitId } = request;
  const token = init.right.serviceSession?.token ?? '';
  const question = new Message(SdkType.Dial, dialHeaders(init.connectionId, circuitId, peerData, extra), token);
  const timeout = timeLeft > 0 ? Math.min(DIAL_TIMEOUT, timeLeft) : DIAL_TIMEOUT;
  let answer: Message;
  try {
    answer = await connection.channel.request(question, { timeout, signal, lane: CONTROL_LANE });
  } catch (error) {
    const code = error instanceof TimeoutError ? RouteErrorCode.DialTimedOut : RouteErrorCode.Generic;
    throw new EgressError(code, `the host did not answer the dial: ${describeError(error)}`, { cause: error });
  }
  if (connection.isClosed) throw new EgressError(RouteErrorCode.Generic, 'the host disconnected during the dial');
  if (answer.contentType !== SdkType.DialSuccess)
    throw new EgressError(RouteErrorCode.RejectedByApplication, textOf(answer) || 'the host rejected the dial');
  return answer;
}

function dialHeaders(
  bindId: number,
  circuitId: string,
  peerData: ReadonlyMap<number, Buffer>,
  extra: readonly (readonly [number, Uint8Array | string])[],
): (readonly [number, Uint8Array | string])[] {
  const headers: (readonly [number, Uint8Array | string])[] = [
    [SdkHeader.ConnectionId, encodeUint32(bindId)],
    [SdkHeader.CircuitId, circuitId],
    [SdkHeader.CallerId, peerData.get(PeerDataKey.CallerId) ?? ''],
    ...extra,
  ];
  for (const [key, header] of TO_HOST) {
    const value = peerData.get(key);
    if (value) headers.push([header, value]);
  }
  return headers;
}

function peerDataOf(answer: Message): Map<number, Buffer> {
  const key = answer.headers.get(SdkHeader.PublicKey);
  return new Map(key ? [[PeerDataKey.PublicKey, Buffer.from(key)]] : []);
}

// Dials of SDK clients: checks the right to the service, requests a circuit from the controller, and creates its end
// here (reference fact: edge, section 5).

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { EdgeErrorCode, PeerDataKey, RetryHint, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { asReply, type Message } from '#wire/message.ts';
import type { Controllers } from '../../../control/controllers.ts';
import { DRAINING } from '../../../drain/drain-error.ts';
import type { Right } from '../clients/right.ts';
import type { SdkConnection } from '../clients/sdk-connection.ts';
import { lacksRight, rejectionOf, SdkRejection, sizeOf, stateClosed, stateConnected } from '../clients/sdk-messages.ts';
import { type RightComponents, requireAccess, rightByService, rightByToken } from '../clients/sdk-right.ts';
import { SDK_HOP } from '../clients/sdk-trace.ts';
import { controllerOf } from '../clients/session-controller.ts';
import { dataEnd, relayEnd, type SdkEndComponents } from '../ends/sdk-ends.ts';
import { requestSdkCircuit, type SdkCircuit } from './circuit-request.ts';

export interface SdkDialComponents extends RightComponents, SdkEndComponents {
  log: Log;
  controllers: Controllers;
  acceptsCircuits(): boolean;
}

/** Peer data from the client, by the header keys of its message. */
const FROM_CLIENT: readonly (readonly [header: number, peerData: number])[] = [
  [SdkHeader.PublicKey, PeerDataKey.PublicKey],
  [SdkHeader.CallerId, PeerDataKey.CallerId],
  [SdkHeader.AppData, PeerDataKey.AppData],
  [SdkHeader.ConnectionMarker, PeerDataKey.ConnectionMarker],
  [SdkHeader.StickinessToken, PeerDataKey.StickinessToken],
];

/** Serves one Connect or ConnectV2 message; the client gets an answer unless it closes the connection before. */
export async function serveDial(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
): Promise<void> {
  const connectionId = request.uint32(SdkHeader.ConnectionId);
  if (connectionId === undefined) {
    connection.reply(request, stateClosed(0, 'connId not set, required'));
    return;
  }
  const closed = connection.reserve(connectionId);
  if (!closed) {
    rejectId(components, connection, request, connectionId);
    return;
  }
  try {
    const right = await rightToDial(components, connection, request);
    const circuit = await circuitFor(components, connection, request, right, closed);
    requireStillValid(components, connection, right, circuit, closed);
    open(components, connection, request, connectionId, right, circuit);
  } catch (error) {
    connection.release(connectionId, closed);
    if (closed.aborted) return; // a late answer would end another connection with the same id
    logRejection(
      components,
      connection,
      { connectionId, error: describeError(error) },
      'dial of an SDK client rejected',
    );
    const answer = asReply(request, stateClosed(connectionId, describeError(error), rejectionOf(error)));
    if (lacksRight(error)) connection.rejections.answer(sizeOf(answer), () => connection.send(answer));
    else connection.send(answer);
  }
}

/** A client that repeats a request gets a line a minute, with the number of rejections. */
export function logRejection(
  { log }: Pick<SdkDialComponents, 'log'>,
  { rejections, session: { identityId } }: SdkConnection,
  fields: { readonly connectionId: number; readonly error: string },
  phrase: string,
): void {
  const due = rejections.logged.happened(`${phrase}: ${fields.error}`);
  if (due) log.info({ identityId, ...fields, ...(due.unlogged > 1 && { rejections: due.unlogged }) }, phrase);
}

/** The id cannot be reserved. */
function rejectId(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
  connectionId: number,
): void {
  const rejection = idRejected(connection, connectionId);
  const error = rejection.message;
  logRejection(components, connection, { connectionId, error }, 'dial of an SDK client rejected');
  connection.reply(request, stateClosed(connectionId, error, rejection.rejection));
}

/** The reason why a connection id could not be reserved. */
export function idRejected({ whyFull }: SdkConnection, connectionId: number): SdkRejection {
  if (whyFull !== undefined)
    return new SdkRejection(whyFull, { code: EdgeErrorCode.Internal, hint: RetryHint.TooBusy });
  return new SdkRejection(`connection id ${connectionId} is in use`, { code: EdgeErrorCode.Internal });
}

/** @throws SdkRejection */
async function rightToDial(components: SdkDialComponents, connection: SdkConnection, request: Message): Promise<Right> {
  requireAccepting(components);
  const right =
    request.contentType === SdkType.ConnectV2
      ? rightByService(components, connection, request)
      : await rightByToken(components, connection, request.body.toString(), 'dial');
  requireAccess(components, connection, right);
  return right;
}

function requireAccepting({ acceptsCircuits }: SdkDialComponents): void {
  if (!acceptsCircuits()) throw new SdkRejection(DRAINING, { code: EdgeErrorCode.Internal });
}

/**
 * Checks again: while the controller created the circuit, access may be lost, a drain may have started, the client may
 * have closed the connection, or the controller may have removed the circuit. The circuit is abandoned then. @throws
 * SdkRejection, or the reason of `closed`
 */
function requireStillValid(
  components: SdkDialComponents,
  connection: SdkConnection,
  right: Right,
  circuit: SdkCircuit,
  closed: AbortSignal,
): void {
  try {
    closed.throwIfAborted();
    // A removal that arrived together with the controller's answer has been handled before it.
    if (!components.forwarder.circuits.get(circuit.circuitId))
      throw new SdkRejection('the circuit was removed', { code: EdgeErrorCode.Internal, circuitId: circuit.circuitId });
    requireAccepting(components);
    requireAccess(components, connection, right);
  } catch (error) {
    components.ends.abandon(circuit.circuitId, 'initiator', circuit.owner);
    throw error;
  }
}

async function circuitFor(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
  { serviceId, serviceSession }: Right,
  closed: AbortSignal,
): Promise<SdkCircuit> {
  const { session } = connection;
  return requestSdkCircuit(controllerOf(components.controllers, connection, 'circuit'), {
    by: serviceSession ? { sessionToken: serviceSession.token } : { identityId: session.identityId, serviceId },
    apiSessionToken: session.token,
    fingerprints: connection.fingerprints,
    instanceId: request.string(SdkHeader.TerminatorInstanceId) ?? '',
    peerData: peerDataOf(components, connection, request),
    timeout: components.options.getCircuitTimeout,
    signal: closed,
  });
}

function peerDataOf({ model }: SdkDialComponents, { session }: SdkConnection, request: Message): Map<number, Buffer> {
  const peerData = new Map<number, Buffer>();
  for (const [header, key] of FROM_CLIENT) {
    const value = request.headers.get(header);
    if (value) peerData.set(key, Buffer.from(value));
  }
  peerData.set(PeerDataKey.DialerIdentityId, Buffer.from(session.identityId));
  const name = model.identities.get(session.identityId)?.name;
  if (name !== undefined) peerData.set(PeerDataKey.DialerIdentityName, Buffer.from(name));
  return peerData;
}

/** The client must receive the answer before the first payload. */
function open(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
  connectionId: number,
  right: Right,
  circuit: SdkCircuit,
): void {
  const { ends, options } = components;
  const { circuitId, address, owner } = circuit;
  if (connection.isClosed) {
    ends.abandon(circuitId, 'initiator', owner);
    return;
  }
  if (request.bool(SdkHeader.UseXgressToSdk)) {
    const relay = relayEnd(components, connection, right, { ...circuit, connectionId, role: 'initiator' });
    relay.open(ends);
    connection.reply(request, connectedMessage(request, connectionId, circuit, true));
    return;
  }
  const client = dataEnd(components, connection, right, connectionId);
  const xgress = ends.open({ circuitId, address, role: 'initiator', options, hopType: SDK_HOP }, client, owner);
  client.attach(xgress);
  connection.reply(request, connectedMessage(request, connectionId, circuit, false));
  xgress.start();
}

function connectedMessage(
  request: Message,
  connectionId: number,
  { circuitId, address, peerData, owner }: SdkCircuit,
  usesXgress: boolean,
): Message {
  const headers: (readonly [number, Uint8Array | string])[] = [[SdkHeader.CircuitId, circuitId]];
  if (request.bool(SdkHeader.RouterProvidedConnectionId)) headers.push([SdkHeader.RouterProvidedConnectionId, TRUE]);
  if (usesXgress)
    headers.push(
      [SdkHeader.UseXgressToSdk, TRUE],
      [SdkHeader.XgressControllerId, owner],
      [SdkHeader.XgressAddress, address],
    );
  for (const [key, value] of peerData) {
    if (key === PeerDataKey.LargestPayload) continue; // for routers only
    headers.push([key === PeerDataKey.StickinessToken ? SdkHeader.StickinessToken : key, value]);
  }
  return stateConnected(connectionId, headers);
}

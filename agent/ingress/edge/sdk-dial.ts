// Dials of SDK clients: checks the right to the service, gets a circuit from the controller, and makes its end here
// (reference fact: edge, section 5).

import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { EdgeErrorCode, PeerDataKey, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import type { Message } from '#wire/message.ts';
import type { Access } from '../../access/access.ts';
import type { DataModel, Permission } from '../../access/data-model.ts';
import type { LegacySessions } from '../../access/legacy-sessions.ts';
import { isSignedToken, type ServiceClaims, TokenError, type Tokens } from '../../access/tokens.ts';
import type { Controller } from '../../control/controller.ts';
import type { Controllers } from '../../control/controllers.ts';
import { DRAINING } from '../../drain/drain-error.ts';
import type { Forwarder } from '../../forwarder/forwarder.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { XgressOptions } from '../../xgress/options.ts';
import { requestSdkCircuit, type SdkCircuit } from './circuit-request.ts';
import { LegacyClient } from './legacy-client.ts';
import type { SdkConnection } from './sdk-connection.ts';
import { refusalOf, SdkRefusal, stateClosed, stateConnected } from './sdk-messages.ts';
import { SdkRelay } from './sdk-relay.ts';

export interface SdkDialComponents {
  clock: Clock;
  log: Log;
  controllers: Controllers;
  model: DataModel;
  access: Access;
  legacy: LegacySessions;
  tokens: Tokens;
  forwarder: Forwarder;
  ends: CircuitEnds;
  options: XgressOptions;
  onUnroutable(circuitId: string): void;
  acceptsCircuits(): boolean;
}

/** What a client may do with a service, and by which proof; `recheck` tells whether it still may. */
export interface Right {
  readonly serviceId: string;
  readonly permission: Permission;
  /** Token and id of the service session; undefined for dials with the API session alone. */
  readonly serviceSession: { readonly token: string; readonly id: string | undefined } | undefined;
}

const HOP_TYPE = 'xgress/edge';
/** Peer data that the client gives, under the keys of its message. */
const FROM_CLIENT: readonly (readonly [header: number, peerData: number])[] = [
  [SdkHeader.PublicKey, PeerDataKey.PublicKey],
  [SdkHeader.CallerId, PeerDataKey.CallerId],
  [SdkHeader.AppData, PeerDataKey.AppData],
  [SdkHeader.ConnectionMarker, PeerDataKey.ConnectionMarker],
  [SdkHeader.StickinessToken, PeerDataKey.StickinessToken],
];
const SERVICE_BY_NAME = 1;

/** Serves one Connect or ConnectV2 message; the client gets the answer, whatever happens. */
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
  if (!connection.reserve(connectionId)) {
    const text = `connection id ${connectionId} is in use`;
    connection.reply(request, stateClosed(connectionId, text, { code: EdgeErrorCode.Internal }));
    return;
  }
  try {
    const right = await rightToDial(components, connection, request);
    const circuit = await circuitFor(components, connection, request, right);
    stillMay(components, connection, right, circuit);
    open(components, connection, request, connectionId, right, circuit);
  } catch (error) {
    connection.release(connectionId);
    components.log.info(
      { identityId: connection.session.identityId, connectionId, error: describeError(error) },
      'dial of an SDK client refused',
    );
    connection.reply(request, stateClosed(connectionId, describeError(error), refusalOf(error)));
  }
}

/** Throws SdkRefusal. */
async function rightToDial(components: SdkDialComponents, connection: SdkConnection, request: Message): Promise<Right> {
  demandAccepting(components);
  const right =
    request.contentType === SdkType.ConnectV2
      ? rightByService(components, connection, request)
      : await rightByToken(components, connection, request.body.toString(), 'dial');
  demandAccess(components, connection, right);
  return right;
}

function demandAccepting({ acceptsCircuits }: SdkDialComponents): void {
  if (!acceptsCircuits()) throw new SdkRefusal(DRAINING, { code: EdgeErrorCode.Internal });
}

function rightByService({ model }: SdkDialComponents, connection: SdkConnection, request: Message): Right {
  if (!connection.session.claims)
    throw new SdkRefusal('connect-v2 requires an OIDC API session', { code: EdgeErrorCode.InvalidApiSessionType });
  const named = request.string(SdkHeader.ServiceIdentifier) ?? '';
  const isName = request.headers.get(SdkHeader.ServiceIdentifierType)?.[0] === SERVICE_BY_NAME;
  const service = isName ? model.serviceByName(named) : model.services.get(named);
  if (!service) throw new SdkRefusal(`the service ${named} does not exist`, { code: EdgeErrorCode.InvalidService });
  return { serviceId: service.id, permission: 'dial', serviceSession: undefined };
}

/** The right that a token of a service session gives. Throws SdkRefusal. */
export async function rightByToken(
  components: Pick<SdkDialComponents, 'model' | 'tokens' | 'legacy'>,
  connection: SdkConnection,
  token: string,
  permission: Permission,
): Promise<Right> {
  const { model, tokens, legacy } = components;
  if (!isSignedToken(token)) {
    // Controllers before 2.0 gave opaque tokens; the reference takes such a text as the id of a service.
    if (permission === 'bind')
      throw new SdkRefusal('Invalid Session: the token is not signed', { code: EdgeErrorCode.InvalidSession });
    if (!model.services.has(token))
      throw new SdkRefusal('Invalid Session: the token is neither signed nor the id of a service', {
        code: EdgeErrorCode.InvalidService,
      });
    return { serviceId: token, permission, serviceSession: { token, id: undefined } };
  }
  const claims = await serviceClaims(tokens, connection, token);
  if (legacy.isRemovedServiceSession({ token, id: claims.jti }))
    throw new SdkRefusal('Invalid Session: the session was removed', { code: EdgeErrorCode.InvalidSession });
  if (claims.z_st !== (permission === 'dial' ? 'Dial' : 'Bind'))
    throw new SdkRefusal(`rejecting ${permission}, invalid session type. the session is for ${claims.z_st}`, {
      code: EdgeErrorCode.WrongSessionType,
    });
  return { serviceId: claims.sub, permission, serviceSession: { token, id: claims.jti } };
}

async function serviceClaims(tokens: Tokens, connection: SdkConnection, token: string): Promise<ServiceClaims> {
  try {
    return await tokens.service(token, connection.session.id);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const text = `Invalid Session: ${describeError(error)}`;
    throw new SdkRefusal(text, { code: EdgeErrorCode.InvalidSession }, { cause: error });
  }
}

/** Of sessions that are tokens, the router decides by itself; the controller has decided of the others. Throws SdkRefusal. */
export function demandAccess(
  { access, clock, model }: Pick<SdkDialComponents, 'access' | 'clock' | 'model'>,
  connection: SdkConnection,
  { serviceId, permission }: Right,
): void {
  const name = model.services.get(serviceId)?.name;
  if (name === undefined)
    throw new SdkRefusal(`the service ${serviceId} does not exist`, { code: EdgeErrorCode.InvalidService });
  if (!connection.session.claims) return;
  const verdict = access.decide(connection.subject, serviceId, permission, clock.now());
  if (verdict.granted) return;
  const { failingChecks } = verdict;
  if (failingChecks.length === 0)
    throw new SdkRefusal(`no ${permission} policy gives the identity access to service ${name}`, {
      code: EdgeErrorCode.AccessDenied,
    });
  throw new SdkRefusal(`posture checks fail for service ${name}: ${failingChecks.join(', ')}`, {
    code: EdgeErrorCode.PostureCheckFailed,
    failingChecks,
  });
}

/** Access may have been lost, or a drain begun, while the controller made the circuit, which is then removed. Throws SdkRefusal. */
function stillMay(components: SdkDialComponents, connection: SdkConnection, right: Right, circuit: SdkCircuit): void {
  try {
    demandAccepting(components);
    demandAccess(components, connection, right);
  } catch (error) {
    components.ends.giveUp(circuit.circuitId, 'initiator', circuit.owner);
    throw error;
  }
}

/** The controller that owns the session, or any for a session that is a token. Throws SdkRefusal. */
export function controllerOf(controllers: Controllers, connection: SdkConnection, purpose: string): Controller {
  const controller = ownerOf(controllers, connection);
  if (!controller)
    throw new SdkRefusal(`no controller available, cannot create ${purpose}`, { code: EdgeErrorCode.Internal });
  return controller;
}

/** As `controllerOf`; undefined while it is not connected. */
export function ownerOf(controllers: Controllers, { session }: SdkConnection): Controller | undefined {
  if (session.controllerId !== undefined) return controllers.byId(session.controllerId);
  return controllers.all.length > 0 ? controllers.best : undefined;
}

async function circuitFor(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
  { serviceId, serviceSession }: Right,
): Promise<SdkCircuit> {
  const { session } = connection;
  return requestSdkCircuit(controllerOf(components.controllers, connection, 'circuit'), {
    by: serviceSession ? { sessionToken: serviceSession.token } : { identityId: session.identityId, serviceId },
    apiSessionToken: session.token,
    fingerprints: connection.fingerprints,
    instanceId: request.string(SdkHeader.TerminatorInstanceId) ?? '',
    peerData: peerDataOf(components, connection, request),
    timeout: components.options.getCircuitTimeout,
    signal: connection.signal,
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

/** The client hears that it is connected before the first payload can reach it. */
function open(
  components: SdkDialComponents,
  connection: SdkConnection,
  request: Message,
  connectionId: number,
  right: Right,
  circuit: SdkCircuit,
): void {
  const { ends, clock, forwarder, options, onUnroutable } = components;
  const { circuitId, address, owner } = circuit;
  if (connection.isClosed) {
    ends.giveUp(circuitId, 'initiator', owner);
    return;
  }
  const role = 'initiator' as const;
  const onGone = () => connection.remove(connectionId);
  if (request.bool(SdkHeader.UseXgressToSdk)) {
    const giveUp = () => ends.giveUp(circuitId, role, owner);
    const parts = { clock, forwarder, link: connection, onUnroutable, giveUp, onGone };
    const relay = new SdkRelay(parts, { connectionId, circuitId, address, role });
    connection.put(connectionId, relay, right);
    relay.open(ends);
    if (!forwarder.circuits.get(circuitId)) return relay.unrouted();
    connection.reply(request, connectedMessage(request, connectionId, circuit, true));
    return;
  }
  const client = new LegacyClient(clock, connection, connectionId, onGone);
  connection.put(connectionId, client, right);
  const xgress = ends.open({ circuitId, address, role, options, hopType: HOP_TYPE }, client, owner);
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
  for (const [key, value] of peerData)
    headers.push([key === PeerDataKey.StickinessToken ? SdkHeader.StickinessToken : key, value]);
  return stateConnected(connectionId, headers);
}

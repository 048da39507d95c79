// Services that SDK clients host over this router: their terminators, and the dials that arrive for them
// (reference fact: edge, section 8).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Timer } from '#lib/clock.ts';
import { describeError, TimeoutError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import {
  CreateTerminatorV2RequestSchema,
  HealthEventRequestSchema,
  TerminatorPrecedence,
  UpdateTerminatorRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import {
  ChannelHeader,
  EdgeControlType,
  EdgeErrorCode,
  PeerDataKey,
  RetryHint,
  RouteErrorCode,
  SdkHeader,
  SdkType,
} from '#wire/gen/numbers.ts';
import { encodeInt32, encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { EgressError } from '../../egress/dial-errors.ts';
import type { DialedEgress, DialedRelay, EgressRequest } from '../../egress/egress.ts';
import type { TerminatorAnswer, Terminators } from '../terminators.ts';
import { LegacyClient } from './legacy-client.ts';
import { type ClientEnd, CONTROL_LANE, type SdkConnection } from './sdk-connection.ts';
import { controllerOf, demandAccess, type Right, rightByToken, type SdkDialComponents } from './sdk-dial.ts';
import { type RefusalDetail, SdkRefusal, stateClosed, stateConnected } from './sdk-messages.ts';
import { SdkRelay } from './sdk-relay.ts';

export interface SdkHostingComponents extends SdkDialComponents {
  terminators: Terminators;
  ids: IdSource;
}

/** What the client said when it bound. */
interface BindInit {
  readonly connectionId: number;
  readonly terminatorId: string;
  readonly listenerId: string | undefined;
  readonly right: Right;
  readonly publicKey: Buffer | undefined;
  readonly cost: number;
  readonly precedence: TerminatorPrecedence;
  readonly instanceId: string;
  readonly instanceSecret: Buffer;
  /** The router gives ids to the connections that it opens to the client. */
  readonly routerIds: boolean;
  readonly usesXgress: boolean;
  readonly wantsBindSuccess: boolean;
  readonly inspects: boolean;
}

/** Milliseconds that a client has to answer a dial. */
const DIAL_TIMEOUT = 5_000;
/** Refusals without a hint after which a terminator is given up. */
const MOST_FAILURES = 3;
const HIGHEST_COST = 65_535;
const HOP_TYPE = 'xgress/edge';
const DESTINATION_PREFIX = 'hosted:';
const INSPECT_INTERVAL = 10_000;
const MOST_INSPECTIONS = 60;
const TYPE_BIND = 2;

/** One bound service of one client. */
class HostedService implements ClientEnd {
  readonly init: BindInit;
  readonly connection: SdkConnection;
  cost: number;
  precedence: TerminatorPrecedence;
  readonly #hosting: SdkHosting;

  constructor(hosting: SdkHosting, connection: SdkConnection, init: BindInit) {
    this.#hosting = hosting;
    this.connection = connection;
    this.init = init;
    this.cost = init.cost;
    this.precedence = init.precedence;
  }

  get connectionId(): number {
    return this.init.connectionId;
  }

  onClosed(): void {
    this.#hosting.remove(this);
  }

  onLost(): void {
    this.#hosting.remove(this);
  }

  cut(reason: string, detail: RefusalDetail): void {
    this.connection.send(stateClosed(this.connectionId, reason, detail));
    this.#hosting.remove(this);
  }
}

export class SdkHosting {
  readonly #components: SdkHostingComponents;
  readonly #hosted = new Map<string, HostedService>();
  readonly #inspecting = new Map<HostedService, { timer: Timer; asked: number }>();

  constructor(components: SdkHostingComponents) {
    this.#components = components;
  }

  get count(): number {
    return this.#hosted.size;
  }

  close(): void {
    for (const { timer } of this.#inspecting.values()) timer.cancel();
    this.#inspecting.clear();
  }

  // Binding ----------------------------------------------------------------------------------------------------------------

  async bind(connection: SdkConnection, request: Message): Promise<void> {
    const connectionId = request.uint32(SdkHeader.ConnectionId);
    if (connectionId === undefined) {
      connection.reply(request, stateClosed(0, 'connId not set, required'));
      return;
    }
    try {
      const right = await rightByToken(this.#components, connection, request.body.toString(), 'bind');
      demandAccess(this.#components, connection, right);
      controllerOf(this.#components.controllers, connection, 'terminator');
      if (!connection.isClosed) this.#place(connection, request, readBind(connectionId, right, request));
    } catch (error) {
      const detail = error instanceof SdkRefusal ? error.refusal : { code: EdgeErrorCode.Internal };
      const { log } = this.#components;
      log.info(
        { identityId: connection.session.identityId, connectionId, error: describeError(error) },
        'bind refused',
      );
      connection.reply(request, stateClosed(connectionId, describeError(error), detail));
    }
  }

  /** Takes over the terminator of an older bind of the same listener, confirms a repeated bind, or makes a new one. */
  #place(connection: SdkConnection, request: Message, bind: Omit<BindInit, 'terminatorId'>): void {
    const older = this.#ofSameListener(connection, bind);
    if (older?.connection === connection) {
      if (older.connectionId > bind.connectionId) return; // the bind was overtaken by a newer one
      const isRepeated =
        older.connectionId === bind.connectionId &&
        older.init.right.serviceSession?.token === bind.right.serviceSession?.token;
      if (isRepeated) {
        this.#confirm(older, request);
        if (this.#components.terminators.isEstablished(older.init.terminatorId)) this.#onEstablished(older);
        return;
      }
    }
    if (!connection.reserve(bind.connectionId))
      throw new SdkRefusal(`connection id ${bind.connectionId} is in use`, { code: EdgeErrorCode.Internal });
    const terminatorId = older?.init.terminatorId ?? this.#components.ids.cuid();
    const service = new HostedService(this, connection, { ...bind, terminatorId });
    connection.put(bind.connectionId, service, bind.right);
    this.#hosted.set(terminatorId, service);
    if (older) this.#replace(older);
    this.#confirm(service, request);
    if (older && this.#components.terminators.isEstablished(terminatorId)) this.#onEstablished(service);
    this.#keep(service);
    if (bind.listenerId === undefined) this.#closeOlder(service);
  }

  #ofSameListener(connection: SdkConnection, bind: Omit<BindInit, 'terminatorId'>): HostedService | undefined {
    if (bind.listenerId === undefined) return undefined;
    for (const each of this.#hosted.values()) {
      const { init } = each;
      const isSame = init.listenerId === bind.listenerId && init.right.serviceId === bind.right.serviceId;
      if (isSame && each.connection.session.identityId === connection.session.identityId) return each;
    }
    return undefined;
  }

  /** The terminator lives on with another bind. */
  #replace(older: HostedService): void {
    this.#stopInspecting(older);
    const detail = { code: EdgeErrorCode.Internal, hint: RetryHint.NotRetriable };
    older.connection.send(stateClosed(older.connectionId, 'newer terminator found for listener id', detail));
    older.connection.remove(older.connectionId);
  }

  /** Without a listener id, a bind with the same token and instance replaces the one before. */
  #closeOlder(service: HostedService): void {
    const token = service.init.right.serviceSession?.token;
    for (const each of [...this.#hosted.values()]) {
      const isSame =
        each.init.right.serviceSession?.token === token && each.init.instanceId === service.init.instanceId;
      if (each !== service && each.init.listenerId === undefined && isSame)
        each.cut('newer terminator found', { code: EdgeErrorCode.Internal, hint: RetryHint.NotRetriable });
    }
  }

  #confirm({ connection, init }: HostedService, request: Message): void {
    const headers = init.routerIds ? ([[SdkHeader.RouterProvidedConnectionId, TRUE]] as const) : [];
    connection.reply(request, stateConnected(init.connectionId, headers));
  }

  #keep(service: HostedService): void {
    const { terminators, controllers, model } = this.#components;
    const { init, connection } = service;
    if (terminators.has(init.terminatorId)) return;
    terminators.add({
      id: init.terminatorId,
      binding: 'edge',
      serviceName: model.services.get(init.right.serviceId)?.name ?? init.right.serviceId,
      cost: init.cost,
      precedence: TerminatorPrecedence[init.precedence].toLowerCase(),
      instanceId: init.instanceId,
      controller: () => this.#controller(connection, controllers),
      request: () => this.#request(init.terminatorId),
      established: () => this.#onEstablished(this.#hosted.get(init.terminatorId)),
      mayRetry: (answer, failures) => this.#mayRetry(this.#hosted.get(init.terminatorId), answer, failures),
    });
  }

  #controller(connection: SdkConnection, controllers: SdkHostingComponents['controllers']) {
    const { controllerId } = connection.session;
    if (controllerId !== undefined) return controllers.byId(controllerId);
    return controllers.all.length > 0 ? controllers.best : undefined;
  }

  #request(terminatorId: string): Message {
    const service = this.#hosted.get(terminatorId);
    if (!service) throw new SdkRefusal('the service is not hosted any longer', { code: EdgeErrorCode.Internal });
    const { init, connection, cost, precedence } = service;
    const request = create(CreateTerminatorV2RequestSchema, {
      address: terminatorId,
      sessionToken: init.right.serviceSession?.token ?? '',
      apiSessionToken: connection.session.token,
      fingerprints: [...connection.fingerprints],
      peerData: init.publicKey ? { [PeerDataKey.PublicKey]: init.publicKey } : {},
      cost,
      precedence,
      instanceId: init.instanceId,
      instanceSecret: init.instanceSecret,
    });
    return new Message(EdgeControlType.CreateTerminatorV2, [], toBinary(CreateTerminatorV2RequestSchema, request));
  }

  /** Access may have been lost while the controller made the terminator. */
  #onEstablished(service: HostedService | undefined): void {
    if (!service) return;
    const { connection, init } = service;
    try {
      demandAccess(this.#components, connection, init.right);
    } catch (error) {
      service.cut(describeError(error), { code: EdgeErrorCode.AccessDenied, hint: RetryHint.StartOver });
      return;
    }
    if (init.wantsBindSuccess)
      connection.channel.trySend(
        new Message(SdkType.BindSuccess, [[SdkHeader.ConnectionId, encodeUint32(init.connectionId)]]),
        CONTROL_LANE,
      );
    if (init.inspects) this.#inspect(service);
  }

  #mayRetry(service: HostedService | undefined, answer: TerminatorAnswer, failures: number): boolean {
    if (!service) return false;
    const hint = (answer.retryHint ?? RetryHint.Default) as RetryHint;
    if (hint === RetryHint.Default && failures < MOST_FAILURES) return true;
    const code = (answer.errorCode ?? EdgeErrorCode.Internal) as EdgeErrorCode;
    service.cut(answer.msg || 'the controller refused the terminator', { code, hint });
    return false;
  }

  unbind(connection: SdkConnection, request: Message): void {
    const service = this.#of(connection, request);
    if (service) {
      this.remove(service);
      return;
    }
    const connectionId = request.uint32(SdkHeader.ConnectionId) ?? 0;
    connection.reply(request, stateClosed(connectionId, 'no service is hosted under this connection id'));
  }

  /** Changes cost and precedence. */
  update(connection: SdkConnection, request: Message): void {
    const service = this.#of(connection, request);
    if (!service) return;
    const cost = request.headers.get(SdkHeader.Cost);
    const precedence = request.headers.get(SdkHeader.Precedence)?.[0];
    const updateCost = cost?.length === 2;
    const updatePrecedence = precedence !== undefined && precedence in TerminatorPrecedence;
    if (updateCost) service.cost = cost.readUInt16LE();
    if (updatePrecedence) service.precedence = precedence;
    const body = create(UpdateTerminatorRequestSchema, {
      ...this.#named(service),
      cost: service.cost,
      precedence: service.precedence,
      updateCost,
      updatePrecedence,
    });
    this.#tell(connection, EdgeControlType.UpdateTerminator, toBinary(UpdateTerminatorRequestSchema, body));
  }

  healthEvent(connection: SdkConnection, request: Message): void {
    const service = this.#of(connection, request);
    if (!service) return;
    const checkPassed = request.bool(SdkHeader.HealthStatus);
    const body = create(HealthEventRequestSchema, { ...this.#named(service), checkPassed });
    this.#tell(connection, EdgeControlType.HealthEvent, toBinary(HealthEventRequestSchema, body));
  }

  #named({ init, connection }: HostedService) {
    return {
      terminatorId: init.terminatorId,
      sessionToken: init.right.serviceSession?.token ?? '',
      apiSessionToken: connection.session.token,
      fingerprints: [...connection.fingerprints],
    };
  }

  #tell(connection: SdkConnection, type: number, body: Uint8Array): void {
    const { controllers, log } = this.#components;
    const controller = this.#controller(connection, controllers);
    if (!controller?.channel.trySend(new Message(type, [], body)))
      log.info({ contentType: type }, 'change of a hosted service could not be reported');
  }

  #of(connection: SdkConnection, request: Message): HostedService | undefined {
    const end = connection.end(request.uint32(SdkHeader.ConnectionId) ?? -1);
    if (!(end instanceof HostedService)) return undefined;
    return end.init.right.serviceSession?.token === request.body.toString() ? end : undefined;
  }

  /** The service is hosted here no longer; the controller hears of it. */
  remove(service: HostedService): void {
    const { terminatorId, connectionId } = service.init;
    this.#stopInspecting(service);
    service.connection.remove(connectionId);
    if (this.#hosted.get(terminatorId) !== service) return;
    this.#hosted.delete(terminatorId);
    this.#components.terminators.remove(terminatorId);
  }

  // Inspection -------------------------------------------------------------------------------------------------------------

  /** Asks the client whether it still hosts, until it answers. */
  #inspect(service: HostedService): void {
    if (this.#inspecting.has(service)) return;
    const timer = this.#components.clock.every('bind inspection', INSPECT_INTERVAL, () => this.#ask(service));
    this.#inspecting.set(service, { timer, asked: 0 });
    this.#ask(service);
  }

  #ask(service: HostedService): void {
    const state = this.#inspecting.get(service);
    if (!state) return;
    if (++state.asked > MOST_INSPECTIONS) {
      service.cut('the host does not answer inspections', { code: EdgeErrorCode.Internal });
      return;
    }
    const { connection, connectionId } = service;
    const question = new Message(SdkType.ConnectionInspect, [[SdkHeader.ConnectionId, encodeUint32(connectionId)]]);
    connection.channel
      .request(question, { timeout: INSPECT_INTERVAL, lane: CONTROL_LANE })
      .then((answer) => this.#onInspected(service, answer))
      .catch(() => undefined); // asked again, or the client is gone
  }

  #onInspected(service: HostedService, answer: Message): void {
    this.#stopInspecting(service);
    const type = answer.headers.get(SdkHeader.ConnectionType)?.[0];
    if (type !== undefined && type !== TYPE_BIND) this.remove(service);
  }

  #stopInspecting(service: HostedService): void {
    this.#inspecting.get(service)?.timer.cancel();
    this.#inspecting.delete(service);
  }

  // Dials to the host ------------------------------------------------------------------------------------------------------

  /** The dialer of the binding `edge`; the destination is the id of a terminator, perhaps with a prefix. */
  async dial(request: EgressRequest): Promise<DialedEgress | DialedRelay> {
    const id = request.destination.startsWith(DESTINATION_PREFIX)
      ? request.destination.slice(DESTINATION_PREFIX.length)
      : request.destination;
    const service = this.#hosted.get(id);
    if (!service)
      throw new EgressError(RouteErrorCode.InvalidTerminator, `terminator ${id} is not hosted by this router`);
    if (service.init.routerIds) return this.#dialWithOwnId(service, request);
    return this.#dialWithClientId(service, request);
  }

  async #dialWithOwnId(service: HostedService, request: EgressRequest): Promise<DialedEgress | DialedRelay> {
    const { connection, init } = service;
    const { clock } = this.#components;
    const connectionId = connection.reserveOwn();
    if (connectionId === undefined)
      throw new EgressError(RouteErrorCode.ResourcesNotAvailable, 'the host has too many connections');
    const extra: [number, Uint8Array | string][] = [[SdkHeader.RouterProvidedConnectionId, encodeUint32(connectionId)]];
    if (init.usesXgress)
      extra.push(
        [SdkHeader.UseXgressToSdk, TRUE],
        [SdkHeader.XgressControllerId, request.owner],
        [SdkHeader.XgressAddress, request.address],
      );
    const onGone = () => connection.remove(connectionId);
    const client = init.usesXgress ? undefined : new LegacyClient(clock, connection, connectionId, onGone);
    if (client) connection.put(connectionId, client, init.right);
    try {
      const answer = await this.#askHost(service, request, extra);
      const peerData = peerDataOf(answer);
      if (client)
        return { client, peerData, hopType: HOP_TYPE, abandon: () => client.cut('dial abandoned', ABANDONED) };
      return this.#relay(service, request, connectionId, peerData);
    } catch (error) {
      connection.remove(connectionId);
      throw error;
    }
  }

  #relay(
    { connection, init }: HostedService,
    { circuitId, address, owner }: EgressRequest,
    connectionId: number,
    peerData: ReadonlyMap<number, Buffer>,
  ): DialedRelay {
    const { clock, forwarder, ends, onUnroutable } = this.#components;
    const role = 'terminator' as const;
    const giveUp = () => ends.giveUp(circuitId, role, owner);
    const onGone = () => connection.remove(connectionId);
    const parts = { clock, forwarder, link: connection, onUnroutable, giveUp, onGone };
    const relay = new SdkRelay(parts, { connectionId, circuitId, address, role });
    connection.put(connectionId, relay, init.right);
    return { relay, peerData, abandon: () => relay.cut('dial abandoned', ABANDONED) };
  }

  /** A client of 2022 gives the id itself, and waits for a confirmation of its answer. */
  async #dialWithClientId(service: HostedService, request: EgressRequest): Promise<DialedEgress> {
    const { connection, init } = service;
    const { clock } = this.#components;
    const answer = await this.#askHost(service, request, []);
    const connectionId = answer.body.length === 4 ? answer.body.readUInt32LE() : undefined;
    if (connectionId === undefined || !connection.reserve(connectionId))
      throw new EgressError(RouteErrorCode.RejectedByApplication, 'the host answered without a free connection id');
    const client = new LegacyClient(clock, connection, connectionId, () => connection.remove(connectionId));
    connection.put(connectionId, client, init.right);
    const confirm = () =>
      connection.send(stateConnected(init.connectionId, [[ChannelHeader.ReplyFor, encodeInt32(answer.sequence)]]));
    return {
      client,
      peerData: peerDataOf(answer),
      hopType: HOP_TYPE,
      abandon: () => client.cut('dial abandoned', ABANDONED),
      opened: confirm,
    };
  }

  /** Sends a Dial to the client and waits for its answer. Rejects with EgressError. */
  async #askHost(
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
    if (answer.contentType !== SdkType.DialSuccess)
      throw new EgressError(
        RouteErrorCode.RejectedByApplication,
        answer.body.toString() || 'the host rejected the dial',
      );
    return answer;
  }
}

const ABANDONED: RefusalDetail = { code: EdgeErrorCode.Internal };
/** Peer data of the dialing side that the host hears, and the headers in which it stands. */
const TO_HOST: readonly (readonly [peerData: number, header: number])[] = [
  [PeerDataKey.PublicKey, SdkHeader.PublicKey],
  [PeerDataKey.AppData, SdkHeader.AppData],
  [PeerDataKey.ConnectionMarker, SdkHeader.ConnectionMarker],
  [PeerDataKey.DialerIdentityId, SdkHeader.DialerIdentityId],
  [PeerDataKey.DialerIdentityName, SdkHeader.DialerIdentityName],
];

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

/** Throws SdkRefusal. */
function readBind(connectionId: number, right: Right, request: Message): Omit<BindInit, 'terminatorId'> {
  const publicKey = request.headers.get(SdkHeader.PublicKey);
  return {
    connectionId,
    right,
    publicKey: publicKey && Buffer.from(publicKey),
    listenerId: request.string(SdkHeader.ListenerId),
    cost: readCost(request.headers.get(SdkHeader.Cost)),
    precedence: readPrecedence(request.headers.get(SdkHeader.Precedence)),
    instanceId: request.string(SdkHeader.TerminatorInstanceId) ?? '',
    instanceSecret: Buffer.from(request.headers.get(SdkHeader.TerminatorInstanceSecret) ?? ''),
    routerIds: request.bool(SdkHeader.RouterProvidedConnectionId),
    usesXgress: request.bool(SdkHeader.UseXgressToSdk),
    wantsBindSuccess: request.bool(SdkHeader.SupportsBindSuccess),
    inspects: request.bool(SdkHeader.SupportsInspect),
  };
}

/** Two bytes; clients of 2022 send four of which the first two count. */
function readCost(value: Buffer | undefined): number {
  if (value === undefined || value.length < 2) return 0;
  return Math.min(HIGHEST_COST, value.readUInt16LE());
}

/** One byte; clients of 2022 send four of which the first counts. Throws SdkRefusal. */
function readPrecedence(value: Buffer | undefined): TerminatorPrecedence {
  const precedence = value?.[0] ?? TerminatorPrecedence.DEFAULT;
  if (precedence in TerminatorPrecedence) return precedence;
  throw new SdkRefusal(`precedence ${precedence} does not exist`, { code: EdgeErrorCode.InvalidPrecedence });
}

// Services that SDK clients host over this router: their terminators, and the dials to them (reference fact: edge,
// section 8).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import {
  CreateTerminatorV2RequestSchema,
  HealthEventRequestSchema,
  TerminatorPrecedence,
  UpdateTerminatorRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import {
  EdgeControlType,
  EdgeErrorCode,
  PeerDataKey,
  RetryHint,
  RouteErrorCode,
  SdkHeader,
  SdkType,
} from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { asReply, Message } from '#wire/message.ts';
import { EgressError } from '../../../egress/dial-errors.ts';
import type { DialedEgress, DialedRelay, EgressRequest } from '../../../egress/egress.ts';
import type { WeightChange } from '../../terminators/terminator-change.ts';
import type { TerminatorAnswer } from '../../terminators/terminator-messages.ts';
import type { TerminatorHosts, TerminatorVerdict } from '../../terminators/terminator-validations.ts';
import type { Terminators } from '../../terminators/terminators.ts';
import { CONTROL_LANE, type SdkConnection } from '../clients/sdk-connection.ts';
import { lacksRight, rejectionOf, sizeOf, stateClosed, stateConnected } from '../clients/sdk-messages.ts';
import { requireAccess, rightByToken } from '../clients/sdk-right.ts';
import { controllerOf, ownerOf } from '../clients/session-controller.ts';
import { idRejected, logRejection, type SdkDialComponents } from '../dial/sdk-dial.ts';
import { BindInspections, inspectBind } from './bind-inspections.ts';
import { HealthEvents } from './health-events.ts';
import { dialHost } from './host-dial.ts';
import { type BindInit, HostedService, readBind } from './hosted-service.ts';

export interface SdkHostingComponents extends SdkDialComponents {
  terminators: Terminators;
  ids: IdSource;
}

/** Rejections without a retry hint after which a terminator is no longer requested. */
const MAX_REJECTIONS = 3;
const DESTINATION_PREFIX = 'hosted:';

export class SdkHosting implements TerminatorHosts {
  readonly #components: SdkHostingComponents;
  /** By terminator id. */
  readonly #hosted = new Map<string, HostedService>();
  /** By the bind that a later one replaces. */
  readonly #byKey = new Map<string, HostedService>();
  readonly #inspections: BindInspections;
  readonly #health: HealthEvents;

  constructor(components: SdkHostingComponents) {
    this.#components = components;
    this.#inspections = new BindInspections(components.clock, (invalid) => this.remove(invalid));
    this.#health = new HealthEvents(components, (...report) => this.#reportHealth(...report));
  }

  get count(): number {
    return this.#hosted.size;
  }

  /** The inspection `sdk-terminators`, without tokens. */
  inspect() {
    const entries = this.#components.terminators.inspect('edge').map((each) => {
      const service = this.#hosted.get(each.id);
      return {
        ...each,
        token: '',
        listenerId: service?.init.listenerId ?? '',
        assignIds: service?.init.routerIds ?? false,
        useSdkXgress: service?.init.usesXgress ?? false,
        supportsInspect: service?.init.inspects ?? false,
      };
    });
    return { entries, errors: null };
  }

  close(): void {
    this.#inspections.close();
    this.#health.close();
  }

  // Binding -----------------------------------------------------------------------------------------------------------

  async bind(connection: SdkConnection, request: Message): Promise<void> {
    const connectionId = request.uint32(SdkHeader.ConnectionId);
    if (connectionId === undefined) {
      connection.reply(request, stateClosed(0, 'connId not set, required'));
      return;
    }
    const token = request.body.toString();
    const { closed, done } = connection.beginBind(connectionId);
    try {
      const right = await rightByToken(this.#components, connection, token, 'bind');
      requireAccess(this.#components, connection, right);
      controllerOf(this.#components.controllers, connection, 'terminator');
      closed.throwIfAborted();
      if (!connection.isClosed) this.#place(connection, request, readBind(connectionId, right, request));
      connection.rejections.accepted(token);
    } catch (error) {
      if (closed.aborted) return; // as for dials, no answer
      logRejection(this.#components, connection, { connectionId, error: describeError(error) }, 'bind rejected');
      const startsOver = lacksRight(error) && understandsHints(request) && connection.rejections.repeatsBind(token);
      // Built now: the request is long, and the answer may have to wait.
      const answer = asReply(request, stateClosed(connectionId, describeError(error), rejectionOf(error)));
      const hint = startsOver ? startOver(request, connectionId, error) : undefined;
      connection.rejections.answer(sizeOf(answer), () => {
        if (hint && isUnused(connection, connectionId)) for (const each of hint) connection.send(each);
        else connection.send(answer);
      });
    } finally {
      done();
    }
  }

  /**
   * Takes over the terminator of an older bind of the same listener, confirms a repeated bind, or creates a terminator.
   * Without a listener id, an older bind of the same instance is removed. A client may repeat a bind under the same
   * connection id.
   */
  #place(connection: SdkConnection, request: Message, bind: Omit<BindInit, 'terminatorId'>): void {
    const key = keyOf(connection, bind);
    const known = this.#byKey.get(key);
    const older = bind.listenerId === undefined ? undefined : known;
    if (older?.connection === connection) {
      if (older.connectionId > bind.connectionId) return; // a newer bind arrived first
      const isRepeated =
        older.connectionId === bind.connectionId &&
        older.init.right.serviceSession?.token === bind.right.serviceSession?.token;
      if (isRepeated) {
        this.#confirm(older, request);
        if (this.#components.terminators.isEstablished(older.init.terminatorId)) this.#onEstablished(older);
        return;
      }
    }
    const hasSameId = known?.connection === connection && known.connectionId === bind.connectionId;
    if (hasSameId) connection.remove(bind.connectionId, known);
    if (!connection.reserve(bind.connectionId)) throw idRejected(connection, bind.connectionId);
    const terminatorId = older?.init.terminatorId ?? this.#components.ids.cuid();
    const service = new HostedService(connection, { ...bind, terminatorId }, (gone) => this.remove(gone));
    connection.put(bind.connectionId, service, bind.right);
    this.#hosted.set(terminatorId, service);
    this.#byKey.set(key, service);
    if (older) this.#replace(older, hasSameId);
    this.#confirm(service, request);
    if (older && this.#components.terminators.isEstablished(terminatorId)) this.#onEstablished(service);
    this.#keep(service);
    if (older && (older.cost !== service.cost || older.precedence !== service.precedence))
      this.#components.terminators.change(terminatorId, { cost: service.cost, precedence: service.precedence });
    // Its client is not notified: it would bind again, and so close the newer bind.
    if (known && !older) this.remove(known);
  }

  /**
   * Keeps the terminator for another bind. With the hint "not retriable", an SDK would close its whole listener. A
   * message for the same connection id would close the newer bind.
   */
  #replace(older: HostedService, hasSameId: boolean): void {
    this.#stopTimers(older);
    if (hasSameId) return;
    const detail = { code: EdgeErrorCode.Internal };
    older.connection.send(stateClosed(older.connectionId, 'newer terminator found for listener id', detail));
    older.connection.remove(older.connectionId, older);
  }

  #confirm({ connection, init }: HostedService, request: Message): void {
    const headers = init.routerIds ? ([[SdkHeader.RouterProvidedConnectionId, TRUE]] as const) : [];
    connection.reply(request, stateConnected(init.connectionId, headers));
  }

  #keep(service: HostedService): void {
    const { terminators, controllers, model } = this.#components;
    const { init } = service;
    if (terminators.has(init.terminatorId)) return;
    const hosted = () => this.#hosted.get(init.terminatorId); // another bind may have taken it over
    const latest = () => hosted() ?? service;
    terminators.add({
      id: init.terminatorId,
      binding: 'edge',
      serviceName: model.services.get(init.right.serviceId)?.name ?? init.right.serviceId,
      get cost() {
        return latest().cost;
      },
      get precedence() {
        return TerminatorPrecedence[latest().precedence].toLowerCase();
      },
      instanceId: init.instanceId,
      controller: () => {
        const service = hosted();
        return service && ownerOf(controllers, service.connection);
      },
      request: () => this.#request(latest()),
      change: (change) => this.#changeRequest(latest(), change),
      established: () => this.#onEstablished(hosted()),
      mayRetry: (answer, rejections) => this.#mayRetry(hosted(), answer, rejections),
    });
  }

  #request({ init, connection, cost, precedence }: HostedService): Message {
    const request = create(CreateTerminatorV2RequestSchema, {
      address: init.terminatorId,
      sessionToken: init.right.serviceSession?.token ?? '',
      apiSessionToken: connection.session.token,
      fingerprints: [...connection.fingerprints],
      peerData: init.publicKey ? [{ key: PeerDataKey.PublicKey, value: init.publicKey }] : [],
      cost,
      precedence,
      instanceId: init.instanceId,
      instanceSecret: init.instanceSecret,
    });
    return new Message(EdgeControlType.CreateTerminatorV2, [], toBinary(CreateTerminatorV2RequestSchema, request));
  }

  #changeRequest(service: HostedService, { cost, precedence }: WeightChange) {
    const body = create(UpdateTerminatorRequestSchema, {
      ...this.#named(service),
      ...(cost !== undefined && { cost, updateCost: true }),
      ...(precedence !== undefined && { precedence, updatePrecedence: true }),
    });
    const request = new Message(EdgeControlType.UpdateTerminator, [], toBinary(UpdateTerminatorRequestSchema, body));
    return { request, answerType: EdgeControlType.UpdateTerminatorResponse };
  }

  /** Access may have been lost while the controller created the terminator. */
  #onEstablished(service: HostedService | undefined): void {
    if (!service) return;
    const { connection, init } = service;
    try {
      requireAccess(this.#components, connection, init.right);
    } catch (error) {
      service.cut(describeError(error), { code: EdgeErrorCode.AccessDenied, hint: RetryHint.StartOver });
      return;
    }
    if (init.wantsBindSuccess) confirmBind(service);
    if (init.inspects) this.#inspections.start(service);
  }

  #mayRetry(service: HostedService | undefined, answer: TerminatorAnswer, rejections: number): boolean {
    if (!service) return false;
    const hint = (answer.retryHint ?? RetryHint.Default) as RetryHint;
    if (hint === RetryHint.Default && rejections < MAX_REJECTIONS) return true;
    const code = (answer.errorCode ?? EdgeErrorCode.Internal) as EdgeErrorCode;
    service.cut(answer.msg || 'the controller rejected the terminator', { code, hint });
    return false;
  }

  unbind(connection: SdkConnection, request: Message): void {
    const connectionId = request.uint32(SdkHeader.ConnectionId) ?? 0;
    const isClosed = connection.closeBinds(connectionId);
    const service = this.#of(connection, request);
    if (service) this.remove(service);
    if (service || isClosed) return;
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
    this.#components.terminators.change(service.init.terminatorId, {
      ...(updateCost && { cost: service.cost }),
      ...(updatePrecedence && { precedence: service.precedence }),
    });
  }

  healthEvent(connection: SdkConnection, request: Message): void {
    const service = this.#of(connection, request);
    if (!service) return;
    this.#health.report(service, request.bool(SdkHeader.HealthStatus));
  }

  #reportHealth(service: HostedService, checkPassed: boolean): void {
    const body = create(HealthEventRequestSchema, { ...this.#named(service), checkPassed });
    this.#send(service.connection, EdgeControlType.HealthEvent, toBinary(HealthEventRequestSchema, body));
  }

  #named({ init, connection }: HostedService) {
    return {
      terminatorId: init.terminatorId,
      sessionToken: init.right.serviceSession?.token ?? '',
      apiSessionToken: connection.session.token,
      fingerprints: [...connection.fingerprints],
    };
  }

  #send(connection: SdkConnection, type: number, body: Uint8Array): void {
    const { controllers, log } = this.#components;
    const controller = ownerOf(controllers, connection);
    if (!controller?.channel.trySend(new Message(type, [], body)))
      log.info({ contentType: type }, 'change of a hosted service could not be reported');
  }

  #of(connection: SdkConnection, request: Message): HostedService | undefined {
    const end = connection.end(request.uint32(SdkHeader.ConnectionId) ?? -1);
    if (!(end instanceof HostedService)) return undefined;
    return end.init.right.serviceSession?.token === request.body.toString() ? end : undefined;
  }

  #stopTimers(service: HostedService): void {
    this.#inspections.stop(service);
    this.#health.forget(service);
  }

  /** Removes a service and notifies the controller. */
  remove(service: HostedService): void {
    const { terminatorId, connectionId } = service.init;
    this.#stopTimers(service);
    service.connection.remove(connectionId, service);
    if (this.#hosted.get(terminatorId) !== service) return;
    this.#hosted.delete(terminatorId);
    const key = keyOf(service.connection, service.init);
    if (this.#byKey.get(key) === service) this.#byKey.delete(key);
    this.#components.terminators.remove(terminatorId);
  }

  // Validations and dials ---------------------------------------------------------------------------------------------

  /**
   * Asks the client whether it still hosts the service of a terminator; with `fix`, a terminator that it does not host
   * is removed. Undefined if the client does not answer.
   */
  async validate(terminatorId: string, fix: boolean): Promise<TerminatorVerdict | undefined> {
    const service = this.#hosted.get(terminatorId);
    if (!service) return { valid: false, detail: 'terminator not found' };
    if (!service.init.inspects) return { valid: true, detail: '' };
    const answer = await inspectBind(service).catch(() => undefined);
    // Another bind may have taken over the terminator meanwhile.
    if (!answer || this.#hosted.get(terminatorId) !== service) return undefined;
    const { isBind = false, detail } = answer;
    if (!isBind && fix) this.remove(service);
    return { valid: isBind, detail };
  }

  /**
   * The dialer of the binding `edge`; the destination is a terminator id with an optional prefix. Rejects with
   * EgressError.
   */
  async dial(request: EgressRequest): Promise<DialedEgress | DialedRelay> {
    const id = request.destination.startsWith(DESTINATION_PREFIX)
      ? request.destination.slice(DESTINATION_PREFIX.length)
      : request.destination;
    const service = this.#hosted.get(id);
    if (!service)
      throw new EgressError(RouteErrorCode.InvalidTerminator, `terminator ${id} is not hosted by this router`);
    const dialed = await dialHost(this.#components, service, request);
    try {
      requireAccess(this.#components, service.connection, service.init.right);
    } catch (error) {
      // The access was lost during the dial, after all ends of this host had been cut.
      dialed.abandon();
      throw new EgressError(RouteErrorCode.Generic, describeError(error), { cause: error });
    }
    return dialed;
  }
}

/** Equal for binds that replace each other: of the same listener, or, without one, of the same token and instance. */
function keyOf(
  { session }: SdkConnection,
  {
    listenerId,
    instanceId,
    right: { serviceId, serviceSession },
  }: Pick<BindInit, 'listenerId' | 'instanceId' | 'right'>,
): string {
  if (listenerId === undefined) return JSON.stringify([serviceSession?.token, instanceId]);
  return JSON.stringify([session.identityId, serviceId, listenerId]);
}

/** A client that supports BindSuccess also reads the structured error of a message that is not an answer. */
function understandsHints(bind: Message): boolean {
  return bind.bool(SdkHeader.SupportsBindSuccess);
}

function isUnused(connection: SdkConnection, connectionId: number): boolean {
  const reserved = connection.reserve(connectionId);
  if (reserved) connection.release(connectionId, reserved);
  return reserved !== undefined;
}

/**
 * The messages that reject a repeated bind so that its client requests a new session. The Go SDK ignores the retry hint
 * in the answer to a bind, and repeats it at once with the same token; it follows the hint when a confirmed bind is
 * closed. No terminator exists in between.
 */
function startOver(request: Message, connectionId: number, error: unknown): readonly Message[] {
  const detail = { ...rejectionOf(error), hint: RetryHint.StartOver };
  return [asReply(request, stateConnected(connectionId)), stateClosed(connectionId, describeError(error), detail)];
}

/** A client that hosts many services may not read for a moment: then the message waits. */
function confirmBind({ connection, connectionId }: HostedService): void {
  const message = new Message(SdkType.BindSuccess, [[SdkHeader.ConnectionId, encodeUint32(connectionId)]]);
  if (!connection.channel.trySend(message, CONTROL_LANE)) connection.send(message);
}

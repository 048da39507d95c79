// Sources of events: changes of the state and of the network (reference fact: HTTP behaviour, Events). Events omit
// credentials (passwords, keys, tokens).

import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { IdSource } from '#lib/ids.ts';
import type { Listeners } from '#lib/listeners.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PROTOCOL_VERSION } from '#wire/channel/version-info.ts';
import type { MetricsMessage } from '#wire/gen/metrics_pb.js';
import type { LoginAttempt } from '../auth/login-attempt.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { linkCost } from '../network/links.ts';
import type { Network } from '../network/network.ts';
import type { NetworkEvent } from '../network/network-events.ts';
import type { ChangeOf, ChangeSet } from '../state/change.ts';
import type { Entity } from '../state/entity.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import { type EntityKind, KINDS } from '../state/kinds.ts';
import type { State } from '../state/state.ts';
import { apiSessionEvent } from './api-session.ts';
import { connectEvent } from './connect.ts';
import { entityCounts } from './entity-counts.ts';
import { type Events, eventOf, type Namespace } from './events.ts';
import { metricEvents } from './metrics.ts';
import { ServiceCounters } from './service-counters.ts';
import { sessionEvent } from './session.ts';
import { usageEvents } from './usage.ts';

export interface EventSourcesComponents {
  readonly state: State;
  readonly network: Network;
  readonly events: Events;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly controllerId: string;
  readonly logins: Listeners<LoginAttempt>;
  /** Undefined for a controller alone. */
  readonly cluster: Cluster | undefined;
}

const VERSION = 2;
const NANOSECONDS = 1e6;
/** In alerts. */
const SELF = 'self';
const SELF_WITH_IDENTITY = 'ert';

export class EventSources {
  readonly #components: EventSourcesComponents;
  readonly #unsubscribe: readonly (() => void)[];
  readonly #services: ServiceCounters;

  constructor(components: EventSourcesComponents) {
    const { state, network } = components;
    this.#components = components;
    this.#services = new ServiceCounters(components.clock, (fields) => this.#emit('service', fields));
    components.events.countWith(entityCounts(components));
    this.#unsubscribe = [
      state.subscribe('observers', (set) => this.#onChange(set)),
      network.events.subscribe((event) => this.#onNetwork(event)),
      components.logins.add((attempt) => this.#onLogin(attempt)),
    ];
  }

  close(): void {
    this.#services.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #emit(namespace: Namespace, fields: Readonly<Record<string, unknown>>): void {
    this.#components.events.emit(eventOf(this.#components, namespace, fields));
  }

  #onChange(set: ChangeSet): void {
    const { events } = this.#components;
    const { changes } = set;
    if (events.hasListeners('entityChange')) this.#publishChanges(set);
    for (const change of changes) {
      if (change.kind === 'apiSession') this.#onApiSession(change);
      if (change.kind === 'session') this.#onSession(change);
      if (change.kind === 'terminator') this.#onTerminator(change);
    }
  }

  /** One event for each entity, then one for the commit of each (reference fact: they share an id). */
  #publishChanges({ changes, origin }: ChangeSet): void {
    const { ids, controllerId } = this.#components;
    const eventIds = changes.map(() => ids.uuid());
    const metadata = { ...(origin ?? { author: { type: 'controller', id: controllerId } }), version: PROTOCOL_VERSION };
    for (const [index, { kind, before, after }] of changes.entries()) {
      this.#emit('entityChange', {
        eventId: eventIds[index],
        eventType: before ? (after ? 'updated' : 'deleted') : 'created',
        metadata,
        entityType: KINDS[kind].store,
        isParentEvent: false,
        ...(before && { initialState: open(kind, before) }),
        ...(after && { finalState: open(kind, after) }),
      });
    }
    for (const eventId of eventIds) this.#emit('entityChange', { eventId, eventType: 'committed' });
  }

  #onLogin({ method, remoteAddress, proven, failure }: LoginAttempt): void {
    this.#emit('authentication', {
      event_type: proven ? 'success' : 'fail',
      type: method,
      authenticator_id: proven?.authenticator?.id ?? '',
      external_jwt_signer_id: proven?.signerId ?? '',
      identity_id: proven?.identity.id ?? '',
      auth_policy_id: proven?.policy.id ?? '',
      remote_address: remoteAddress,
      success: proven !== undefined,
      reason: failure ?? '',
      improper_client_cert_chain: proven?.improperClientCertChain ?? false,
    });
  }

  #onApiSession({ before, after }: ChangeOf<'apiSession'>): void {
    const session = after ?? before;
    if ((before && after) || !session) return;
    const { id, identityId, ipAddress } = session;
    const what = after ? 'created' : 'deleted';
    const event = apiSessionEvent(this.#components, { what, type: 'legacy', id, identityId, ipAddress });
    this.#components.events.emit(event);
  }

  #onSession({ before, after }: ChangeOf<'session'>): void {
    const session = after ?? before;
    if ((before && after) || !session) return;
    this.#components.events.emit(sessionEvent(this.#components, after ? 'created' : 'deleted', 'legacy', session));
  }

  #onTerminator({ before, after }: ChangeOf<'terminator'>): void {
    const terminator = after ?? before;
    if (terminator) this.#publishTerminator(before ? (after ? 'updated' : 'deleted') : 'created', terminator);
  }

  #publishTerminator(type: string, terminator: Terminator): void {
    const { state, network } = this.#components;
    const { id, serviceId, routerId, hostId, instanceId, precedence, cost } = terminator;
    const all = state.tables.terminator.referring('serviceId', serviceId);
    const usable = all.filter((each) => network.routers.has(each.routerId));
    this.#emit('terminator', {
      event_type: type,
      service_id: serviceId,
      terminator_id: id,
      router_id: routerId,
      host_id: hostId,
      instance_id: instanceId,
      router_online: network.routers.has(routerId),
      precedence,
      static_cost: cost,
      dynamic_cost: network.costs.get(id),
      total_terminators: all.length,
      usable_default_terminators: usable.filter((each) => each.precedence === 'default').length,
      usable_required_terminators: usable.filter((each) => each.precedence === 'required').length,
    });
  }

  #onNetwork(event: NetworkEvent): void {
    switch (event.kind) {
      case 'router':
        return this.#onRouter(event.routerId, event.isOnline);
      case 'sdk':
        return this.#onSdk(event.identityId, event.isOnline);
      case 'link':
        return this.#onLink(event);
      case 'circuit':
        return this.#onCircuit(event);
      case 'service':
        return this.#onService(event);
      case 'connect':
        return this.#onConnect(event);
      case 'alert':
        return this.#onAlert(event);
      case 'metrics':
        return this.#onMetrics(event.routerId, event.measured);
    }
  }

  /** Counts only while there are listeners, so that counts do not accumulate unread. */
  #onService(event: NetworkEvent & { kind: 'service' }): void {
    if (this.#components.events.hasListeners('service')) this.#services.add(event);
  }

  #onRouter(routerId: string, isOnline: boolean): void {
    const state = isOnline ? 'router-online' : 'router-offline';
    this.#emit('router', { event_type: state, router_id: routerId, router_online: isOnline });
    // reference fact: the identity of a router with a tunneler is online while the router is.
    if (this.#components.state.tables.identity.get(routerId)?.type === 'Router') this.#onSdk(routerId, isOnline);
    if (isOnline) this.#onControlChannel(routerId);
    if (!this.#components.events.hasListeners('terminator')) return;
    for (const terminator of this.#components.state.tables.terminator.referring('routerId', routerId))
      this.#publishTerminator(state, terminator);
  }

  #onSdk(identityId: string, isOnline: boolean): void {
    this.#emit('sdk', { event_type: isOnline ? 'sdk-online' : 'sdk-offline', identity_id: identityId });
  }

  #onControlChannel(routerId: string): void {
    const { controllerId, events, network } = this.#components;
    const [connection] = network.routers.get(routerId)?.channel.underlays ?? [];
    events.emit(
      connectEvent(this.#components, {
        source: 'router',
        sourceId: routerId,
        sourceAddress: connection?.remoteAddress ?? '',
        destination: 'ctrl',
        destinationId: controllerId,
        destinationAddress: connection?.localAddress ?? '',
      }),
    );
  }

  #onConnect({ routerId, identityId, sourceAddress, routerAddress, at }: NetworkEvent & { kind: 'connect' }): void {
    this.#components.events.emit(
      connectEvent(this.#components, {
        source: 'identity',
        sourceId: identityId,
        sourceAddress,
        destination: 'router',
        destinationId: routerId,
        destinationAddress: routerAddress,
        at,
      }),
    );
  }

  /** reference fact: `self` in an alert stands for the router that sends it, and for its identity if it has one. */
  #onAlert({ routerId, alert }: NetworkEvent & { kind: 'alert' }): void {
    const { sourceType, sourceId, severity, message, details, relatedEntities } = alert;
    const { [SELF]: self, ...related } = relatedEntities;
    const fields = {
      alert_source_type: sourceType === SELF ? 'router' : sourceType,
      alert_source_id: sourceType === SELF ? routerId : sourceId,
      severity,
      message,
      details,
      related_entities: {
        ...related,
        ...(self !== undefined && { router: routerId }),
        ...(self === SELF_WITH_IDENTITY && { identity: routerId }),
      },
    };
    this.#components.events.emit(eventOf(this.#components, 'alert', fields, Number(alert.timestamp)));
  }

  #onLink({ type, link }: NetworkEvent & { kind: 'link' }): void {
    this.#emit('link', {
      event_type: type,
      link_id: link.id,
      src_router_id: link.source,
      dst_router_id: link.destination,
      protocol: link.protocol,
      dial_address: link.dialAddress,
      cost: linkCost(link),
      connections: link.connections.map(({ type: id, localAddr, remoteAddr }) => ({
        id,
        local_addr: localAddr,
        remote_addr: remoteAddr,
      })),
    });
  }

  #onCircuit({ type, circuit, cause }: NetworkEvent & { kind: 'circuit' }): void {
    const { clock, state } = this.#components;
    const age = Math.round((clock.now() - circuit.createdAt) * NANOSECONDS);
    this.#emit('circuit', {
      version: VERSION,
      event_type: type,
      circuit_id: circuit.id,
      client_id: circuit.clientId,
      service_id: circuit.serviceId,
      terminator_id: circuit.terminatorId,
      instance_id: state.tables.terminator.get(circuit.terminatorId)?.instanceId ?? '',
      ...(type === 'created' && { creation_timespan: age }),
      path: {
        nodes: circuit.path.routers,
        links: circuit.path.links,
        ingress_id: circuit.ingress,
        egress_id: circuit.egress,
      },
      link_count: circuit.path.links.length,
      path_cost: circuit.path.cost,
      ...(cause !== undefined && { failure_cause: cause }),
      ...(type === 'deleted' && { duration: age }),
      tags: circuit.tags,
    });
  }

  #onMetrics(routerId: string, measured: MetricsMessage): void {
    const { events, ids, network } = this.#components;
    if (events.hasListeners('usage')) for (const fields of usageEvents(routerId, measured)) this.#emit('usage', fields);
    if (!events.hasListeners('metrics')) return;
    const at = measured.timestamp && timestampDate(measured.timestamp).getTime();
    for (const fields of metricEvents(routerId, measured, (id) => network.links.get(id), ids.uuid()))
      events.emit(eventOf(this.#components, 'metrics', fields, at));
  }
}

function open(kind: EntityKind, entity: Entity): object {
  const { secrets = [] } = KINDS[kind];
  return Object.fromEntries(Object.entries(entity).filter(([key]) => !secrets.includes(key)));
}

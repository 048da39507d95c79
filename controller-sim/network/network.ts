// The live network: connected routers, the links between them, and the effects of their changes. circuits.ts creates
// circuits, control-channel/ has the messages.

import { create, toBinary } from '@bufbuild/protobuf';
import type { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { FaultSchema, FaultSubject, type Listener, PeerState } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ChangeOf, ChangeSet } from '../state/change.ts';
import type { Router } from '../state/kinds/router.ts';
import type { State } from '../state/state.ts';
import { Circuits } from './circuits.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { Traces } from './inspect/traces.ts';
import { type LinkReport, Links, type NetworkLink, type NewLink } from './links.ts';
import { NetworkEvents } from './network-events.ts';
import { OneRouterCircuits } from './one-router-circuits.ts';
import { PeerAnnouncements } from './peer-announcements.ts';
import { ADVERTISED, type RouterAddresses } from './router-addresses.ts';
import type { RouterStatus } from './router-status.ts';
import { TerminatorCosts } from './terminator-costs.ts';

export interface NetworkComponents {
  state: State;
  clock: Clock;
  ids: IdSource;
  random: Random;
  log: Log;
}

export interface NetworkInit {
  /** A version that routers receive for each other instead of the true one. */
  linkVersion?: string | undefined;
}

/** reference fact: circuits move to cheaper paths once a minute. */
const REBALANCE_INTERVAL = 60_000;
const OFFLINE: RouterStatus = {
  isOnline: false,
  hostname: '',
  supportedProtocols: {},
  syncStatus: 'SYNC_UNKNOWN',
  versionInfo: undefined,
};

export class Network {
  readonly links = new Links();
  readonly traces: Traces;
  readonly events: NetworkEvents;
  readonly costs: TerminatorCosts;
  readonly circuits: Circuits;
  readonly #components: NetworkComponents;
  readonly #routers = new Map<string, ConnectedRouter>();
  readonly #oneRouterCircuits: OneRouterCircuits;
  readonly #unsubscribe: () => void;
  readonly #rebalance: Timer;
  readonly #peers: PeerAnnouncements;
  #addresses = ADVERTISED;

  constructor(components: NetworkComponents, { linkVersion }: NetworkInit = {}) {
    this.#components = components;
    this.#peers = new PeerAnnouncements({ clock: realClock(components.clock), routers: this.#routers, linkVersion });
    this.traces = new Traces(components.clock, components.ids);
    const events = new NetworkEvents(components.log);
    this.events = events;
    this.costs = new TerminatorCosts(components.clock);
    const { links, costs } = this;
    this.circuits = new Circuits({ ...components, links, routers: this.#routers, events, costs });
    this.#oneRouterCircuits = new OneRouterCircuits({ ...components, circuits: this.circuits });
    this.#unsubscribe = components.state.subscribe('derived', (set) => this.#onChange(set));
    this.#rebalance = components.clock.every('rebalance circuits', REBALANCE_INTERVAL, () =>
      this.circuits.moves.rebalance(),
    );
  }

  /** Tells other addresses of routers from now on. */
  announce(addresses: RouterAddresses): void {
    this.#addresses = addresses;
    this.#peers.use(addresses);
  }

  get routers(): ReadonlyMap<string, ConnectedRouter> {
    return this.#routers;
  }

  close(): void {
    this.#unsubscribe();
    this.events.close();
    this.costs.close();
    this.#rebalance.cancel();
    this.#peers.close();
    this.circuits.close();
    this.#oneRouterCircuits.close();
    for (const router of this.#routers.values()) router.channel.close();
    this.#routers.clear();
  }

  /** The live fields of a router in the APIs. */
  status(routerId: string): RouterStatus {
    const router = this.#routers.get(routerId);
    if (!router) return OFFLINE;
    const { hostname, syncStatus, version } = router;
    const supportedProtocols = this.#addresses.edge(routerId, router.supportedProtocols);
    return { isOnline: true, hostname, supportedProtocols, syncStatus, versionInfo: version };
  }

  /** Whether any router reports a connection of the identity. */
  isConnected(identityId: string): boolean {
    for (const { identities } of this.#routers.values()) if (identities.has(identityId)) return true;
    return false;
  }

  /**
   * Runs `change`, which may connect or disconnect these identities at a router. reference fact: an event is published
   * only if an identity comes online at its first router, or goes offline at its last.
   */
  reportIdentities(affected: ReadonlySet<string>, change: () => void): void {
    const before = new Map([...affected].map((identityId) => [identityId, this.isConnected(identityId)]));
    change();
    for (const [identityId, wasOnline] of before) {
      const isOnline = this.isConnected(identityId);
      if (isOnline !== wasOnline) this.events.emit({ kind: 'sdk', identityId, isOnline });
    }
  }

  /**
   * Applies an administrator's cost and state to a link. Circuits leave a link that is disabled or too expensive. False
   * for an unknown link.
   */
  changeLink(id: string, change: { staticCost?: number | undefined; isDown?: boolean | undefined }): boolean {
    const link = this.links.get(id);
    if (!link) return false;
    link.staticCost = change.staticCost ?? link.staticCost;
    link.isDown = change.isDown ?? link.isDown;
    this.circuits.moves.onLinkChanged(id);
    return true;
  }

  /** Requests that both ends close a link. */
  closeLink(id: string): void {
    const link = this.links.get(id);
    if (!link) return;
    this.#dropLink(id);
    const fault = create(FaultSchema, { subject: FaultSubject.LINK_FAULT, id, iteration: link.iteration });
    const body = toBinary(FaultSchema, fault);
    for (const routerId of [link.source, link.destination])
      this.#routers.get(routerId)?.channel.trySend(new Message(ControlType.Fault, [], body));
  }

  /** Adds a connected router, and exchanges addresses between it and all others. */
  attach(router: ConnectedRouter): void {
    // It may have reported identities before: its first message can be faster than the greeting.
    this.reportIdentities(router.identities, () => this.#routers.set(router.id, router));
    this.events.emit({ kind: 'router', routerId: router.id, isOnline: true });
    this.#peers.connected(router);
    this.#oneRouterCircuits.onConnected(router);
  }

  /**
   * Removes a router whose connection ended, and its links. It may still forward circuits until a controller removes
   * them.
   */
  detach(router: ConnectedRouter): void {
    if (this.#routers.get(router.id) !== router) return;
    this.reportIdentities(router.identities, () => this.#routers.delete(router.id));
    this.events.emit({ kind: 'router', routerId: router.id, isOnline: false });
    for (const link of this.links.from(router.id)) this.#dropLink(link.id);
    for (const link of this.links.values()) {
      if (link.destination === router.id) this.circuits.moves.onLinkLost(link.id);
    }
    this.#oneRouterCircuits.onDisconnected(router.id);
    this.#peers.changed(router.id, PeerState.UNHEALTHY);
  }

  /** The addresses of a router's link listeners changed. */
  setListeners(router: ConnectedRouter, listeners: readonly Listener[]): void {
    router.linkListeners = listeners;
    this.#peers.changed(router.id, PeerState.HEALTHY);
  }

  /** One of its two routers lost a link: circuits over it move, and the other router receives the fault. */
  linkFault(from: string, linkId: string, iteration: number): void {
    const link = this.links.get(linkId);
    if (!link || (iteration > 0 && iteration < link.iteration)) return;
    if (link.source !== from && link.destination !== from) return;
    this.#dropLink(linkId);
    const other = this.#routers.get(link.source === from ? link.destination : link.source);
    const fault = create(FaultSchema, { subject: FaultSubject.LINK_FAULT, id: linkId, iteration: link.iteration });
    other?.channel.trySend(new Message(ControlType.Fault, [], toBinary(FaultSchema, fault)));
  }

  /** Applies a full list of a router's links: missing ones are removed. */
  keepLinks(routerId: string, linkIds: ReadonlySet<string>): void {
    for (const link of this.links.from(routerId)) if (!linkIds.has(link.id)) this.#dropLink(link.id);
  }

  /** A router reports a link that it dialed. */
  reportLink(link: NewLink): LinkReport {
    const outcome = this.links.report(link);
    if (outcome === 'added')
      this.events.emit({ kind: 'link', type: 'routerLinkNew', link: this.links.get(link.id) as NetworkLink });
    return outcome;
  }

  #dropLink(linkId: string): void {
    const link = this.links.remove(linkId);
    if (!link) return;
    this.events.emit({ kind: 'link', type: 'fault', link });
    this.circuits.moves.onLinkLost(linkId);
  }

  #onChange(set: ChangeSet): void {
    for (const change of set.changes) {
      if (change.kind === 'router') this.#onRouterChange(change);
      if (change.kind === 'service' && !change.after) this.#removeCircuitsOf(change.id);
      if (change.kind === 'identity' && !change.after) this.#forgetIdentity(change.id);
      if (change.kind === 'terminator' && !change.after) this.costs.forget(change.id);
    }
  }

  /** Disconnects a router that was deleted or disabled, or whose certificate is no longer valid. */
  #onRouterChange({ id, before: was, after: is }: ChangeOf<'router'>): void {
    if (is && !is.disabled && !(was && isInvalidated(was, is))) return;
    const router = this.#routers.get(id);
    if (router) {
      const why = 'router disconnected: it was deleted, disabled or re-enrolled, or its fingerprint was replaced';
      this.#components.log.info({ routerId: id }, why);
      router.channel.close();
      this.detach(router);
    }
    if (is) return;
    this.#oneRouterCircuits.onDeleted(id);
    this.#peers.changed(id, PeerState.REMOVED);
  }

  #forgetIdentity(identityId: string): void {
    this.reportIdentities(new Set([identityId]), () => {
      for (const { identities } of this.#routers.values()) identities.delete(identityId);
    });
  }

  #removeCircuitsOf(serviceId: string): void {
    for (const circuit of this.circuits.values()) {
      if (circuit.serviceId === serviceId) this.circuits.remove(circuit.id, { now: true });
    }
  }
}

/**
 * Whether the certificate that a router connected with was invalidated. A renewal stores the new certificate itself;
 * administrators enter only its fingerprint.
 */
function isInvalidated(was: Router, is: Router): boolean {
  if (was.fingerprint === is.fingerprint || was.fingerprint === null) return false;
  return is.fingerprint === null || is.certPem === was.certPem;
}

// The links that the router wants. Controllers add and remove peers. A peer's listener and a dialer of this router with
// a common group are one wanted link with a state (link-states.ts). Redials dials it until it is established.
//
//   peer changes ─► wanted links ─► redials ─► dial queue ─► link ─► registry

import { IdSource } from '#lib/ids.ts';
import type { Timer } from '#lib/time/clock.ts';
import { groupsOrDefault } from '#model/link-groups.ts';
import type { WantedLinkDescription } from '../interface/description.ts';
import type { Link } from './link.ts';
import type { LinkDialerSettings } from './link-dialer.ts';
import { linkKey } from './link-key.ts';
import type { LinkEvent } from './link-states.ts';
import { type RedialComponents, Redials } from './redials.ts';
import {
  describeWanted,
  inspectWanted,
  type LinkDestination,
  type Peer,
  type PeerListener,
  step,
  type WantedLink,
} from './wanted-link.ts';

export interface PeerChange {
  readonly id: string;
  readonly version: string;
  readonly state: 'healthy' | 'unhealthy' | 'removed';
  readonly listeners: readonly PeerListener[];
}

/** A listener and a dialer that share a group. Several of them may have the same key. */
interface Candidate {
  readonly listener: PeerListener;
  readonly dialer: LinkDialerSettings;
}

const SWEEP = 60_000;
/** An unhealthy peer without links is removed after this time (reference fact). */
const FORGET_AFTER = 48 * 3_600_000;

export class WantedLinks {
  readonly #components: RedialComponents;
  #dialers: readonly LinkDialerSettings[];
  readonly #ids: IdSource;
  readonly #peers = new Map<string, Peer>();
  readonly #redials: Redials;
  readonly #sweeper: Timer;
  #closed = false;

  constructor(components: RedialComponents, dialers: readonly LinkDialerSettings[]) {
    this.#components = components;
    this.#dialers = dialers;
    this.#ids = new IdSource(components.random);
    this.#redials = new Redials(components, this.#peers);
    this.#sweeper = components.clock.every('link sweep', SWEEP, () => this.#sweep());
    components.registry.observe({
      up: (link) => this.#onUp(link),
      down: (link) => this.#onDown(link),
      rejected: (link) => this.#wantedFor(link, 'linkUp'),
    });
  }

  /** States of all wanted links, for diagnostics. */
  describe(): WantedLinkDescription[] {
    const toTimeOfDay = this.#toTimeOfDay();
    return [...this.#peers.values()].flatMap((peer) =>
      [...peer.wanted.values()].map((wanted) => describeWanted(peer.id, wanted, toTimeOfDay)),
    );
  }

  /** For each peer with wanted links, the numbers of those that are not established. */
  missing(): { peerId: string; dialing: number; failed: number }[] {
    const wanting = [...this.#peers.values()].filter(({ wanted }) => wanted.size > 0);
    return wanting.map(({ id, wanted }) => {
      const states = [...wanted.values()].map(({ state }) => state);
      const dialing = states.filter((state) => state === 'pending' || state === 'dialing').length;
      const established = states.filter((state) => state === 'established').length;
      return { peerId: id, dialing, failed: states.length - dialing - established };
    });
  }

  /** Known routers without a link that are not dialed, with the reason. */
  notDialed(): { peerId: string; reason: string }[] {
    const { registry } = this.#components;
    const isAlone = ({ id, wanted }: Peer) => wanted.size === 0 && !registry.links.some(({ peerId }) => peerId === id);
    return [...this.#peers.values()]
      .filter(isAlone)
      .map((peer) => ({ peerId: peer.id, reason: this.#whyNotDialed(peer) }));
  }

  #whyNotDialed({ healthy, listeners }: Peer): string {
    if (!healthy && listeners.length === 0)
      return 'it has not connected to the controller since this router learned of it';
    if (listeners.length === 0) return 'it has no link listener, so it must dial this router';
    if (this.#dialers.length === 0) return 'this router has no link dialer (link.dialers)';
    const groups = [listeners, this.#dialers].map((each) => [...new Set(each.flatMap((one) => one.groups))].join(', '));
    return `no common group: its listeners have ${groups[0]}, the dialers of this router have ${groups[1]}`;
  }

  /** The destinations in the inspection `links`. */
  inspect(): LinkDestination[] {
    const { registry } = this.#components;
    const toTimeOfDay = this.#toTimeOfDay();
    return [...this.#peers.values()].map(({ id, version, healthy, unhealthySince, wanted }) => ({
      id,
      version,
      healthy,
      ...(!healthy && { unhealthySince: new Date(unhealthySince).toISOString() }),
      linkStates: [...wanted.values()].map((each) => inspectWanted(each, registry.byKey(each.key), toTimeOfDay)),
    }));
  }

  #toTimeOfDay(): (monotonic: number) => number {
    const { clock } = this.#components;
    const offset = clock.now() - clock.monotonic();
    return (monotonic) => monotonic + offset;
  }

  /** Handles a controller's changes of other routers (message 1050). */
  peersChanged(changes: readonly PeerChange[]): void {
    for (const change of changes) {
      if (change.id === this.#components.dial.identity.id || this.#closed) continue;
      if (change.state === 'removed') this.#removePeer(change.id);
      else this.#updatePeer(change);
    }
  }

  /** Replaces the dialers and closes the links of removed ones. */
  setDialers(dialers: readonly LinkDialerSettings[]): void {
    if (this.#closed) return;
    this.#dialers = dialers;
    for (const peer of this.#peers.values()) this.#updateWanted(peer, peer.listeners, true);
  }

  /** Stops dialing; the registry owns the established links. */
  close(): void {
    this.#closed = true;
    this.#sweeper.cancel();
    this.#redials.close();
  }

  // Peers -------------------------------------------------------------------------------------------------------------

  #updatePeer(change: PeerChange): void {
    const { clock, log } = this.#components;
    const healthy = change.state === 'healthy';
    const known = this.#peers.get(change.id);
    const peer: Peer = known ?? {
      id: change.id,
      version: change.version,
      healthy,
      unhealthySince: clock.now(),
      listeners: [],
      wanted: new Map(),
    };
    this.#peers.set(peer.id, peer);
    const becameHealthy = healthy && known?.healthy === false;
    if (known && known.healthy !== healthy)
      log.info(
        { peerId: peer.id, previous: stateName(known.healthy), state: stateName(healthy) },
        'peer router changed state',
      );
    if (peer.healthy && !healthy) peer.unhealthySince = clock.now();
    peer.healthy = healthy;
    // The message for an unhealthy peer has no listeners and no version; the known ones are kept, and dialed more
    // slowly.
    if (!healthy) return;
    peer.version = change.version;
    peer.listeners = change.listeners;
    this.#updateWanted(peer, change.listeners, becameHealthy);
  }

  #updateWanted(peer: Peer, listeners: readonly PeerListener[], dialNow: boolean): void {
    const candidates = new Map<string, Candidate[]>();
    for (const listener of listeners) {
      for (const dialer of this.#dialers) {
        if (!shareGroup(listener.groups, dialer.groups)) continue;
        const key = linkKey({
          dialerBinding: dialer.binding,
          protocol: listener.protocol,
          routerId: peer.id,
          listenerBinding: listener.localBinding,
        });
        candidates.set(key, [...(candidates.get(key) ?? []), { listener, dialer }]);
      }
    }
    for (const [key, equal] of candidates) this.#want(peer, key, equal, dialNow);
    for (const wanted of peer.wanted.values()) if (!candidates.has(wanted.key)) this.#unwant(peer, wanted);
  }

  /** Keeps the address of a wanted link while one of the candidates has it; otherwise the first candidate is dialed. */
  #want(peer: Peer, key: string, candidates: readonly Candidate[], dialNow: boolean): void {
    const { registry } = this.#components;
    const known = peer.wanted.get(key);
    const kept = candidates.find(({ listener }) => listener.address === known?.listener.address);
    const chosen = kept ?? candidates[0];
    if (!chosen) return;
    const { listener, dialer } = chosen;
    if (!known) {
      const linkId = this.#ids.long();
      const wanted: WantedLink = {
        key,
        linkId,
        listener,
        dialer,
        state: 'pending',
        attempts: 0,
        connects: 0,
        upSince: 0,
        earlyLosses: 0,
        lossDelay: 0,
        retryDelay: 0,
        nextDial: 0,
        lastError: undefined,
        lastRemedy: undefined,
      };
      peer.wanted.set(key, wanted);
      if (registry.byKey(key)) step(wanted, 'linkUp', this.#components.log);
      this.#redials.dialWhenDue(peer, wanted);
      return;
    }
    known.listener = listener;
    known.dialer = dialer;
    const link = registry.byKey(key);
    if (!kept && link?.dialed) link.close();
    else if ((dialNow || !kept) && known.state !== 'established') this.#redials.dialSoon(peer, known);
  }

  #unwant(peer: Peer, wanted: WantedLink): void {
    step(wanted, 'removed', this.#components.log);
    peer.wanted.delete(wanted.key);
    this.#components.registry.byKey(wanted.key)?.close();
  }

  #removePeer(peerId: string): void {
    const peer = this.#peers.get(peerId);
    if (peer) for (const wanted of [...peer.wanted.values()]) this.#unwant(peer, wanted);
    this.#peers.delete(peerId);
    this.#components.registry.closePeer(peerId);
  }

  // Links -------------------------------------------------------------------------------------------------------------

  #onUp(link: Link): void {
    const wanted = this.#wantedFor(link, 'linkUp');
    if (!wanted) return;
    wanted.retryDelay = 0;
    wanted.connects++;
    wanted.upSince = this.#components.clock.monotonic();
    wanted.lastError = undefined;
    wanted.lastRemedy = undefined;
  }

  #onDown(link: Link): void {
    if (this.#closed) return;
    const wanted = this.#wantedFor(link, 'linkDown');
    const peer = this.#peers.get(link.peerId);
    if (peer && wanted) this.#redials.dialAfterLoss(peer, wanted);
  }

  #wantedFor({ peerId, key }: Link, event: LinkEvent): WantedLink | undefined {
    const wanted = this.#peers.get(peerId)?.wanted.get(key);
    if (wanted) step(wanted, event, this.#components.log);
    return wanted;
  }

  #sweep(): void {
    const { clock, registry } = this.#components;
    const before = clock.now() - FORGET_AFTER;
    for (const peer of this.#peers.values()) {
      const linked = [...peer.wanted.keys()].some((key) => registry.byKey(key));
      const forgotten = !peer.healthy && peer.unhealthySince < before && !linked;
      if (forgotten || (peer.wanted.size === 0 && !peer.healthy)) this.#forget(peer);
    }
  }

  /** The peer may still dial this router, and keeps the links that it has dialed: traffic does not need controllers. */
  #forget(peer: Peer): void {
    for (const wanted of peer.wanted.values()) step(wanted, 'removed', this.#components.log);
    this.#peers.delete(peer.id);
  }
}

function shareGroup(listener: readonly string[], dialer: readonly string[]): boolean {
  return groupsOrDefault(listener).some((group) => dialer.includes(group));
}

function stateName(healthy: boolean): string {
  return healthy ? 'healthy' : 'unhealthy';
}

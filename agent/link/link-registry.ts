// All links of the router, and the links it wants. Peers come and go by what controllers say; for each listener of a peer and
// each own dialer that shares a group there is one wanted link with a state (link-states.ts). Links that others dial to us are
// taken in by the same rules of duplicates.
//
//   peer changes ─► wanted links ─► dial queue ─► link ─► register ─┬─► forwarder
//   accepted links ─────────────────────────────────────► register ─┴─► reports to controllers

import { background } from '#lib/background.ts';
import { nextBackoff } from '#lib/backoff.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import type { DialQueue } from '#lib/dial-queue.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { Link, type LinkComponents, type LinkInit } from './link.ts';
import {
  type DialedLink,
  dialLink,
  type LinkDialComponents,
  type LinkDialerSettings,
  type LinkDialRequest,
} from './link-dialer.ts';
import { judgeDuplicate, linkKey } from './link-key.ts';
import { LinkMetrics } from './link-metrics.ts';
import type { LinkReporter } from './link-reporter.ts';
import { canDial, type LinkEvent, type LinkState, nextLinkState } from './link-states.ts';

export interface PeerListener {
  readonly address: string;
  readonly protocol: string;
  readonly groups: readonly string[];
  readonly localBinding: string;
}

export interface PeerChange {
  readonly id: string;
  readonly version: string;
  readonly state: 'healthy' | 'unhealthy' | 'removed';
  readonly listeners: readonly PeerListener[];
}

export interface LinkRegistryComponents {
  clock: Clock;
  log: Log;
  random: Random;
  forwarder: Forwarder;
  metrics: MetricsRegistry;
  reporter: LinkReporter;
  dial: LinkDialComponents;
  dialQueue: DialQueue;
  onUnroutable(circuitId: string): void;
}

interface Peer {
  readonly id: string;
  version: string;
  healthy: boolean;
  unhealthySince: number;
  readonly wanted: Map<string, WantedLink>;
}

/** One link that should be there. */
interface WantedLink {
  readonly key: string;
  /** Made once; every redial of this link has the same id and the next iteration. */
  readonly linkId: string;
  listener: PeerListener;
  dialer: LinkDialerSettings;
  state: LinkState;
  attempts: number;
  retryDelay: number;
  nextDial: number;
}

const SWEEP = 60_000;
/** reference fact: an unhealthy peer without links is forgotten after this. */
const FORGET_AFTER = 48 * 3_600_000;
/** What a link that lost against its duplicate still gets to deliver what is on its way. */
const CLOSE_REJECTED_ACCEPTED = 30_000;
const CLOSE_REPLACED_DIALED = 60_000;
const CLOSE_REPLACED_ACCEPTED = 75_000;
const DEFAULT_GROUP = ['default'];

export class LinkRegistry {
  readonly #components: LinkRegistryComponents;
  readonly #dialers: readonly LinkDialerSettings[];
  readonly #ids: IdSource;
  readonly #peers = new Map<string, Peer>();
  /** Established links by key and by id. */
  readonly #byKey = new Map<string, Link>();
  readonly #byId = new Map<string, Link>();
  /** Replaced and rejected links that still drain. */
  readonly #leaving = new Map<Link, Timer>();
  readonly #metrics = new Map<Link, LinkMetrics>();
  readonly #sweeper: Timer;
  readonly #second: Timer;
  #due: { timer: Timer; at: number } | undefined;
  #closed = false;

  constructor(components: LinkRegistryComponents, dialers: readonly LinkDialerSettings[]) {
    this.#components = components;
    this.#dialers = dialers;
    this.#ids = new IdSource(components.random);
    this.#sweeper = components.clock.every('link sweep', SWEEP, () => this.#sweep());
    this.#second = components.clock.every('link metrics', 1_000, () => this.#foldMetrics());
  }

  /** The established links. */
  get links(): Link[] {
    return [...this.#byKey.values()];
  }

  get(linkId: string): Link | undefined {
    return this.#byId.get(linkId);
  }

  /** States of all wanted links, for diagnostics. */
  describe(): { key: string; linkId: string; peerId: string; state: LinkState; attempts: number; nextDial: number }[] {
    return [...this.#peers.values()].flatMap((peer) =>
      [...peer.wanted.values()].map(({ key, linkId, state, attempts, nextDial }) => ({
        key,
        linkId,
        peerId: peer.id,
        state,
        attempts,
        nextDial,
      })),
    );
  }

  /** What a controller says about other routers (message 1050). */
  peersChanged(changes: readonly PeerChange[]): void {
    for (const change of changes) {
      if (change.id === this.#components.dial.identity.id || this.#closed) continue;
      if (change.state === 'removed') this.#removePeer(change.id);
      else this.#updatePeer(change);
    }
  }

  /** A link that another router dialed and a controller verified. */
  accepted(init: LinkInit): void {
    this.#register(init);
  }

  /** A controller says that a link is broken: close it unless it has been redialed since. 0 stands for any iteration. */
  faulted(linkId: string, iteration: number): void {
    const link = this.#byId.get(linkId);
    if (!link || (iteration > 0 && iteration < link.iteration)) return;
    this.#components.log.info({ linkId, iteration }, 'link closed by a controller');
    link.close();
  }

  /** Ends all links and dials. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeper.cancel();
    this.#second.cancel();
    this.#due?.timer.cancel();
    for (const timer of this.#leaving.values()) timer.cancel();
    const links = [...this.#byId.values(), ...this.#leaving.keys()];
    for (const link of links) link.close();
    await Promise.all(links.map((link) => link.closed));
  }

  // Peers ------------------------------------------------------------------------------------------------------------------

  #updatePeer(change: PeerChange): void {
    const { clock, log } = this.#components;
    const healthy = change.state === 'healthy';
    const known = this.#peers.get(change.id);
    const peer: Peer = known ?? {
      id: change.id,
      version: change.version,
      healthy,
      unhealthySince: clock.now(),
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
    // An unhealthy peer comes without listeners and version; what was known of it is kept, and dialed more slowly.
    if (!healthy) return;
    peer.version = change.version;
    this.#updateWanted(peer, change.listeners, becameHealthy);
  }

  #updateWanted(peer: Peer, listeners: readonly PeerListener[], dialNow: boolean): void {
    const produced = new Set<string>();
    for (const listener of listeners) {
      for (const dialer of this.#dialers) {
        if (!shareGroup(listener.groups, dialer.groups)) continue;
        const key = linkKey({
          dialerBinding: dialer.binding,
          protocol: listener.protocol,
          routerId: peer.id,
          listenerBinding: listener.localBinding,
        });
        produced.add(key);
        this.#want(peer, key, listener, dialer, dialNow);
      }
    }
    for (const wanted of peer.wanted.values()) if (!produced.has(wanted.key)) this.#unwant(peer, wanted);
  }

  #want(peer: Peer, key: string, listener: PeerListener, dialer: LinkDialerSettings, dialNow: boolean): void {
    const known = peer.wanted.get(key);
    if (!known) {
      const linkId = this.#ids.long();
      const wanted: WantedLink = {
        key,
        linkId,
        listener,
        dialer,
        state: 'pending',
        attempts: 0,
        retryDelay: 0,
        nextDial: 0,
      };
      peer.wanted.set(key, wanted);
      if (this.#byKey.has(key)) this.#step(wanted, 'linkUp');
      this.#evaluate(peer, wanted);
      return;
    }
    const moved = known.listener.address !== listener.address;
    known.listener = listener;
    known.dialer = dialer;
    if (moved && this.#byKey.get(key)?.dialed) this.#byKey.get(key)?.close();
    else if ((dialNow || moved) && known.state !== 'established') this.#dialSoon(peer, known);
  }

  #unwant(peer: Peer, wanted: WantedLink): void {
    this.#step(wanted, 'removed');
    peer.wanted.delete(wanted.key);
    this.#byKey.get(wanted.key)?.close();
  }

  #removePeer(peerId: string): void {
    const peer = this.#peers.get(peerId);
    if (peer) for (const wanted of [...peer.wanted.values()]) this.#unwant(peer, wanted);
    this.#peers.delete(peerId);
    for (const link of this.links) if (link.peerId === peerId) link.close();
  }

  // Dialing ----------------------------------------------------------------------------------------------------------------

  #dialSoon(peer: Peer, wanted: WantedLink): void {
    wanted.retryDelay = 0;
    wanted.nextDial = 0;
    this.#evaluate(peer, wanted);
  }

  #evaluate(peer: Peer, wanted: WantedLink): void {
    if (this.#closed || !canDial(wanted.state)) return;
    if (wanted.nextDial > this.#components.clock.now()) {
      this.#wakeAt(wanted.nextDial);
      return;
    }
    this.#step(wanted, 'dial');
    wanted.attempts++;
    background(this.#components.log, 'link dial', this.#dial(peer, wanted));
  }

  async #dial(peer: Peer, wanted: WantedLink): Promise<void> {
    const request: LinkDialRequest = {
      linkId: wanted.linkId,
      peerId: peer.id,
      peerVersion: peer.version,
      address: wanted.listener.address,
      iteration: wanted.attempts,
      dialer: wanted.dialer,
    };
    try {
      const dialed = await this.#components.dialQueue.add(async (signal) => {
        // The peer may have dialed us while this waited.
        if (this.#byKey.has(wanted.key)) return undefined;
        return dialLink(this.#components.dial, request, signal);
      });
      if (dialed) this.#onDialed(peer, wanted, request, dialed);
      else this.#step(wanted, 'linkUp');
    } catch (error) {
      this.#onDialFailed(peer, wanted, error);
    }
  }

  #onDialed(peer: Peer, wanted: WantedLink, request: LinkDialRequest, dialed: DialedLink): void {
    const { payloads, acknowledgements } = dialed;
    if (wanted.state === 'destRemoved' || this.#closed) {
      dialed.open();
      payloads.close();
      acknowledgements.close();
      return;
    }
    const link = this.#register({
      id: wanted.linkId,
      key: wanted.key,
      peerId: peer.id,
      peerVersion: peer.version,
      iteration: request.iteration,
      dialed: true,
      protocol: wanted.listener.protocol,
      address: wanted.listener.address,
      payloads,
      acknowledgements,
      stopGrowing: dialed.stopGrowing,
    });
    dialed.open();
    if (link || this.#byKey.has(wanted.key)) return;
    // Closed before it could be used: the other side refused it. Something random keeps two routers from meeting again.
    this.#step(wanted, 'dialError');
    this.#retryLater(peer, wanted, 1_000 + this.#components.random.next() * 3_000);
  }

  #onDialFailed(peer: Peer, wanted: WantedLink, error: unknown): void {
    if (this.#closed || wanted.state === 'destRemoved') return;
    const queueFull = errorCode(error) === 'QUEUE_FULL';
    this.#step(wanted, queueFull ? 'queueFull' : 'dialError');
    if (wanted.state === 'established') return;
    this.#retryLater(peer, wanted, 0);
    this.#components.log.warn(
      {
        linkId: wanted.linkId,
        peerId: peer.id,
        address: wanted.listener.address,
        attempts: wanted.attempts,
        retryIn: Math.round(wanted.retryDelay),
        error: describeError(error),
      },
      queueFull ? 'link dial refused: queue full' : 'link dial failed',
    );
  }

  #retryLater(peer: Peer, wanted: WantedLink, extra: number): void {
    const policy = peer.healthy ? wanted.dialer.healthyBackoff : wanted.dialer.unhealthyBackoff;
    wanted.retryDelay = nextBackoff(policy, wanted.retryDelay, this.#components.random);
    wanted.nextDial = this.#components.clock.now() + wanted.retryDelay + extra;
    this.#wakeAt(wanted.nextDial);
  }

  /** One timer for all: it is armed for the earliest wanted link that is due. */
  #wakeAt(at: number): void {
    if (this.#closed || (this.#due && this.#due.at <= at)) return;
    this.#due?.timer.cancel();
    const wait = Math.max(1, at - this.#components.clock.now());
    this.#due = { at, timer: this.#components.clock.after('link redial', wait, () => this.#onDue()) };
  }

  #onDue(): void {
    this.#due = undefined;
    for (const peer of this.#peers.values()) for (const wanted of peer.wanted.values()) this.#evaluate(peer, wanted);
  }

  // Links ------------------------------------------------------------------------------------------------------------------

  /** Takes a new link in, or not: see judgeDuplicate. */
  #register(init: LinkInit): Link | undefined {
    if (this.#closed || init.payloads.isClosed || init.acknowledgements.isClosed) {
      for (const channel of [init.payloads, init.acknowledgements]) channel.close();
      return undefined;
    }
    const link = this.#makeLink(init);
    const existing = this.#byKey.get(link.key);
    const verdict = judgeDuplicate(existing, link);
    if (existing && verdict === 'reject') {
      existing.rejectedDuplicates++;
      this.#reject(link, existing);
      return undefined;
    }
    if (existing) this.#replace(existing, link);
    this.#byKey.set(link.key, link);
    this.#byId.set(link.id, link);
    this.#components.forwarder.registerLink(link);
    this.#onUp(link);
    return link;
  }

  #makeLink(init: LinkInit): Link {
    const metrics = new LinkMetrics(this.#components.metrics, init.id);
    const components: LinkComponents = {
      clock: this.#components.clock,
      log: this.#components.log,
      forwarder: this.#components.forwarder,
      metrics,
      onUnroutable: this.#components.onUnroutable,
    };
    const link = new Link(components, init);
    this.#metrics.set(link, metrics);
    void link.closed.then((reason) => this.#onClosed(link, reason));
    return link;
  }

  #reject(link: Link, existing: Link): void {
    this.#components.log.info({ linkId: link.id, key: link.key, kept: existing.id }, 'duplicate link rejected');
    this.#stepWanted(link.key, 'linkUp');
    if (link.dialed) link.close();
    else this.#leave(link, CLOSE_REJECTED_ACCEPTED);
  }

  #replace(existing: Link, link: Link): void {
    this.#components.log.info({ linkId: existing.id, key: existing.key, by: link.id }, 'link replaced by a duplicate');
    this.#byId.delete(existing.id);
    if (existing.id === link.id) {
      // A redial: the other side has lost the old one already.
      this.#components.forwarder.unregisterLink(existing);
      existing.close();
      return;
    }
    this.#components.reporter.duplicate(existing);
    this.#leave(existing, existing.dialed ? CLOSE_REPLACED_DIALED : CLOSE_REPLACED_ACCEPTED);
  }

  #leave(link: Link, milliseconds: number): void {
    link.stopGrowing();
    this.#leaving.set(
      link,
      this.#components.clock.after('duplicate link', milliseconds, () => link.close()),
    );
  }

  #onUp(link: Link): void {
    this.#components.log.info(
      { linkId: link.id, peerId: link.peerId, dialed: link.dialed, iteration: link.iteration, key: link.key },
      'link established',
    );
    const wanted = this.#stepWanted(link.key, 'linkUp');
    if (wanted) wanted.retryDelay = 0;
    for (const channel of link.channels) {
      channel.onUnderlays = () => {
        link.connectionsIteration++;
        if (link.dialed && !link.isClosed && this.#byId.get(link.id) === link)
          this.#components.reporter.connectionsChanged(link);
      };
    }
    if (link.dialed) this.#components.reporter.established(link);
  }

  #onClosed(link: Link, reason: Error | null): void {
    this.#leaving.get(link)?.cancel();
    this.#leaving.delete(link);
    this.#metrics.delete(link);
    this.#components.forwarder.unregisterLink(link);
    if (this.#byId.get(link.id) === link) {
      this.#byId.delete(link.id);
      this.#components.metrics.dispose(`link.${link.id}.`);
    }
    if (this.#byKey.get(link.key) !== link) return;
    this.#byKey.delete(link.key);
    if (this.#closed) return;
    this.#components.log.warn(
      {
        linkId: link.id,
        peerId: link.peerId,
        iteration: link.iteration,
        reason: reason ? describeError(reason) : 'closed',
      },
      'link lost',
    );
    this.#components.reporter.lost(link);
    const peer = this.#peers.get(link.peerId);
    const wanted = peer?.wanted.get(link.key);
    if (!peer || !wanted) return;
    this.#step(wanted, 'linkDown');
    this.#dialSoon(peer, wanted);
  }

  #stepWanted(key: string, event: LinkEvent): WantedLink | undefined {
    for (const peer of this.#peers.values()) {
      const wanted = peer.wanted.get(key);
      if (!wanted) continue;
      this.#step(wanted, event);
      return wanted;
    }
    return undefined;
  }

  #step(wanted: WantedLink, event: LinkEvent): void {
    const next = nextLinkState(wanted.state, event);
    if (next !== wanted.state)
      this.#components.log.debug(
        { key: wanted.key, linkId: wanted.linkId, previous: wanted.state, state: next },
        'link state',
      );
    wanted.state = next;
  }

  #foldMetrics(): void {
    for (const [link, metrics] of this.#metrics) metrics.fold(link.queueTime);
  }

  #sweep(): void {
    const before = this.#components.clock.now() - FORGET_AFTER;
    for (const peer of this.#peers.values()) {
      const linked = [...peer.wanted.keys()].some((key) => this.#byKey.has(key));
      const forgotten = !peer.healthy && peer.unhealthySince < before && !linked;
      if (forgotten || (peer.wanted.size === 0 && !peer.healthy)) this.#removePeer(peer.id);
    }
  }
}

function shareGroup(listener: readonly string[], dialer: readonly string[]): boolean {
  const groups = listener.length > 0 ? listener : DEFAULT_GROUP;
  return groups.some((group) => dialer.includes(group));
}

function stateName(healthy: boolean): string {
  return healthy ? 'healthy' : 'unhealthy';
}

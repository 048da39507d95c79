// The established links, dialed and accepted, by key and by id. The registry judges duplicates, gives the losing link
// time to deliver frames in flight, and reports changes to controllers.
//
//   dialed links ───┐
//   accepted links ─┴─► register ─┬─► forwarder
//                                 ├─► reports to controllers
//                                 └─► observer (wanted-links.ts)

import { describeError, InvariantError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { Link, type LinkComponents, type LinkInit } from './link.ts';
import { judgeDuplicate } from './link-key.ts';
import { LinkMetrics } from './link-metrics.ts';
import type { LinkReporter } from './link-reporter.ts';
import { LinkTotals } from './link-totals.ts';

/** Notified of links, whichever side dialed them. */
export interface LinkObserver {
  up(link: Link): void;
  /** Not called for replaced links. */
  down(link: Link): void;
  /** Another link with the same key was kept. */
  rejected(link: Link): void;
}

export interface LinkRegistryComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
  metrics: MetricsRegistry;
  reporter: LinkReporter;
  onUnroutable(circuitId: string): void;
}

/**
 * Limit on links that one router may dial to us, rejected duplicates included: one for each pair of its dialers and our
 * listeners.
 */
const MAX_LINKS_OF_PEER = 200;
/** Milliseconds without an answer after which circuits avoid a link (reference fact). */
const SILENT_AFTER = 30_000;
/** Milliseconds that a link may deliver its last frames after it lost against its duplicate. */
const CLOSE_REJECTED_ACCEPTED = 30_000;
const CLOSE_REPLACED_DIALED = 60_000;
const CLOSE_REPLACED_ACCEPTED = 75_000;

export class LinkRegistry {
  /** Traffic by key, also of links that have ended. */
  readonly totals = new LinkTotals();
  readonly #components: LinkRegistryComponents;
  readonly #byKey = new Map<string, Link>();
  readonly #byId = new Map<string, Link>();
  /** Replaced and rejected links that still deliver frames. */
  readonly #leaving = new Map<Link, Timer>();
  readonly #metrics = new Map<Link, LinkMetrics>();
  readonly #second: Timer;
  #observer: LinkObserver | undefined;
  #closed = false;

  constructor(components: LinkRegistryComponents) {
    this.#components = components;
    this.#second = components.clock.every('link metrics', 1_000, () => this.#foldMetrics());
  }

  /** All established links. */
  get links(): Link[] {
    return [...this.#byKey.values()];
  }

  byKey(key: string): Link | undefined {
    return this.#byKey.get(key);
  }

  /** Sets the only observer. */
  observe(observer: LinkObserver): void {
    if (this.#observer) throw new InvariantError('the links have an observer already');
    this.#observer = observer;
  }

  /**
   * Registers a new link, or closes it: see judgeDuplicate. A link whose id belongs to another link is rejected: the
   * forwarder finds links by id, so the second dialer would receive the traffic of the first.
   * @returns undefined if the link was closed.
   */
  register(init: LinkInit): Link | undefined {
    const inUse = this.#isIdInUse(init);
    if (inUse) {
      const holder = this.#components.forwarder.destination(init.id) instanceof Link ? 'link' : 'circuit';
      this.#components.log.warn(
        { linkId: init.id, peerId: init.peerId, dialed: init.dialed },
        `link rejected: its id belongs to another ${holder}`,
      );
    }
    const current = this.#byId.get(init.id);
    const isOutdated = current !== undefined && init.iteration > 0 && init.iteration < current.iteration;
    if (isOutdated)
      this.#components.log.info(
        { linkId: init.id, peerId: init.peerId, iteration: init.iteration, kept: current.iteration },
        'link rejected: a later dial of it is established',
      );
    const isOver = !init.dialed && this.#countOf(init.peerId) >= MAX_LINKS_OF_PEER;
    if (isOver)
      this.#components.log.warn(
        { linkId: init.id, peerId: init.peerId },
        'link rejected: the router has too many links',
      );
    if (inUse || isOutdated || isOver || this.#closed || init.payloads.isClosed || init.acknowledgements.isClosed) {
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

  /** A controller reports that a link is broken: closes it unless it was redialed since. Iteration 0 matches any. */
  faulted(linkId: string, iteration: number): void {
    const link = this.#byId.get(linkId);
    if (!link || (iteration > 0 && iteration < link.iteration)) return;
    this.#components.log.info({ linkId, iteration }, 'link closed on request of a controller');
    link.close();
  }

  /**
   * A router was deleted: closes its links, also those that still deliver frames after they lost against a duplicate.
   */
  closePeer(peerId: string): void {
    for (const link of this.#all()) if (link.peerId === peerId) link.close();
    this.totals.forget(peerId);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#second.cancel();
    for (const timer of this.#leaving.values()) timer.cancel();
    const links = this.#all();
    for (const link of links) link.close();
    await Promise.all(links.map((link) => link.closed));
  }

  /** A redial has the id and the key of the link that it replaces; the key contains the peer. */
  #isIdInUse({ id, key, peerId }: LinkInit): boolean {
    const holder = this.#components.forwarder.destination(id);
    if (holder === undefined) return false;
    return !(holder instanceof Link && holder.key === key && holder.peerId === peerId);
  }

  #countOf(peerId: string): number {
    return this.#all().filter((link) => link.peerId === peerId).length;
  }

  #all(): Link[] {
    return [...this.#byId.values(), ...this.#leaving.keys()];
  }

  #makeLink(init: LinkInit): Link {
    const metrics = new LinkMetrics(this.#components.metrics, init.id, this.totals.use(init));
    const components: LinkComponents = {
      clock: this.#components.clock,
      log: this.#components.log,
      forwarder: this.#components.forwarder,
      metrics,
      onUnroutable: this.#components.onUnroutable,
    };
    const link = new Link(components, init);
    metrics.watch(link);
    this.#metrics.set(link, metrics);
    void link.closed.then((reason) => this.#onClosed(link, reason));
    return link;
  }

  #reject(link: Link, existing: Link): void {
    this.#components.log.info({ linkId: link.id, key: link.key, kept: existing.id }, 'duplicate link rejected');
    this.#observer?.rejected(link);
    if (link.dialed) link.close();
    else this.#leave(link, CLOSE_REJECTED_ACCEPTED);
  }

  #replace(existing: Link, link: Link): void {
    this.#components.log.info({ linkId: existing.id, key: existing.key, by: link.id }, 'link replaced by a duplicate');
    this.#byId.delete(existing.id);
    if (existing.id === link.id) {
      existing.close(); // a redial: the other side has already lost the old link, and the new one takes its circuits
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
    this.#observer?.up(link);
    for (const channel of link.channels) {
      channel.onUnderlays(() => {
        link.connectionsIteration++;
        if (link.dialed && !link.isClosed && this.#byId.get(link.id) === link)
          this.#components.reporter.connectionsChanged(link);
      });
    }
    if (link.dialed) this.#components.reporter.established(link);
  }

  #onClosed(link: Link, reason: Error | null): void {
    this.#leaving.get(link)?.cancel();
    this.#leaving.delete(link);
    this.#components.forwarder.unregisterLink(link);
    if (this.#byId.get(link.id) === link) this.#byId.delete(link.id);
    this.#disposeMetrics(link);
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
    this.#observer?.down(link);
  }

  /** A redial has the id of the link that it replaces, and so the same metrics. */
  #disposeMetrics(link: Link): void {
    const metrics = this.#metrics.get(link);
    this.#metrics.delete(link);
    metrics?.foldTraffic();
    this.totals.release(link);
    if (![...this.#metrics.keys()].some(({ id }) => id === link.id)) metrics?.dispose();
  }

  #foldMetrics(): void {
    for (const [link, metrics] of this.#metrics) {
      metrics.fold(link.queueTime);
      if (link.unanswered > SILENT_AFTER) metrics.silent();
    }
  }
}

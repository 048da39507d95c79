// The links between routers, as the dialing routers report them, and their costs (reference fact: control channel,
// sections 4.2 and 4.3).

import type { LinkConn } from '#wire/gen/control_pb.js';

export interface NetworkLink {
  readonly id: string;
  /** Id of the dialing router. */
  readonly source: string;
  readonly destination: string;
  readonly protocol: string;
  readonly dialAddress: string;
  iteration: number;
  staticCost: number;
  /** Nanoseconds, from the metrics of both ends. */
  sourceLatency: number;
  destinationLatency: number;
  connections: readonly LinkConn[];
  /** Increases with every change of the connections, because reports may arrive out of order. */
  connectionsIteration: number;
  /** Disabled by an administrator: circuits avoid it. */
  isDown: boolean;
}

const MILLISECOND = 1e6;
/** Until metrics arrive, a link is usable but expensive. */
const INITIAL_LATENCY = 65_000 * MILLISECOND;
/** Nanoseconds. Longer measurements are mistakes. */
const HOUR = 3_600_000 * MILLISECOND;
const STATIC_COST = 1;
/** Limit on links that one router may report. A large network has a few hundred. */
const MAX_LINKS_OF_ROUTER = 5_000;

/** The outcome of a report. `foreign`: the id belongs to a link of other routers. */
export type LinkReport = 'added' | 'known' | 'foreign' | 'tooMany';

export type NewLink = Pick<
  NetworkLink,
  'id' | 'source' | 'destination' | 'protocol' | 'dialAddress' | 'iteration' | 'connections' | 'connectionsIteration'
>;

export class Links {
  readonly #links = new Map<string, NetworkLink>();
  /** Number of links that each router dialed. */
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#links.size;
  }

  get(id: string): NetworkLink | undefined {
    return this.#links.get(id);
  }

  values(): NetworkLink[] {
    return [...this.#links.values()];
  }

  /** Adds an unknown link. Replaces one between the same two routers if the iteration is higher. */
  report(link: NewLink): LinkReport {
    const known = this.#links.get(link.id);
    if (known && (known.source !== link.source || known.destination !== link.destination)) return 'foreign';
    if (known && known.iteration >= link.iteration) return 'known';
    if (!known && (this.#counts.get(link.source) ?? 0) >= MAX_LINKS_OF_ROUTER) return 'tooMany';
    if (!known) this.#count(link.source, 1);
    this.#links.set(link.id, {
      ...link,
      staticCost: known?.staticCost ?? STATIC_COST,
      sourceLatency: INITIAL_LATENCY,
      destinationLatency: INITIAL_LATENCY,
      isDown: known?.isDown ?? false,
    });
    return 'added';
  }

  remove(id: string): NetworkLink | undefined {
    const link = this.#links.get(id);
    if (link) this.#count(link.source, -1);
    this.#links.delete(id);
    return link;
  }

  #count(source: string, change: number): void {
    const count = (this.#counts.get(source) ?? 0) + change;
    if (count > 0) this.#counts.set(source, count);
    else this.#counts.delete(source);
  }

  /** Links that a router dialed. */
  from(routerId: string): NetworkLink[] {
    return this.values().filter((link) => link.source === routerId);
  }

  /**
   * Records the mean latency (nanoseconds) that one end measured. Ignores a value that is not a duration: it would make
   * costs negative, or NaN.
   */
  measured(id: string, routerId: string, nanoseconds: number): void {
    const link = this.#links.get(id);
    if (!link || !(nanoseconds >= 0 && nanoseconds <= HOUR)) return;
    if (link.source === routerId) link.sourceLatency = nanoseconds;
    else if (link.destination === routerId) link.destinationLatency = nanoseconds;
  }
}

/** Milliseconds, the mean of both ends; undefined until both have measured it. */
export function latencyOf({ sourceLatency, destinationLatency }: NetworkLink): number | undefined {
  if (sourceLatency === INITIAL_LATENCY || destinationLatency === INITIAL_LATENCY) return undefined;
  return (sourceLatency + destinationLatency) / 2 / MILLISECOND;
}

/** The static cost plus one for each whole millisecond of latency, at both ends. */
export function linkCost(link: NetworkLink): number {
  const whole = (nanoseconds: number) => Math.floor(nanoseconds / MILLISECOND);
  return link.staticCost + whole(link.sourceLatency) + whole(link.destinationLatency);
}

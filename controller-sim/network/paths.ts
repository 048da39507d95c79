// The cheapest path between two routers: Dijkstra over the links. Entering a router costs the link plus the router's
// own cost (reference fact: control channel, section 4.3). A pure function.

import type { NetworkLink } from './links.ts';
import { linkCost } from './links.ts';

export interface PathRouter {
  readonly id: string;
  readonly cost: number;
  readonly noTraversal: boolean;
}

export interface Path {
  /** From the ingress router to the egress router. */
  readonly routers: readonly string[];
  readonly links: readonly string[];
  readonly cost: number;
}

/** A router costs at least this much. */
const MIN_ROUTER_COST = 10;

interface Step {
  readonly cost: number;
  readonly via: { readonly router: string; readonly link: string } | undefined;
}

/** Undefined without a path. Routers outside `routers` are not connected. */
export function cheapestPath(
  from: string,
  to: string,
  routers: ReadonlyMap<string, PathRouter>,
  links: Iterable<NetworkLink>,
): Path | undefined {
  return cheapestPaths(from, [to], routers, links).get(to);
}

/** The paths to several routers, by router, in one search. Routers without a path are missing. */
export function cheapestPaths(
  from: string,
  targets: Iterable<string>,
  routers: ReadonlyMap<string, PathRouter>,
  links: Iterable<NetworkLink>,
): Map<string, Path> {
  const paths = new Map<string, Path>();
  const wanted = new Set([...targets].filter((id) => routers.has(id)));
  if (!routers.has(from)) return paths;
  const neighbours = adjacency(routers, links);
  const best = new Map<string, Step>([[from, { cost: 0, via: undefined }]]);
  const open = new OpenRouters();
  open.add(from, 0);
  /** Routers whose cheapest path is known. They are not opened again, so that the search ends whatever the costs. */
  const settled = new Set<string>();
  for (let current = open.take(); current !== undefined && wanted.size > 0; current = open.take()) {
    if (settled.has(current)) continue; // a cheaper way to it was found after this one
    settled.add(current);
    if (wanted.delete(current)) paths.set(current, trace(current, best));
    if (current !== from && routers.get(current)?.noTraversal) continue;
    const { cost } = best.get(current) as Step;
    for (const { link, other } of neighbours.get(current) ?? []) {
      if (settled.has(other)) continue;
      const next = cost + linkCost(link) + Math.max(routers.get(other)?.cost ?? 0, MIN_ROUTER_COST);
      if (next >= (best.get(other)?.cost ?? Number.POSITIVE_INFINITY)) continue;
      best.set(other, { cost: next, via: { router: current, link: link.id } });
      open.add(other, next);
    }
  }
  return paths;
}

/** The first and the last router of a path. */
export function endsOf({ routers }: Path): readonly [from: string, to: string] {
  return [routers[0] ?? '', routers.at(-1) ?? ''];
}

/** The current cost of a path; undefined if a part of it is gone. */
export function costOf(
  path: Path,
  routers: ReadonlyMap<string, PathRouter>,
  links: { get(id: string): NetworkLink | undefined },
): number | undefined {
  let cost = 0;
  for (const [index, linkId] of path.links.entries()) {
    const link = links.get(linkId);
    const router = routers.get(path.routers[index + 1] ?? '');
    if (!link || !router) return undefined;
    cost += linkCost(link) + Math.max(router.cost, MIN_ROUTER_COST);
  }
  return cost;
}

function adjacency(
  routers: ReadonlyMap<string, PathRouter>,
  links: Iterable<NetworkLink>,
): Map<string, { link: NetworkLink; other: string }[]> {
  const neighbours = new Map<string, { link: NetworkLink; other: string }[]>();
  const add = (router: string, link: NetworkLink, other: string) => {
    const known = neighbours.get(router);
    if (known) known.push({ link, other });
    else neighbours.set(router, [{ link, other }]);
  };
  for (const link of links) {
    if (link.isDown || !routers.has(link.source) || !routers.has(link.destination)) continue;
    add(link.source, link, link.destination);
    add(link.destination, link, link.source);
  }
  return neighbours;
}

interface OpenRouter {
  readonly id: string;
  readonly cost: number;
  /** Equally cheap routers come in the order in which they were opened. */
  readonly order: number;
}

/** Routers to visit, the cheapest first: a binary heap. A router may be in it several times, with falling costs. */
class OpenRouters {
  readonly #heap: OpenRouter[] = [];
  readonly #orders = new Map<string, number>();

  add(id: string, cost: number): void {
    const order = this.#orders.get(id) ?? this.#orders.size;
    this.#orders.set(id, order);
    const added = { id, cost, order };
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as OpenRouter;
      if (!isBefore(added, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = added;
  }

  /** Removes and returns the cheapest one; undefined if none is left. */
  take(): string | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first?.id;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1] as OpenRouter, heap[below] as OpenRouter)) below += 1;
      const child = heap[below] as OpenRouter;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
    return first.id;
  }
}

function isBefore(a: OpenRouter, b: OpenRouter): boolean {
  return a.cost < b.cost || (a.cost === b.cost && a.order < b.order);
}

function trace(to: string, best: ReadonlyMap<string, Step>): Path {
  const routers = [to];
  const links: string[] = [];
  for (let via = best.get(to)?.via; via; via = best.get(via.router)?.via) {
    routers.unshift(via.router);
    links.unshift(via.link);
  }
  return { routers, links, cost: best.get(to)?.cost ?? 0 };
}

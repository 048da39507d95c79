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
  if (!routers.has(from) || !routers.has(to)) return undefined;
  const neighbours = adjacency(routers, links);
  const best = new Map<string, Step>([[from, { cost: 0, via: undefined }]]);
  const open = new Set([from]);
  /** Routers whose cheapest path is known. They are not opened again, so that the search ends whatever the costs. */
  const settled = new Set<string>();
  while (open.size > 0) {
    const current = cheapest(open, best);
    open.delete(current);
    settled.add(current);
    if (current === to) return trace(to, best);
    if (current !== from && routers.get(current)?.noTraversal) continue;
    const { cost } = best.get(current) as Step;
    for (const { link, other } of neighbours.get(current) ?? []) {
      if (settled.has(other)) continue;
      const next = cost + linkCost(link) + Math.max(routers.get(other)?.cost ?? 0, MIN_ROUTER_COST);
      if (next >= (best.get(other)?.cost ?? Number.POSITIVE_INFINITY)) continue;
      best.set(other, { cost: next, via: { router: current, link: link.id } });
      open.add(other);
    }
  }
  return undefined;
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

function cheapest(open: ReadonlySet<string>, best: ReadonlyMap<string, Step>): string {
  let found = '';
  for (const id of open) if (found === '' || (best.get(id)?.cost ?? 0) < (best.get(found)?.cost ?? 0)) found = id;
  return found;
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

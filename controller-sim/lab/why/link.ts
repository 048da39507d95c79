// Explains whether a link joins two routers, from what their controller knows: both are online, one of them listens,
// and one of them has reported a link. Only the dialing router knows why a dial fails: `edgeweave-router why link` asks
// it.

import { groupsOrDefault } from '#model/link-groups.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import { latencyOf, linkCost, type NetworkLink } from '../../network/links.ts';
import type { Network } from '../../network/network.ts';
import type { Router } from '../../state/kinds/router.ts';
import { type Explanation, explanation } from './explanation.ts';
import { bad, blocker, type Finding, good } from './finding.ts';
import { offlineRemedy } from './routers.ts';

export function explainLink(network: Network, from: Router, to: Router): Explanation {
  const ends = [from, to];
  const links = network.links.values().filter(({ source, destination }) => joins(ends, source, destination));
  const online = ends.map((router) => isOnline(network, router));
  const reasons = [
    ...online,
    ...(links.length > 0 ? links.map((link) => established(link, ends)) : missing(network, ends)),
  ];
  const pair = `${from.name} and ${to.name}`;
  const works = links.some(({ isDown }) => !isDown);
  return explanation(works ? reasons.map(other) : reasons, `a link joins ${pair}`, `no usable link joins ${pair}`);
}

/** Another link works. */
function other(finding: Finding): Finding {
  if (finding.kind !== 'link') return finding;
  const { blocking: _, ...rest } = finding;
  return rest;
}

function joins([from, to]: readonly Router[], source: string, destination: string): boolean {
  return (from?.id === source && to?.id === destination) || (from?.id === destination && to?.id === source);
}

function isOnline(network: Network, router: Router): Finding {
  if (network.status(router.id).isOnline) return good(['router', router], `the router ${router.name} is online`);
  return blocker(['router', router], `the router ${router.name} is offline`, offlineRemedy(router));
}

function established(link: NetworkLink, ends: readonly Router[]): Finding {
  const { id, source, dialAddress, isDown } = link;
  const about = ['link', { id }] as const;
  const dialer = ends.find((router) => router.id === source)?.name ?? source;
  const latency = latencyOf(link);
  const measured = latency === undefined ? 'latency not measured yet' : `latency ${latency.toFixed(1)} ms`;
  const what = `the link ${id}, which ${dialer} dialed at ${dialAddress} (cost ${linkCost(link)}, ${measured})`;
  if (!isDown) return good(about, `${what}, is up`);
  return blocker(
    about,
    `${what}, is disabled, so circuits avoid it`,
    `PATCH /fabric/v1/links/${id} with {"down": false}`,
  );
}

/** Both routers are known, and no link is reported. */
function missing(network: Network, ends: readonly Router[]): Finding[] {
  const connected = ends.flatMap((router) => {
    const found = network.routers.get(router.id);
    return found ? [{ router, found }] : [];
  });
  const findings = connected.map(({ router, found }) => listening(router, found));
  if (connected.length < ends.length) return findings;
  const [one, two] = ends as [Router, Router];
  if (!findings.some(({ ok }) => ok))
    return [
      ...findings,
      blocker(
        ['router', one],
        `neither ${one.name} nor ${two.name} listens for links`,
        'add a listener to link.listeners of one of them; the other one must reach its advertised address',
      ),
    ];
  const dialers = connected.filter((_, index) => findings[1 - index]?.ok).map(({ router }) => router.name);
  return [
    ...findings,
    blocker(
      ['router', one],
      `no router has reported a link: ${dialers.join(' or ')} should dial it, if their groups match`,
      `ask the dialing router: edgeweave-router why link <its file> ${dialers[0] === one.name ? two.name : one.name}`,
    ),
  ];
}

function listening(router: Router, { linkListeners }: ConnectedRouter): Finding {
  if (linkListeners.length === 0)
    return bad(['router', router], `${router.name} does not listen for links`, 'it must dial the other router');
  const places = linkListeners.map(
    ({ address, groups }) => `${address} (groups ${groupsOrDefault(groups).join(', ')})`,
  );
  return good(['router', router], `${router.name} listens at ${places.join(', ')}`);
}

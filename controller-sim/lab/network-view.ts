// The network at one moment, for people who watch it: controllers, routers, links, circuits, counts. Each list has a
// limit, and the totals count what it omits, so that a page may read it every few seconds.

import type { LabCircuit, LabController, LabLink, LabRouter, LabTopology } from '#schemas/api/gen/answers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { memberStatuses } from '../cluster/member-status.ts';
import type { Circuit } from '../network/circuit.ts';
import { latencyOf, linkCost, type NetworkLink } from '../network/links.ts';
import type { Network } from '../network/network.ts';
import type { Router } from '../state/kinds/router.ts';
import type { State } from '../state/state.ts';
import type { Tables } from '../state/tables.ts';
import type { Journal } from './journal/journal.ts';

const MAX_ROUTERS = 1_000;
const MAX_LINKS = 5_000;
const MAX_CIRCUITS = 500;

export interface NetworkViewComponents {
  readonly state: State;
  readonly network: Network;
  readonly cluster: Cluster;
  readonly journal: Journal;
  /** Undefined for a simulator without routers in its process. */
  readonly recordsLinks: boolean | undefined;
  /** Bytes per second of circuits, by id. */
  readonly rates: ReadonlyMap<string, number>;
  /** Milliseconds. */
  readonly now: number;
}

export function viewNetwork({
  state,
  network,
  cluster,
  journal,
  recordsLinks,
  rates,
  now,
}: NetworkViewComponents): LabTopology {
  const { tables } = state;
  const links = network.links.values();
  const circuits = network.circuits.values();
  return {
    controllers: controllers(cluster, state),
    routers: firstRouters(tables, network).map((router) => viewRouter(router, network)),
    links: links.slice(0, MAX_LINKS).map((link) => viewLink(link, network)),
    circuits: circuits
      .slice(-MAX_CIRCUITS)
      .reverse()
      .map((circuit) => viewCircuit(circuit, { tables, rate: rates.get(circuit.id), now })),
    totals: {
      routers: tables.router.size,
      online: network.routers.size,
      links: links.length,
      circuits: circuits.length,
    },
    entities: counts(tables),
    journal: {
      entries: journal.size,
      last: journal.last,
      ...(recordsLinks !== undefined && { links: recordsLinks }),
    },
  };
}

function controllers(cluster: Cluster, state: State): LabController[] {
  return memberStatuses(cluster, state).map((member) => ({
    id: member.id,
    url: member.baseUrl,
    controlAddress: member.controlAddress,
    connected: member.isConnected,
    leader: member.isLeader,
    startedAt: member.joinedAt,
    index: Number(member.index),
    behind: Number(member.behind),
    ...(member.problem !== undefined && { problem: member.problem }),
  }));
}

/** Those that are connected come first: the limit must not omit them. */
function firstRouters(tables: Tables, network: Network): Router[] {
  const first: Router[] = [];
  for (const id of network.routers.keys()) {
    const router = tables.router.get(id);
    if (router && first.length < MAX_ROUTERS) first.push(router);
  }
  for (const router of tables.router.values()) {
    if (first.length >= MAX_ROUTERS) break;
    if (!network.routers.has(router.id)) first.push(router);
  }
  return first;
}

function viewRouter({ id, name, isEdge, disabled, cost }: Router, network: Network): LabRouter {
  const connected = network.routers.get(id);
  return {
    id,
    name,
    online: connected !== undefined,
    type: isEdge ? 'edge' : 'transit',
    disabled,
    cost,
    ...(connected && { version: connected.version.version }),
    identities: connected?.identities.size ?? 0,
  };
}

function viewLink(link: NetworkLink, { routers }: Network): LabLink {
  const { id, source, destination, isDown } = link;
  const isConnected = routers.has(source) && routers.has(destination);
  const latency = latencyOf(link);
  return {
    id,
    source,
    destination,
    state: isDown ? 'disabled' : isConnected ? 'up' : 'disconnected',
    cost: linkCost(link),
    ...(latency !== undefined && { latency }),
  };
}

function viewCircuit(
  circuit: Circuit,
  { tables, rate, now }: { readonly tables: Tables; readonly rate: number | undefined; readonly now: number },
): LabCircuit {
  const { id, serviceId, clientId, path, createdAt } = circuit;
  return {
    id,
    service: tables.service.get(serviceId)?.name ?? serviceId,
    client: tables.identity.get(clientId)?.name ?? clientId,
    path: path.routers,
    age: Math.max(0, Math.round(now - createdAt)),
    ...(rate !== undefined && { rate: Math.round(rate) }),
  };
}

function counts(tables: Tables): Record<string, number> {
  return {
    identities: tables.identity.size,
    services: tables.service.size,
    routers: tables.router.size,
    terminators: tables.terminator.size,
    servicePolicies: tables.servicePolicy.size,
    edgeRouterPolicies: tables.edgeRouterPolicy.size,
    serviceEdgeRouterPolicies: tables.serviceEdgeRouterPolicy.size,
    configs: tables.config.size,
    configTypes: tables.configType.size,
    postureChecks: tables.postureCheck.size,
    authPolicies: tables.authPolicy.size,
    authenticators: tables.authenticator.size,
    enrollments: tables.enrollment.size,
    certificateAuthorities: tables.ca.size,
    externalJwtSigners: tables.externalJwtSigner.size,
    apiSessions: tables.apiSession.size,
    sessions: tables.session.size,
  };
}

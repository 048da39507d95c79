// The values that the controller itself answers to inspections, with the reference's names and fields (reference fact:
// HTTP entities, section 19). Routers answer their own values.

import { formatDuration } from '#lib/time/duration.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { State } from '../../state/state.ts';
import type { ConnectedRouter } from '../connected-router.ts';
import type { Network } from '../network.ts';

export interface Inspected {
  readonly network: Network;
  readonly state: State;
  readonly cluster: Cluster;
}

/** Routers report each change, and a lost router is noticed at once: nothing is scanned. */
const SCAN_INTERVAL = '0s';
/** reference fact: the type of an underlay of a channel that is not grouped. */
const UNGROUPED = 'default';

const VALUES: Readonly<Record<string, (inspected: Inspected) => unknown>> = {
  'connected-routers': connectedRouters,
  'connected-peers': clusterMembers,
  'data-model-index': modelIndex,
  'router-data-model-index': modelIndex,
  'terminator-costs': ({ network }) => ({ terminators: nullIfEmpty(network.costs.inspect()) }),
  'identity-connection-statuses': connectedIdentities,
};

/** Omits names that the controller does not know: routers may know them. */
export function valuesOfController(inspected: Inspected, names: readonly string[]): { name: string; value: unknown }[] {
  return names.flatMap((name) => {
    const value = Object.hasOwn(VALUES, name) ? VALUES[name]?.(inspected) : undefined;
    return value === undefined ? [] : [{ name, value }];
  });
}

function connectedRouters({ network, state }: Inspected): unknown {
  const routers = network.routers.values().map(({ id, version, connectedAt, channel }) => ({
    id,
    name: routerName(state, id),
    version: version.version,
    connectTime: new Date(connectedAt).toISOString(),
    underlays: countTypes(channel.underlays),
  }));
  return nullIfEmpty([...routers]);
}

function countTypes(underlays: ConnectedRouter['channel']['underlays']): Record<string, number> {
  const byType = Map.groupBy(underlays, ({ type }) => type || UNGROUPED);
  return Object.fromEntries([...byType].map(([type, each]) => [type, each.length]));
}

/** Returns undefined without a cluster: the reference then omits the value. */
function clusterMembers({ cluster }: Inspected): unknown {
  if (!cluster.isEnabled) return undefined;
  const { members, leaderId } = cluster.membership;
  return members.map(({ id, controlAddress: addr, version, isConnected }) => ({
    id,
    addr,
    version,
    isVoter: true,
    isLeader: id === leaderId,
    isPreferredLeader: false,
    isConnected,
    isSelf: id === cluster.id,
    raftConnCount: 0,
  }));
}

function modelIndex({ state }: Inspected): unknown {
  return { timeline: state.timeline, index: Number(state.index) };
}

function connectedIdentities({ network, state }: Inspected): unknown {
  const all: { identityId: string; routerId: string; connection: unknown }[] = [];
  for (const { id, channel, identities } of network.routers.values()) {
    // The identity of a router's tunneler has the id of the router, and is connected while it is.
    const own = state.tables.identity.has(id) ? [id] : [];
    for (const identityId of [...own, ...identities]) {
      const connection = {
        router_id: id,
        closed: channel.isClosed,
        time_since_last_write: formatDuration(channel.unanswered),
      };
      all.push({ identityId, routerId: id, connection });
    }
  }
  const connections = [...Map.groupBy(all, ({ identityId }) => identityId)].map(([identityId, routers]) => [
    identityId,
    {
      connected_routers: Object.fromEntries(routers.map(({ routerId, connection }) => [routerId, connection])),
      last_reported_state: 'online',
    },
  ]);
  return { connections: Object.fromEntries(connections), scanInterval: SCAN_INTERVAL };
}

/** Empty for a router that was deleted meanwhile. */
export function routerName(state: State, routerId: string): string {
  return state.tables.router.get(routerId)?.name ?? '';
}

/** The reference sends null for empty lists. */
export function nullIfEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

// Compares the links that a router has with those that it, or the router at the other end, reported.

import { versionAtLeast } from '#wire/channel/version-info.ts';
import { LinkState, RouterLinkDetailsSchema } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import type { NetworkLink } from '../../../network/links.ts';
import type { Network } from '../../../network/network.ts';
import { routerValidation } from './router-validation.ts';
import { askRouter, type Fields } from './router-values.ts';

/** The first version that reports changes of a link's connections. */
const REPORTS_CONNECTIONS = 'v1.6.6';

export const routerLinksValidation = routerValidation({
  types: {
    request: ManagementType.ValidateRouterLinks,
    response: ManagementType.ValidateRouterLinksResponse,
    result: ManagementType.ValidateRouterLinksResult,
  },
  schema: RouterLinkDetailsSchema,
  check: async ({ network }, asked) => {
    const { id, name } = asked.router;
    const values = await askRouter(asked, ['links'], 'no link details returned from router');
    const found = values('links').list('links');
    const ids = new Set(found.map((link) => link.text('id')));
    const missing = network.links.values().filter((link) => isAt(link, id) && !ids.has(link.id));
    return {
      routerId: id,
      routerName: name,
      validateSuccess: true,
      linkDetails: [
        ...found.map((link) => compare(network, link)),
        ...missing.map((link) => missingLink(network, id, link)),
      ],
    };
  },
  failed: ({ id, name }, message) => ({ routerId: id, routerName: name, validateSuccess: false, message }),
  offline: ({ id, name }) => ({
    routerId: id,
    routerName: name,
    validateSuccess: false,
    message: 'router not connected',
  }),
});

function isAt({ source, destination }: NetworkLink, routerId: string): boolean {
  return source === routerId || destination === routerId;
}

function compare(network: Network, link: Fields) {
  const known = network.links.get(link.text('id'));
  const destRouterId = link.text('dest');
  const destConnected = network.routers.has(destRouterId);
  const dialed = link.flag('dialed');
  // Only the dialing end reports connections; at the other end, their addresses are swapped.
  const { isDifferent, messages } = known && dialed ? compareConnections(network, known, link) : EQUAL;
  return {
    linkId: link.text('id'),
    ctrlState: known ? LinkState.ESTABLISHED : LinkState.UNKNOWN,
    routerState: LinkState.ESTABLISHED,
    destConnected,
    isValid: (known ? destConnected : !destConnected) && !isDifferent,
    destRouterId,
    dialed,
    messages,
  };
}

function missingLink(network: Network, routerId: string, { id, source, destination }: NetworkLink) {
  const destRouterId = source === routerId ? destination : source;
  return {
    linkId: id,
    ctrlState: LinkState.ESTABLISHED,
    routerState: LinkState.UNKNOWN,
    destConnected: network.routers.has(destRouterId),
    isValid: false,
    destRouterId,
    dialed: source === routerId,
  };
}

interface Comparison {
  readonly isDifferent: boolean;
  readonly messages: string[];
}
const EQUAL: Comparison = { isDifferent: false, messages: [] };

type Connection = readonly [type: string, localAddress: string, remoteAddress: string];

/** reference fact: reports may be in flight, so different counts are only messages: the link remains valid. */
function compareConnections(network: Network, known: NetworkLink, link: Fields): Comparison {
  const { version } = network.routers.get(known.source) ?? {};
  if (!version || !versionAtLeast(version.version, REPORTS_CONNECTIONS)) return EQUAL;
  const reported = sorted(known.connections.map(({ type, localAddr, remoteAddr }) => [type, localAddr, remoteAddr]));
  const actual = sorted(
    link.list('connections').map((each) => [each.text('Type'), each.text('Source'), each.text('Dest')]),
  );
  const about = (text: string) => `for link ${known.id}, ${text}`;
  if (reported.length !== actual.length) {
    const text = `len(ctrlConns): ${reported.length} != len(routerConns): ${actual.length}`;
    return { isDifferent: false, messages: [about(text)] };
  }
  const iteration = link.count('connStateIteration');
  if (iteration !== known.connectionsIteration) {
    const text = `conn state iteration doesn't match, ctrl: ${known.connectionsIteration} != router: ${iteration}`;
    return { isDifferent: false, messages: [about(text)] };
  }
  const messages = reported.flatMap((connection, index) =>
    FIELDS.flatMap((field, position) => {
      const [ctrl, router] = [connection[position], actual[index]?.[position]];
      return ctrl === router ? [] : [about(`${field} doesn't match. ctrl ${ctrl} != router ${router}`)];
    }),
  );
  return { isDifferent: messages.length > 0, messages };
}

const FIELDS = ['type', 'local addr', 'remote addr'] as const;

function sorted(connections: Connection[]): Connection[] {
  const keyed = connections.map((connection) => [connection.join('\0'), connection] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, connection]) => connection);
}

// Link messages of routers: reports of the dialing end, connections, faults, and changed listeners (reference facts:
// control channel, sections 4.2 and 4.5).

import {
  FaultSchema,
  FaultSubject,
  type LinkConn,
  type LinkConnState,
  LinkStateUpdateSchema,
  ListenersSchema,
  RouterLinksSchema,
} from '#wire/gen/control_pb.js';
import type { ControlHandler } from '../context.ts';

/** Limit on connections of a link that are kept: groups have a few. */
const MAX_CONNECTIONS = 100;
/** Limit in characters on ids and addresses of a link and its connections: they are kept for thousands of links. */
const MAX_TEXT_LENGTH = 1_024;

export const onRouterLinks: ControlHandler<'network' | 'log'> = ({ network, log }, router, message) => {
  const { links, fullRefresh } = message.decode(RouterLinksSchema);
  for (const { id, destRouterId, linkProtocol, dialAddress, iteration, connState } of links) {
    const link = {
      id,
      source: router.id,
      destination: destRouterId,
      protocol: linkProtocol,
      dialAddress,
      iteration,
      connections: connectionsIn(connState),
      connectionsIteration: connState?.stateIteration ?? 0,
    };
    const fields = { linkId: id, source: router.id, destination: destRouterId, iteration };
    if (isTooLong(id, destRouterId, linkProtocol, dialAddress)) {
      log.warn({ source: router.id }, `link report ignored: it has a text of more than ${MAX_TEXT_LENGTH} characters`);
      continue;
    }
    const outcome = network.reportLink(link);
    if (outcome === 'added') log.info(fields, 'link reported');
    else if (outcome === 'foreign') log.warn(fields, 'link report ignored: the id belongs to a link of other routers');
    else if (outcome === 'tooMany') log.warn(fields, 'link report ignored: the router has too many links');
  }
  if (fullRefresh) network.keepLinks(router.id, new Set(links.map(({ id }) => id)));
};

export const onLinkState: ControlHandler<'network'> = ({ network }, router, message) => {
  const { linkId, linkIteration, connState } = message.decode(LinkStateUpdateSchema);
  const link = network.links.get(linkId);
  if (link?.source !== router.id || link.iteration !== linkIteration) return;
  if (!connState || connState.stateIteration <= link.connectionsIteration) return;
  link.connections = connectionsIn(connState);
  link.connectionsIteration = connState.stateIteration;
  network.events.emit({ kind: 'link', type: 'connectionsChanged', link });
};

function connectionsIn(state: LinkConnState | undefined): readonly LinkConn[] {
  const kept = state?.conns.slice(0, MAX_CONNECTIONS) ?? [];
  return kept.filter(({ type, localAddr, remoteAddr }) => !isTooLong(type, localAddr, remoteAddr));
}

function isTooLong(...texts: readonly string[]): boolean {
  return texts.some(({ length }) => length > MAX_TEXT_LENGTH);
}

export const onListeners: ControlHandler<'network'> = ({ network }, router, message) => {
  network.setListeners(router, message.decode(ListenersSchema).listeners);
};

/**
 * Faults of a link, or of circuits: several circuit ids in one text, separated by spaces. A router can only report
 * links and circuits that run through it.
 */
export const onFault: ControlHandler<'network' | 'log'> = ({ network, log }, router, message) => {
  const { subject, id, iteration } = message.decode(FaultSchema);
  const runsThrough = (circuitId: string) => network.circuits.get(circuitId)?.path.routers.includes(router.id) ?? false;
  switch (subject) {
    case FaultSubject.LINK_FAULT:
    case FaultSubject.LINK_DUPLICATE:
      log.info({ linkId: id, routerId: router.id }, 'link fault reported');
      return network.linkFault(router.id, id, iteration);
    case FaultSubject.INGRESS_FAULT:
    case FaultSubject.EGRESS_FAULT:
      if (runsThrough(id)) network.circuits.remove(id, { now: false });
      return;
    case FaultSubject.FORWARD_FAULT:
    case FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT: {
      let canUnroute = subject === FaultSubject.FORWARD_FAULT;
      for (const circuitId of id.split(' ').filter((each) => each !== '')) {
        if (runsThrough(circuitId)) network.circuits.moves.reroute(circuitId);
        else if (canUnroute && network.circuits.isStray(circuitId, router.id))
          canUnroute = network.circuits.unroute(router.id, circuitId, true);
      }
      return;
    }
    default:
      log.warn({ subject, routerId: router.id }, 'fault of unknown subject ignored');
  }
};

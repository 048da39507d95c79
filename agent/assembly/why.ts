// Answers `edgeweave-router why`: the router explains a link, or the right to a service, from what it knows.

import { ProjectError } from '#lib/errors.ts';
import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { Controllers } from '../control/controllers.ts';
import type { LinkListener } from '../link/link-listener.ts';
import type { OperatorRequest } from '../operator/operator-socket.ts';
import { explainLink } from '../why/link.ts';
import type { Explanation } from '../why/reason.ts';
import { explainService } from '../why/service.ts';
import type { RouterContext } from './context.ts';
import type { Ingress } from './ingress.ts';
import type { Links } from './links.ts';

export interface ExplainedRooms {
  readonly controllers: Controllers;
  readonly links: Links;
  readonly linkListeners: readonly LinkListener[];
  readonly ingress: Ingress;
}

/** Names in an error. */
const MAX_NAMED = 10;

/**
 * Arguments: `kind` is `dial`, `bind` or `link`, `name` the service or the other router, `identity` that of a client.
 * @throws ProjectError BAD_ARGUMENT, or NOT_FOUND for an unknown name
 */
export function serveWhy(
  context: RouterContext,
  rooms: ExplainedRooms,
  { arguments: given }: OperatorRequest,
): Explanation {
  const { kind, name, identity } = given;
  if (typeof name !== 'string') throw new ProjectError('BAD_ARGUMENT', 'name must be a string');
  if (identity !== undefined && typeof identity !== 'string')
    throw new ProjectError('BAD_ARGUMENT', 'identity must be a string');
  const { controllers, links, ingress } = rooms;
  const { routerId, acceptsCircuits, clock } = context;
  const now = clock.now();
  switch (kind) {
    case 'link': {
      const { registry, wanted } = links;
      const listeners = rooms.linkListeners.map(({ settings }) => settings);
      return explainLink({ controllers, registry, wanted, listeners, now }, peerOf(context, rooms, name));
    }
    case 'dial':
    case 'bind': {
      const { model, tunneler, sdk, terminators } = ingress;
      const parts = {
        routerId,
        model,
        controllers,
        tunneler,
        clients: sdk?.clients,
        terminators,
        acceptsCircuits,
        now,
      };
      return explainService(parts, { service: name, permission: kind, identity });
    }
    default:
      throw new ProjectError('BAD_ARGUMENT', 'kind must be dial, bind or link');
  }
}

/** The data of the network has the names of all routers; without it, only ids of other routers are known. */
function peerOf(
  { routerId }: RouterContext,
  { ingress, links }: ExplainedRooms,
  given: string,
): { readonly id: string; readonly name: string } {
  const routers = new Map(links.wanted.inspect().map(({ id }) => [id, id]));
  for (const { peerId } of links.registry.links) routers.set(peerId, peerId);
  for (const { id, name } of ingress.model?.routers.values() ?? []) routers.set(id, name);
  routers.delete(routerId);
  for (const [id, name] of routers) if (id === given || name === given) return { id, name };
  const names = [...routers.values()];
  const meant = names.length === 0 ? 'it knows none' : meantOrKnown(given, names, MAX_NAMED);
  throw new ProjectError('NOT_FOUND', `this router knows no other router ${shown(given)}; ${meant}`);
}

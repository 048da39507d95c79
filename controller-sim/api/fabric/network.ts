// Live data of the network: links, circuits, and inspections of routers and controllers.

import type { CircuitDetail, LinkDetail } from '#schemas/api/gen/answers.ts';
import type { InspectRequest, LinkPatch } from '#schemas/api/gen/bodies.ts';
import { notFound } from '../../errors/errors.ts';
import type { Circuit } from '../../network/circuit.ts';
import { inspect } from '../../network/inspect/inspect.ts';
import { linkCost, type NetworkLink } from '../../network/links.ts';
import type { ApiRequest, ApiServices, Data, Done, Handlers, Page, Raw } from '../operations/context.ts';
import { field, listRecords } from '../operations/list.ts';
import { fabricReference } from './entities.ts';

export const networkHandlers = {
  listLinks: ({ services, query }: ApiRequest<'network' | 'state'>): Page<LinkDetail> => {
    const links = services.network.links.values().map((link) => ({ ...link, tags: {} }));
    const { filterableFields: _fields, ...page } = listRecords(links, query, LINK_SYMBOLS, (link) =>
      showLink(link, services),
    );
    return { page };
  },
  detailLink: (request: ApiRequest<'network' | 'state'>): Data<LinkDetail> => ({
    data: showLink(foundLink(request), request.services),
  }),
  patchLink,
  deleteLink: ({ services, params }: ApiRequest<'network'>): Done => {
    services.network.closeLink(params.id ?? '');
    return { data: {} };
  },
  listCircuits: ({ services, query }: ApiRequest<'network' | 'state'>): Page<CircuitDetail> => {
    const circuits = services.network.circuits.values();
    const { filterableFields: _fields, ...page } = listRecords(circuits, query, CIRCUIT_SYMBOLS, (circuit) =>
      showCircuit(circuit, services),
    );
    return { page };
  },
  detailCircuit: (request: ApiRequest<'network' | 'state'>): Data<CircuitDetail> => ({
    data: showCircuit(foundCircuit(request), request.services),
  }),
  deleteCircuit: (request: ApiRequest<'network'>): Done => {
    request.services.network.circuits.remove(foundCircuit(request).id, { now: true });
    return { data: {} };
  },
  inspect: async ({
    services,
    body,
  }: ApiRequest<'network' | 'cluster' | 'peers' | 'state', InspectRequest>): Promise<Raw> => {
    const answer = await inspect(services, body.appRegex, body.requestedValues);
    return { raw: JSON.stringify(answer), contentType: 'application/json' };
  },
} satisfies Partial<Handlers<'fabric'>>;

/** Links that fail or lose against a duplicate are removed, so no other state is visible. */
const LINK_STATE = 'Connected';
const LINK_SYMBOLS = {
  protocol: field<NetworkLink>('protocol'),
  sourceRouter: field<NetworkLink>('source'),
  destRouter: field<NetworkLink>('destination'),
  dialAddress: field<NetworkLink>('dialAddress'),
  state: { type: 'string', get: () => LINK_STATE },
  iteration: { type: 'number', get: ({ iteration }: NetworkLink) => iteration },
  cost: { type: 'number', get: linkCost },
  staticCost: { type: 'number', get: ({ staticCost }: NetworkLink) => staticCost },
  sourceLatency: { type: 'number', get: ({ sourceLatency }: NetworkLink) => sourceLatency },
  destLatency: { type: 'number', get: ({ destinationLatency }: NetworkLink) => destinationLatency },
  down: { type: 'bool', get: ({ isDown }: NetworkLink) => isDown },
} as const;

const CIRCUIT_SYMBOLS = {
  clientId: field<Circuit>('clientId'),
  service: field<Circuit>('serviceId'),
  terminator: field<Circuit>('terminatorId'),
  createdAt: { type: 'datetime', get: ({ createdAt }: Circuit) => new Date(createdAt) },
  updatedAt: { type: 'datetime', get: ({ createdAt }: Circuit) => new Date(createdAt) },
} as const;

function foundLink({ services, params }: ApiRequest<'network'>): NetworkLink {
  const link = services.network.links.get(params.id ?? '');
  if (!link) throw notFound('link', params.id ?? '');
  return link;
}

function foundCircuit({ services, params }: ApiRequest<'network'>): Circuit {
  const circuit = services.network.circuits.get(params.id ?? '');
  if (!circuit) throw notFound('circuit', params.id ?? '');
  return circuit;
}

function showLink(link: NetworkLink, { state }: Pick<ApiServices, 'state'>): LinkDetail {
  const { id, protocol, isDown, staticCost, sourceLatency, destinationLatency, iteration } = link;
  return {
    id,
    protocol,
    sourceRouter: fabricReference('routers', state.tables.router.get(link.source)),
    destRouter: fabricReference('routers', state.tables.router.get(link.destination)),
    state: LINK_STATE,
    down: isDown,
    staticCost,
    sourceLatency: Math.round(sourceLatency),
    destLatency: Math.round(destinationLatency),
    cost: linkCost(link),
    iteration,
    connections: link.connections.map(({ type, localAddr, remoteAddr }) => ({
      type,
      source: localAddr,
      dest: remoteAddr,
    })),
  };
}

function patchLink(request: ApiRequest<'network', LinkPatch>): Done {
  const { id } = foundLink(request);
  const { staticCost, down } = request.body;
  request.services.network.changeLink(id, { staticCost: staticCost ?? undefined, isDown: down ?? undefined });
  return { data: {} };
}

function showCircuit(circuit: Circuit, { state: { tables } }: Pick<ApiServices, 'state'>): CircuitDetail {
  const { id, clientId, serviceId, terminatorId, tags, path } = circuit;
  const self = `./circuits/${id}`;
  const createdAt = new Date(circuit.createdAt).toISOString();
  const named = (list: string, each: string) => ({
    _links: { self: { href: `./${list}/${each}` } },
    entity: list,
    id: each,
    name: each,
  });
  return {
    _links: {
      self: { href: self },
      services: { href: `${self}/services` },
      terminators: { href: `${self}/terminators` },
    },
    id,
    createdAt,
    updatedAt: createdAt,
    tags,
    clientId,
    path: {
      nodes: path.routers.flatMap((routerId) => fabricReference('routers', tables.router.get(routerId)) ?? []),
      links: path.links.map((linkId) => named('links', linkId)),
    },
    service: fabricReference('services', tables.service.get(serviceId)) ?? {
      ...named('services', serviceId),
      name: '<deleted>',
    },
    terminator: named('terminators', terminatorId),
  };
}

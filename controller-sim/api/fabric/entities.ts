// The fabric API's view of services, routers and terminators, which are the entities of the edge APIs.

import type {
  BaseEntity,
  EntityRef,
  FabricRouterDetail,
  FabricServiceDetail,
  FabricTerminatorDetail,
  Links,
} from '#schemas/api/gen/answers.ts';
import { createTransitRouter, deleteRouter, type FabricRouterBody, updateFabricRouter } from '../../entities/router.ts';
import {
  createFabricService,
  type FabricServiceBody,
  serviceRules,
  updateFabricService,
} from '../../entities/service.ts';
import {
  createFabricTerminator,
  type FabricTerminatorBody,
  updateFabricTerminator,
} from '../../entities/terminator.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Router } from '../../state/kinds/router.ts';
import { showInterfaces } from '../answers/interfaces.ts';
import { base, reference } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import { routerSymbols } from '../edge/routers.ts';
import { serviceSymbols } from '../edge/services.ts';
import { commonTerminator, terminatorSymbols } from '../edge/terminators.ts';
import type { ApiServices, Handlers } from '../operations/context.ts';
import { create, detail, find, list, patch, type Resource, remove, update } from '../operations/resource.ts';

const services: Resource<'service', FabricServiceDetail, FabricServiceBody, 'state'> = {
  ...serviceRules,
  symbols: serviceSymbols,
  create: createFabricService,
  update: updateFabricService,
  show: (service) => ({
    ...fabricBase('services', service),
    name: service.name,
    terminatorStrategy: service.terminatorStrategy,
    maxIdleTimeMillis: service.maxIdleTimeMillis,
  }),
};

export const fabricRouterSymbols = (context: Pick<ApiServices, 'state' | 'network'>): Symbols<Router> => ({
  ...routerSymbols(context),
  connected: { type: 'bool', get: ({ id }) => context.network.status(id).isOnline },
});

const routers: Resource<'router', FabricRouterDetail, FabricRouterBody, 'network' | 'state'> = {
  kind: 'router',
  plural: 'routers',
  symbols: fabricRouterSymbols,
  newId: ({ state }, { given }) => given.id || state.ids.short(), // reference fact: an empty id counts as missing
  create: (transaction, id, body) => createTransitRouter(transaction, id, body, undefined),
  update: updateFabricRouter,
  remove: deleteRouter,
  show: showRouter,
};

function showRouter(router: Router, context: Pick<ApiServices, 'network'>): FabricRouterDetail {
  const { name, cost, noTraversal, disabled, configs, ctrlChanListeners, fingerprint } = router;
  const { isOnline, versionInfo } = context.network.status(router.id);
  const listeners = context.network.routers.get(router.id)?.linkListeners ?? [];
  return {
    ...fabricBase('routers', router),
    name,
    cost,
    noTraversal,
    disabled,
    configs: nullWhenEmpty(configs),
    ...(Object.keys(ctrlChanListeners ?? {}).length > 0 && { ctrlChanListeners }),
    fingerprint,
    connected: isOnline,
    listenerAddresses: nullWhenEmpty(listeners.map(({ address, protocol }) => ({ address, protocol }))),
    ...(versionInfo && { versionInfo }),
    interfaces: showInterfaces(router.interfaces),
  };
}

const terminators: Resource<
  'terminator',
  FabricTerminatorDetail,
  FabricTerminatorBody,
  'network' | 'controllerId' | 'state'
> = {
  kind: 'terminator',
  symbols: terminatorSymbols,
  create: createFabricTerminator,
  update: updateFabricTerminator,
  remove: (transaction, { id }) => transaction.delete('terminator', id),
  show: (terminator, context) => {
    const { tables } = context.state;
    return {
      ...commonTerminator(terminator, context, 'routers'),
      service: fabricReference('services', tables.service.get(terminator.serviceId)),
      router: fabricReference('routers', tables.router.get(terminator.routerId)),
      instanceId: terminator.instanceId,
      hostId: terminator.hostId,
    };
  },
};

/** Base fields with the links of this API. */
function fabricBase(plural: 'services' | 'routers', entity: Parameters<typeof base>[1]): BaseEntity {
  const kind = plural === 'services' ? 'service' : 'router';
  return { ...base(kind, entity, plural), _links: fabricLinks(plural, entity.id) };
}

function fabricLinks(plural: string, id: string): Links {
  const self = `./${plural}/${id}`;
  return { self: { href: self }, terminators: { href: `${self}/terminators` } };
}

/** A reference to a service or a router with this API's links; null if it does not exist. */
export function fabricReference(
  plural: 'services' | 'routers',
  entity: Parameters<typeof reference>[1],
): EntityRef | null {
  const edgeReference = reference(plural === 'services' ? 'service' : 'router', entity, plural);
  return edgeReference && entity ? { ...edgeReference, _links: fabricLinks(plural, entity.id) } : null;
}

export const fabricEntityHandlers = {
  listServices: list(services),
  createService: create(services),
  detailService: detail(services),
  updateService: update(services),
  patchService: patch(services),
  deleteService: remove(services),
  listRouters: list(routers),
  createRouter: create(routers),
  detailRouter: detail(routers),
  updateRouter: update(routers),
  patchRouter: patch(routers),
  deleteRouter: remove(routers),
  listTerminators: list(terminators),
  createTerminator: create(terminators),
  detailTerminator: detail(terminators),
  updateTerminator: update(terminators),
  patchTerminator: patch(terminators),
  deleteTerminator: remove(terminators),
  listServiceTerminators: list(terminators, (request) =>
    request.services.state.tables.terminator.referring('serviceId', find(request, 'service').id),
  ),
  listRouterTerminators: list(terminators, (request) =>
    request.services.state.tables.terminator.referring('routerId', find(request, 'router').id),
  ),
} satisfies Partial<Handlers<'fabric'>>;

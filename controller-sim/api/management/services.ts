// Services, and everything below one.

import { configs } from '../edge/configs.ts';
import { identities } from '../edge/identities.ts';
import { serviceEdgeRouterPolicies, servicePolicies } from '../edge/policies.ts';
import { edgeRouters } from '../edge/routers.ts';
import { services } from '../edge/services.ts';
import { terminators } from '../edge/terminators.ts';
import type { ApiRequest, Handlers } from '../http/context.ts';
import { crud, find, list } from '../http/resource.ts';
import { policyType } from './identities.ts';

const idOf = (request: ApiRequest) => find(request, 'service').id;

export const serviceHandlers: Handlers = {
  ...crud(services),
  listServiceConfig: list(configs, (request) =>
    find(request, 'service').configs.flatMap((id) => request.services.state.tables.config.get(id) ?? []),
  ),
  listServiceTerminators: list(terminators, (request) =>
    request.services.state.tables.terminator.referring('serviceId', idOf(request)),
  ),
  listServiceIdentities: list(identities, (request) =>
    request.services.access.identitiesOf(idOf(request), policyType(request)),
  ),
  listServiceEdgeRouters: list(edgeRouters, (request) => request.services.access.routersOfService(idOf(request))),
  listServiceServicePolicies: list(servicePolicies, (request) => {
    const { access, state } = request.services;
    const ids = access.policiesWith('servicePolicy', 'right', idOf(request));
    return ids.flatMap((id) => state.tables.servicePolicy.get(id) ?? []);
  }),
  listServiceServiceEdgeRouterPolicies: list(serviceEdgeRouterPolicies, (request) => {
    const { access, state } = request.services;
    const ids = access.policiesWith('serviceEdgeRouterPolicy', 'left', idOf(request));
    return ids.flatMap((id) => state.tables.serviceEdgeRouterPolicy.get(id) ?? []);
  }),
};

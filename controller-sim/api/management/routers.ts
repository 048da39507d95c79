// Routers, and everything below one.

import { existing } from '../../entities/common.ts';
import { signEnrollment } from '../../entities/enrollment.ts';
import { reEnrollEdgeRouter } from '../../entities/router.ts';
import { notFound } from '../../errors/errors.ts';
import { identities } from '../edge/identities.ts';
import { edgeRouterPolicies, serviceEdgeRouterPolicies } from '../edge/policies.ts';
import { edgeRouters, transitRouters } from '../edge/routers.ts';
import { otherServices } from '../edge/services.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';
import { crud, find, list } from '../http/resource.ts';

export const routerHandlers: Handlers = {
  ...crud(edgeRouters),
  ...crud(transitRouters),
  ...crud({ ...transitRouters, names: { one: 'Router', many: 'Routers' } }),
  reEnrollEdgeRouter: reEnroll,
  listEdgeRouterEdgeRouterPolicies: list(edgeRouterPolicies, ({ services: { access, state }, params }) =>
    access
      .policiesWith('edgeRouterPolicy', 'right', params.id ?? '')
      .flatMap((id) => state.tables.edgeRouterPolicy.get(id) ?? []),
  ),
  listEdgeRouterServiceEdgeRouterPolicies: list(serviceEdgeRouterPolicies, ({ services: { access, state }, params }) =>
    access
      .policiesWith('serviceEdgeRouterPolicy', 'right', params.id ?? '')
      .flatMap((id) => state.tables.serviceEdgeRouterPolicy.get(id) ?? []),
  ),
  listEdgeRouterIdentities: list(identities, ({ services: { access }, params }) =>
    access.identitiesOfRouter(params.id ?? ''),
  ),
  listEdgeRouterServices: list(otherServices, ({ services: { access }, params }) =>
    access.servicesOfRouter(params.id ?? ''),
  ),
};

async function reEnroll(request: ApiRequest): Promise<Answer> {
  const router = find(request, 'router');
  if (!router.isEdge) throw notFound('router', router.id);
  const enrollment = await signEnrollment(request.services, 'erott', router.id);
  await request.services.state.change((transaction) =>
    reEnrollEdgeRouter(transaction, existing(transaction, 'router', router.id), enrollment),
  );
  return { data: {} };
}

// A client's view of the network: its services, the routers that it may use, the external JWT signers.

import type {
  CurrentApiSessionServiceUpdateList,
  CurrentIdentityEdgeRouterDetail,
  ListProtocols,
  ServiceDetail,
  ServiceEdgeRouters,
  TerminatorClientDetail,
} from '#schemas/api/gen/answers.ts';
import { isAdmin } from '../../auth/permissions.ts';
import { ApiError, notFound, withoutCause } from '../../errors/errors.ts';
import { TokenKind } from '../../pki/tokens.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Service } from '../../state/kinds/service.ts';
import { base, reference } from '../answers/references.ts';
import { nullWhenEmpty } from '../answers/show.ts';
import { clientSigners } from '../edge/external-jwt-signers.ts';
import type { PostureUse } from '../edge/posture.ts';
import { commonRouter, edgeRouterSymbols } from '../edge/routers.ts';
import { services, showService } from '../edge/services.ts';
import { showRouter } from '../edge/sessions.ts';
import { terminatorSymbols } from '../edge/terminators.ts';
import type { ApiRequest, Data, Handlers, Page } from '../operations/context.ts';
import { listPage } from '../operations/list.ts';
import { notServed } from '../operations/not-served.ts';
import { list, selectListed } from '../operations/resource.ts';
import { idOfCaller } from '../operations/rights.ts';

export const clientServiceHandlers = {
  listServices: list(services, (request) =>
    selectListed(request, services, request.services.access.servicesOf(idOfCaller(request))),
  ),
  detailService: (request: ApiRequest<PostureUse>): Data<ServiceDetail> => ({
    data: showService(visibleService(request), request.services, request),
  }),
  updateService: notServed('service'),
  patchService: notServed('service'),
  deleteService: notServed('service'),
  listServiceEdgeRouters: serviceRouters,
  listServiceTerminators: serviceTerminators,
  listServiceUpdates: serviceUpdates,
  getCurrentIdentityEdgeRouters: ownRouters,
  listExternalJwtSigners: list(clientSigners, ({ services: { state } }) =>
    [...state.tables.externalJwtSigner.values()].filter(({ enabled }) => enabled),
  ),
  listProtocols: ({ services: { baseUrl } }: ApiRequest<'baseUrl'>): Data<ListProtocols> => ({
    data: { https: { address: new URL(baseUrl).host } },
  }),
} satisfies Partial<Handlers<'client'>>;

/** The service that the path names, if the caller has any permission for it. */
export function visibleService(request: ApiRequest<'access' | 'state'>, id = request.params.id ?? ''): Service {
  const { access, state } = request.services;
  const service = state.tables.service.get(id);
  if (!service || access.granting(idOfCaller(request), id).length === 0) throw notFound('service', id);
  return service;
}

async function serviceRouters(
  request: ApiRequest<'access' | 'network' | 'state' | 'tokens'>,
): Promise<Data<ServiceEdgeRouters>> {
  const { services, query, headers } = request;
  const service = withoutCause(() => visibleService(request));
  const token = headers['session-token'];
  if (token !== undefined && !(await isOwnSession(request, service.id, String(token))))
    throw new ApiError('UNAUTHORIZED');
  const routers = services.access.commonRouters(idOfCaller(request), service.id);
  const { items } = listPage(routers, query, edgeRouterSymbols(services), (router) => {
    const { appData: _own, ...common } = commonRouter(router, services);
    return { ...common, capabilities: null }; // reference fact: other answers have them
  });
  return { data: { edgeRouters: nullWhenEmpty(items) } };
}

/** Whether a token belongs to an active session of the caller for this service. */
async function isOwnSession(
  request: ApiRequest<'state' | 'tokens'>,
  serviceId: string,
  token: string,
): Promise<boolean> {
  const { tokens, state } = request.services;
  const claims = await tokens.verify(token);
  if (claims?.z_t !== TokenKind.Service || claims.sub !== serviceId || claims.z_iid !== idOfCaller(request))
    return false;
  return claims.z_leg !== true || state.tables.session.findBy('token', token) !== undefined;
}

function serviceTerminators(request: ApiRequest<'access' | 'controllerId' | 'state'>): Page<TerminatorClientDetail> {
  const service = withoutCause(() => visibleService(request));
  const terminators = request.services.state.tables.terminator.referring('serviceId', service.id);
  const page = listPage(terminators, request.query, terminatorSymbols(request.services), (terminator) => ({
    ...base('terminator', terminator),
    identity: terminator.instanceId,
    serviceId: terminator.serviceId,
    service: reference('service', service),
    routerId: terminator.routerId,
  }));
  return { page };
}

function serviceUpdates({
  services: { serviceChanges },
  identity,
  session,
}: ApiRequest<'serviceChanges'>): Data<CurrentApiSessionServiceUpdateList> {
  const lastChange = serviceChanges.lastOf(identity as Identity, (session as ApiSession).createdAt);
  return { data: { lastChangeAt: new Date(lastChange).toISOString() } };
}

function ownRouters(request: ApiRequest<'access' | 'network' | 'state'>): Page<CurrentIdentityEdgeRouterDetail> {
  const { access, state } = request.services;
  const identity = request.identity as Identity;
  // Administrators may use every router that has enrolled.
  const all = isAdmin(identity) ? [...state.tables.router.values()] : access.routersOfIdentity(identity.id);
  const routers = all.filter(({ isEdge, isVerified }) => isEdge && isVerified);
  const page = listPage(routers, request.query, edgeRouterSymbols(request.services), (router) => ({
    ...base('router', router),
    ...showRouter(router, request.services),
  }));
  return { page };
}

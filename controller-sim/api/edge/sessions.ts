// Sessions of services.

import type {
  SessionDetail,
  SessionEdgeRouter,
  SessionManagementDetail,
  SessionRoutePathDetail,
} from '#schemas/api/gen/answers.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Session } from '../../state/kinds/session.ts';
import { base, reference } from '../answers/references.ts';
import type { ApiRequest, ApiServices, Data, Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { detail, list, type Removable, remove } from '../operations/resource.ts';
import { seesTokensOf } from '../operations/rights.ts';
import { commonRouter } from './routers.ts';

export const sessions: Removable<'session', SessionManagementDetail, 'access' | 'network' | 'state'> = {
  kind: 'session',
  symbols: (_context, request) => ({
    token: { get: ({ identityId, token }) => (seesTokensOf(request, identityId) ? token : undefined) },
    apiSession: field('apiSessionId'),
    service: field('serviceId'),
    type: field('type'),
  }),
  remove: (transaction, { id }) => transaction.delete('session', id),
  show: (session, context): SessionManagementDetail => ({
    ...showSession(session, context),
    token: session.id, // reference fact: only the owner sees the token that authenticates
    apiSession: reference('apiSession', context.state.tables.apiSession.get(session.apiSessionId)),
    servicePolicies: [], // reference fact: present, always empty
  }),
};

/** The owner's view: without the API session, with the routers that it may use. */
export function showSession(
  session: Session,
  context: Pick<ApiServices, 'state' | 'access' | 'network'>,
): SessionDetail {
  const { token, type, apiSessionId, identityId, serviceId } = session;
  return {
    ...base('session', session),
    token,
    type,
    apiSessionId,
    apiSession: null,
    identityId,
    serviceId,
    service: reference('service', context.state.tables.service.get(serviceId)),
    edgeRouters: context.access.commonRouters(identityId, serviceId).map((router) => showRouter(router, context)),
  };
}

export function showRouter(router: Router, context: Pick<ApiServices, 'network'>): SessionEdgeRouter {
  const { appData: _own, ...common } = commonRouter(router, context);
  const { versionInfo } = context.network.status(router.id);
  return { ...common, urls: common.supportedProtocols, ...(versionInfo && { version: versionInfo.version }) };
}

export const sessionHandlers = {
  listSessions: list(sessions),
  detailSession: detail(sessions),
  deleteSession: remove(sessions),
  detailSessionRoutePath: routePath,
} satisfies Partial<Handlers<'management'>>;

/** The routers of the identity's circuits to the service. reference fact: empty for an unknown session. */
function routePath(request: ApiRequest<'network' | 'state'>): Data<SessionRoutePathDetail> {
  const session = request.services.state.tables.session.get(request.params.id ?? '');
  if (!session) return { data: { routePath: [] } };
  const { identityId, serviceId } = session;
  const circuits = request.services.network.circuits
    .values()
    .filter((circuit) => circuit.serviceId === serviceId && circuit.clientId === identityId);
  return { data: { routePath: [...new Set(circuits.flatMap(({ path }) => path.routers))] } };
}

// Sessions of services: a token for the right to dial or bind one.

import type { SessionCreated, SessionDetail } from '#schemas/api/gen/answers.ts';
import type { SessionCreate } from '#schemas/api/gen/bodies.ts';
import { Body, flatMap } from '../../entities/body.ts';
import { baseFields } from '../../entities/common.ts';
import { ApiError, invalid, notFound } from '../../errors/errors.ts';
import { sessionEvent } from '../../events/session.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Session } from '../../state/kinds/session.ts';
import { Transaction } from '../../state/transaction.ts';
import { sessions, showSession } from '../edge/sessions.ts';
import type { ApiRequest, Data, Done, Handlers } from '../operations/context.ts';
import { list } from '../operations/resource.ts';
import { idOfCaller } from '../operations/rights.ts';
import { visibleService } from './services.ts';

const TYPES = ['Dial', 'Bind'] as const;

export const clientSessionHandlers = {
  listSessions: list({ ...sessions, show: showSession }, ({ services, session }) =>
    services.state.tables.session.referring('apiSessionId', (session as ApiSession).id),
  ),
  detailSession: (request: ApiRequest<'access' | 'network' | 'state'>): Data<SessionDetail> => ({
    data: showSession(ownSession(request), request.services),
  }),
  createSession,
  deleteSession,
} satisfies Partial<Handlers<'client'>>;

async function createSession(
  request: ApiRequest<
    'access' | 'posture' | 'network' | 'events' | 'controllerId' | 'state' | 'tokens' | 'clock',
    SessionCreate
  >,
): Promise<Data<SessionCreated>> {
  const { state, tokens, access, posture } = request.services;
  const body = new Body(request.body, 'create');
  const { type: wanted, serviceId, tags } = body.given;
  const type = TYPES.find((each) => each === (wanted ?? 'Dial'));
  if (!type) throw invalid('type', 'type in body should be one of [Dial Bind]', wanted);
  const service = visibleService(request, serviceId ?? '');
  const identityId = idOfCaller(request);
  const apiSession = request.session as ApiSession;
  const isLegacy = state.tables.apiSession.has(apiSession.id);
  const requireRight = () => {
    if (!access.may(identityId, service.id, type)) throw invalid('ServiceId', 'service not found', service.id);
    // reference fact: clients with tokens send their posture to routers, which check it at every dial and bind.
    if (isLegacy) posture.demand(apiSession, service, type);
  };
  requireRight();
  if (access.commonRouters(identityId, service.id).length === 0) throw noRouters(request, identityId, service);
  flatMap('tags', tags);
  const id = state.ids.cuid();
  const apiSessionId = apiSession.id;
  const token = await tokens.session({ id, serviceId: service.id, identityId, apiSessionId, type, isLegacy });
  const fields = { token, apiSessionId, identityId, serviceId: service.id, type };
  const newSession = (transaction: Transaction): Session => ({ ...baseFields(transaction, id, body), ...fields });
  const stored = (transaction: Transaction): Session => {
    if (!transaction.get('apiSession', apiSessionId)) throw new ApiError('UNAUTHORIZED');
    // The right may have ended while the token was signed. Nothing reviews a session that is stored after that.
    if (!transaction.get('service', service.id)) throw invalid('ServiceId', 'service not found', service.id);
    requireRight();
    const session = newSession(transaction);
    const before = transaction.tables.session
      .referring('apiSessionId', apiSessionId)
      .find((each) => isFor(each, session));
    if (!before) transaction.put('session', session);
    return before ?? session;
  };
  // A session in token form is not stored: routers verify it and the API session from their signatures.
  const session = isLegacy ? await state.change(stored) : newSession(new Transaction(state, state.index));
  if (!isLegacy) request.services.events.emit(sessionEvent(request.services, 'created', 'jwt', session));
  const { tags: _tags, ...answer } = showSession(session, request.services);
  return { data: answer };
}

/** reference fact: a repeated request gets the same session. */
function isFor(session: Session, { serviceId, type }: Session): boolean {
  return session.serviceId === serviceId && session.type === type;
}

function ownSession({ services, params, session: apiSession }: ApiRequest<'state'>): Session {
  const id = params.id ?? '';
  const session = services.state.tables.session.get(id);
  if (!session || session.apiSessionId !== apiSession?.id) throw notFound('session', id);
  return session;
}

async function deleteSession(request: ApiRequest<'state'>): Promise<Done> {
  const { id } = ownSession(request);
  await request.services.state.change((transaction) => transaction.delete('session', id));
  return { data: {} };
}

/** The policies that are missing: a network without any is a frequent mistake. */
function noRouters(
  { services: { access, state } }: ApiRequest<'access' | 'state'>,
  identityId: string,
  service: Service,
): ApiError {
  const name = state.tables.identity.get(identityId)?.name ?? identityId;
  const missing = [
    ...(access.routersOfIdentity(identityId).length > 0 ? [] : [`no edge router policy lets ${name} use any router`]),
    ...(access.routersOfService(service.id).length > 0
      ? []
      : [`no service edge router policy lets ${service.name} use any router`]),
  ];
  const message = missing.length > 0 ? missing.join(', and ') : `${name} and ${service.name} have no router in common`;
  return new ApiError('NO_EDGE_ROUTERS_AVAILABLE', { code: 'UNHANDLED', message });
}

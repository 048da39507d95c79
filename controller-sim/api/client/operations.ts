// All operations of the client API: what an SDK needs to enroll, log in, see its services and get sessions for them.

import { enroll } from '../../enrollment/enroll.ts';
import { baseFields } from '../../entities/common.ts';
import { certificateBag } from '../../pki/certificate-bag.ts';
import { Body } from '../../request/body.ts';
import type { Answer, ApiRequest, ApiServices, Operation } from '../../request/context.ts';
import { ApiError, invalid, notFound } from '../../request/errors.ts';
import type { ApiSession, Identity, Router, Service, Session } from '../../state/types.ts';
import { listPage } from '../list.ts';
import { commonRouter, services as serviceResource } from '../management/resources.ts';
import { base, links, reference } from '../references.ts';
import { sharedOperations } from '../shared.ts';
import { showService } from '../show-service.ts';

export const clientOperations: readonly Operation[] = [
  ...sharedOperations,
  { method: 'GET', path: '/.well-known/est/cacerts', requires: 'anybody', handle: authorities },
  {
    method: 'GET',
    path: '/protocols',
    requires: 'anybody',
    handle: ({ services }) => ({ data: { https: { address: new URL(services.baseUrl).host } } }),
  },
  {
    method: 'POST',
    path: '/enroll',
    requires: 'anybody',
    handle: (request) => enroll(request, request.query.get('method')),
  },
  { method: 'POST', path: '/enroll/ott', requires: 'anybody', handle: (request) => enroll(request, 'ott') },
  { method: 'POST', path: '/enroll/erott', requires: 'anybody', handle: (request) => enroll(request, 'erott') },
  { method: 'POST', path: '/enroll/updb', requires: 'anybody', handle: (request) => enroll(request, 'updb') },
  { method: 'GET', path: '/enroll/jwks', requires: 'anybody', handle: ({ services }) => keys(services) },
  { method: 'GET', path: '/services', requires: 'session', handle: listServices },
  {
    method: 'GET',
    path: '/services/:id',
    requires: 'session',
    handle: (request) => ({
      data: showService(visibleService(request, request.params.id ?? ''), request.services, request),
    }),
  },
  { method: 'GET', path: '/services/:id/edge-routers', requires: 'session', handle: serviceRouters },
  { method: 'GET', path: '/services/:id/terminators', requires: 'session', handle: serviceTerminators },
  { method: 'GET', path: '/current-api-session/service-updates', requires: 'session', handle: serviceUpdates },
  { method: 'GET', path: '/current-identity/edge-routers', requires: 'session', handle: ownRouters },
  { method: 'GET', path: '/sessions', requires: 'session', handle: listSessions },
  { method: 'POST', path: '/sessions', requires: 'session', handle: createSession },
  {
    method: 'GET',
    path: '/sessions/:id',
    requires: 'session',
    handle: (request) => ({ data: showSession(ownSession(request), request) }),
  },
  { method: 'DELETE', path: '/sessions/:id', requires: 'session', handle: deleteSession },
];

function authorities({ services }: ApiRequest): Answer {
  return { raw: certificateBag(services.authority.roots).toString('base64'), contentType: 'application/pkcs7-mime' };
}

/** The keys that sign tokens, as a JWK set. */
function keys({ authority }: ApiServices): Answer {
  const key = authority.serverCertificate.publicKey.export({ format: 'jwk' });
  const set = { keys: [{ ...key, kid: authority.keyId, alg: 'ES256', use: 'sig' }] };
  return { raw: JSON.stringify(set), contentType: 'application/json' };
}

function me(request: ApiRequest): Identity {
  return request.identity as Identity;
}

function listServices(request: ApiRequest): Answer {
  const { services, query } = request;
  return {
    page: listPage(services.access.servicesOf(me(request).id), query, serviceResource.symbols, (service) =>
      showService(service, services, request),
    ),
  };
}

function visibleService(request: ApiRequest, id: string): Service {
  const { access, state } = request.services;
  const service = state.tables.service.get(id);
  if (!service || access.permissions(me(request).id, id).length === 0) throw notFound('service', id);
  return service;
}

function serviceRouters(request: ApiRequest): Answer {
  const service = visibleService(request, request.params.id ?? '');
  return {
    data: {
      edgeRouters: request.services.access
        .commonRouters(me(request).id, service.id)
        .map((router) => showRouter(router, request)),
    },
  };
}

function serviceTerminators(request: ApiRequest): Answer {
  const service = visibleService(request, request.params.id ?? '');
  const terminators = request.services.state.tables.terminator.referring('serviceId', service.id);
  const symbols = { service: { get: () => service.id } };
  return {
    page: listPage(terminators, request.query, symbols, (terminator) => ({
      ...base('terminator', terminator),
      identity: terminator.instanceId,
      serviceId: terminator.serviceId,
      service: reference('service', service),
      routerId: terminator.routerId,
    })),
  };
}

/** Any change of services or policies counts: a client that asks once too often loses nothing. */
function serviceUpdates({ services: { state } }: ApiRequest): Answer {
  let lastChangeAt = '';
  for (const kind of ['service', 'servicePolicy', 'config', 'identity'] as const) {
    for (const { updatedAt } of state.tables[kind].values()) if (updatedAt > lastChangeAt) lastChangeAt = updatedAt;
  }
  return { data: { lastChangeAt: lastChangeAt || new Date(0).toISOString() } };
}

function ownRouters(request: ApiRequest): Answer {
  const routers = request.services.access.routersOfIdentity(me(request).id);
  return {
    page: listPage(routers, request.query, {}, (router) => ({
      ...base('router', router),
      ...showRouter(router, request),
    })),
  };
}

function showRouter(router: Router, request: ApiRequest): Record<string, unknown> {
  const common = commonRouter(router, request.services);
  return { ...common, urls: common.supportedProtocols };
}

async function createSession(request: ApiRequest): Promise<Answer> {
  const { state, tokens, access } = request.services;
  const body = new Body(request.body, 'create');
  const serviceId = body.text('serviceId') ?? '';
  const type = (body.text('type', { oneOf: ['Dial', 'Bind'] }) ?? 'Dial') as 'Dial' | 'Bind';
  const service = visibleService(request, serviceId);
  if (!access.may(me(request).id, service.id, type)) throw invalid('ServiceId', 'service not found', serviceId);
  if (access.commonRouters(me(request).id, service.id).length === 0) throw new ApiError('NO_EDGE_ROUTERS_AVAILABLE');
  const id = state.ids.cuid();
  const apiSession = request.session as ApiSession;
  const token = await tokens.session({
    id,
    serviceId: service.id,
    identityId: apiSession.identityId,
    apiSessionId: apiSession.id,
    type,
  });
  const session = await state.change((transaction) => {
    const made: Session = {
      ...baseFields(transaction, id, body),
      token,
      apiSessionId: apiSession.id,
      identityId: apiSession.identityId,
      serviceId: service.id,
      type,
    };
    transaction.put('session', made);
    return made;
  });
  return { status: 201, data: showSession(session, request) };
}

function showSession(session: Session, request: ApiRequest): Record<string, unknown> {
  const { token, apiSessionId, identityId, serviceId, type, id, createdAt, updatedAt, tags } = session;
  const { state, access } = request.services;
  const online = access
    .commonRouters(identityId, serviceId)
    .filter((router) => request.services.routerStatus(router.id).isOnline);
  return {
    _links: links('session', session),
    id,
    createdAt,
    updatedAt,
    tags,
    token,
    type,
    apiSessionId,
    apiSession: null,
    identityId,
    serviceId,
    service: reference('service', state.tables.service.get(serviceId)),
    edgeRouters: online.map((router) => showRouter(router, request)),
  };
}

function ownSession(request: ApiRequest): Session {
  const id = request.params.id ?? '';
  const session = request.services.state.tables.session.get(id);
  if (!session || session.apiSessionId !== request.session?.id) throw notFound('session', id);
  return session;
}

function listSessions(request: ApiRequest): Answer {
  const own = request.services.state.tables.session.referring('apiSessionId', request.session?.id ?? '');
  return { page: listPage(own, request.query, {}, (session) => showSession(session, request)) };
}

async function deleteSession(request: ApiRequest): Promise<Answer> {
  const session = ownSession(request);
  await request.services.state.change((transaction) => transaction.delete('session', session.id));
  return { data: {} };
}

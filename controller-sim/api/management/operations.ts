// All operations of the management API.

import { addEnrollment, signEnrollment } from '../../enrollment/enrollments.ts';
import { baseFields, existing } from '../../entities/common.ts';
import { reEnrollEdgeRouter } from '../../entities/edge-router.ts';
import { Body } from '../../request/body.ts';
import type { Answer, ApiRequest, Operation } from '../../request/context.ts';
import { ApiError, invalid, invalidField, notFound } from '../../request/errors.ts';
import { listTexts } from '../list.ts';
import { created } from '../references.ts';
import { find, operations, subList } from '../resource.ts';
import { sharedOperations } from '../shared.ts';
import * as resources from './resources.ts';

const {
  authenticators,
  apiSessions,
  authPolicies,
  configs,
  configTypes,
  edgeRouterPolicies,
  edgeRouters,
  enrollments,
  identities,
  serviceEdgeRouterPolicies,
  servicePolicies,
  services,
  sessions,
  terminators,
} = resources;

export const managementOperations: readonly Operation[] = [
  ...sharedOperations,
  ...operations(identities),
  ...operations(edgeRouters),
  ...operations(services),
  ...operations(configTypes),
  ...operations(configs),
  ...operations(servicePolicies),
  ...operations(edgeRouterPolicies),
  ...operations(serviceEdgeRouterPolicies),
  ...operations(terminators),
  ...operations(enrollments),
  ...operations(authenticators),
  ...operations(authPolicies),
  ...operations(apiSessions),
  ...operations(sessions),
  { method: 'POST', path: '/edge-routers/:id/re-enroll', requires: 'admin', handle: reEnroll },
  { method: 'POST', path: '/enrollments', requires: 'admin', handle: createEnrollment },
  { method: 'POST', path: '/authenticators', requires: 'admin', handle: createAuthenticator },
  {
    method: 'GET',
    path: '/identity-role-attributes',
    requires: 'admin',
    handle: ({ services: { state }, query }) => ({ page: listTexts(state.tables.identity.roleAttributes(), query) }),
  },
  {
    method: 'GET',
    path: '/edge-router-role-attributes',
    requires: 'admin',
    handle: ({ services: { state }, query }) => ({ page: listTexts(state.tables.router.roleAttributes(), query) }),
  },
  {
    method: 'GET',
    path: '/service-role-attributes',
    requires: 'admin',
    handle: ({ services: { state }, query }) => ({ page: listTexts(state.tables.service.roleAttributes(), query) }),
  },
  { method: 'GET', path: '/summary', requires: 'admin', handle: summary },
  subList(configs, '/config-types/:id/configs', (request) =>
    request.services.state.tables.config.referring('configTypeId', find(request, 'configType').id),
  ),
  subList(services, '/configs/:id/services', (request) =>
    request.services.state.tables.service.referring('configs', find(request, 'config').id),
  ),
  subList(services, '/identities/:id/services', (request) =>
    request.services.access.servicesOf(find(request, 'identity').id),
  ),
  subList(edgeRouters, '/identities/:id/edge-routers', (request) =>
    request.services.access.routersOfIdentity(find(request, 'identity').id),
  ),
  subList(servicePolicies, '/identities/:id/service-policies', (request) =>
    policies(request, 'servicePolicy', 'left', find(request, 'identity').id),
  ),
  subList(edgeRouterPolicies, '/identities/:id/edge-router-policies', (request) =>
    policies(request, 'edgeRouterPolicy', 'left', find(request, 'identity').id),
  ),
  subList(configs, '/services/:id/configs', (request) =>
    find(request, 'service').configs.flatMap((id) => request.services.state.tables.config.get(id) ?? []),
  ),
  subList(terminators, '/services/:id/terminators', (request) =>
    request.services.state.tables.terminator.referring('serviceId', find(request, 'service').id),
  ),
  subList(identities, '/services/:id/identities', (request) =>
    request.services.access.identitiesOf(find(request, 'service').id),
  ),
  subList(edgeRouters, '/services/:id/edge-routers', (request) =>
    request.services.access.routersOfService(find(request, 'service').id),
  ),
  subList(servicePolicies, '/services/:id/service-policies', (request) =>
    policies(request, 'servicePolicy', 'right', find(request, 'service').id),
  ),
  subList(serviceEdgeRouterPolicies, '/services/:id/service-edge-router-policies', (request) =>
    policies(request, 'serviceEdgeRouterPolicy', 'left', find(request, 'service').id),
  ),
  subList(edgeRouterPolicies, '/edge-routers/:id/edge-router-policies', (request) =>
    policies(request, 'edgeRouterPolicy', 'right', find(request, 'router').id),
  ),
  subList(serviceEdgeRouterPolicies, '/edge-routers/:id/service-edge-router-policies', (request) =>
    policies(request, 'serviceEdgeRouterPolicy', 'right', find(request, 'router').id),
  ),
  subList(identities, '/service-policies/:id/identities', (request) =>
    members(request, 'identity', 'left', find(request, 'servicePolicy').id),
  ),
  subList(services, '/service-policies/:id/services', (request) =>
    members(request, 'service', 'right', find(request, 'servicePolicy').id),
  ),
  subList(identities, '/edge-router-policies/:id/identities', (request) =>
    members(request, 'identity', 'left', find(request, 'edgeRouterPolicy').id),
  ),
  subList(edgeRouters, '/edge-router-policies/:id/edge-routers', (request) =>
    members(request, 'router', 'right', find(request, 'edgeRouterPolicy').id),
  ),
  subList(services, '/service-edge-router-policies/:id/services', (request) =>
    members(request, 'service', 'left', find(request, 'serviceEdgeRouterPolicy').id),
  ),
  subList(edgeRouters, '/service-edge-router-policies/:id/edge-routers', (request) =>
    members(request, 'router', 'right', find(request, 'serviceEdgeRouterPolicy').id),
  ),
];

type PolicyKind = 'servicePolicy' | 'edgeRouterPolicy' | 'serviceEdgeRouterPolicy';

function policies<K extends PolicyKind>(request: ApiRequest, kind: K, side: 'left' | 'right', id: string) {
  const { access, state } = request.services;
  return access
    .policiesWith(kind, side, id)
    .flatMap((each) => (state.tables[kind].get(each) as ReturnType<typeof find<K>> | undefined) ?? []);
}

function members<K extends 'identity' | 'service' | 'router'>(
  request: ApiRequest,
  kind: K,
  side: 'left' | 'right',
  policyId: string,
) {
  const { access, state } = request.services;
  return [...access.membership(policyId)[side]].flatMap(
    (id) => (state.tables[kind].get(id) as ReturnType<typeof find<K>> | undefined) ?? [],
  );
}

async function reEnroll(request: ApiRequest): Promise<Answer> {
  const router = find(request, 'router');
  const enrollment = await signEnrollment(request.services, 'erott', router.id);
  await request.services.state.change((transaction) =>
    reEnrollEdgeRouter(transaction, existing(transaction, 'router', router.id), enrollment),
  );
  return { data: {} };
}

async function createEnrollment(request: ApiRequest): Promise<Answer> {
  const { state, clock } = request.services;
  const body = new Body(request.body, 'create');
  const identityId = body.text('identityId', { required: true }) ?? '';
  const method = body.text('method', { required: true, oneOf: ['ott', 'ottca', 'updb'] });
  const expiresAt = body.date('expiresAt', { required: true }) as Date;
  if (!state.tables.identity.has(identityId)) throw invalidField('identityId', 'identity not found', identityId);
  if (expiresAt.getTime() <= clock.now())
    throw invalidField('expiresAt', 'expiresAt must be in the future', expiresAt.toISOString());
  if (method !== 'ott') throw invalidField('method', `${method} is not supported`, method);
  const enrollment = await signEnrollment(request.services, 'ott', identityId, expiresAt);
  await state.change((transaction) => {
    const open = transaction.tables.enrollment
      .referring('identityId', identityId)
      .find((each) => each.method === method);
    if (open)
      throw new ApiError('ENROLLMENT_EXISTS', {
        field: 'method',
        reason: 'enrollment of same method exists',
        value: method,
      });
    addEnrollment(transaction, identityId, { signed: enrollment, method: 'ott', username: null });
  });
  return { status: 201, data: created('enrollment', enrollment.id) };
}

async function createAuthenticator(request: ApiRequest): Promise<Answer> {
  const { state, passwords } = request.services;
  const body = new Body(request.body, 'create');
  const identityId = body.text('identityId', { required: true }) ?? '';
  const method = body.text('method', { required: true });
  const identity = state.tables.identity.get(identityId);
  if (!identity) throw notFound('identity', identityId);
  if (identity.type === 'Router')
    throw invalid('identityId', 'may not create authenticators for router identities', identityId);
  if (method !== 'updb')
    throw invalid(
      'method',
      method === 'cert' ? 'cert authenticators are made by enrollment' : 'method must be updb or cert',
      method,
    );
  const username = body.text('username') ?? '';
  const password = body.text('password') ?? '';
  if (username === '') throw invalid('username', 'username is required', '');
  if (password === '') throw invalid('password', 'password is required', '');
  const passwordHash = await passwords.hash(password);
  const id = state.ids.short();
  await state.change((transaction) => {
    if (transaction.tables.authenticator.findBy('username', username))
      throw invalid('updbUsername', `duplicate value '${username}' in unique index on authenticators store`, username);
    if (transaction.tables.authenticator.referring('identityId', identityId).some((each) => each.method === 'updb'))
      throw new ApiError('MAX_AUTHENTICATOR_METHODS_REACHED');
    transaction.put('authenticator', {
      ...baseFields(transaction, id, body),
      method: 'updb',
      identityId,
      username,
      passwordHash,
      certPem: null,
      fingerprint: null,
      isIssuedByNetwork: false,
    });
  });
  return { status: 201, data: created('authenticator', id) };
}

function summary({ services: { state } }: ApiRequest): Answer {
  const { tables } = state;
  return {
    data: {
      apiSessions: tables.apiSession.size,
      authPolicies: tables.authPolicy.size,
      authenticators: tables.authenticator.size,
      configTypes: tables.configType.size,
      configs: tables.config.size,
      edgeRouterPolicies: tables.edgeRouterPolicy.size,
      enrollments: tables.enrollment.size,
      identities: tables.identity.size,
      routers: tables.router.size,
      'routers.edge': tables.router.size,
      serviceEdgeRouterPolicies: tables.serviceEdgeRouterPolicy.size,
      servicePolicies: tables.servicePolicy.size,
      services: tables.service.size,
      sessions: tables.session.size,
      terminators: tables.terminator.size,
    },
  };
}

// The entities of the management API: what each shows, what it can be filtered by, and which rules it follows. Fields are those of the
// reference (reference fact: HTTP entities).

import {
  addEnrollment,
  type IdentityEnrollment,
  removeEnrollment,
  signEnrollment,
} from '../../enrollment/enrollments.ts';
import { refuseSystem } from '../../entities/common.ts';
import {
  createConfig,
  createConfigType,
  deleteConfig,
  deleteConfigType,
  updateConfig,
  updateConfigType,
} from '../../entities/config.ts';
import {
  createEdgeRouter,
  deleteEdgeRouter,
  type SignedEnrollment,
  updateEdgeRouter,
} from '../../entities/edge-router.ts';
import { createIdentity, deleteIdentity, updateIdentity } from '../../entities/identity.ts';
import {
  createEdgeRouterPolicy,
  createServiceEdgeRouterPolicy,
  createServicePolicy,
  updateEdgeRouterPolicy,
  updateServiceEdgeRouterPolicy,
  updateServicePolicy,
} from '../../entities/policy.ts';
import {
  createService,
  createTerminator,
  deleteService,
  updateService,
  updateTerminator,
} from '../../entities/service.ts';
import type { ApiServices } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import type { EntityTypes, Named, Router } from '../../state/types.ts';
import { field, fieldSet, flagField, numberField } from '../list.ts';
import { base, reference } from '../references.ts';
import type { Resource } from '../resource.ts';
import { showService } from '../show-service.ts';

export const identities: Resource<'identity', IdentityEnrollment | undefined> = {
  kind: 'identity',
  symbols: {
    name: field('name'),
    type: field('type'),
    externalId: field('externalId'),
    authPolicyId: field('authPolicyId'),
    isAdmin: flagField('isAdmin'),
    isDefaultAdmin: flagField('isDefaultAdmin'),
    roleAttributes: fieldSet('roleAttributes'),
  },
  newId: ({ state }) => state.ids.short(),
  prepare: async (request, id, body) => {
    const wanted = body.map('enrollment');
    if (typeof wanted?.ottca === 'string') {
      // There are no authorities but the simulator's own.
      throw new ApiError('NOT_FOUND', { field: 'caId', reason: 'ca not found', value: wanted.ottca });
    }
    if (typeof wanted?.updb === 'string') {
      const signed = await signEnrollment(request.services, 'updb', id);
      return { signed, method: 'updb', username: wanted.updb };
    }
    if (wanted?.ott !== true) return undefined;
    return { signed: await signEnrollment(request.services, 'ott', id), method: 'ott', username: null };
  },
  create: (transaction, id, body, enrollment) => {
    createIdentity(transaction, id, body);
    if (enrollment) addEnrollment(transaction, id, enrollment);
  },
  update: updateIdentity,
  remove: deleteIdentity,
  show: (identity, services) => showIdentity(identity, services),
};

export function showIdentity(identity: EntityTypes['identity'], services: ApiServices): Record<string, unknown> {
  const { tables } = services.state;
  const { serviceConfigs: _overrides, isSystem: _system, type, disabledAt, disabledUntil, ...rest } = identity;
  const authenticators = tables.authenticator.referring('identityId', identity.id);
  const enrollments = tables.enrollment.referring('identityId', identity.id);
  const cert = authenticators.find(({ method }) => method === 'cert');
  const updb = authenticators.find(({ method }) => method === 'updb');
  const ott = enrollments.find(({ method }) => method === 'ott');
  const byPassword = enrollments.find(({ method }) => method === 'updb');
  return {
    ...rest,
    ...base('identity', identity),
    typeId: type,
    type: { _links: { self: { href: `./identity-types/${type}` } }, entity: 'identity-types', id: type, name: type },
    authPolicy: reference('authPolicy', tables.authPolicy.get(identity.authPolicyId)),
    authenticators: {
      ...(cert && { cert: { id: cert.id, fingerprint: cert.fingerprint } }),
      ...(updb && { updb: { id: updb.id, username: updb.username } }),
    },
    enrollment: {
      ...(ott && { ott: { id: ott.id, jwt: ott.jwt, token: ott.token, expiresAt: ott.expiresAt } }),
      ...(byPassword && {
        updb: { id: byPassword.id, jwt: byPassword.jwt, token: byPassword.token, expiresAt: byPassword.expiresAt },
      }),
    },
    interfaces: null,
    envInfo: {},
    sdkInfo: {},
    isMfaEnabled: false,
    hasApiSession: tables.apiSession.referring('identityId', identity.id).length > 0,
    hasEdgeRouterConnection: services.routerStatus(identity.id).isOnline && identity.type === 'Router',
    edgeRouterConnectionStatus: 'offline',
    ...(disabledAt !== null && { disabledAt }),
    ...(disabledUntil !== null && { disabledUntil }),
  };
}

export const edgeRouters: Resource<'router', SignedEnrollment> = {
  kind: 'router',
  symbols: {
    name: field('name'),
    fingerprint: field('fingerprint'),
    cost: numberField('cost'),
    noTraversal: flagField('noTraversal'),
    disabled: flagField('disabled'),
    configs: fieldSet('configs'),
    isVerified: flagField('isVerified'),
    isTunnelerEnabled: flagField('isTunnelerEnabled'),
    roleAttributes: fieldSet('roleAttributes'),
  },
  newId: ({ state }) => state.ids.short(),
  prepare: (request, id) => signEnrollment(request.services, 'erott', id),
  create: (transaction, id, body, enrollment) => void createEdgeRouter(transaction, id, body, enrollment),
  update: updateEdgeRouter,
  remove: deleteEdgeRouter,
  show: (router, services) => {
    const [enrollment] = services.state.tables.enrollment.referring('edgeRouterId', router.id);
    const { configs, appData, disabled, certPem, fingerprint, isVerified, isTunnelerEnabled, roleAttributes } = router;
    return {
      ...base('router', router),
      ...commonRouter(router, services),
      configs: nullWhenEmpty(configs),
      appData,
      disabled,
      certPem,
      capabilities: null,
      ...(fingerprint !== null && { fingerprint }),
      isVerified,
      isTunnelerEnabled,
      roleAttributes: nullWhenEmpty(roleAttributes),
      unverifiedCertPem: null,
      unverifiedFingerprint: null,
      versionInfo: services.routerStatus(router.id).versionInfo ?? null,
      interfaces: [],
      ...(enrollment && {
        enrollmentToken: enrollment.token,
        enrollmentJwt: enrollment.jwt,
        enrollmentCreatedAt: enrollment.createdAt,
        enrollmentExpiresAt: enrollment.expiresAt,
      }),
    };
  },
};

/** What both APIs show of a router. */
export function commonRouter(router: Router, services: ApiServices): Record<string, unknown> {
  const { name, cost, noTraversal, appData } = router;
  const { isOnline, hostname, supportedProtocols, syncStatus } = services.routerStatus(router.id);
  return {
    name,
    cost,
    noTraversal,
    appData,
    disabled: router.disabled,
    isOnline,
    hostname,
    supportedProtocols,
    syncStatus,
  };
}

export const services: Resource<'service'> = {
  kind: 'service',
  symbols: {
    name: field('name'),
    terminatorStrategy: field('terminatorStrategy'),
    roleAttributes: fieldSet('roleAttributes'),
    isFabricOnly: { get: () => false },
    configs: fieldSet('configs'),
  },
  create: (transaction, id, body) => void createService(transaction, id, body),
  update: updateService,
  remove: deleteService,
  show: (service, context, request) => showService(service, context, request),
};

export const configTypes: Resource<'configType'> = {
  kind: 'configType',
  symbols: { name: field('name'), schema: { get: () => undefined }, target: field('target') },
  create: (transaction, id, body) => void createConfigType(transaction, id, body),
  update: updateConfigType,
  remove: deleteConfigType,
  show: (type) => ({ ...base('configType', type), name: type.name, schema: type.schema, target: type.target }),
};

export const configs: Resource<'config'> = {
  kind: 'config',
  symbols: { name: field('name'), type: field('configTypeId') },
  create: (transaction, id, body) => void createConfig(transaction, id, body),
  update: updateConfig,
  remove: deleteConfig,
  show: (config, { state }) => ({
    ...base('config', config),
    name: config.name,
    configTypeId: config.configTypeId,
    configType: reference('configType', state.tables.configType.get(config.configTypeId)),
    data: config.data,
  }),
};

export const servicePolicies: Resource<'servicePolicy'> = {
  kind: 'servicePolicy',
  symbols: {
    name: field('name'),
    type: field('type'),
    semantic: field('semantic'),
    identityRoles: fieldSet('identityRoles'),
    serviceRoles: fieldSet('serviceRoles'),
    postureCheckRoles: fieldSet('postureCheckRoles'),
  },
  create: (transaction, id, body) => void createServicePolicy(transaction, id, body),
  update: updateServicePolicy,
  remove: (transaction, { id }) => transaction.delete('servicePolicy', id),
  show: (policy, { state: { tables } }) => ({
    ...base('servicePolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    type: policy.type,
    ...roles('identityRoles', policy.identityRoles, tables.identity),
    ...roles('serviceRoles', policy.serviceRoles, tables.service),
    ...roles('postureCheckRoles', policy.postureCheckRoles, undefined),
  }),
};

export const edgeRouterPolicies: Resource<'edgeRouterPolicy'> = {
  kind: 'edgeRouterPolicy',
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    identityRoles: fieldSet('identityRoles'),
  },
  create: (transaction, id, body) => void createEdgeRouterPolicy(transaction, id, body),
  update: updateEdgeRouterPolicy,
  remove: (transaction, policy) => {
    refuseSystem(policy, 'edgeRouterPolicy', 'delete');
    transaction.delete('edgeRouterPolicy', policy.id);
  },
  show: (policy, { state: { tables } }) => ({
    ...base('edgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    isSystem: policy.isSystem,
    ...roles('edgeRouterRoles', policy.edgeRouterRoles, tables.router),
    ...roles('identityRoles', policy.identityRoles, tables.identity),
  }),
};

export const serviceEdgeRouterPolicies: Resource<'serviceEdgeRouterPolicy'> = {
  kind: 'serviceEdgeRouterPolicy',
  symbols: {
    name: field('name'),
    semantic: field('semantic'),
    edgeRouterRoles: fieldSet('edgeRouterRoles'),
    serviceRoles: fieldSet('serviceRoles'),
  },
  create: (transaction, id, body) => void createServiceEdgeRouterPolicy(transaction, id, body),
  update: updateServiceEdgeRouterPolicy,
  remove: (transaction, { id }) => transaction.delete('serviceEdgeRouterPolicy', id),
  show: (policy, { state: { tables } }) => ({
    ...base('serviceEdgeRouterPolicy', policy),
    name: policy.name,
    semantic: policy.semantic,
    ...roles('edgeRouterRoles', policy.edgeRouterRoles, tables.router),
    ...roles('serviceRoles', policy.serviceRoles, tables.service),
  }),
};

export const terminators: Resource<'terminator'> = {
  kind: 'terminator',
  symbols: {
    service: field('serviceId'),
    router: field('routerId'),
    instanceId: field('instanceId'),
    hostId: field('hostId'),
    binding: field('binding'),
    address: field('address'),
  },
  create: (transaction, id, body) => void createTerminator(transaction, id, body),
  update: updateTerminator,
  remove: (transaction, { id }) => transaction.delete('terminator', id),
  show: (terminator, { state: { tables } }) => {
    const { serviceId, routerId, binding, address, cost, precedence, instanceId, hostId } = terminator;
    return {
      ...base('terminator', terminator),
      serviceId,
      service: reference('service', tables.service.get(serviceId)),
      routerId,
      router: reference('router', tables.router.get(routerId)),
      binding,
      address,
      cost,
      dynamicCost: 0,
      precedence,
      identity: instanceId,
      hostId,
    };
  },
};

export const enrollments: Resource<'enrollment'> = {
  kind: 'enrollment',
  symbols: {
    token: field('token'),
    identity: field('identityId'),
    edgeRouter: field('edgeRouterId'),
    transitRouter: { get: () => null },
    caId: { get: () => null },
  },
  remove: removeEnrollment,
  show: (enrollment, { state: { tables } }) => {
    const { method, token, jwt, expiresAt, identityId, edgeRouterId, username } = enrollment;
    return {
      ...base('enrollment', enrollment),
      method,
      token,
      jwt,
      expiresAt,
      ...(username !== null && { username }),
      ...(identityId !== null && { identityId, identity: reference('identity', tables.identity.get(identityId)) }),
      ...(edgeRouterId !== null && {
        edgeRouterId,
        edgeRouter: reference('router', tables.router.get(edgeRouterId)),
      }),
    };
  },
};

export const authenticators: Resource<'authenticator'> = {
  kind: 'authenticator',
  symbols: {
    method: field('method'),
    identity: field('identityId'),
    certFingerprint: field('fingerprint'),
    certPem: field('certPem'),
    updbUsername: field('username'),
    isIssuedByNetwork: flagField('isIssuedByNetwork'),
  },
  remove: (transaction, { id }) => {
    for (const session of transaction.tables.apiSession.referring('authenticatorId', id))
      transaction.delete('apiSession', session.id);
    transaction.delete('authenticator', id);
  },
  show: (authenticator, { state: { tables } }) => {
    const { method, identityId, username, certPem, fingerprint, isIssuedByNetwork } = authenticator;
    const own =
      method === 'updb' ? { username } : { certPem, fingerprint, isIssuedByNetwork, lastAuthResolvedToRoot: false };
    const shown = base('authenticator', authenticator);
    return {
      ...shown,
      _links: { ...(shown._links as object), identities: { href: `./identities/${identityId}` } },
      method,
      identityId,
      identity: reference('identity', tables.identity.get(identityId)),
      ...own,
    };
  },
};

export const authPolicies: Resource<'authPolicy'> = {
  kind: 'authPolicy',
  symbols: { name: field('name') },
  show: (policy) => ({
    ...base('authPolicy', policy),
    name: policy.name,
    primary: policy.primary,
    secondary: policy.secondary,
  }),
};

export const apiSessions: Resource<'apiSession'> = {
  kind: 'apiSession',
  symbols: {
    ipAddress: field('ipAddress'),
    token: field('token'),
    identity: field('identityId'),
    authenticator: field('authenticatorId'),
    lastActivityAt: { get: ({ lastActivityAt }) => new Date(lastActivityAt) },
  },
  remove: (transaction, { id }) => {
    for (const session of transaction.tables.session.referring('apiSessionId', id))
      transaction.delete('session', session.id);
    transaction.delete('apiSession', id);
  },
  show: (session, context) => showApiSession(session, context),
};

export function showApiSession(
  session: EntityTypes['apiSession'],
  { state: { tables } }: ApiServices,
): Record<string, unknown> {
  const { token, identityId, authenticatorId, configTypes: types, ipAddress, lastActivityAt } = session;
  return {
    ...base('apiSession', session),
    token,
    identityId,
    identity: reference('identity', tables.identity.get(identityId)),
    authenticatorId,
    configTypes: types,
    ipAddress,
    lastActivityAt,
    cachedLastActivityAt: lastActivityAt,
    isMfaRequired: false,
    isMfaComplete: false,
    authQueries: [],
  };
}

export const sessions: Resource<'session'> = {
  kind: 'session',
  symbols: {
    token: field('token'),
    apiSession: field('apiSessionId'),
    service: field('serviceId'),
    type: field('type'),
  },
  remove: (transaction, { id }) => transaction.delete('session', id),
  show: (session, { state: { tables } }) => {
    const { token, apiSessionId, identityId, serviceId, type } = session;
    return {
      ...base('session', session),
      token,
      type,
      apiSessionId,
      apiSession: reference('apiSession', tables.apiSession.get(apiSessionId)),
      identityId,
      serviceId,
      service: reference('service', tables.service.get(serviceId)),
      edgeRouters: [],
    };
  },
};

/** A role list and its display form; an empty list is sent as null. */
function roles(
  key: string,
  list: readonly string[],
  table: { get(id: string): Named | undefined } | undefined,
): Record<string, unknown> {
  const display = list.map((role) => ({
    role,
    name: role.startsWith('@') ? `@${table?.get(role.slice(1))?.name ?? role.slice(1)}` : role,
  }));
  return { [key]: nullWhenEmpty(list), [`${key}Display`]: display };
}

function nullWhenEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

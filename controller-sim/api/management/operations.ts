// What is not an entity of its own: counts, role attributes, types that are fixed, the state of the data.

import type { Answer, ApiRequest, Handler, Handlers } from '../../request/context.ts';
import { notFound } from '../../request/errors.ts';
import { listFixed, listRecords, listTexts } from '../list.ts';
import { crud, find, list } from '../resource.ts';
import { configs, configTypes } from '../resources/configs.ts';
import { otherServices } from '../resources/services.ts';
import { terminators } from '../resources/terminators.ts';
import { IDENTITY_TYPES, POSTURE_CHECK_TYPES } from '../resources/types.ts';

type RoleKind = 'identity' | 'router' | 'service' | 'postureCheck';

export const operationHandlers: Handlers = {
  ...crud(configTypes),
  ...crud(configs),
  ...crud(terminators),
  listConfigsForConfigType: list(configs, (request) =>
    request.services.state.tables.config.referring('configTypeId', find(request, 'configType').id),
  ),
  listConfigServices: list(otherServices, (request) =>
    request.services.state.tables.service.referring('configs', find(request, 'config').id),
  ),
  listIdentityRoleAttributes: roleAttributes('identity'),
  listEdgeRouterRoleAttributes: roleAttributes('router'),
  listServiceRoleAttributes: roleAttributes('service'),
  listPostureCheckRoleAttributes: roleAttributes('postureCheck'),
  listIdentityRoleAttributeUsage: roleAttributeUsage('identity'),
  listEdgeRouterRoleAttributeUsage: roleAttributeUsage('router'),
  listServiceRoleAttributeUsage: roleAttributeUsage('service'),
  listPostureCheckRoleAttributeUsage: roleAttributeUsage('postureCheck'),
  listIdentityTypes: ({ query }) => ({ page: listFixed(IDENTITY_TYPES, query) }),
  detailIdentityType: ({ params }) => ({ data: one(IDENTITY_TYPES, 'identityType', params.id) }),
  listPostureCheckTypes: ({ query }) => ({ page: listFixed(POSTURE_CHECK_TYPES, query) }),
  detailPostureCheckType: ({ params }) => ({ data: one(POSTURE_CHECK_TYPES, 'postureCheckType', params.id) }),
  listSummary: summary,
};

function roleAttributes(kind: RoleKind): Handler {
  return ({ services: { state }, query }) => ({ page: listTexts(state.tables[kind].roleAttributes(), query) });
}

/** How many entities bear each attribute, and with `withIds` which. */
function roleAttributeUsage(kind: RoleKind): Handler {
  return ({ services: { state }, query }) => {
    const table = state.tables[kind];
    const withIds = query.get('withIds') === 'true';
    const records = table.roleAttributes().map((id) => {
      const bearers = table.withRole(id);
      return { id, tags: {}, attribute: id, count: bearers.size, ...(withIds && { ids: [...bearers].sort() }) };
    });
    const page = listRecords(records, query, { count: { type: 'number', get: ({ count }) => count } }, (record) => {
      const { id: _id, tags: _tags, ...shown } = record;
      return shown;
    });
    return { page };
  };
}

function one<T extends { readonly id: string }>(types: readonly T[], singular: string, id = ''): T {
  const found = types.find((type) => type.id === id);
  if (!found) throw notFound(singular, id);
  return found;
}

function summary({ services: { state, isClusterMember } }: ApiRequest): Answer {
  const { tables } = state;
  const edge = [...tables.router.values()].filter(({ isEdge }) => isEdge).length;
  return {
    data: {
      apiSessionCertificates: tables.apiSessionCertificate.size,
      apiSessions: tables.apiSession.size,
      authPolicies: tables.authPolicy.size,
      authenticators: tables.authenticator.size,
      cas: tables.ca.size,
      configTypes: tables.configType.size,
      configs: tables.config.size,
      controllers: isClusterMember ? 1 : 0,
      edgeRouterPolicies: tables.edgeRouterPolicy.size,
      enrollments: tables.enrollment.size,
      eventualEvents: 0,
      externalJwtSigners: tables.externalJwtSigner.size,
      identities: tables.identity.size,
      identityTypes: IDENTITY_TYPES.length,
      mfas: tables.mfa.size,
      postureCheckTypes: POSTURE_CHECK_TYPES.length,
      postureChecks: tables.postureCheck.size,
      revocations: tables.revocation.size,
      routers: tables.router.size,
      'routers.edge': edge,
      serviceEdgeRouterPolicies: tables.serviceEdgeRouterPolicy.size,
      servicePolicies: tables.servicePolicy.size,
      services: tables.service.size,
      sessions: tables.session.size,
      terminators: tables.terminator.size,
    },
  };
}

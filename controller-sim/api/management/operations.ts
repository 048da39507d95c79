// What is not an entity of its own: counts, role attributes, types that are fixed, the state of the data.

import type { Answer, ApiRequest, ApiServices, Handler, Handlers } from '../../request/context.ts';
import { notFound } from '../../request/errors.ts';
import { listFixed, listTexts } from '../list.ts';
import { crud, find, list } from '../resource.ts';
import { configs, configTypes } from '../resources/configs.ts';
import { otherServices } from '../resources/services.ts';
import { terminators } from '../resources/terminators.ts';
import { IDENTITY_TYPES, identityTypes, POSTURE_CHECK_TYPES } from '../resources/types.ts';

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
  listIdentityTypes: ({ services, query }) => ({ page: listFixed(identityTypes(ageOf(services)), query) }),
  detailIdentityType: ({ services, params }) => ({
    data: one(identityTypes(ageOf(services)), 'identityType', params.id),
  }),
  listPostureCheckTypes: ({ query }) => ({ page: listFixed(POSTURE_CHECK_TYPES, query) }),
  detailPostureCheckType: ({ params }) => ({ data: one(POSTURE_CHECK_TYPES, 'postureCheckType', params.id) }),
  listSummary: summary,
};

function roleAttributes(kind: RoleKind): Handler {
  return ({ services: { state }, query }) => ({ page: listTexts(state.tables[kind].roleAttributes(), query) });
}

/** Which policies select entities of a kind by attributes, under which field, and what the answer calls them. */
const SELECTING = {
  identity: [
    ['servicePolicy', 'identityRoles', 'servicePolicies'],
    ['edgeRouterPolicy', 'identityRoles', 'edgeRouterPolicies'],
  ],
  router: [
    ['edgeRouterPolicy', 'edgeRouterRoles', 'edgeRouterPolicies'],
    ['serviceEdgeRouterPolicy', 'edgeRouterRoles', 'serviceEdgeRouterPolicies'],
  ],
  service: [
    ['servicePolicy', 'serviceRoles', 'servicePolicies'],
    ['serviceEdgeRouterPolicy', 'serviceRoles', 'serviceEdgeRouterPolicies'],
  ],
  postureCheck: [['servicePolicy', 'postureCheckRoles', 'servicePolicies']],
} as const;
const BEARERS = {
  identity: 'identities',
  router: 'edgeRouters',
  service: 'services',
  postureCheck: 'postureChecks',
} as const;

/** Attributes that an entity bears or a policy selects, with the number of both, and with `withIds` who they are. */
function roleAttributeUsage(kind: RoleKind): Handler {
  return ({ services: { state }, query }) => {
    const { tables } = state;
    const withIds = query.get('withIds') === 'true';
    const usage = (ids: Iterable<string>) => {
      const sorted = [...ids].sort();
      return { count: sorted.length, ids: withIds ? sorted : null };
    };
    const page = listTexts(usedAttributes(tables, kind), query, (roleAttribute) => ({
      roleAttribute,
      usage: {
        [BEARERS[kind]]: usage(tables[kind].withRole(roleAttribute)),
        ...Object.fromEntries(
          SELECTING[kind].map(([policy, field, name]) => {
            const selecting = tables[policy].referring(field, `#${roleAttribute}`);
            return [name, usage(selecting.map(({ id }) => id))];
          }),
        ),
      },
    }));
    return { page };
  };
}

/** Sorted. `#all` selects everything and is not an attribute, nor is `#` alone. */
function usedAttributes(tables: ApiRequest['services']['state']['tables'], kind: RoleKind): string[] {
  const used = new Set(tables[kind].roleAttributes());
  for (const [policy, field] of SELECTING[kind])
    for (const each of tables[policy].values())
      for (const role of (each as unknown as Readonly<Record<string, readonly string[]>>)[field] ?? [])
        if (role.startsWith('#') && role !== '#all' && role !== '#') used.add(role.slice(1));
  return [...used].sort();
}

/** When the data began: with the first authority. */
function ageOf({ authority }: ApiServices): string {
  return (authority.roots[0] ?? authority.serverCertificate).validFromDate.toISOString();
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

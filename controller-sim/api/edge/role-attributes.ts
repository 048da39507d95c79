// Role attributes: those that entities of a kind have, and which entities and policies use each of them.

import type { ApiRequest, Handler, Handlers } from '../http/context.ts';
import { listTexts } from '../http/list.ts';

type RoleKind = 'identity' | 'router' | 'service' | 'postureCheck';

export const roleAttributeHandlers: Handlers = {
  listIdentityRoleAttributes: roleAttributes('identity'),
  listEdgeRouterRoleAttributes: roleAttributes('router'),
  listServiceRoleAttributes: roleAttributes('service'),
  listPostureCheckRoleAttributes: roleAttributes('postureCheck'),
  listIdentityRoleAttributeUsage: roleAttributeUsage('identity'),
  listEdgeRouterRoleAttributeUsage: roleAttributeUsage('router'),
  listServiceRoleAttributeUsage: roleAttributeUsage('service'),
  listPostureCheckRoleAttributeUsage: roleAttributeUsage('postureCheck'),
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

// Lists role attributes by kind, with the entities and policies that use each of them.

import type { RoleAttribute, RoleAttributeUsage } from '#schemas/api/gen/answers.ts';
import type { Entity } from '../../state/entity.ts';
import { KINDS, type RoleKind } from '../../state/kinds.ts';
import { type KindReference, REFERENCES, selectorsIn } from '../../state/references.ts';
import type { ApiRequest, Handlers, Page } from '../operations/context.ts';
import { listTexts } from '../operations/list.ts';

export const roleAttributeHandlers = {
  listIdentityRoleAttributes: roleAttributes('identity'),
  listEdgeRouterRoleAttributes: roleAttributes('router'),
  listServiceRoleAttributes: roleAttributes('service'),
  listPostureCheckRoleAttributes: roleAttributes('postureCheck'),
  listIdentityRoleAttributeUsage: roleAttributeUsage('identity'),
  listEdgeRouterRoleAttributeUsage: roleAttributeUsage('router'),
  listServiceRoleAttributeUsage: roleAttributeUsage('service'),
  listPostureCheckRoleAttributeUsage: roleAttributeUsage('postureCheck'),
} satisfies Partial<Handlers<'management'>>;

function roleAttributes(kind: RoleKind): (request: ApiRequest<'state'>) => Page<RoleAttribute> {
  return ({ services: { state }, query }) => ({
    page: listTexts(state.tables[kind].roleAttributes(), query, (attribute) => attribute),
  });
}

/** The policies that select entities of a kind by attribute. */
function selectorsOf(kind: RoleKind): KindReference[] {
  return REFERENCES.filter(({ to, form }) => to === kind && form === 'selectors');
}

/** The name of the entities with an attribute: `edgeRouters`. */
function bearersOf(kind: RoleKind): string {
  return KINDS[kind].plural.replaceAll(/-[a-z]/g, (letters) => letters.charAt(1).toUpperCase());
}

/** Attributes that an entity has or a policy selects, with the counts of both. `withIds` adds their ids. */
function roleAttributeUsage(kind: RoleKind): (request: ApiRequest<'state'>) => Page<RoleAttributeUsage> {
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
        [bearersOf(kind)]: usage(tables[kind].withRole(roleAttribute)),
        ...Object.fromEntries(
          selectorsOf(kind).map(({ kind: policy, key }) => {
            const selecting: readonly Entity[] = tables[policy].referring(key, `#${roleAttribute}`);
            return [KINDS[policy].store, usage(selecting.map(({ id }) => id))];
          }),
        ),
      },
    }));
    return { page };
  };
}

/** Sorted. Skips `#all`, which selects everything, and a lone `#`. */
function usedAttributes(tables: ApiRequest<'state'>['services']['state']['tables'], kind: RoleKind): string[] {
  const used = new Set(tables[kind].roleAttributes());
  for (const reference of selectorsOf(kind))
    for (const policy of tables[reference.kind].values())
      for (const role of selectorsIn(policy, reference))
        if (role.startsWith('#') && role !== '#all' && role !== '#') used.add(role.slice(1));
  return [...used].sort();
}

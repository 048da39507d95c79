// Rules that several entities share: base fields, names, role attributes, role lists, references.

import type { Body } from '../request/body.ts';
import { ApiError, invalid, notFound } from '../request/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Entity, EntityKind, Named, Tags } from '../state/types.ts';

/** Singular names as they stand in messages. */
export const SINGULAR: Readonly<Record<EntityKind, string>> = {
  apiSession: 'apiSession',
  authenticator: 'authenticator',
  authPolicy: 'authPolicy',
  config: 'config',
  configType: 'configType',
  router: 'router',
  edgeRouterPolicy: 'edgeRouterPolicy',
  enrollment: 'enrollment',
  identity: 'identity',
  service: 'service',
  serviceEdgeRouterPolicy: 'serviceEdgeRouterPolicy',
  servicePolicy: 'servicePolicy',
  session: 'session',
  terminator: 'terminator',
};

/** What every entity begins with. */
export function baseFields(transaction: Transaction, id: string, body?: Body): Entity {
  const { now } = transaction;
  return { id, createdAt: now, updatedAt: now, tags: (body?.map('tags') as Tags | undefined) ?? {}, isSystem: false };
}

/** What a change of an existing one keeps. */
export function changedBase(transaction: Transaction, entity: Entity, body: Body): Entity {
  const { id, createdAt, isSystem, tags } = entity;
  const given = body.map('tags');
  return { id, createdAt, updatedAt: transaction.now, isSystem, tags: given ?? (body.mode === 'update' ? {} : tags) };
}

/** The name of a body; in a patch an empty one counts as not given. Throws when it is missing or taken. */
export function uniqueName<
  K extends
    | 'config'
    | 'configType'
    | 'router'
    | 'service'
    | 'servicePolicy'
    | 'edgeRouterPolicy'
    | 'serviceEdgeRouterPolicy'
    | 'authPolicy',
>(transaction: Transaction, kind: K, body: Body, current?: Named): string {
  const name = body.text('name', { required: true });
  if (body.mode === 'patch' && !name) return current?.name ?? '';
  if (!name) throw invalid('name', 'name is required', '');
  const other = transaction.tables[kind].findBy('name', name);
  if (other && other.id !== current?.id) throw invalid('name', 'name must be unique', name);
  return name;
}

/** Sorted, each once. Throws for prefixes, which belong to selectors. */
export function roleAttributes(body: Body, current: readonly string[]): readonly string[] {
  const given = body.texts('roleAttributes');
  if (!given) return body.mode === 'patch' ? current : [];
  for (const attribute of given) {
    if (attribute === '') throw invalid('roleAttributes', 'role attributes may not be empty', attribute);
    for (const prefix of ['#', '@'])
      if (attribute.startsWith(prefix))
        throw invalid('roleAttributes', `role attributes may not be prefixed with ${prefix}`, attribute);
  }
  return [...new Set(given)].sort();
}

/** Selectors of a policy: `#attribute` or `@id`, those that exist, `#all` alone. `#` before `@`, each sorted. */
export function roleList(
  transaction: Transaction,
  body: Body,
  field: string,
  kind: 'identity' | 'service' | 'router',
  store: string,
  current: readonly string[],
): readonly string[] {
  const given = body.texts(field);
  if (!given) return body.mode === 'patch' ? current : [];
  for (const entry of given) {
    if (!/^[#@]/.test(entry))
      throw invalid(
        field,
        'role entries must prefixed with # (to indicate role attributes) or @ (to indicate a name or id)',
        `[${entry}]`,
      );
  }
  if (given.includes('#all') && given.length > 1)
    throw invalid(field, 'if using #all, it should be the only role specified', given);
  const unknown = given
    .filter((entry) => entry.startsWith('@') && !transaction.get(kind, entry.slice(1)))
    .map((entry) => entry.slice(1));
  if (unknown.length > 0) throw invalid(field, `no ${store} found with the given ids`, `[${unknown.join(' ')}]`);
  return [...new Set(given)].sort();
}

/** Configs by id: known, of the right target, one per type. */
export function configList(
  transaction: Transaction,
  body: Body,
  target: 'service' | 'router',
  current: readonly string[],
): readonly string[] {
  const given = body.texts('configs');
  if (!given) return body.mode === 'patch' ? current : [];
  const byType = new Map<string, string>();
  for (const id of new Set(given)) {
    const config = transaction.get('config', id);
    if (!config) throw notFound('configs', id);
    const type = transaction.get('configType', config.configTypeId);
    if (type && type.target !== target)
      throw invalid(
        'configs',
        `config ${config.name} has config type ${type.name} which does not target ${target}s`,
        given,
      );
    const other = byType.get(config.configTypeId);
    if (other !== undefined)
      throw invalid(
        'configs',
        `duplicate configs named ${other} and ${config.name} found for config type ${type?.name}. Only one config of a given typed is allowed per ${target} `,
        given,
      );
    byType.set(config.configTypeId, config.name);
  }
  return [...new Set(given)].sort();
}

/** Takes `@id` of an entity that is deleted out of every policy. */
export function removeFromPolicies(transaction: Transaction, id: string): void {
  const role = `@${id}`;
  for (const kind of ['servicePolicy', 'edgeRouterPolicy', 'serviceEdgeRouterPolicy'] as const) {
    for (const policy of transaction.tables[kind].values()) {
      const lists = Object.entries(policy).filter(
        ([key, value]) => key.endsWith('Roles') && Array.isArray(value) && value.includes(role),
      );
      if (lists.length > 0)
        transaction.patch(
          kind,
          policy.id,
          Object.fromEntries(lists.map(([key, value]) => [key, (value as string[]).filter((each) => each !== role)])),
        );
    }
  }
}

/** The existing entity, or 404. System entities cannot be touched. */
export function existing<K extends EntityKind>(transaction: Transaction, kind: K, id: string) {
  const entity = transaction.get(kind, id);
  if (!entity) throw notFound(SINGULAR[kind], id);
  return entity;
}

export function refuseSystem(entity: Entity, kind: EntityKind, action: 'update' | 'delete'): void {
  if (!entity.isSystem) return;
  const message = `cannot ${action} system ${SINGULAR[kind]} in a non-system context (id=${entity.id})`;
  throw new ApiError(action === 'update' ? 'ENTITY_CAN_NOT_BE_UPDATED' : 'ENTITY_CAN_NOT_BE_DELETED', {
    code: 'UNHANDLED',
    message,
  });
}

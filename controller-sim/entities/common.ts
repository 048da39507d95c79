// Rules that several entities share: base fields, names, role attributes, role lists, references.

import { ApiError, invalid, notFound } from '../errors/errors.ts';
import type { Entity, Named } from '../state/entity.ts';
import type { Router } from '../state/kinds/router.ts';
import type { Service } from '../state/kinds/service.ts';
import { type EntityKind, type EntityTypes, KINDS, nameOf } from '../state/kinds.ts';
import type { Table } from '../state/table.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body, Mode } from './body.ts';

/** The fields that every entity has. */
export function baseFields(transaction: Transaction, id: string, body?: Body): Entity {
  const { now } = transaction;
  return { id, createdAt: now, updatedAt: now, tags: body?.tags() ?? {}, isSystem: false };
}

/** Base fields of a changed entity. */
export function changedBase(transaction: Transaction, entity: Entity, body: Body): Entity {
  const { id, createdAt, isSystem, tags } = entity;
  const given = body.tags();
  return { id, createdAt, updatedAt: transaction.now, isSystem, tags: given ?? (body.mode === 'update' ? {} : tags) };
}

interface WithAttributes {
  readonly roleAttributes: readonly string[];
}

type NamedKind = { [K in EntityKind]: EntityTypes[K] extends Named ? K : never }[EntityKind];

/** The name in a body. In a patch an empty name counts as missing. Throws if it is missing or in use. */
export function uniqueName(
  transaction: Transaction,
  kind: Exclude<NamedKind, 'identity'>,
  body: Body<Pick<Named, 'name'>>,
  current?: Named,
): string {
  const { name } = body.given;
  if (body.mode === 'patch' && !name) return current?.name ?? '';
  if (!name) throw invalid('name', 'name is required', '');
  requireUnique(transaction, kind, 'name', name, current, 'name must be unique');
  return name;
}

/** Throws if another entity of the kind has the value in a unique field. */
export function requireUnique<K extends EntityKind>(
  transaction: Transaction,
  kind: K,
  key: keyof EntityTypes[K] & string,
  value: string,
  current: Entity | undefined,
  reason = `duplicate value '${value}' in unique index on ${KINDS[kind].store} store`,
): void {
  const table: Table<EntityTypes[K]> = transaction.tables[kind];
  const other = table.findBy(key, value);
  if (other && other.id !== current?.id) throw invalid(key, reason, value);
}

/** Sorted and deduplicated. Throws for selector prefixes. */
export function roleAttributes(body: Body<WithAttributes>, current: readonly string[]): readonly string[] {
  const given = body.given.roleAttributes;
  if (!given) return body.mode === 'patch' ? current : [];
  for (const attribute of given) {
    if (attribute === '') throw invalid('roleAttributes', 'role attributes may not be empty', attribute);
    for (const prefix of ['#', '@'])
      if (attribute.startsWith(prefix))
        throw invalid('roleAttributes', `role attributes may not be prefixed with ${prefix}`, attribute);
  }
  return [...new Set(given)].sort();
}

/** The kind that each role list of a policy selects. */
const ROLE_LISTS = {
  identityRoles: 'identity',
  serviceRoles: 'service',
  edgeRouterRoles: 'router',
  postureCheckRoles: 'postureCheck',
} as const;

type RoleField = keyof typeof ROLE_LISTS;
type RoleLists<F extends RoleField> = Readonly<Record<F, readonly string[]>>;
/** A body with these lists. */
interface Listing<F extends RoleField> {
  readonly mode: Mode;
  readonly given: { readonly [K in F]?: readonly string[] | null | undefined };
}

/**
 * The lists of selectors of a policy: `#attribute`, `@id` of an existing entity, or only `#all`. `#` before `@`, each
 * sorted. reference fact: the form of all lists is checked before the existence of the entities.
 */
export function roleLists<F extends RoleField>(
  transaction: Transaction,
  body: Listing<F>,
  fields: readonly F[],
  current: RoleLists<F> | undefined,
): RoleLists<F> {
  for (const field of fields) checkForm(field, body.given[field] ?? []);
  const lists = fields.map((field) => [field, roleList(transaction, body, field, current?.[field])] as const);
  return Object.fromEntries(lists) as RoleLists<F>;
}

function checkForm(field: RoleField, given: readonly string[]): void {
  for (const entry of given) {
    if (!/^[#@]/.test(entry))
      throw invalid(
        field,
        'role entries must prefixed with # (to indicate role attributes) or @ (to indicate a name or id)',
        [entry],
      );
  }
  if (given.includes('#all') && given.length > 1)
    throw invalid(field, 'if using #all, it should be the only role specified', given);
}

function roleList<F extends RoleField>(
  transaction: Transaction,
  body: Listing<F>,
  field: F,
  current: readonly string[] = [],
): readonly string[] {
  const given: readonly string[] | null | undefined = body.given[field];
  if (!given) return body.mode === 'patch' ? current : [];
  const kind = ROLE_LISTS[field];
  const unknown = given.flatMap((entry) =>
    entry.startsWith('@') && !isSelectable(transaction.get(kind, entry.slice(1))) ? [entry.slice(1)] : [],
  );
  if (unknown.length > 0) throw invalid(field, `no ${KINDS[kind].store} found with the given ids`, unknown);
  return [...new Set(given)].sort();
}

/** Policies select only edge routers, and only services that are not limited to the fabric. */
function isSelectable(entity: Partial<Router & Service> | undefined): boolean {
  return entity !== undefined && entity.isEdge !== false && entity.isFabricOnly !== true;
}

/** Config ids: known, with the right target, one for each type. */
export function configList(
  transaction: Transaction,
  body: Body<{ readonly configs: readonly string[] }>,
  target: 'service' | 'router',
  current: readonly string[],
): readonly string[] {
  const given = body.given.configs;
  if (!given) return body.mode === 'patch' ? current : [];
  const byType = new Map<string, string>();
  for (const id of given) {
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
  return given.toSorted();
}

/** The existing entity, or 404. System entities cannot be changed. */
export function existing<K extends EntityKind>(transaction: Transaction, kind: K, id: string): EntityTypes[K] {
  const entity = transaction.get(kind, id);
  if (!entity) throw notFound(nameOf(kind), id);
  return entity;
}

export function rejectSystem(entity: Entity, kind: EntityKind, action: 'update' | 'delete'): void {
  if (!entity.isSystem) return;
  const message = `cannot ${action} system ${nameOf(kind)} in a non-system context (id=${entity.id})`;
  throw new ApiError(action === 'update' ? 'ENTITY_CAN_NOT_BE_UPDATED' : 'ENTITY_CAN_NOT_BE_DELETED', {
    code: 'UNHANDLED',
    message,
  });
}

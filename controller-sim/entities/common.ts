// Rules that several entities share: base fields, names, role attributes, role lists, references.

import { ApiError, invalid, notFound } from '../errors/errors.ts';
import type { Entity, Named } from '../state/entity.ts';
import type { Reference } from '../state/kind.ts';
import {
  type EntityKind,
  type EntityTypes,
  isSelectable,
  KINDS,
  nameOf,
  type PolicyKind,
  type RoleField,
} from '../state/kinds.ts';
import { selectorsIn } from '../state/references.ts';
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
  return attributesOf('roleAttributes', given);
}

/** Sorted and deduplicated. Throws for empty attributes and for selector prefixes, with the name of the field. */
export function attributesOf(field: string, given: readonly string[]): readonly string[] {
  for (const attribute of given) {
    if (attribute === '') throw invalid(field, 'role attributes may not be empty', attribute);
    for (const prefix of ['#', '@'])
      if (attribute.startsWith(prefix))
        throw invalid(field, `role attributes may not be prefixed with ${prefix}`, attribute);
  }
  return [...new Set(given)].sort();
}

type RoleLists<K extends PolicyKind> = Pick<EntityTypes[K], RoleField<K>>;
/** A body with these lists. */
interface Listing<K extends PolicyKind> {
  readonly mode: Mode;
  readonly given: { readonly [F in RoleField<K>]?: readonly string[] | null | undefined };
}

/**
 * The lists of selectors of a policy: `#attribute`, `@id` of an existing entity, or only `#all`. `#` before `@`, each
 * sorted. reference fact: the form of all lists is checked before the existence of the entities.
 */
export function roleLists<K extends PolicyKind>(
  transaction: Transaction,
  kind: K,
  { mode, given }: Listing<K>,
  current: EntityTypes[K] | undefined,
): RoleLists<K> {
  const lists: Readonly<Partial<Record<string, readonly string[] | null>>> = given;
  const references = KINDS[kind].refers?.filter(({ form }) => form === 'selectors') ?? [];
  for (const { key } of references) checkForm(key, lists[key] ?? []);
  const checked = references.map((reference) => {
    const { key } = reference;
    const kept = mode === 'patch' && current ? selectorsIn(current, reference) : [];
    return [key, roleList(transaction, reference, lists[key]) ?? kept] as const;
  });
  return Object.fromEntries(checked) as RoleLists<K>;
}

function checkForm(field: string, given: readonly string[]): void {
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

function roleList(
  transaction: Transaction,
  { key, to }: Reference<string, EntityKind>,
  given: readonly string[] | null | undefined,
): readonly string[] | undefined {
  if (!given) return undefined;
  const unknown = given.flatMap((entry) =>
    entry.startsWith('@') && !isSelectable(to, transaction.get(to, entry.slice(1))) ? [entry.slice(1)] : [],
  );
  if (unknown.length > 0) throw invalid(key, `no ${KINDS[to].store} found with the given ids`, unknown);
  return [...new Set(given)].sort();
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

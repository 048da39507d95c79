// The references between entities, from the descriptions of their kinds: which ids an entity names, and its form
// without some of them.

import type { Entity } from './entity.ts';
import type { Reference } from './kind.ts';
import { type EntityKind, KIND_NAMES, KINDS } from './kinds.ts';
import type { Table } from './table.ts';
import type { Tables } from './tables.ts';

/** A reference of entities of a kind. */
export interface KindReference extends Reference<string, EntityKind> {
  readonly kind: EntityKind;
}

export const REFERENCES: readonly KindReference[] = KIND_NAMES.flatMap((kind) =>
  (KINDS[kind].refers ?? []).map((reference) => ({ kind, ...reference })),
);

/** The ids that an entity names. */
export function idsIn(entity: Entity, { key, form }: Reference): string[] {
  const value = valueAt(entity, key);
  if (value === null || value === undefined || value === '') return [];
  switch (form) {
    case 'id':
      return [value as string];
    case 'ids':
      return [...(value as readonly string[])];
    case 'selectors':
      return selectorsIn(entity, { key }).flatMap((each) => (each.startsWith('@') ? [each.slice(1)] : []));
    case 'map':
      return Object.keys(value);
    case 'lists':
      return Object.values(value as Readonly<Record<string, readonly string[]>>).flat();
  }
}

/** The role list of a policy: `#attribute`, `@id`. */
export function selectorsIn(entity: Entity, { key }: Pick<Reference, 'key'>): readonly string[] {
  return (valueAt(entity, key) ?? []) as readonly string[];
}

/** The entities that name an id. The table has an index of the reference. */
export function referring(tables: Tables, reference: KindReference, id: string): Entity[] {
  const { kind, key, index = key, form } = reference;
  const table: Table<Entity> = tables[kind];
  return table
    .referring(index, form === 'selectors' ? `@${id}` : id)
    .filter((entity) => idsIn(entity, reference).includes(id));
}

/** The changed field of an entity that no longer names some ids. */
export function withoutIds(entity: Entity, { key, form }: Reference, ids: readonly string[]): object {
  const isLost = (id: string) => ids.includes(id.replace(/^@/, ''));
  const value = valueAt(entity, key);
  let changed: unknown;
  if (form === 'map') changed = Object.fromEntries(Object.entries(value as object).filter(([id]) => !isLost(id)));
  else if (form === 'lists')
    changed = Object.fromEntries(
      Object.entries(value as Record<string, readonly string[]>)
        .map(([id, list]) => [id, list.filter((each) => !isLost(each))] as const)
        .filter(([, list]) => list.length > 0),
    );
  else changed = (value as readonly string[]).filter((each) => !isLost(each));
  return withValue(entity, key, changed);
}

/** The changed field of an entity with another value at the key of a reference. */
export function withValue(entity: Entity, key: string, value: unknown): object {
  const [first = '', ...rest] = key.split('.');
  return { [first]: replaced(valueAt(entity, first), rest, value) };
}

/** The value at a path of field names, separated by dots; undefined without one. */
export function valueAt(entity: object, key: string): unknown {
  type Fields = Readonly<Record<string, unknown>>;
  if (!key.includes('.')) return (entity as Fields)[key]; // most keys, and often
  return key.split('.').reduce((value: unknown, part) => (value as Fields | null | undefined)?.[part], entity);
}

/** A copy of `value` with another value at a path of keys. */
function replaced(value: unknown, [key, ...rest]: readonly string[], wanted: unknown): unknown {
  if (key === undefined) return wanted;
  const map = value as Readonly<Record<string, unknown>>;
  return { ...map, [key]: replaced(map[key], rest, wanted) };
}

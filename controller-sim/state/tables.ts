// Creates the tables, one for each kind of entity, with their indexes.

import type { Entity } from './entity.ts';
import type { Kind, Reference } from './kind.ts';
import { type EntityKind, type EntityTypes, KIND_NAMES, KINDS } from './kinds.ts';
import { Table } from './table.ts';

export type Tables = { readonly [K in EntityKind]: Table<EntityTypes[K]> };

export function createTables(): Tables {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, tableOf(KINDS[kind])])) as object as Tables;
}

function tableOf({ references = [], refers = [], ...kind }: Kind<Entity, EntityKind, string>): Table<Entity> {
  return new Table({ ...kind, references: [...references, ...refers.filter(isIndexed).map(({ key }) => key)] });
}

/** References with an index of another name have it from the definition. */
function isIndexed({ form, index }: Reference): boolean {
  return index === undefined && (form === 'id' || form === 'ids' || form === 'selectors');
}

export function isEntityKind(kind: string): kind is EntityKind {
  return Object.hasOwn(KINDS, kind);
}

// Creates the tables, one for each kind of entity, with their indexes.

import type { Change } from './change.ts';
import type { Entity } from './entity.ts';
import type { Kind, Reference } from './kind.ts';
import { type EntityKind, type EntityTypes, KIND_NAMES, KINDS } from './kinds.ts';
import { Table } from './table.ts';

export type Tables = { readonly [K in EntityKind]: Table<EntityTypes[K]> };

export function createTables(): Tables {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, createTable(KINDS[kind])])) as object as Tables;
}

function createTable({ references = [], refers = [], ...kind }: Kind<Entity, EntityKind, string>): Table<Entity> {
  return new Table({ ...kind, references: [...references, ...refers.filter(isIndexed).map(({ key }) => key)] });
}

/** References with an index of another name have it from the definition. */
function isIndexed({ form, index }: Reference): boolean {
  return index === undefined && (form === 'id' || form === 'ids' || form === 'selectors');
}

/** A stored entity has its kind's type: it was written through the typed methods of a transaction. */
export function tableOf(tables: Tables, kind: EntityKind): Table<Entity> {
  return tables[kind];
}

/** Throws before any change if an entity cannot be indexed. */
export function requireIndexable(tables: Tables, changes: readonly Change[]): void {
  for (const { kind, after } of changes) if (after) tableOf(tables, kind).requireIndexable(after);
}

/** The entities are indexable. */
export function applyChanges(tables: Tables, changes: readonly Change[]): void {
  for (const { kind, id, after } of changes) tableOf(tables, kind).apply(id, after);
}

export function undoChanges(tables: Tables, changes: readonly Change[]): void {
  for (const { kind, id, before } of changes) tableOf(tables, kind).apply(id, before);
}

export function isEntityKind(kind: string): kind is EntityKind {
  return Object.hasOwn(KINDS, kind);
}

// Creates the tables, one for each kind of entity, with their indexes.

import { type EntityKind, type EntityTypes, KIND_NAMES, KINDS } from './kinds.ts';
import { Table } from './table.ts';

export type Tables = { readonly [K in EntityKind]: Table<EntityTypes[K]> };

export function createTables(): Tables {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, new Table(KINDS[kind])])) as object as Tables;
}

export function isEntityKind(kind: string): kind is EntityKind {
  return Object.hasOwn(KINDS, kind);
}

// Compares an entry of a seed with the entity that has its name. Only the fields that the entry has are compared:
// fields that it leaves out stay as they are. Empty values are equal to missing ones, as in an export.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { Entity, Named } from '../../state/entity.ts';
import type { Tables } from '../../state/tables.ts';
import type { Names } from './export-names.ts';
import type { Entry } from './section.ts';
import type { Section } from './sections.ts';

/** Credentials belong to the creation of an identity, and its type stays. */
const NOT_COMPARED: Readonly<Record<string, readonly string[]>> = {
  identities: ['type', 'typeId', 'password', 'username', 'enrollment'],
};

/** The entity that has the name of an entry. Terminators have none. */
export function namesake(tables: Tables, { kind }: Section, entry: Entry): Entity | undefined {
  if (kind === 'terminator') return undefined;
  const table = tables[kind] as { findBy(key: 'name', value: string): Entity | undefined };
  return table.findBy('name', String(entry.name));
}

/** The entry that an export would have. `now` in milliseconds. */
export function entryOf(section: Section, entity: Entity, names: Names, now: number): Entry {
  const { name, tags } = entity as Entity & Partial<Named>;
  return { name, tags, ...section.entry(entity as never, names, now) };
}

/** The fields of the entry that the entity has with other values. */
export function changedFields(section: string, entry: Entry, current: Entry): string[] {
  const omitted = ['name', ...(NOT_COMPARED[section] ?? [])];
  return Object.keys(withoutNulls(entry)).filter(
    (field) => !omitted.includes(field) && !isSame(entry[field], current[field]),
  );
}

/** Whether two values are equal but for the order of fields and texts, and for empty values. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b));
}

/** Maps sorted by their keys, lists of texts as sorted sets, empty values undefined. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(plain);
    if (list.length === 0) return undefined;
    return list.every((each) => typeof each === 'string') ? [...new Set(list)].toSorted() : list;
  }
  if (typeof value !== 'object' || value === null) return value || undefined;
  const fields = Object.entries(value)
    .map(([key, each]): [string, unknown] => [key, plain(each)])
    .filter(([, each]) => each !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

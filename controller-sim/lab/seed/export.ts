// Exports a network as a seed: sorted, without secrets, and without what every network has. Credentials, sessions,
// enrollments and the terminators of hosts are left out.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { Entity, Named } from '../../state/entity.ts';
import type { Tables } from '../../state/tables.ts';
import { Names } from './export-names.ts';
import { type Entry, type Fields, filled } from './section.ts';
import { SECTIONS, type Section, type SectionName } from './sections.ts';

export type SeedDocument = Partial<Readonly<Record<SectionName, readonly Entry[]>>>;

/** Every section, in the order of their names. `now` in milliseconds. */
export function exportNetwork(tables: Tables, now: number): SeedDocument {
  const names = new Names(tables);
  return Object.fromEntries(
    SECTIONS.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map((section) => [
      section.name,
      entriesOf(section, tables, names, now),
    ]),
  );
}

/** Sorted by name; those without names by their content. */
function entriesOf(section: Section, tables: Tables, names: Names, now: number): Entry[] {
  return [...tables[section.kind].values()]
    .filter((each) => section.isExported(each, tables))
    .map((each) => entry({ ...filled(named(each)), ...section.entry(each, names, now) }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function named({ name, tags }: Entity & Partial<Named>): object {
  return { name, tags };
}

function orderOf(entry: Entry): string {
  return typeof entry.name === 'string' ? entry.name : JSON.stringify(entry);
}

/** The fields without nulls. */
function entry(fields: Fields): Entry {
  return sorted(withoutNulls(fields)) as Entry;
}

/** Maps in the order of their keys, on all levels: the depth of stored JSON is limited. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

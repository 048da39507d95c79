// The changes that lead from the tables to other data.

import { type Change, changeOf } from './change.ts';
import type { Entity } from './entity.ts';
import type { EntityKind } from './kinds.ts';
import type { StoredEntity } from './store/store.ts';
import { type Tables, tableOf } from './tables.ts';

/** Deletions come first: another entity may have the name of a deleted one. */
export function differences(tables: Tables, wanted: readonly StoredEntity[]): Change[] {
  const ids = new Map<EntityKind, Set<string>>();
  const puts: Change[] = [];
  for (const { kind, entity } of wanted) {
    let known = ids.get(kind);
    if (!known) {
      known = new Set();
      ids.set(kind, known);
    }
    known.add(entity.id);
    const before = tableOf(tables, kind).get(entity.id);
    if (!before || !isEqual(before, entity)) puts.push(changeOf(kind, entity.id, before, entity));
  }
  const deletions = (Object.keys(tables) as EntityKind[]).flatMap((kind) =>
    [...tableOf(tables, kind).values()]
      .filter(({ id }) => !ids.get(kind)?.has(id))
      .map((before) => changeOf(kind, before.id, before, undefined)),
  );
  return [...deletions, ...puts];
}

/** Stored entities are the JSON of those in the tables. */
function isEqual(one: Entity, other: Entity): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

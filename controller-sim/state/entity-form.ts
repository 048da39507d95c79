// Checks entities that come from outside, such as those of a snapshot's file: each field must have the form that the
// kind describes, and unknown fields are rejected.

import { flag, map, shape, text, time } from './fields.ts';
import { type EntityKind, KINDS } from './kinds.ts';

const COMMON = { id: text, createdAt: time, updatedAt: time, tags: map, isSystem: flag };

/** Returns the first problem of an entity; undefined for none. Fields of `without` may be missing. */
export function formProblem(kind: EntityKind, entity: unknown, without: readonly string[] = []): string | undefined {
  const { fields = {}, demand } = KINDS[kind];
  const given = Object.entries({ ...COMMON, ...fields }).filter(
    ([key]) => !without.includes(key) || Object.hasOwn(entity as object, key),
  );
  return shape(Object.fromEntries(given))(entity, '') ?? demand?.(entity as never);
}

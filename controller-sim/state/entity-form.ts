// Checks entities that come from outside, such as those of a snapshot's file: each field must have the form that the
// kind describes, and unknown fields are rejected.

import { shown } from '#lib/text/shown-text.ts';
import type { Entity } from './entity.ts';
import { type Field, flag, map, shape, text, time } from './fields.ts';
import { type EntityKind, KIND_NAMES, KINDS } from './kinds.ts';
import { valueAt } from './references.ts';

const COMMON = { id: text, createdAt: time, updatedAt: time, tags: map, isSystem: flag };

const WHOLE: ReadonlyMap<EntityKind, Field> = new Map(KIND_NAMES.map((kind) => [kind, shape(formOf(kind))]));

function formOf(kind: EntityKind): Record<string, Field> {
  return { ...COMMON, ...KINDS[kind].fields };
}

/** Returns the first problem of an entity; undefined for none. Fields of `without` may be missing. */
export function formProblem(kind: EntityKind, entity: unknown, without: readonly string[] = []): string | undefined {
  const check = without.length === 0 ? WHOLE.get(kind) : shape(given(formOf(kind), entity as object, without));
  return check?.(entity, '') ?? KINDS[kind].demand?.(entity as never);
}

/**
 * The problem of an entity of a store. Programs write the kinds without described fields, such as sessions, and only
 * these.
 */
export function storedProblem(kind: EntityKind, entity: Entity): string | undefined {
  return KINDS[kind].fields ? formProblem(kind, entity) : undefined;
}

/** Finds values that several entities of a kind have, although they are unique. */
export class UniqueValues {
  readonly #owners = new Map<string, string>();

  /** Returns the problem of a further entity. */
  add(kind: EntityKind, entity: Entity): string | undefined {
    for (const key of KINDS[kind].unique ?? []) {
      const value = valueAt(entity, key);
      if (value === null || value === undefined) continue;
      const place = JSON.stringify([kind, key, value]);
      const owner = this.#owners.get(place);
      if (owner !== undefined && owner !== entity.id) return `${key} is also that of ${shown(owner)}`;
      this.#owners.set(place, entity.id);
    }
    return undefined;
  }
}

function given(fields: Record<string, Field>, entity: object, without: readonly string[]): Record<string, Field> {
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.filter(([key]) => !without.includes(key) || Object.hasOwn(entity, key)));
}

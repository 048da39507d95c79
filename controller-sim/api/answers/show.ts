// Small parts that several entities have in answers.

import type { NamedRole } from '#schemas/api/gen/answers.ts';
import type { Named } from '../../state/entity.ts';

/** The reference's value for an unknown time. */
export const NEVER = '0001-01-01T00:00:00.000Z';

/** Makes a value that JSON writes as the number in `text`. The library's types lack it. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): number };

/** A number beyond 2^53, exact in the answer. */
export function largeNumber(value: bigint): number {
  return rawJSON(String(value));
}

/** The names of the entities that a role list selects by id. */
export function displayed(list: readonly string[], table: { get(id: string): Named | undefined }): NamedRole[] {
  return list.map((role) => ({
    role,
    name: role.startsWith('@') ? `@${table.get(role.slice(1))?.name ?? role.slice(1)}` : role,
  }));
}

export function nullWhenEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

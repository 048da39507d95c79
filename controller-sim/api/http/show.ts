// Small parts that several entities have in answers.

import type { Named } from '../../state/types.ts';

/** The reference's value for an unknown time. */
export const NEVER = '0001-01-01T00:00:00.000Z';

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** A number beyond 2^53, exact in the answer. */
export function largeNumber(value: bigint): unknown {
  return rawJSON(String(value));
}

/** A role list and its display form; an empty list is sent as null. */
export function roles(
  key: string,
  list: readonly string[],
  table: { get(id: string): Named | undefined },
): Record<string, unknown> {
  const display = list.map((role) => ({
    role,
    name: role.startsWith('@') ? `@${table.get(role.slice(1))?.name ?? role.slice(1)}` : role,
  }));
  return { [key]: nullWhenEmpty(list), [`${key}Display`]: display };
}

export function nullWhenEmpty<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}

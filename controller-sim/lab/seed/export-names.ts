// The names of entities in an export, as `@name`.

import type { Entity, Named } from '../../state/entity.ts';
import type { EntityKind } from '../../state/kinds.ts';
import type { Tables } from '../../state/tables.ts';

export class Names {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Null for an entity that does not exist. */
  one(kind: EntityKind, id: string): string | null {
    const entity: (Entity & Partial<Named>) | undefined = this.#tables[kind].get(id);
    return entity?.name === undefined ? null : `@${entity.name}`;
  }

  /** Sorted. */
  all(kind: EntityKind, ids: readonly string[]): string[] {
    return ids.flatMap((id) => this.one(kind, id) ?? []).sort();
  }

  /** Sorted: `#` before `@`. */
  roles(kind: EntityKind, roles: readonly string[]): string[] {
    return roles.flatMap((role) => (role.startsWith('@') ? (this.one(kind, role.slice(1)) ?? []) : role)).sort();
  }
}

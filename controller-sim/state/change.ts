// A write as data: the state applies it, the store persists it, and the feed publishes it.

import type { Entity } from './entity.ts';
import type { EntityKind, EntityTypes } from './kinds.ts';
import type { Origin } from './origin.ts';

export interface ChangeOf<K extends EntityKind> {
  readonly kind: K;
  readonly id: string;
  /** Undefined for a creation. */
  readonly before: EntityTypes[K] | undefined;
  /** Undefined for a deletion. */
  readonly after: EntityTypes[K] | undefined;
}

/** A change of an entity of any kind: `kind` determines the type of the entity. */
export type Change = { [K in EntityKind]: ChangeOf<K> }[EntityKind];

/** The change of an entity that is known to be of the kind: its table has it, or a typed method has taken it. */
export function changeOf(kind: EntityKind, id: string, before: Entity | undefined, after: Entity | undefined): Change {
  return { kind, id, before, after } as Change;
}

export interface ChangeSet {
  readonly index: bigint;
  /** Index of the previous set; 0 for the first. */
  readonly previousIndex: bigint;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly changes: readonly Change[];
  /** Undefined for changes that the simulator makes on its own. */
  readonly origin: Origin | undefined;
  /**
   * This member has replaced its data by that of the store, and these are the differences. The index may be lower than
   * the previous one, and the timeline another one.
   */
  readonly isReload?: true;
}

// A write as data: the state applies it, the store persists it, and the feed publishes it.

import type { Origin } from './origin.ts';
import type { Entity, EntityKind } from './types.ts';

export interface Change {
  readonly kind: EntityKind;
  readonly id: string;
  /** Undefined for a creation. */
  readonly before: Entity | undefined;
  /** Undefined for a deletion. */
  readonly after: Entity | undefined;
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

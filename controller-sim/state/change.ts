// What a write does, as data: the state applies it, the store keeps it, everything else follows from it.

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
  /** Index of the set before, 0 for the first. */
  readonly previousIndex: bigint;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly changes: readonly Change[];
  /** Undefined for what the simulator does by itself. */
  readonly origin: Origin | undefined;
}

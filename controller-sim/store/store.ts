// Where the simulator keeps its state so that it survives the process. The tables in memory are what everybody reads; a store only
// makes each change durable, gives it the next index, and brings everything back at the next start.

import type { Change } from '../state/change.ts';
import type { Entity, EntityKind } from '../state/types.ts';

export interface StoredState {
  /** Index of the last change, 0 for an empty store. */
  readonly index: bigint;
  readonly entities: readonly { readonly kind: EntityKind; readonly entity: Entity }[];
  /** Small things that are no entities: certificates and keys, the id of the history. */
  readonly meta: ReadonlyMap<string, string>;
}

export interface Store {
  /** Everything that was committed. Called once, before the first commit. */
  load(): Promise<StoredState>;
  /**
   * Makes sets of changes durable together, or none of them, and answers the index of each: one more than that of the set before. Never
   * called twice at once. It must not let go of the event loop before the sets are durable.
   */
  commit(sets: readonly (readonly Change[])[]): Promise<bigint[]>;
  /** Replaces values, durably. */
  putMeta(values: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

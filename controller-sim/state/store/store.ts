// Where the simulator keeps its state so that it survives the process. The tables in memory are what everybody reads; a store only
// makes each change durable, gives it the next index, and brings everything back at the next start.

import { ProjectError } from '#lib/errors.ts';
import type { Change } from '../change.ts';
import type { Entity, EntityKind } from '../types.ts';

export interface StoredEntity {
  readonly kind: EntityKind;
  readonly entity: Entity;
  /** Where it was read: the row of a table. */
  readonly row?: string;
}

/** A row that was not written by this program, or was damaged since. */
export class DamagedError extends ProjectError {
  constructor(table: string, row: string, why: string, options: { cause?: unknown } = {}) {
    super('STORE_DAMAGED', `table ${table}, row ${row}: ${why}`, options);
  }
}

/** Changes cannot be stored at the moment; none of them was made. */
export class StoreWriteError extends ProjectError {
  constructor(why: string, options: { cause?: unknown } = {}) {
    super('STORE_WRITE', why, { retriable: true, ...options });
  }
}

export interface StoredState {
  /** Index of the last change, 0 for an empty store. */
  readonly index: bigint;
  readonly entities: readonly StoredEntity[];
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

// Persists the state of the simulator. Reads use the tables in memory. A store makes each change durable, assigns the
// next index, and loads everything at the next start.

import { ProjectError } from '#lib/errors.ts';
import type { Change } from '../change.ts';
import type { Entity } from '../entity.ts';
import type { EntityKind } from '../kinds.ts';

export interface StoredEntity {
  readonly kind: EntityKind;
  readonly entity: Entity;
  /** The source: the row of a table. */
  readonly row?: string;
}

/** A store cannot be opened, read or used. */
export class StoreError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('STORE', message, options);
  }
}

/** A row that another program wrote, or that is damaged. */
export class DamagedError extends ProjectError {
  constructor(table: string, row: string, why: string, options: { cause?: unknown } = {}) {
    super('STORE_DAMAGED', `table ${table}, row ${row}: ${why}`, options);
  }
}

/** Changes cannot be stored; none of them took effect. */
export class StoreWriteError extends ProjectError {
  /** The store works, but rejects something in these changes: others may succeed. */
  readonly isRejection: boolean;
  /** The store logs its problem once, not with each change. */
  readonly isLogged: boolean;

  constructor(
    why: string,
    {
      isRejection = false,
      isLogged = false,
      cause,
    }: { isRejection?: boolean; isLogged?: boolean; cause?: unknown } = {},
  ) {
    super('STORE_WRITE', why, { retriable: !isRejection, ...(cause !== undefined && { cause }) });
    this.isRejection = isRejection;
    this.isLogged = isLogged;
  }
}

export interface StoredState {
  /** Index of the last change, 0 for an empty store. */
  readonly index: bigint;
  readonly entities: readonly StoredEntity[];
  /** Small values beside entities: certificates and keys, the id of the history. */
  readonly meta: ReadonlyMap<string, string>;
}

export interface Store {
  /** One simulator has it for itself (see shared-store.ts for the others). */
  readonly isShared: false;
  /** Loads everything that was committed. Called once, before the first commit. */
  load(): Promise<StoredState>;
  /**
   * Makes sets of changes durable together, or none of them. Returns the index of each: one more than that of the
   * previous set. Calls never overlap. It must not yield to the event loop before the sets are durable.
   */
  commit(sets: readonly (readonly Change[])[]): Promise<bigint[]>;
  /** Replaces values durably. */
  putMeta(values: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

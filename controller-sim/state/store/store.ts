// Persists the state of the simulator. Reads use the tables in memory. A store makes each change durable, assigns the
// next index, and loads everything at the next start.

import { ProjectError } from '#lib/errors.ts';
import type { Change } from '../change.ts';
import type { Entity } from '../entity.ts';
import type { EntityKind } from '../kinds.ts';
import type { Origin } from '../origin.ts';

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

/** A set of changes to append. */
export interface NewSet {
  readonly origin: Origin | undefined;
  /** Milliseconds since the epoch, by the clock of its author. */
  readonly time: number;
  readonly changes: readonly Change[];
}

/** A set of changes of any controller. */
export interface StoredSet extends NewSet {
  readonly index: bigint;
  /** The hash of all entities after it (state-hash.ts); sets of earlier releases have none. */
  readonly state?: string;
}

/** Builds the sets to append on those of others. */
export type Prepare = (missed: readonly StoredSet[]) => readonly NewSet[];

/** One simulator has it for itself, unless it is a SharedStore. */
export interface Store {
  /** Loads everything that was stored. Called once, before the first change. */
  load(): Promise<StoredState>;
  /**
   * Calls `prepare` with the sets of others after the index `after`, and makes the sets that it returns durable,
   * together or none. Returns the index of each: one more than that of the previous set. Calls never overlap. If it
   * rejects, `prepare` may not have been called. The caller applies all sets in the same turn of the event loop.
   */
  append(after: bigint, prepare: Prepare): Promise<bigint[]>;
  /** Replaces values durably. */
  putMeta(values: ReadonlyMap<string, string>): Promise<void>;
  close(): Promise<void>;
}

/** The indexes of so many sets after the index `after`. */
export function indexesAfter(after: bigint, { length }: readonly unknown[]): bigint[] {
  return Array.from({ length }, (_, place) => after + BigInt(place + 1));
}

// A set of changes that is committed as a whole. Reads see earlier writes of the same transaction.

import type { IdSource } from '#lib/ids.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type Change, changeOf } from './change.ts';
import type { Entity } from './entity.ts';
import { checkIndexKeys } from './index-keys.ts';
import type { EntityKind, EntityTypes } from './kinds.ts';
import type { Tables } from './tables.ts';

export interface TransactionComponents {
  readonly tables: Tables;
  readonly clock: Clock;
  readonly ids: IdSource;
}

export class Transaction {
  readonly tables: Tables;
  readonly ids: IdSource;
  readonly clock: Clock;
  /** Index of the set that its changes become. */
  readonly index: bigint;
  readonly #written = new Map<string, Change>();

  constructor({ tables, clock, ids }: TransactionComponents, index: bigint) {
    this.tables = tables;
    this.clock = clock;
    this.ids = ids;
    this.index = index;
  }

  /** RFC 3339 with milliseconds. */
  get now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  get<K extends EntityKind>(kind: K, id: string): EntityTypes[K] | undefined {
    const written = this.#written.get(`${kind} ${id}`);
    if (written) return written.after as EntityTypes[K] | undefined;
    return this.tables[kind].get(id);
  }

  /** @throws ApiError for an id, name or other key that is too long for an index of a store */
  put<K extends EntityKind>(kind: K, entity: EntityTypes[K]): void {
    this.#write(kind, entity.id, entity);
  }

  /** Changes some fields and the time of the last change. @throws ApiError as `put` */
  patch<K extends EntityKind>(kind: K, id: string, keys: Partial<EntityTypes[K]>): void {
    const current = this.get(kind, id);
    if (current) this.#write(kind, id, { ...current, ...keys, updatedAt: this.now });
  }

  delete(kind: EntityKind, id: string): void {
    this.#write(kind, id, undefined);
  }

  /** Takes over what another transaction has written on the same data. */
  adopt(other: Transaction): void {
    for (const [key, change] of other.#written) this.#written.set(key, change);
  }

  /** The changes to store, without those that change nothing. */
  changes(): Change[] {
    return [...this.#written.values()].filter(({ before, after }) => before !== after);
  }

  #write(kind: EntityKind, id: string, after: Entity | undefined): void {
    if (after) checkIndexKeys(kind, after);
    const key = `${kind} ${id}`;
    const before = this.#written.get(key)?.before ?? this.tables[kind].get(id);
    this.#written.set(key, changeOf(kind, id, before, after));
  }
}

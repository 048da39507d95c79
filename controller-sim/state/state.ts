// The one state of the simulator: tables in memory, changed by transactions. A transaction is built by the rules of the entities,
// made durable by the store, and only then applied and published; everything else in the simulator follows that one feed.
//
//   rules ─► Transaction ─► Store.commit ─► tables ─► ChangeSet ─► listeners (data model, sessions, network, …)

import type { Clock } from '#lib/clock.ts';
import type { IdSource } from '#lib/ids.ts';
import type { Store } from '../store/store.ts';
import type { Change, ChangeSet } from './change.ts';
import type { Table } from './table.ts';
import { makeTables, type Tables } from './tables.ts';
import { Transaction } from './transaction.ts';
import type { Entity, EntityKind } from './types.ts';

export type FeedListener = (set: ChangeSet) => void;

export interface StateComponents {
  store: Store;
  clock: Clock;
  ids: IdSource;
}

export class State {
  readonly tables: Tables = makeTables();
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly #store: Store;
  readonly #listeners = new Set<FeedListener>();
  #index = 0n;
  #timeline = '';
  #meta = new Map<string, string>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(components: StateComponents) {
    this.#store = components.store;
    this.clock = components.clock;
    this.ids = components.ids;
  }

  /** Loads what the store has. */
  static async open(components: StateComponents): Promise<State> {
    const state = new State(components);
    const loaded = await components.store.load();
    for (const { kind, entity } of loaded.entities) anyTable(state.tables, kind).apply(entity.id, entity);
    state.#index = loaded.index;
    state.#meta = new Map(loaded.meta);
    const timeline = loaded.meta.get('timeline') ?? components.ids.uuid();
    state.#timeline = timeline;
    if (!loaded.meta.has('timeline')) await state.putMeta(new Map([['timeline', timeline]]));
    return state;
  }

  /** Index of the last change. */
  get index(): bigint {
    return this.#index;
  }

  /** Id of this history; another one after the data was replaced. */
  get timeline(): string {
    return this.#timeline;
  }

  meta(key: string): string | undefined {
    return this.#meta.get(key);
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    await this.#store.putMeta(values);
    for (const [key, value] of values) this.#meta.set(key, value);
  }

  /** Calls `listener` after each change, until the returned function is called. */
  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Runs `build` against the tables as they are, and commits what it puts into the transaction. One at a time; `build` must not wait. What
   * it throws ends the transaction without a trace.
   */
  change<T>(build: (transaction: Transaction) => T): Promise<T> {
    const run = this.#last.then(() => this.#commit(build));
    this.#last = run.catch(() => undefined); // the caller hears of it; the next change starts afresh
    return run;
  }

  async close(): Promise<void> {
    await this.#last;
    this.#listeners.clear();
    await this.#store.close();
  }

  async #commit<T>(build: (transaction: Transaction) => T): Promise<T> {
    const transaction = new Transaction(this.tables, this.clock, this.ids);
    const result = build(transaction);
    const changes = transaction.changes();
    if (changes.length > 0) this.#publish(await this.#store.commit(changes), changes);
    return result;
  }

  #publish(index: bigint, changes: readonly Change[]): void {
    for (const { kind, id, after } of changes) anyTable(this.tables, kind).apply(id, after);
    const set: ChangeSet = { index, previousIndex: this.#index, time: this.clock.now(), changes };
    this.#index = index;
    for (const listener of this.#listeners) listener(set);
  }
}

/** A stored entity is of its kind's type: it was written through the typed methods of a transaction. */
function anyTable(tables: Tables, kind: EntityKind): Table<Entity> {
  return tables[kind] as unknown as Table<Entity>;
}

// The one state of the simulator: tables in memory, changed by transactions. A transaction is built by the rules of the entities,
// made durable by the store, and only then seen and published; everything else in the simulator follows that one feed.
//
//   rules ─► Transaction ─► tables ─► Store.commit ─► ChangeSet ─► listeners (data model, sessions, network, …)
//
// The tables run ahead of the store within one turn of the event loop, in which nobody else can look.

import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import { Listeners } from '#lib/listeners.ts';
import { type Log, silentLog } from '#lib/log.ts';
import type { Change, ChangeSet } from './change.ts';
import { currentOrigin, type Origin, withOrigin } from './origin.ts';
import { DamagedError, type Store, type StoredEntity, type StoredState } from './store/store.ts';
import type { Table } from './table.ts';
import { makeTables, type Tables } from './tables.ts';
import { Transaction } from './transaction.ts';
import type { Entity, EntityKind } from './types.ts';

export type FeedListener = (set: ChangeSet) => void;

/**
 * Who hears of a change first: the rules of access and posture; then all that is derived from them (the data model of routers, sessions,
 * circuits); then those that only observe.
 */
const STAGES = ['access', 'derived', 'observers'] as const;

export type Stage = (typeof STAGES)[number];

export interface StateComponents {
  store: Store;
  clock: Clock;
  ids: IdSource;
  log?: Log;
}

/** More changes than that wait for nobody. */
const MOST_WAITING = 10_000;
const MOST_TOGETHER = 500;

/** Too many changes wait already. */
export class BusyError extends ProjectError {
  constructor() {
    super('BUSY', 'too many changes wait to be made', { retriable: true });
  }
}

interface Waiting {
  readonly origin: Origin | undefined;
  readonly build: (transaction: Transaction) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Built {
  readonly origin: Origin | undefined;
  readonly changes: readonly Change[];
  finish(): void;
  fail(error: unknown): void;
}

export class State {
  readonly tables: Tables = makeTables();
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly #store: Store;
  /** By stage, in the order in which the stages hear of a change. */
  readonly #stages: ReadonlyMap<Stage, Listeners<ChangeSet>>;
  #index = 0n;
  #timeline = '';
  #meta = new Map<string, string>();
  readonly #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;

  private constructor(components: StateComponents) {
    this.#store = components.store;
    this.clock = components.clock;
    this.ids = components.ids;
    this.log = components.log ?? silentLog;
    this.#stages = new Map(STAGES.map((stage) => [stage, new Listeners(`changes of the state (${stage})`, this.log)]));
  }

  /** Loads what the store has. Rejects with DamagedError for an entity that is not one of ours. */
  static async open(components: StateComponents): Promise<State> {
    const state = new State(components);
    const loaded = await components.store.load();
    for (const stored of loaded.entities) state.#restore(stored);
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

  #restore({ kind, entity, row = entity.id }: StoredEntity): void {
    try {
      anyTable(this.tables, kind).apply(entity.id, entity);
    } catch (error) {
      throw new DamagedError('entity', row, `the body is not valid: ${describeError(error)}`, { cause: error });
    }
  }

  /** Everything, as a store keeps it. */
  snapshot(): StoredState {
    const entities = Object.entries(this.tables).flatMap(([kind, table]) =>
      [...table.values()].map((entity) => ({ kind: kind as EntityKind, entity })),
    );
    return { index: this.#index, entities, meta: this.#meta };
  }

  /** Calls `listener` after each change, in its stage, until the returned function is called. */
  subscribe(stage: Stage, listener: FeedListener): () => void {
    return (this.#stages.get(stage) as Listeners<ChangeSet>).add(listener);
  }

  /**
   * Runs `build` against the tables as they are, and commits what it puts into the transaction. One after the other; `build` must not wait.
   * What it throws ends the transaction without a trace. Rejects with BusyError when too many wait already.
   */
  change<T>(build: (transaction: Transaction) => T): Promise<T> {
    if (this.#waiting.length >= MOST_WAITING) return Promise.reject(new BusyError());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({ origin: currentOrigin(), build, resolve: resolve as (result: unknown) => void, reject });
    this.#working ??= twoTurns().then(() => this.#work());
    return promise;
  }

  async close(): Promise<void> {
    while (this.#working) await this.#working;
    for (const listeners of this.#stages.values()) listeners.clear();
    await this.#store.close();
  }

  /** What came by then is committed together: one wait for the disk serves all of them. */
  async #work(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0, MOST_TOGETHER));
    this.#working = undefined;
  }

  async #commit(waiting: readonly Waiting[]): Promise<void> {
    const built = waiting.flatMap((each) => this.#build(each) ?? []);
    let indexes: bigint[];
    try {
      indexes = await this.#store.commit(built.map(({ changes }) => changes));
    } catch (error) {
      for (const { changes } of built.toReversed()) this.#undo(changes);
      for (const { fail } of built) fail(error);
      return;
    }
    // Durable: nothing that happens from here on takes the changes back.
    for (const [position, { origin, changes, finish }] of built.entries()) {
      this.#publish(indexes[position] as bigint, changes, origin);
      finish();
    }
  }

  #undo(changes: readonly Change[]): void {
    for (const { kind, id, before } of changes) anyTable(this.tables, kind).apply(id, before);
  }

  /** The tables take a change at once, so that the next one is built on it; nobody else runs before the store has it. */
  #build({ origin, build, resolve, reject }: Waiting): Built | undefined {
    const applied: Change[] = [];
    try {
      const transaction = new Transaction(this.tables, this.clock, this.ids);
      const result = build(transaction);
      const changes = transaction.changes();
      if (changes.length === 0) {
        resolve(result);
        return undefined;
      }
      for (const change of changes) {
        applied.push(change);
        anyTable(this.tables, change.kind).apply(change.id, change.after);
      }
      return { origin, changes, finish: () => resolve(result), fail: reject };
    } catch (error) {
      this.#undo(applied);
      reject(error);
      return undefined;
    }
  }

  #publish(index: bigint, changes: readonly Change[], origin: Origin | undefined): void {
    const set: ChangeSet = { index, previousIndex: this.#index, time: this.clock.now(), changes, origin };
    this.#index = index;
    withOrigin(origin, () => {
      for (const listeners of this.#stages.values()) listeners.call(set);
    });
  }
}

/** A stored entity is of its kind's type: it was written through the typed methods of a transaction. */
function anyTable(tables: Tables, kind: EntityKind): Table<Entity> {
  return tables[kind] as unknown as Table<Entity>;
}

/** Of the event loop: requests that lay on other connections meanwhile are taken along. */
function twoTurns(): Promise<void> {
  return new Promise((done) => setImmediate(() => setImmediate(done)));
}

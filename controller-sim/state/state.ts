// The single state of the simulator: tables in memory, changed by transactions. Entity rules build a transaction, and
// the store makes it durable. Only then is it visible and published; every other part of the simulator follows that
// feed.
//
//   rules ─► Transaction ─► Store.append ─► tables ─► ChangeSet ─► listeners (data model, sessions, network, …)
//
// With a store that several controllers share, the changes of others are applied and published in the same way, in one
// order for all.

import { describeError, InvariantError, ProjectError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import { Listeners } from '#lib/listeners.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import { atOnce, inSlices } from '#lib/slices.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type Attempt, attemptAll, settle, type Wanted } from './attempts.ts';
import type { ChangeSet } from './change.ts';
import { differences } from './differences.ts';
import { UniqueValues } from './entity-form.ts';
import type { EntityKind } from './kinds.ts';
import { currentOrigin, withOrigin } from './origin.ts';
import { OtherControllers, type Others } from './other-controllers.ts';
import type { SharedStore } from './store/shared-store.ts';
import {
  DamagedError,
  type NewSet,
  type Store,
  type StoredEntity,
  type StoredSet,
  type StoredState,
  StoreWriteError,
} from './store/store.ts';
import { requireUniqueValues } from './store/stored-entity.ts';
import { applyChanges, createTables, requireIndexable, type Tables, tableOf } from './tables.ts';
import { Transaction } from './transaction.ts';

export type FeedListener = (set: ChangeSet) => void;

/**
 * Order of notification: the rules of access and posture, then derived data (the data model of routers, sessions,
 * circuits), then observers.
 */
const STAGES = ['access', 'derived', 'observers'] as const;

export type Stage = (typeof STAGES)[number];

export interface StateComponents {
  store: Store | SharedStore;
  clock: Clock;
  ids: IdSource;
  log?: Log;
}

/** Limit on queued changes. */
const MAX_WAITING = 10_000;
const MAX_BATCH = 500;
/** Attempts of a change in slices: other controllers may change the data before it is appended. */
const MAX_SLICED_ATTEMPTS = 3;
/** Too many changes are queued. */
export class BusyError extends ProjectError {
  constructor() {
    super('BUSY', 'too many changes are queued', { retriable: true });
  }
}

/**
 * Asked before each batch of changes, for example by faults of a test. Resolves when the store may be asked; an error
 * takes the place of its answer.
 */
export type StoreGate = () => Promise<Error | undefined> | undefined;

/** Other controllers have changed the data since the change was built. */
class MovedError extends Error {}

interface Waiting extends Wanted {
  /** Builds the change in slices, before `build` takes it over. It runs alone. */
  readonly prepare: (() => Promise<void>) | undefined;
}

export class State {
  readonly tables: Tables = createTables();
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly log: Log;
  readonly #store: Store;
  #others: OtherControllers | undefined;
  /** By stage, in the order of notification. */
  readonly #stages: ReadonlyMap<Stage, Listeners<ChangeSet>>;
  #index = 0n;
  #timeline = '';
  #meta = new Map<string, string>();
  readonly #waiting: Waiting[] = [];
  #gate: StoreGate | undefined;
  #working: Promise<void> | undefined;

  private constructor(components: StateComponents) {
    this.#store = components.store;
    this.clock = components.clock;
    this.ids = components.ids;
    this.log = components.log ?? silentLog;
    this.#stages = new Map(STAGES.map((stage) => [stage, new Listeners(`changes of the state (${stage})`, this.log)]));
  }

  /** Loads the store's data. Rejects with DamagedError for an invalid entity. */
  static async open(components: StateComponents): Promise<State> {
    const state = new State(components);
    const { store } = components;
    const loaded = await store.load();
    await inSlices(state.#restoreAll(loaded.entities));
    state.#index = loaded.index;
    state.#meta = new Map(loaded.meta);
    const timeline = loaded.meta.get('timeline') ?? components.ids.uuid();
    state.#timeline = timeline;
    if (!loaded.meta.has('timeline')) await state.putMeta(new Map([['timeline', timeline]]));
    if ('registry' in store) {
      state.#others = new OtherControllers({
        store,
        state,
        wake: () => state.#wake(),
        add: (set) => state.#add(set),
        replace: (data, next) => state.#replace(data, next),
      });
      state.#others.start();
    }
    return state;
  }

  /** Other controllers that change this data, and how far this one follows them. Undefined: it is the only one. */
  get others(): Others | undefined {
    return this.#others;
  }

  /** Index of the last change. */
  get index(): bigint {
    return this.#index;
  }

  /** Id of this history; replaced data has another one. */
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

  *#restoreAll(entities: Iterable<StoredEntity>, tables = this.tables): Generator<void, void> {
    const values = new UniqueValues();
    for (const stored of entities) {
      requireUniqueValues(values, stored);
      yield this.#restore(stored, tables);
    }
  }

  #restore({ kind, entity, row = entity.id }: StoredEntity, tables: Tables): void {
    const table = tableOf(tables, kind);
    try {
      table.requireIndexable(entity);
    } catch (error) {
      throw new DamagedError('entity', row, `the body is invalid: ${describeError(error)}`, { cause: error });
    }
    table.apply(entity.id, entity);
  }

  /**
   * All data in the form of a store, without the timeline: a start from it begins another history. Otherwise routers
   * would take its next changes for those that they know.
   */
  snapshot(): StoredState {
    const entities = Object.entries(this.tables).flatMap(([kind, table]) =>
      [...table.values()].map((entity) => ({ kind: kind as EntityKind, entity })),
    );
    const meta = new Map(this.#meta);
    meta.delete('timeline');
    return { index: this.#index, entities, meta };
  }

  /** Calls `listener` after each change, in its stage, until the returned function is called. */
  subscribe(stage: Stage, listener: FeedListener): () => void {
    return (this.#stages.get(stage) as Listeners<ChangeSet>).add(listener);
  }

  /** Asks this gate from now on. */
  guard(gate: StoreGate): void {
    this.#gate = gate;
  }

  /**
   * Runs `build` against the current tables, and commits the transaction that it fills. Changes run one at a time;
   * `build` must be synchronous. If it throws, nothing changes. Rejects with BusyError if the queue is full.
   */
  change<T>(build: (transaction: Transaction) => T): Promise<T> {
    return this.#queue(build);
  }

  /**
   * As `change`, for many writes: other changes wait, and everything else goes on between the steps of `build`. If
   * other controllers change the data meanwhile, it is called again.
   */
  async changeInSlices<T>(build: (transaction: Transaction) => Generator<void, T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      let built: { readonly transaction: Transaction; readonly outcome: T } | undefined;
      const prepare = async () => {
        const transaction = new Transaction(this, this.#index + 1n);
        built = { transaction, outcome: await inSlices(build(transaction)) };
      };
      const takeOver = (transaction: Transaction) => {
        if (built?.transaction.index === transaction.index) {
          transaction.adopt(built.transaction);
          return built.outcome;
        }
        if (attempt < MAX_SLICED_ATTEMPTS) throw new MovedError();
        return atOnce(build(transaction));
      };
      try {
        return await this.#queue(takeOver, prepare);
      } catch (error) {
        if (!(error instanceof MovedError)) throw error;
      }
    }
  }

  #queue<T>(build: (transaction: Transaction) => T, prepare?: () => Promise<void>): Promise<T> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(new BusyError());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.push({
      origin: currentOrigin(),
      prepare,
      build,
      resolve: resolve as (result: unknown) => void,
      reject,
    });
    this.#wake();
    return promise;
  }

  #wake(): void {
    this.#working ??= twoTurns().then(() => this.#work());
  }

  async close(): Promise<void> {
    this.#others?.stop();
    while (this.#working) await this.#working;
    this.#others?.close();
    for (const listeners of this.#stages.values()) listeners.clear();
    await this.#store.close();
  }

  /** Stores all queued changes together, so that they share one wait for the disk. */
  async #work(): Promise<void> {
    while (this.#waiting.length > 0 || this.#others?.isWaiting) {
      if (this.#others?.isRejoining) await this.#others.takeAll();
      const waiting = await this.#nextBatch();
      this.#others?.beginTurn();
      const failure = waiting.length > 0 ? await this.#gate?.() : undefined;
      const hasAppended = waiting.length > 0 && (await this.#append(waiting, failure));
      const reading = this.#others?.endTurn({ isRead: hasAppended, isIdle: waiting.length === 0 });
      if (reading) await reading;
    }
    this.#working = undefined;
  }

  async #nextBatch(): Promise<Waiting[]> {
    const sliced = this.#waiting.slice(0, MAX_BATCH).findIndex(({ prepare }) => prepare);
    const waiting = this.#waiting.splice(0, sliced < 0 ? MAX_BATCH : Math.max(1, sliced));
    const [first] = waiting;
    try {
      await first?.prepare?.();
    } catch (error) {
      first?.reject(error);
      return [];
    }
    return waiting;
  }

  /**
   * Builds on the changes of others. Other code sees the new changes only once the store has them. `failure` takes the
   * place of the store's answer. @returns false if the store did not take them
   */
  async #append(waiting: readonly Waiting[], failure?: Error, isRetry = false): Promise<boolean> {
    let attempts: readonly Attempt[] = [];
    // The store may call it again, with what was missed: only the last attempts count.
    const prepare = (missed: readonly StoredSet[]): NewSet[] => {
      for (const set of missed) this.#add(set);
      attempts = attemptAll(this, waiting, this.#index + 1n);
      const changed = attempts.filter(({ changes }) => changes.length > 0);
      return changed.map(({ changes, wanted: { origin } }) => ({ changes, origin, time: this.clock.now() }));
    };
    let indexes: bigint[];
    const began = this.clock.monotonic();
    try {
      if (failure) {
        prepare([]);
        throw failure;
      }
      indexes = await this.#store.append(this.#index, prepare);
    } catch (error) {
      if (!isRetry && (await this.#others?.recover(error))) return this.#append(waiting, undefined, true);
      if (isOfOne(error, waiting)) for (const each of waiting) await this.#append([each]);
      else this.#reject(waiting, attempts, error);
      return false;
    }
    this.#others?.noteKnown(began);
    for (const attempt of attempts) {
      const { changes, wanted } = attempt;
      if (changes.length > 0) {
        applyChanges(this.tables, changes);
        this.#publish({ index: indexes.shift() as bigint, changes, origin: wanted.origin });
      }
      settle(attempt);
    }
    return true;
  }

  /** Nobody but this controller changes a store of its own, so an outcome without changes stands there. */
  #reject(waiting: readonly Waiting[], attempts: readonly Attempt[], error: unknown): void {
    const standing = this.#others ? [] : attempts.filter(({ changes }) => changes.length === 0);
    for (const attempt of standing) settle(attempt);
    for (const { reject } of waiting) reject(error);
  }

  /** Takes all data of the store, and publishes the differences in one set. */
  #replace({ entities, index, meta }: StoredState, timeline: string): void {
    atOnce(this.#restoreAll(entities, createTables()));
    const changes = differences(this.tables, entities);
    this.#meta = new Map(meta);
    this.#timeline = meta.get('timeline') ?? timeline;
    applyChanges(this.tables, changes);
    this.#publish({ index, changes, origin: undefined, isReload: true });
  }

  /** A set that cannot be applied is read again: later ones build on it. */
  #add({ index, changes, origin, time }: StoredSet): void {
    if (index !== this.#index + 1n) throw new InvariantError(`set ${index} follows set ${this.#index}`);
    requireIndexable(this.tables, changes);
    applyChanges(this.tables, changes);
    this.#publish({ index, changes, origin, time });
  }

  #publish(published: Omit<ChangeSet, 'previousIndex' | 'time'> & { readonly time?: number }): void {
    const set: ChangeSet = { time: this.clock.now(), ...published, previousIndex: this.#index };
    this.#index = set.index;
    withOrigin(set.origin, () => {
      for (const listeners of this.#stages.values()) listeners.call(set);
    });
  }
}

/** The store rejects one change among several, and must be asked for each: the others succeed. */
function isOfOne(error: unknown, waiting: readonly Waiting[]): boolean {
  return waiting.length > 1 && error instanceof StoreWriteError && error.isRejection;
}

/** Waits two event-loop turns so that concurrent requests join the batch. */
function twoTurns(): Promise<void> {
  return new Promise((done) => setImmediate(() => setImmediate(done)));
}

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
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Change, ChangeSet } from './change.ts';
import { differences } from './differences.ts';
import type { Entity } from './entity.ts';
import { UniqueValues } from './entity-form.ts';
import type { EntityKind } from './kinds.ts';
import { currentOrigin, type Origin, withOrigin } from './origin.ts';
import { MAX_READ } from './store/change-log.ts';
import { BehindError, HistoryError } from './store/history.ts';
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
import { demandUnique } from './store/stored-entity.ts';
import type { Table } from './table.ts';
import { createTables, type Tables } from './tables.ts';
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
/** Milliseconds until the changes of other members are read again after an error. */
const RETRY = 1_000;
/** Milliseconds until a request that would be rejected no longer waits for the changes of others. */
const MAX_CATCH_UP_MS = 1_500;
/** Milliseconds for which data counts as current after the store was last read: the lease of a member. */
const MAX_AGE_MS = 10_000;
/** Milliseconds between readings of a request that waits for an index. */
const REACH_INTERVAL = 20;

/** Whether others have made changes: `unread` if the store did not answer, or if this controller does not follow it. */
export type CatchUp = 'new' | 'same' | 'unread';

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

interface Waiting {
  readonly origin: Origin | undefined;
  /** Builds the change in slices, before `build` takes it over. It runs alone. */
  readonly prepare: (() => Promise<void>) | undefined;
  readonly build: (transaction: Transaction) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The outcome of a change. The caller hears of it once the store has confirmed the data before it. */
interface Attempt {
  readonly waiting: Waiting;
  readonly changes: readonly Change[];
  /** Whether `build` threw. */
  readonly isFailed: boolean;
  /** Its result, or what it threw. */
  readonly outcome: unknown;
}

export class State {
  readonly tables: Tables = createTables();
  readonly ids: IdSource;
  readonly clock: Clock;
  /** For waits on the store. */
  readonly #storeClock: Clock;
  readonly log: Log;
  readonly #store: Store;
  /** The same store, if other controllers change the data, too. */
  readonly #shared: SharedStore | undefined;
  /** By stage, in the order of notification. */
  readonly #stages: ReadonlyMap<Stage, Listeners<ChangeSet>>;
  #index = 0n;
  #timeline = '';
  #meta = new Map<string, string>();
  readonly #waiting: Waiting[] = [];
  /** Whether other members have appended changes. */
  #isBehind = false;
  #retry: Timer | undefined;
  /** Why the changes of other members could not be read. */
  #readProblem = '';
  /** The problem that listeners have received. */
  #reported: string | undefined;
  /** Monotonic time at which the changes of all members up to then were known. */
  #knownUntil: number;
  #isClosed = false;
  #gate: StoreGate | undefined;
  #working: Promise<void> | undefined;
  readonly #problems: Listeners<string | undefined>;
  /** Those that wait for a reload. */
  readonly #rejoining: { resolve(): void; reject(error: unknown): void }[] = [];
  /** Called after the next reading, with whether the store answered. */
  readonly #catchingUp: ((hasRead: boolean) => void)[] = [];

  private constructor(components: StateComponents) {
    this.#store = components.store;
    this.#shared = 'registry' in components.store ? components.store : undefined;
    this.clock = components.clock;
    this.#storeClock = realClock(components.clock);
    this.ids = components.ids;
    this.log = components.log ?? silentLog;
    this.#knownUntil = components.clock.monotonic();
    this.#stages = new Map(STAGES.map((stage) => [stage, new Listeners(`changes of the state (${stage})`, this.log)]));
    this.#problems = new Listeners('problems of the state', this.log);
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
    const shared = state.#shared;
    if (shared) {
      shared.onAppended(() => state.#readOn());
      shared.onStoreProblem(() => state.#reportProblem());
      shared.onRejoin((pending) => void pending.push(state.rejoin()));
      state.#readOn(); // others may have appended since the data was loaded
    }
    return state;
  }

  /** Whether other controllers change the same data. */
  get isShared(): boolean {
    return this.#shared !== undefined;
  }

  /** Index of the last change. */
  get index(): bigint {
    return this.#index;
  }

  /** Id of this history; replaced data has another one. */
  get timeline(): string {
    return this.#timeline;
  }

  /** Why this controller does not follow the changes of others, or stores none; undefined if it does. */
  get problem(): string | undefined {
    return this.#readProblem || this.#shared?.storeProblem || undefined;
  }

  /** Calls `listener` when the problem begins, changes or ends, until the returned function is called. */
  onProblem(listener: (problem: string | undefined) => void): () => void {
    return this.#problems.add(listener);
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
      demandUnique(values, stored);
      yield this.#restore(stored, tables);
    }
  }

  #restore({ kind, entity, row = entity.id }: StoredEntity, tables: Tables): void {
    const table = anyTable(tables, kind);
    try {
      table.demandIndexable(entity);
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
    this.#working ??= twoTurns().then(() => this.#work());
    return promise;
  }

  /**
   * Reads the changes that other members have made until now. `same` where no other member exists. A request that finds
   * nothing asks: its entity may be new. Strangers can ask, too, so all that ask during one reading share the next one.
   */
  async catchUp(milliseconds = MAX_CATCH_UP_MS): Promise<CatchUp> {
    if (!this.#shared || this.#shared.isImmediate) return 'same';
    if (this.#isClosed) return 'unread';
    const before = this.#index;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // A database that hangs does not hold up what needs no change.
    const timer = this.#storeClock.after('reading on', Math.min(milliseconds, MAX_CATCH_UP_MS), () => resolve(false));
    this.#catchingUp.push(resolve);
    this.#readOn();
    const hasRead = await promise;
    timer.cancel();
    if (this.#index > before) return 'new';
    return hasRead ? 'same' : 'unread';
  }

  /**
   * Whether this member knows what others have changed until MAX_AGE_MS ago. A member without news for as long
   * asks the store; one that does not follow answers at once.
   */
  async isCurrent(): Promise<boolean> {
    if (!this.#shared || this.#shared.isImmediate) return true;
    let caughtUp: CatchUp = 'new';
    while (this.#isAged && this.#readProblem === '' && caughtUp === 'new') caughtUp = await this.catchUp();
    return caughtUp === 'same' || !this.#isAged; // the lab may have moved its clock during the answer
  }

  get #isAged(): boolean {
    return this.clock.monotonic() - this.#knownUntil > MAX_AGE_MS;
  }

  /**
   * Takes the data of the store in place of its own, whose changes may be lost. Rejects with StoreError or
   * DamagedError; nothing has then changed.
   */
  rejoin(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#isClosed || !this.#shared) reject(new InvariantError('the state is closed, or not shared'));
    else this.#rejoining.push({ resolve, reject });
    this.#readOn();
    return promise;
  }

  /**
   * Waits until this member has the change with this index, for at most so many milliseconds. @returns whether it has
   */
  async reach(index: bigint, milliseconds: number): Promise<boolean> {
    const end = this.#storeClock.monotonic() + milliseconds;
    const rest = () => Math.max(0, end - this.#storeClock.monotonic());
    while (this.#index < index) {
      if (rest() === 0 || !this.#shared || this.#shared.isImmediate || this.#isClosed) return false;
      // A database that is away answers at once, again and again.
      if ((await this.catchUp(rest())) !== 'new' && this.#index < index)
        await this.#storeClock.sleep(Math.min(REACH_INTERVAL, rest()), { name: 'data index' });
    }
    return true;
  }

  /** Cuts this member off the store, or ends that. @returns false if no other controllers have the data */
  cutOff(isCutOff: boolean): boolean {
    if (!this.#shared) return false;
    if (this.#shared.isImmediate) this.#knownUntil = this.clock.monotonic();
    this.#shared.cutOff(isCutOff);
    this.#readOn();
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#working) await this.#working;
    this.#retry?.cancel();
    for (const resolve of this.#catchingUp.splice(0)) resolve(false);
    for (const listeners of this.#stages.values()) listeners.clear();
    this.#problems.clear();
    await this.#store.close();
  }

  /** Stores all queued changes together, so that they share one wait for the disk. */
  async #work(): Promise<void> {
    while (this.#waiting.length > 0 || this.#isBehind || this.#rejoining.length > 0) {
      if (this.#rejoining.length > 0 && this.#shared) await this.#rejoin(this.#shared);
      const waiting = await this.#nextBatch();
      // Both ways read what others have appended. Those that begin to wait meanwhile wait for the next time.
      const catchingUp = this.#catchingUp.splice(0);
      const hasAppended = waiting.length > 0 && (await this.#append(waiting, await this.#gate?.()));
      const isFollowed = waiting.length === 0 || (!hasAppended && catchingUp.length > 0);
      const hasRead = isFollowed && this.#shared ? await this.#follow(this.#shared) : hasAppended;
      for (const resolve of catchingUp) resolve(hasRead);
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
      for (const set of missed) this.#applyOther(set);
      attempts = this.#attemptAll(waiting);
      const changed = attempts.filter(({ changes }) => changes.length > 0);
      return changed.map(({ changes, waiting: { origin } }) => ({ changes, origin, time: this.clock.now() }));
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
      if (isBehind(error) && !isRetry && this.#shared && (await this.#tryReload(this.#shared)))
        return this.#append(waiting, undefined, true);
      if (isOfOne(error, waiting)) for (const each of waiting) await this.#append([each]);
      else this.#reject(waiting, attempts, error);
      return false;
    }
    this.#knownUntil = began;
    for (const attempt of attempts) {
      const { changes, waiting } = attempt;
      if (changes.length > 0) {
        this.#apply(changes);
        this.#publish({ index: indexes.shift() as bigint, changes, origin: waiting.origin });
      }
      settle(attempt);
    }
    return true;
  }

  /** Nobody but this controller changes a store of its own, so an outcome without changes stands there. */
  #reject(waiting: readonly Waiting[], attempts: readonly Attempt[], error: unknown): void {
    const standing = this.#shared ? [] : attempts.filter(({ changes }) => changes.length === 0);
    for (const attempt of standing) settle(attempt);
    for (const { reject } of waiting) reject(error);
  }

  /** Other members have appended changes. */
  #readOn(): void {
    if (this.#isClosed) return;
    this.#isBehind = true;
    this.#working ??= twoTurns().then(() => this.#work());
  }

  /** @returns whether the store answered */
  async #follow(store: SharedStore): Promise<boolean> {
    this.#isBehind = false;
    const began = this.clock.monotonic();
    try {
      if (await this.#readNext(store)) this.#knownUntil = began;
      this.#noteProblem(store, undefined);
      return true;
    } catch (error) {
      const problem = describeError(error);
      const isSerious = error instanceof HistoryError || error instanceof DamagedError;
      if (problem !== this.#readProblem)
        this.log[isSerious ? 'error' : 'warn'](
          { error: problem, index: String(this.#index) },
          'the changes of other controllers could not be read, retrying',
        );
      this.#noteProblem(store, problem); // is logged once
      this.#retry ??= this.#storeClock.after('changes of others', RETRY, () => {
        this.#retry = undefined;
        this.#readOn();
      });
      return false;
    }
  }

  /** @returns false if there are more: a full page was read */
  async #readNext(store: SharedStore): Promise<boolean> {
    try {
      const sets = await store.read(this.#index);
      for (const set of sets) this.#applyOther(set);
      return sets.length < MAX_READ;
    } catch (error) {
      if (!isBehind(error)) throw error;
      await this.#reload(store);
      return true;
    }
  }

  #noteProblem(store: SharedStore, problem = ''): void {
    if (problem === this.#readProblem) return;
    this.#readProblem = problem;
    store.noteProblem(problem === '' ? undefined : problem);
    this.#reportProblem();
  }

  #reportProblem(): void {
    const { problem } = this;
    if (problem === this.#reported) return;
    this.#reported = problem;
    this.#problems.call(problem);
  }

  async #rejoin(store: SharedStore): Promise<void> {
    const rejoining = this.#rejoining.splice(0);
    try {
      await this.#reload(store, { isWanted: true });
      for (const { resolve } of rejoining) resolve();
    } catch (error) {
      for (const { reject } of rejoining) reject(error);
    }
  }

  async #tryReload(store: SharedStore): Promise<boolean> {
    try {
      await this.#reload(store);
      return true;
    } catch (error) {
      this.log.warn({ error: describeError(error) }, 'the data of the store could not be loaded');
      return false;
    }
  }

  /** Replaces all data by that of the store, in one set with the differences. */
  async #reload(store: SharedStore, { isWanted = false } = {}): Promise<void> {
    const before = this.#index;
    const began = this.clock.monotonic();
    const own = { after: before, timeline: this.#timeline, next: this.ids.uuid(), isWanted };
    await store.reload(own, ({ entities, index, meta }) => {
      const checked = createTables();
      atOnce(this.#restoreAll(entities, checked));
      const changes = differences(this.tables, entities);
      this.#meta = new Map(meta);
      this.#timeline = meta.get('timeline') ?? own.next;
      this.#apply(changes);
      this.#publish({ index, changes, origin: undefined, isReload: true });
    });
    this.#knownUntil = began;
    this.log.warn(
      { index: String(this.#index), before: String(before) },
      'this controller has taken the data of the store',
    );
  }

  /** A set that cannot be applied is read again: later ones build on it. */
  #applyOther({ index, changes, origin, time }: StoredSet): void {
    if (index !== this.#index + 1n) throw new InvariantError(`set ${index} follows set ${this.#index}`);
    this.#demandIndexable(changes);
    this.#apply(changes);
    this.#publish({ index, changes, origin, time });
  }

  #apply(changes: readonly Change[]): void {
    for (const { kind, id, after } of changes) anyTable(this.tables, kind).apply(id, after);
  }

  #undo(changes: readonly Change[]): void {
    for (const { kind, id, before } of changes) anyTable(this.tables, kind).apply(id, before);
  }

  /** Each change builds on the one before, whose changes are in the tables meanwhile. */
  #attemptAll(waiting: readonly Waiting[]): Attempt[] {
    const attempts: Attempt[] = [];
    let next = this.#index + 1n;
    for (const each of waiting) {
      this.#apply(attempts.at(-1)?.changes ?? []);
      const attempt = this.#attempt(each, next);
      attempts.push(attempt);
      if (attempt.changes.length > 0) next += 1n;
    }
    for (const { changes } of attempts.slice(0, -1).toReversed()) this.#undo(changes);
    return attempts;
  }

  #attempt(waiting: Waiting, index: bigint): Attempt {
    try {
      const transaction = new Transaction(this, index);
      const outcome = waiting.build(transaction);
      const changes = transaction.changes();
      this.#demandIndexable(changes);
      return { waiting, changes, isFailed: false, outcome };
    } catch (error) {
      return { waiting, changes: [], isFailed: true, outcome: error };
    }
  }

  #demandIndexable(changes: readonly Change[]): void {
    for (const { kind, after } of changes) if (after) anyTable(this.tables, kind).demandIndexable(after);
  }

  #publish(published: Omit<ChangeSet, 'previousIndex' | 'time'> & { readonly time?: number }): void {
    const set: ChangeSet = { time: this.clock.now(), ...published, previousIndex: this.#index };
    this.#index = set.index;
    withOrigin(set.origin, () => {
      for (const listeners of this.#stages.values()) listeners.call(set);
    });
  }
}

function settle({ waiting: { resolve, reject }, isFailed, outcome }: Attempt): void {
  if (isFailed) reject(outcome);
  else resolve(outcome);
}

/** A write fails with the reason as its cause. */
function isBehind(error: unknown): boolean {
  return error instanceof BehindError || (error instanceof StoreWriteError && error.cause instanceof BehindError);
}

/** The store rejects one change among several, and must be asked for each: the others succeed. */
function isOfOne(error: unknown, waiting: readonly Waiting[]): boolean {
  return waiting.length > 1 && error instanceof StoreWriteError && error.isRejection;
}

/** A stored entity has its kind's type: it was written through the typed methods of a transaction. */
function anyTable(tables: Tables, kind: EntityKind): Table<Entity> {
  return tables[kind];
}

/** Waits two event-loop turns so that concurrent requests join the batch. */
function twoTurns(): Promise<void> {
  return new Promise((done) => setImmediate(() => setImmediate(done)));
}

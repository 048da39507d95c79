// Follows what other controllers change in a shared store. Reads it when the store announces changes and when a request
// waits for them, loads all data when this controller cannot read on, and knows how old its data is. The state calls it
// between its own changes, so that all changes have one order.

import { describeError, InvariantError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { realClock } from '#lib/time/advancing-clock.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { MAX_READ } from './store/change-log.ts';
import { BehindError, HistoryError } from './store/history.ts';
import type { SharedStore } from './store/shared-store.ts';
import { DamagedError, type StoredSet, type StoredState, StoreWriteError } from './store/store.ts';

/** Milliseconds until the changes of other members are read again after an error. */
const RETRY = 1_000;
/** Milliseconds for which a request waits for changes of other controllers before it is rejected. */
const MAX_CATCH_UP_MS = 1_500;
/** Milliseconds for which data counts as current after the store was last read: the lease of a member. */
const MAX_AGE_MS = 10_000;
/** Milliseconds for which a request waits for an index. */
const MAX_WAIT_MS = 2_000;
/** Milliseconds between readings of a request that waits for an index. */
const REACH_INTERVAL = 20;

/** Whether others have made changes: `unread` if the store did not answer, or if this controller does not follow it. */
export type CatchUp = 'new' | 'same' | 'unread';

/** The part for the rest of the program. */
export type Others = Pick<
  OtherControllers,
  'problem' | 'onProblem' | 'catchUp' | 'catchUpTo' | 'isCurrent' | 'reach' | 'rejoin' | 'cutOff'
>;

export interface OtherControllersComponents {
  readonly store: SharedStore;
  /** The data of this controller. */
  readonly state: {
    readonly index: bigint;
    readonly timeline: string;
    readonly ids: IdSource;
    readonly clock: Clock;
    readonly log: Log;
  };
  /** Lets a turn follow soon. */
  wake(): void;
  /** Applies and publishes the next set. */
  add(set: StoredSet): void;
  /** Replaces all data; `timeline` is the id of this history, unless the store has one. */
  replace(data: StoredState, timeline: string): void;
}

export class OtherControllers {
  readonly #components: OtherControllersComponents;
  readonly #state: OtherControllersComponents['state'];
  readonly #store: SharedStore;
  /** For waits on the store. */
  readonly #storeClock: Clock;
  /** Other members have appended changes. */
  #isBehind = false;
  #retry: Timer | undefined;
  /** Why the changes of other members could not be read. */
  #readProblem = '';
  /** The problem that listeners have received. */
  #reported: string | undefined;
  readonly #problems: Listeners<string | undefined>;
  /** Monotonic time at which the changes of all members up to then were known. */
  #knownUntil: number;
  /** Requests to take the data of the store. */
  readonly #rejoining: { resolve(): void; reject(error: unknown): void }[] = [];
  /** Called after the next reading, with whether the store answered. */
  readonly #catchingUp: ((hasRead: boolean) => void)[] = [];
  /** Those that this turn serves. */
  #served: ((hasRead: boolean) => void)[] = [];
  #isClosed = false;

  constructor(components: OtherControllersComponents) {
    const { store, state } = components;
    this.#components = components;
    this.#state = state;
    this.#store = store;
    this.#storeClock = realClock(state.clock);
    this.#knownUntil = state.clock.monotonic();
    this.#problems = new Listeners('problems of the state', state.log);
  }

  /** Begins once the data is loaded: others may have changed it since. */
  start(): void {
    this.#store.onAppended(() => this.#readOn());
    this.#store.onStoreProblem(() => this.#reportProblem());
    this.#store.onRejoin((pending) => void pending.push(this.rejoin()));
    this.#readOn();
  }

  /** Reads no further. */
  stop(): void {
    this.#isClosed = true;
  }

  /** Ends what is waiting, after the last turn. */
  close(): void {
    this.#retry?.cancel();
    for (const resolve of this.#catchingUp.splice(0)) resolve(false);
    this.#problems.clear();
  }

  /** Why this controller does not follow the changes of others, or stores none; undefined if it does. */
  get problem(): string | undefined {
    return this.#readProblem || this.#store.storeProblem || undefined;
  }

  /** Calls `listener` when the problem begins, changes or ends, until the returned function is called. */
  onProblem(listener: (problem: string | undefined) => void): () => void {
    return this.#problems.add(listener);
  }

  /**
   * Reads the changes that other members have made until now. A request that finds nothing asks: its entity may be new.
   * Strangers can ask, too, so all that ask during one reading share the next one.
   */
  async catchUp(milliseconds = MAX_CATCH_UP_MS): Promise<CatchUp> {
    if (this.#store.isImmediate) return 'same';
    if (this.#isClosed) return 'unread';
    const before = this.#state.index;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // A database that hangs does not hold up what needs no change.
    const timer = this.#storeClock.after('reading on', Math.min(milliseconds, MAX_CATCH_UP_MS), () => resolve(false));
    this.#catchingUp.push(resolve);
    this.#readOn();
    const hasRead = await promise;
    timer.cancel();
    if (this.#state.index > before) return 'new';
    return hasRead ? 'same' : 'unread';
  }

  /** As `catchUp`, and goes on while there are changes before the index `to`. */
  async catchUpTo(to: bigint): Promise<CatchUp> {
    const end = this.#storeClock.monotonic() + MAX_WAIT_MS;
    const first = await this.catchUp();
    let last = first;
    while (last === 'new' && this.#state.index < to && this.#storeClock.monotonic() < end) last = await this.catchUp();
    return last === 'unread' ? last : first;
  }

  /**
   * Whether this member knows what others have changed until MAX_AGE_MS ago. A member without news for as long asks the
   * store; one that does not follow answers at once.
   */
  async isCurrent(): Promise<boolean> {
    if (this.#store.isImmediate) return true;
    let caughtUp: CatchUp = 'new';
    while (this.#isAged && this.#readProblem === '' && caughtUp === 'new') caughtUp = await this.catchUp();
    return caughtUp === 'same' || !this.#isAged; // the lab may have moved its clock during the answer
  }

  get #isAged(): boolean {
    return this.#state.clock.monotonic() - this.#knownUntil > MAX_AGE_MS;
  }

  /**
   * Waits until this member has the change with this index, for at most so many milliseconds. @returns whether it has
   */
  async reach(index: bigint, milliseconds = MAX_WAIT_MS): Promise<boolean> {
    const end = this.#storeClock.monotonic() + milliseconds;
    const rest = () => Math.max(0, end - this.#storeClock.monotonic());
    while (this.#state.index < index) {
      if (rest() === 0 || this.#store.isImmediate || this.#isClosed) return false;
      // A database that is away answers at once, again and again.
      if ((await this.catchUp(rest())) !== 'new' && this.#state.index < index)
        await this.#storeClock.sleep(Math.min(REACH_INTERVAL, rest()), { name: 'data index' });
    }
    return true;
  }

  /**
   * Takes the data of the store in place of its own, whose changes may be lost. Rejects with StoreError or
   * DamagedError; nothing has then changed.
   */
  rejoin(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#isClosed) reject(new InvariantError('the state is closed'));
    else this.#rejoining.push({ resolve, reject });
    this.#readOn();
    return promise;
  }

  /** Cuts this member off the store, or ends that. */
  cutOff(isCutOff: boolean): void {
    if (this.#store.isImmediate) this.#knownUntil = this.#state.clock.monotonic();
    this.#store.cutOff(isCutOff);
    this.#readOn();
  }

  /** Whether a turn has something to do. */
  get isWaiting(): boolean {
    return this.#isBehind || this.isRejoining;
  }

  /** Whether somebody wants this controller to take the data of the store, before the next changes are built. */
  get isRejoining(): boolean {
    return this.#rejoining.length > 0;
  }

  /** Takes the data of the store. */
  async takeAll(): Promise<void> {
    const rejoining = this.#rejoining.splice(0);
    try {
      await this.#reload({ isWanted: true });
      for (const { resolve } of rejoining) resolve();
    } catch (error) {
      for (const { reject } of rejoining) reject(error);
    }
  }

  /** From now on, requests wait for the next turn. */
  beginTurn(): void {
    this.#served = this.#catchingUp.splice(0);
  }

  /**
   * Reads on for the requests of this turn, unless a change was appended: that has read, too. An idle turn reads in any
   * case.
   */
  endTurn({ isRead, isIdle }: { readonly isRead: boolean; readonly isIdle: boolean }): Promise<void> | undefined {
    if (isIdle || (!isRead && this.#served.length > 0)) return this.#follow().then((hasRead) => this.#serve(hasRead));
    this.#serve(isRead);
    return undefined;
  }

  #serve(hasRead: boolean): void {
    for (const resolve of this.#served.splice(0)) resolve(hasRead);
  }

  /** All that others have changed up to this monotonic time is known. */
  noteKnown(until: number): void {
    this.#knownUntil = until;
  }

  /** Loads all data after an error of `append`. @returns whether that can be tried again */
  async recover(error: unknown): Promise<boolean> {
    // A write fails with the reason as its cause.
    if (!((error instanceof StoreWriteError ? error.cause : error) instanceof BehindError)) return false;
    try {
      await this.#reload();
      return true;
    } catch (problem) {
      this.#state.log.warn({ error: describeError(problem) }, 'the data of the store could not be loaded');
      return false;
    }
  }

  /** Other members have appended changes. */
  #readOn(): void {
    if (this.#isClosed) return;
    this.#isBehind = true;
    this.#components.wake();
  }

  /** @returns whether the store answered */
  async #follow(): Promise<boolean> {
    this.#isBehind = false;
    const began = this.#state.clock.monotonic();
    try {
      if (await this.#readNext()) this.#knownUntil = began;
      this.#noteProblem('');
      return true;
    } catch (error) {
      const problem = describeError(error);
      const isSerious = error instanceof HistoryError || error instanceof DamagedError;
      if (problem !== this.#readProblem)
        this.#state.log[isSerious ? 'error' : 'warn'](
          { error: problem, index: String(this.#state.index) },
          'the changes of other controllers could not be read, retrying',
        );
      this.#noteProblem(problem); // is logged once
      this.#retry ??= this.#storeClock.after('changes of others', RETRY, () => {
        this.#retry = undefined;
        this.#readOn();
      });
      return false;
    }
  }

  /** @returns false if there are more: a full page was read */
  async #readNext(): Promise<boolean> {
    try {
      const sets = await this.#store.read(this.#state.index);
      for (const set of sets) this.#components.add(set);
      return sets.length < MAX_READ;
    } catch (error) {
      if (!(error instanceof BehindError)) throw error;
      await this.#reload();
      return true;
    }
  }

  #noteProblem(problem: string): void {
    if (problem === this.#readProblem) return;
    this.#readProblem = problem;
    this.#store.noteProblem(problem === '' ? undefined : problem);
    this.#reportProblem();
  }

  #reportProblem(): void {
    const { problem } = this;
    if (problem === this.#reported) return;
    this.#reported = problem;
    this.#problems.call(problem);
  }

  /** Replaces all data by that of the store. */
  async #reload({ isWanted = false } = {}): Promise<void> {
    const began = this.#state.clock.monotonic();
    const { index: after, timeline, ids } = this.#state;
    const next = ids.uuid();
    await this.#store.reload({ after, timeline, next, isWanted }, (data) => this.#components.replace(data, next));
    this.#knownUntil = began;
    this.#state.log.warn(
      { index: String(this.#state.index), before: String(after) },
      'this controller has taken the data of the store',
    );
  }
}

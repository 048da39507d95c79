// A store that several controllers share, on a log of changes in a database. Each set of changes is one entry; the lock
// of the head gives the entries one order. A chain of hashes (history.ts) shows whether the log still has the history
// that this member knows: it neither follows nor extends another one.
//
//   append: lock, head and missed entries ─► check the chain ─► prepare ─► entries, entities, head ─► commit
//
// A member that writes alone prepares first, and appends in one statement that demands the head that it knows.

import { background } from '#lib/background.ts';
import { ProjectError, TimeoutError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { Subscription } from '#lib/subscription.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Change } from '../change.ts';
import type { Batch, ChangeLog, Head, LogEntry, LogOwner, LogPage, MemberStatus } from './change-log.ts';
import { databaseProblem } from './database-problem.ts';
import {
  BehindError,
  describePosition,
  HistoryError,
  isPrefix,
  mayContinue,
  nextChain,
  type Position,
} from './history.ts';
import type { Registry, Reloaded, SharedStore } from './shared-store.ts';
import { checkedHash } from './state-check.ts';
import { hashAfter, hashText, NO_ENTITIES } from './state-hash.ts';
import {
  DamagedError,
  type NewSet,
  type Prepare,
  type StoredSet,
  type StoredState,
  StoreError,
  StoreWriteError,
} from './store.ts';
import { readSet } from './stored-set.ts';

/** Entries that the log keeps for members that were disconnected. */
const HISTORY = 100_000;
/** Milliseconds after which a database that did not store a change is tried again. */
const TRIAL_INTERVAL = 1_000;
/** Older entries are deleted after this many new ones. */
const PRUNE_INTERVAL = 1_000n;

export interface LogStoreComponents {
  readonly clock: Clock;
  readonly log: Log;
  /** Entries that the log keeps; default 100,000. */
  readonly history?: number;
}

/** Entries between two are missing. Whether they were pruned is decided without the lock. */
class GapError extends StoreError {
  readonly head: Position;
  readonly after: bigint;

  constructor(after: bigint, head: Position) {
    super(`the change ${after + 1n} is missing in the database`);
    this.after = after;
    this.head = head;
  }
}

/** The state of log and entities after an entry. */
interface End {
  readonly chain: string;
  /** The hash of all entities. */
  readonly hash: bigint;
}

const EMPTY_LOG: End = { chain: '', hash: NO_ENTITIES };

interface BuiltBatch extends Batch {
  /** By the index of the entry. */
  readonly ends: ReadonlyMap<bigint, End>;
}

export class LogStore implements SharedStore {
  readonly registry: Registry;
  readonly isImmediate = false;
  readonly #log: ChangeLog;
  readonly #components: LogStoreComponents;
  readonly #history: bigint;
  readonly #appended: Listeners<void>;
  readonly #rejoins: Listeners<Promise<void>[]>;
  /** Index of the last set that this member knows. */
  #index = 0n;
  #timeline = '';
  /** The timeline for routers, as this member has loaded or stored it. */
  #routerTimeline: string | undefined;
  /** The meta has another one: the database is another copy, or somebody has taken one. */
  #isReplaced = false;
  /** At each index that the caller may continue from. */
  readonly #ends = new Map<bigint, End>();
  /** The last append has missed nothing, so that the next one may be built before it asks. */
  #isAlone = true;
  /** For the log: why changes were not stored. */
  readonly #rejected: RepeatedCondition;
  /** Why changes cannot be stored. */
  #storeProblem = '';
  readonly #storeProblems: Listeners<void>;
  #trial: Timer | undefined;
  #isClosed = false;
  /** Why the caller does not follow. */
  #readProblem = '';

  /** `openLog` is called once. */
  constructor(openLog: (owner: LogOwner) => ChangeLog, components: LogStoreComponents) {
    this.#components = components;
    this.#history = BigInt(components.history ?? HISTORY);
    this.#appended = new Listeners('changes of other members', components.log);
    this.#rejected = new RepeatedCondition(components.clock);
    this.#storeProblems = new Listeners('problems of the database', components.log);
    this.#rejoins = new Listeners('requests to rejoin', components.log);
    this.#log = openLog({
      status: () => this.#status(),
      appended: (head) => this.#onHead(head),
      notRenewed: (error) => this.#cannotStore(databaseProblem(error)),
      rejoin: () => this.#rejoin(),
    });
    this.registry = this.#log.registry;
  }

  async load(): Promise<StoredState> {
    let hash = NO_ENTITIES;
    const { position, state } = await this.#log.load(async (loaded, { entriesAfter }) => {
      hash = await checkedHash(loaded, entriesAfter);
      return new Map();
    });
    this.#take(position, state, hash);
    return state;
  }

  async reload({ after, timeline, next, isWanted }: Reloaded, apply: (state: StoredState) => void): Promise<void> {
    const own = this.#positionAt(after);
    const { reported } = this.#log;
    let hash = NO_ENTITIES;
    const { position, state } = await this.#log.load(async (loaded, { chainAt, entriesAfter }) => {
      const continues = (await isPrefix(own, loaded.position, { chainAt, reported })) === true;
      if (!continues && !isWanted) throw new HistoryError(own, loaded.position); // it was restored meanwhile
      hash = await checkedHash(loaded, entriesAfter, { isWanted });
      // Routers must not continue from their index in another history or copy. The first member to load changes the id.
      const known = loaded.state.meta.get('timeline');
      const isKept = known !== undefined && (continues || known !== timeline);
      return isKept ? new Map() : new Map([['timeline', next]]);
    });
    apply(state);
    this.#take(position, state, hash);
  }

  #take({ index, timeline, chain }: Position, { meta }: StoredState, hash: bigint): void {
    this.#routerTimeline = meta.get('timeline');
    this.#isReplaced = false;
    this.#index = index;
    this.#timeline = timeline;
    this.#ends.clear();
    this.#ends.set(index, { chain, hash });
  }

  async append(after: bigint, prepare: Prepare): Promise<bigint[]> {
    try {
      const indexesAtOnce = this.#isAlone ? await this.#appendAtOnce(after, prepare([])) : undefined;
      if (indexesAtOnce) return indexesAtOnce;
      let written: BuiltBatch | undefined;
      await this.#log.append(after, async ({ head, entries }, more) => {
        const own = this.#from(after);
        if (!mayContinue(own, head)) throw new HistoryError(own, head);
        const missed: StoredSet[] = [];
        this.#isAlone = head.index === after;
        for (let page = entries, at = after; at < head.index; page = at < head.index ? await more(at) : []) {
          missed.push(...this.#continue(page, at, head));
          at = missed.at(-1)?.index ?? at;
        }
        if (this.#ends.get(head.index)?.chain !== head.chain)
          throw new HistoryError(this.#positionAt(head.index), head);
        const sets = prepare(missed);
        this.#index = head.index; // the caller has what it missed, whatever becomes of its own sets
        const batch = this.#batch(head, sets);
        written = batch;
        return batch;
      });
      return written ? this.#written(written) : [];
    } catch (error) {
      throw this.#rejection(error instanceof GapError ? await this.#explain(error) : error);
    }
  }

  /**
   * In one round trip, which the lock lasts for no part of. Resolves with undefined if there is nothing to append, or
   * if others have appended since.
   */
  async #appendAtOnce(after: bigint, sets: readonly NewSet[]): Promise<bigint[] | undefined> {
    const base = this.#from(after);
    const batch = this.#batch(base, sets);
    if (sets.length === 0 || batch.prunedTo !== undefined) return undefined;
    this.#isAlone = await this.#log.appendAt(base, batch);
    return this.#isAlone ? this.#written(batch) : undefined;
  }

  #written({ ends }: BuiltBatch): bigint[] {
    for (const [index, end] of ends) this.#ends.set(index, end);
    const indexes = [...ends.keys()];
    this.#index = indexes.at(-1) ?? this.#index;
    this.#setStoreProblem('');
    return indexes;
  }

  #batch(head: Position, sets: readonly NewSet[]): BuiltBatch {
    let last = head;
    let { hash } = this.#endAt(head.index);
    const ends = new Map<bigint, End>();
    const entries = sets.map((set) => {
      hash = hashAfter(hash, set.changes);
      const body = JSON.stringify({ ...set, state: hashText(hash) });
      const index = last.index + 1n;
      const chain = nextChain(last.chain, index, body);
      last = { ...head, index, chain };
      ends.set(index, { chain, hash });
      return { index, body, chain };
    });
    // The last state of each entity: a statement may change a row only once.
    const final = new Map<string, Change>();
    for (const change of sets.flatMap(({ changes }) => changes)) final.set(`${change.kind} ${change.id}`, change);
    const isPruned = head.index / PRUNE_INTERVAL !== last.index / PRUNE_INTERVAL && last.index > this.#history;
    const prunedTo = isPruned ? last.index - this.#history : undefined;
    return { entries, ends, changes: [...final.values()], prunedTo };
  }

  #rejection(error: unknown): StoreWriteError {
    const problem = databaseProblem(error);
    const isRejection = isRejectionOf(error);
    if (isRejection) this.#logProblem(problem);
    else this.#cannotStore(problem);
    // Whatever was stored after all is read with the next changes.
    const remedy = isRejection ? 'change it' : 'try again';
    const text = `the database did not store the change: ${problem}; ${remedy}`;
    return new StoreWriteError(text, { isRejection, isLogged: true, cause: error });
  }

  #logProblem(problem: string): void {
    if (this.#rejected.happened(problem))
      this.#components.log.warn({ error: problem }, 'the database does not store changes');
  }

  /** Idle members have no change that shows the end of the problem: they try whether one could be stored. */
  #cannotStore(problem: string): void {
    if (this.#isClosed) return;
    this.#logProblem(problem);
    this.#setStoreProblem(`the database does not store changes: ${problem}`);
    this.#trial ??= this.#components.clock.after('trial of the database', TRIAL_INTERVAL, () =>
      background(this.#components.log, 'trial of the database', this.#tryAgain()),
    );
  }

  async #tryAgain(): Promise<void> {
    this.#trial = undefined;
    try {
      await this.#log.tryAppend();
      this.#rejected.ended();
      this.#setStoreProblem('');
    } catch (error) {
      this.#cannotStore(databaseProblem(error));
    }
  }

  #setStoreProblem(problem: string): void {
    if (problem === this.#storeProblem) return;
    this.#storeProblem = problem;
    this.#storeProblems.call();
    this.registry.renew();
  }

  get storeProblem(): string {
    return this.#storeProblem;
  }

  onStoreProblem(listener: () => void): Subscription {
    return this.#storeProblems.add(listener);
  }

  async read(after: bigint): Promise<readonly StoredSet[]> {
    const { head, entries } = await this.#readLog(after);
    const own = this.#from(after);
    if (!mayContinue(own, head)) throw new HistoryError(own, head);
    let sets: StoredSet[] = [];
    try {
      if (head.index > after) sets = this.#continue(entries, after, head);
    } catch (error) {
      throw error instanceof GapError ? await this.#explain(error) : error;
    }
    if (this.#isReplaced) throw new BehindError('the database is another copy of the data');
    this.#index = sets.at(-1)?.index ?? after;
    if (this.#index < head.index) this.#appended.call(); // there are more, or the next one is missing
    return sets;
  }

  /** Strangers see why a member does not follow: the text names neither the address nor the user of the database. */
  async #readLog(after: bigint): Promise<LogPage> {
    try {
      return await this.#log.read(after);
    } catch (error) {
      if (error instanceof ProjectError && !(error instanceof TimeoutError)) throw error;
      throw new StoreError(`the database cannot be read: ${databaseProblem(error)}`);
    }
  }

  onAppended(listener: () => void): Subscription {
    return this.#appended.add(listener);
  }

  onRejoin(listener: (pending: Promise<void>[]) => void): Subscription {
    return this.#rejoins.add(listener);
  }

  noteProblem(problem: string | undefined): void {
    this.#readProblem = problem ?? '';
    this.registry.renew();
  }

  cutOff(isCutOff: boolean): void {
    this.#log.cutOff(isCutOff);
    this.#appended.call(); // reading on shows whether it follows
  }

  starting<T>(work: () => Promise<T>): Promise<T> {
    return this.#log.starting(work);
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    try {
      await this.#log.putMeta(values);
      this.#routerTimeline = values.get('timeline') ?? this.#routerTimeline;
    } catch (error) {
      throw new StoreWriteError(`the database did not store the change: ${databaseProblem(error)}`, { cause: error });
    }
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#trial?.cancel();
    return this.#log.close();
  }

  #status(): MemberStatus {
    return { position: this.#positionAt(this.#index), problem: this.#readProblem || this.#storeProblem };
  }

  /** The position from which the caller continues: it does not go back. */
  #from(index: bigint): Position {
    for (const known of this.#ends.keys()) if (known < index) this.#ends.delete(known);
    return this.#positionAt(index);
  }

  #positionAt(index: bigint): Position {
    return { timeline: this.#timeline, index, chain: this.#endAt(index).chain };
  }

  #endAt(index: bigint): End {
    return this.#ends.get(index) ?? EMPTY_LOG;
  }

  /**
   * The sets of entries after an index; entries are committed in their order, so none is missing between them. @throws
   * HistoryError for an entry that does not continue the chain, GapError for a missing one, DamagedError for an entry
   * whose author had other entities
   */
  #continue(entries: readonly LogEntry[], after: bigint, head: Position): StoredSet[] {
    let { chain, hash } = this.#endAt(after);
    if (entries.length === 0) throw new GapError(after, head);
    return entries.map((entry, position) => {
      const index = after + BigInt(position + 1);
      if (entry.index !== index) throw new GapError(index - 1n, head);
      const set = readSet(entry);
      const own = chain;
      chain = nextChain(chain, index, entry.body);
      if (entry.chain !== chain)
        throw new HistoryError(
          { timeline: this.#timeline, index: index - 1n, chain: own },
          { timeline: this.#timeline, index, chain: entry.chain },
        );
      hash = hashAfter(hash, set.changes);
      if (set.state !== undefined && set.state !== hashText(hash))
        throw new DamagedError(
          'change',
          String(index),
          'its author had other entities than this controller; to take those of the database, use sim cluster rejoin',
        );
      this.#ends.set(index, { chain, hash });
      return set;
    });
  }

  /** Whether this member is too far behind, or something is wrong with the log. */
  async #explain({ after, head }: GapError): Promise<StoreError> {
    const missing = after + 1n;
    if (missing > head.index - this.#history)
      return new StoreError(`the change ${missing} is missing in the database; restore it, or use sim cluster rejoin`);
    const own = this.#positionAt(after);
    const { reported } = this.#log;
    const contains = await isPrefix(own, head, { chainAt: (index) => this.#log.chainAt(index), reported });
    if (contains)
      return new BehindError(
        `the database no longer has the changes between ${describePosition(own)} and ${describePosition(head)}`,
      );
    if (contains === false) return new HistoryError(own, head);
    return new StoreError(
      `the change ${missing} is no longer in the database, nor what shows whether its history is that of this controller; to take its data, use sim cluster rejoin`,
    );
  }

  /** A smaller index, or another history at this one, shows that the database went back: reading on reports it. */
  #onHead(head: Head): void {
    const own = this.#positionAt(this.#index);
    const { index, chain = own.chain, timeline = own.timeline, routerTimeline } = head;
    const known = this.#routerTimeline; // undefined before the first one is stored
    if (routerTimeline !== undefined && known !== undefined) this.#isReplaced = routerTimeline !== known;
    if (index !== own.index || chain !== own.chain || timeline !== own.timeline || this.#isReplaced)
      this.#appended.call();
  }

  async #rejoin(): Promise<void> {
    const pending: Promise<void>[] = [];
    this.#rejoins.call(pending);
    await Promise.all(pending);
  }
}

/**
 * Data exceptions, violated constraints, and exceeded limits of the program: the data is at fault, not the database. A
 * row that exists already is one of the log that somebody else has added.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isRejectionOf(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '23505' && /^(?:22|23|54)[\dA-Z]{3}$/.test(code);
}

// A store that several controllers in one process share, in memory: a cluster for tests without a database.

import { Listeners } from '#lib/listeners.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import { Turns } from '#lib/queue/turns.ts';
import type { Subscription } from '#lib/subscription.ts';
import type { Entity } from '../entity.ts';
import type { EntityKind } from '../kinds.ts';
import { BehindError } from './history.ts';
import {
  type Attempts,
  CutOffError,
  type Member,
  type MemberInfo,
  type Membership,
  memberKeys,
  type Progress,
  type Registry,
  type Reloaded,
  requireFree,
  type SharedStore,
} from './shared-store.ts';
import { type NewSet, type Prepare, type StoredSet, type StoredState, StoreWriteError } from './store.ts';

/** Limit on sets that wait for a member that is cut off: it then loads all data again. */
const MAX_SETS = 100_000;
/** Limit on counts of failed proofs: the oldest one makes room. */
const MAX_ATTEMPTS = 10_000;

/** The data of simulators in one process. Opaque: create one, and pass it as the option `store` to each of them. */
export interface CommonMemory {
  readonly [Symbol.toStringTag]: 'SharedMemory';
}

/** The data and the list of all members. */
export class SharedMemory implements CommonMemory {
  readonly [Symbol.toStringTag] = 'SharedMemory';
  readonly #entities = new Map<string, { readonly kind: EntityKind; readonly entity: Entity }>();
  readonly #meta = new Map<string, string>();
  readonly #stores = new Set<SharedMemoryStore>();
  readonly #members = new Map<string, Member>();
  readonly #onMembers = new Set<() => void>();
  /** The sets that some member has not read. */
  #sets: StoredSet[] = [];
  #unread: { readonly index: bigint; resolve(): void }[] = [];
  readonly #attempts = new BoundedMap<string, { count: number; since: number }>(MAX_ATTEMPTS);
  #index = 0n;
  #membersIndex = 0n;
  #leaderIndex = 0n;
  #leaderId: string | undefined;
  readonly #starting = new Turns();

  /** The store of one more member. */
  open(log: Log = silentLog): SharedMemoryStore {
    return new SharedMemoryStore(this, log);
  }

  /** All data, for a member that follows it from now on. */
  state(store: SharedMemoryStore): StoredState {
    this.#stores.add(store);
    return { index: this.#index, entities: [...this.#entities.values()], meta: new Map(this.#meta) };
  }

  putMeta(values: ReadonlyMap<string, string>): void {
    for (const [key, value] of values) this.#meta.set(key, value);
  }

  /** @throws BehindError if the next one was forgotten */
  since(index: bigint): StoredSet[] {
    const [oldest] = this.#sets;
    if (this.#index > index && (!oldest || oldest.index > index + 1n))
      throw new BehindError(`the changes between ${index} and ${this.#index} are forgotten`);
    return this.#sets.filter((set) => set.index > index);
  }

  append(author: SharedMemoryStore, sets: readonly NewSet[]): bigint[] {
    const indexes = sets.map((set) => {
      this.#index += 1n;
      this.#sets.push({ ...set, index: this.#index });
      for (const { kind, id, after } of set.changes) {
        if (after) this.#entities.set(`${kind} ${id}`, { kind, entity: after });
        else this.#entities.delete(`${kind} ${id}`);
      }
      return this.#index;
    });
    if (sets.length > 0) for (const store of this.#stores) if (store !== author) store.appended();
    return indexes;
  }

  /** Resolves when every member has read this set: a change that was acknowledged is visible at all of them. */
  readByAll(index: bigint): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#unread.push({ index, resolve });
    this.noteRead();
    return promise;
  }

  /** A member has read on, or is gone: forgets the sets that nobody needs. */
  noteRead(): void {
    const stores = [...this.#stores];
    const reachable = stores.filter(({ isCutOff }) => !isCutOff);
    const isRead = ({ index }: { readonly index: bigint }) => reachable.every((store) => store.index >= index);
    this.#sets = this.#sets.filter((set) => stores.some((store) => store.index < set.index)).slice(-MAX_SETS);
    const [done, unread] = [this.#unread.filter(isRead), this.#unread.filter((each) => !isRead(each))];
    this.#unread = unread;
    for (const { resolve } of done) resolve();
  }

  readonly attempts: Attempts = {
    add: async (key, now, milliseconds) => {
      const known = this.#attempts.get(key);
      const attempts = known && now - known.since < milliseconds ? known : { count: 0, since: now };
      attempts.count++;
      this.#attempts.set(key, attempts);
      return attempts.count;
    },
    clear: async (key) => void this.#attempts.delete(key),
  };

  starting<T>(work: () => Promise<T>): Promise<T> {
    return this.#starting.run(work);
  }

  closed(store: SharedMemoryStore): void {
    this.#stores.delete(store);
    this.noteRead();
  }

  onMembers(listener: () => void): () => void {
    const own = () => listener();
    this.#onMembers.add(own);
    return () => void this.#onMembers.delete(own);
  }

  /** All members have what was acknowledged. */
  get progress(): Progress {
    const stores = [...this.#stores].flatMap(({ id, index }) => (id === undefined ? [] : [[id, index] as const]));
    return { head: this.#index, reportedHead: this.#index, members: new Map(stores) };
  }

  async rejoin(id: string): Promise<boolean> {
    const store = [...this.#stores].find((each) => each.id === id);
    if (!store || !this.#members.get(id)?.isConnected) return false;
    await store.rejoin();
    return true;
  }

  /** How many listeners wait for changes of the members. */
  get listening(): number {
    return this.#onMembers.size;
  }

  membership(): Membership {
    return {
      index: this.#membersIndex,
      members: [...this.#members.values()],
      leaderId: this.#leaderId,
      leaderIndex: this.#leaderIndex,
    };
  }

  join(member: MemberInfo): void {
    this.#members.set(member.id, { ...member, isConnected: true });
    this.#changed();
  }

  disconnect(id: string): void {
    const member = this.#members.get(id);
    if (!member) return;
    this.#members.set(id, { ...member, isConnected: false });
    this.#changed();
  }

  remove(id: string): boolean {
    if (!this.#members.delete(id)) return false;
    for (const key of memberKeys(id)) this.#meta.delete(key);
    this.#changed();
    return true;
  }

  transfer(id: string): boolean {
    if (!this.#members.get(id)?.isConnected) return false;
    this.#lead(id);
    this.#changed();
    return true;
  }

  /** The member that joined first leads until it stops. */
  #changed(): void {
    this.#membersIndex += 1n;
    const connected = [...this.#members.values()].filter(({ isConnected }) => isConnected);
    if (!connected.some(({ id }) => id === this.#leaderId)) this.#lead(connected[0]?.id);
    for (const listener of this.#onMembers) listener();
  }

  #lead(id: string | undefined): void {
    if (id === this.#leaderId) return;
    this.#leaderId = id;
    this.#leaderIndex += 1n;
  }
}

/** The view of one member. */
export class SharedMemoryStore implements SharedStore {
  readonly registry: Registry;
  readonly #shared: SharedMemory;
  readonly #appended: Listeners<void>;
  readonly #rejoins: Listeners<Promise<void>[]>;
  readonly #cutOffs: Listeners<void>;
  #index = 0n;
  #info: MemberInfo | undefined;
  /** The members as this one knows them while it is cut off. */
  #known: Membership | undefined;

  constructor(shared: SharedMemory, log: Log) {
    this.#shared = shared;
    this.#appended = new Listeners('changes of other members', log);
    this.#rejoins = new Listeners('requests to rejoin', log);
    this.#cutOffs = new Listeners('partitions', log);
    const reached = () => {
      if (this.isCutOff) throw rejected();
      return shared;
    };
    this.registry = {
      attempts: {
        add: async (...attempt) => reached().attempts.add(...attempt),
        clear: async (key) => reached().attempts.clear(key),
      },
      get progress() {
        return shared.progress;
      },
      rejoin: async (id) => reached().rejoin(id),
      renew: () => undefined,
      claim: async (id) => requireFree(id, shared.membership().members),
      join: async (member) => {
        this.#info = member;
        shared.join(member);
      },
      leave: async () => {
        if (this.id !== undefined) shared.disconnect(this.id);
      },
      remove: async (id) => reached().remove(id),
      transfer: async (id) => reached().transfer(id),
      read: async () => this.#known ?? shared.membership(),
      onChange: (listener) => shared.onMembers(listener),
    };
  }

  /** The member's id, once it has joined. */
  get id(): string | undefined {
    return this.#info?.id;
  }

  get isCutOff(): boolean {
    return this.#known !== undefined;
  }

  get isImmediate(): boolean {
    return !this.isCutOff;
  }

  cutOff(isCutOff: boolean): void {
    if (isCutOff === this.isCutOff) return;
    this.#known = isCutOff ? this.#shared.membership() : undefined;
    if (isCutOff && this.id !== undefined) this.#shared.disconnect(this.id);
    if (!isCutOff && this.#info) this.#shared.join(this.#info);
    this.#shared.noteRead(); // others no longer wait for it
    this.#cutOffs.call();
  }

  /** Index of the last set that this member has read. */
  get index(): bigint {
    return this.#index;
  }

  load(): Promise<StoredState> {
    const state = this.#shared.state(this);
    this.#index = state.index;
    return Promise.resolve(state);
  }

  async append(after: bigint, prepare: Prepare): Promise<bigint[]> {
    if (this.isCutOff) throw rejected();
    const missed = this.#after(after);
    const indexes = this.#shared.append(this, prepare(missed));
    this.#index = indexes.at(-1) ?? this.#index;
    await this.#shared.readByAll(this.#index);
    return indexes;
  }

  async read(after: bigint): Promise<readonly StoredSet[]> {
    if (this.isCutOff) throw new CutOffError();
    return this.#after(after);
  }

  async reload(_own: Reloaded, apply: (state: StoredState) => void): Promise<void> {
    if (this.isCutOff) throw new CutOffError();
    apply(await this.load());
  }

  onAppended(listener: () => void): Subscription {
    return this.#appended.add(listener);
  }

  onRejoin(listener: (pending: Promise<void>[]) => void): Subscription {
    return this.#rejoins.add(listener);
  }

  async rejoin(): Promise<void> {
    const pending: Promise<void>[] = [];
    this.#rejoins.call(pending);
    await Promise.all(pending);
  }

  get storeProblem(): string {
    return this.isCutOff ? new CutOffError().message : '';
  }

  onStoreProblem(listener: () => void): Subscription {
    return this.#cutOffs.add(listener);
  }

  noteProblem(): void {
    // nothing goes wrong in the memory of one process
  }

  starting<T>(work: () => Promise<T>): Promise<T> {
    return this.#shared.starting(work);
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    if (this.isCutOff) throw rejected();
    this.#shared.putMeta(values);
  }

  close(): Promise<void> {
    this.#shared.closed(this);
    return Promise.resolve();
  }

  appended(): void {
    this.#appended.call();
  }

  #after(index: bigint): StoredSet[] {
    const missed = this.#shared.since(index);
    this.#index = missed.at(-1)?.index ?? this.#index;
    // Once the caller has applied them, which it does in this turn.
    if (missed.length > 0) setImmediate(() => this.#shared.noteRead());
    return missed;
  }
}

function rejected(): StoreWriteError {
  const cause = new CutOffError();
  return new StoreWriteError(`the change was not stored: ${cause.message}`, { cause });
}

// A store that several controllers in one process share, in memory: a cluster for tests without a database.

import type { Entity, EntityKind } from '../types.ts';
import {
  type Attempts,
  demandFree,
  type Member,
  type MemberInfo,
  type Membership,
  memberKeys,
  type NewSet,
  type Progress,
  type Registry,
  type Reloaded,
  type SharedStore,
  type StoredSet,
} from './shared-store.ts';
import type { StoredState } from './store.ts';

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
  readonly #attempts = new Map<string, { count: number; since: number }>();
  #index = 0n;
  #membersIndex = 0n;
  #leaderIndex = 0n;
  #leaderId: string | undefined;
  #starting: Promise<unknown> = Promise.resolve();

  /** The store of one more member. */
  open(): SharedMemoryStore {
    return new SharedMemoryStore(this);
  }

  /** All data, for a member that follows it from now on. */
  state(store: SharedMemoryStore): StoredState {
    this.#stores.add(store);
    return { index: this.#index, entities: [...this.#entities.values()], meta: new Map(this.#meta) };
  }

  putMeta(values: ReadonlyMap<string, string>): void {
    for (const [key, value] of values) this.#meta.set(key, value);
  }

  since(index: bigint): StoredSet[] {
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
    const isRead = ({ index }: { readonly index: bigint }) => [...this.#stores].every((store) => store.index >= index);
    this.#sets = this.#sets.filter((set) => !isRead(set));
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
      const [oldest] = this.#attempts.keys();
      if (oldest !== undefined && this.#attempts.size > MAX_ATTEMPTS) this.#attempts.delete(oldest);
      return attempts.count;
    },
    clear: async (key) => void this.#attempts.delete(key),
  };

  starting<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#starting.then(work);
    this.#starting = done.catch(() => undefined); // its caller handles the error
    return done;
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
    return { head: this.#index, members: new Map(stores) };
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
  readonly isImmediate = true;
  readonly #shared: SharedMemory;
  readonly #onAppended: (() => void)[] = [];
  #onRejoin: () => Promise<void> = async () => undefined;
  #index = 0n;
  #id: string | undefined;

  constructor(shared: SharedMemory) {
    this.#shared = shared;
    this.registry = {
      attempts: shared.attempts,
      get progress() {
        return shared.progress;
      },
      rejoin: (id) => shared.rejoin(id),
      renew: () => undefined,
      claim: async (id) => demandFree(id, shared.membership().members),
      join: async (member) => {
        this.#id = member.id;
        shared.join(member);
      },
      leave: async () => {
        if (this.#id !== undefined) shared.disconnect(this.#id);
      },
      remove: async (id) => shared.remove(id),
      transfer: async (id) => shared.transfer(id),
      read: async () => shared.membership(),
      onChange: (listener) => shared.onMembers(listener),
    };
  }

  /** The member's id, once it has joined. */
  get id(): string | undefined {
    return this.#id;
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

  async append(after: bigint, prepare: (missed: readonly StoredSet[]) => readonly NewSet[]): Promise<bigint[]> {
    const missed = this.#after(after);
    const indexes = this.#shared.append(this, prepare(missed));
    this.#index = indexes.at(-1) ?? this.#index;
    await this.#shared.readByAll(this.#index);
    return indexes;
  }

  async read(after: bigint): Promise<readonly StoredSet[]> {
    return this.#after(after);
  }

  async reload(_own: Reloaded, apply: (state: StoredState) => void): Promise<void> {
    apply(await this.load());
  }

  onAppended(listener: () => void): void {
    this.#onAppended.push(listener);
  }

  onRejoin(listener: () => Promise<void>): void {
    this.#onRejoin = listener;
  }

  rejoin(): Promise<void> {
    return this.#onRejoin();
  }

  noteProblem(): void {
    // nothing goes wrong in the memory of one process
  }

  starting<T>(work: () => Promise<T>): Promise<T> {
    return this.#shared.starting(work);
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    this.#shared.putMeta(values);
  }

  close(): Promise<void> {
    this.#shared.closed(this);
    return Promise.resolve();
  }

  appended(): void {
    for (const listener of this.#onAppended) listener();
  }

  #after(index: bigint): StoredSet[] {
    const missed = this.#shared.since(index);
    this.#index = missed.at(-1)?.index ?? this.#index;
    // Once the caller has applied them, which it does in this turn.
    if (missed.length > 0) setImmediate(() => this.#shared.noteRead());
    return missed;
  }
}

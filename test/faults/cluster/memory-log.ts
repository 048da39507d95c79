// A database for several controllers, in the memory of a test: it commits in one order, loses connections before or
// after a commit, and goes back, as a restored one does. It remembers every commit of every history.

import { Turns } from '#lib/queue/turns.ts';
import { settle } from '#lib/time/clock.ts';
import type { Change } from '../../../controller-sim/state/change.ts';
import {
  type Batch,
  type ChangeLog,
  type LoadedLog,
  type LogEntry,
  type LogOwner,
  type LogPage,
  type LogReader,
  MAX_READ,
  type Values,
} from '../../../controller-sim/state/store/change-log.ts';
import type { Position } from '../../../controller-sim/state/store/history.ts';
import type { Progress, Registry } from '../../../controller-sim/state/store/shared-store.ts';
import { readStoredEntity } from '../../../controller-sim/state/store/stored-entity.ts';

/** The tables. Their rows are never changed in place. */
interface Content {
  readonly head: Position;
  readonly entries: readonly LogEntry[];
  readonly entities: ReadonlyMap<string, { readonly kind: string; readonly id: string; readonly body: string }>;
  readonly meta: ReadonlyMap<string, string>;
}

/** An entry of some history, as it was committed. */
export interface Committed {
  readonly parent: string;
  readonly entry: LogEntry;
}

export class MemoryDatabase {
  content: Content = {
    head: { timeline: 'timeline', index: 0n, chain: '' },
    entries: [],
    entities: new Map(),
    meta: new Map(),
  };
  /** By chain. */
  readonly committed = new Map<string, Committed>();
  readonly logs = new Set<MemoryLog>();
  /** A restore ends all connections, and with them the transactions. */
  restores = 0;
  readonly #lock = new Turns();

  /** Runs `work` while no other change does. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.run(work);
  }

  commit({ entries, changes, prunedTo }: Batch): void {
    const last = entries.at(-1);
    if (!last) return;
    let parent = this.content.head.chain;
    for (const entry of entries) {
      this.committed.set(entry.chain, { parent, entry });
      parent = entry.chain;
    }
    const { head, meta } = this.content;
    const entities = new Map(this.content.entities);
    for (const { kind, id, after } of changes as readonly Change[])
      if (after) entities.set(`${kind} ${id}`, { kind, id, body: JSON.stringify(after) });
      else entities.delete(`${kind} ${id}`);
    this.content = {
      head: { ...head, index: last.index, chain: last.chain },
      entries: [...this.content.entries, ...entries].filter(({ index }) => index > (prunedTo ?? 0n)),
      entities,
      meta,
    };
    for (const log of this.logs) log.notify(last.index);
  }

  /** Chains of the entries that lead to `chain`, the last one first. */
  pathTo(chain: string): string[] {
    const path: string[] = [];
    for (let own = chain; own !== ''; own = this.committed.get(own)?.parent ?? '') path.push(own);
    return path;
  }

  /** As in a real one, the timeline for routers is not that of the restored copy. */
  restore(copy: Content): void {
    const meta = new Map(copy.meta);
    meta.delete('timeline');
    this.content = { ...copy, meta };
    this.restores++;
  }

  /** Changes a row of the log as an operator could. `edit` returns undefined to delete it. */
  edit(index: bigint, edit: (entry: LogEntry) => LogEntry | undefined): void {
    const entries = this.content.entries.flatMap((entry) => (entry.index === index ? (edit(entry) ?? []) : entry));
    this.content = { ...this.content, entries };
  }
}

/** The connection of one member. */
export class MemoryLog implements ChangeLog {
  reported: Position | undefined;
  /** Chain of the data that the member has loaded last. */
  loaded = '';
  /** How often the database could not be reached. */
  failures = 0;
  /** The database cannot be reached. */
  isAway = false;
  /** Notifications get lost. */
  isDeaf = false;
  /** The next commit is not confirmed, although the database has it. */
  losesNextAnswer = false;
  readonly registry: Registry;
  readonly #database: MemoryDatabase;
  readonly #owner: LogOwner;

  constructor(database: MemoryDatabase, owner: LogOwner) {
    this.#database = database;
    this.#owner = owner;
    database.logs.add(this);
    this.registry = {
      attempts: { add: async () => 0, clear: async () => undefined },
      claim: async () => undefined,
      join: async () => undefined,
      leave: async () => undefined,
      remove: async () => false,
      transfer: async () => false,
      read: async () => ({ index: 0n, members: [], leaderId: undefined, leaderIndex: 0n }),
      progress: { head: 0n, reportedHead: 0n, members: new Map() } satisfies Progress,
      rejoin: async () => false,
      renew: () => undefined,
      onChange: () => () => undefined,
    };
  }

  notify(index: bigint): void {
    if (!this.isAway && !this.isDeaf) setImmediate(() => this.#owner.appended({ index }));
  }

  /** As each renewal of the membership: it reports the position, and learns the index of the head. */
  renew(): void {
    if (this.isAway) return;
    this.reported = this.#owner.status().position;
    const { head, meta } = this.#database.content;
    this.#owner.appended({ ...head, routerTimeline: meta.get('timeline') ?? null });
  }

  async read(after: bigint): Promise<LogPage> {
    await this.#reach();
    const page = this.#page(after);
    await this.#reach();
    return page;
  }

  append(
    after: bigint,
    work: (page: LogPage, more: (after: bigint) => Promise<readonly LogEntry[]>) => Promise<Batch>,
  ): Promise<void> {
    return this.#database.locked(async () => {
      await this.#reach();
      const { restores } = this.#database;
      const batch = await work(this.#page(after), async (at) => this.#page(at).entries);
      await this.#reach();
      if (this.#database.restores !== restores) throw connectionLost();
      await this.#commit(batch);
    });
  }

  appendAt(base: Position, batch: Batch): Promise<boolean> {
    return this.#database.locked(async () => {
      await this.#reach();
      const { head } = this.#database.content;
      if (head.index !== base.index || head.chain !== base.chain || head.timeline !== base.timeline) return false;
      await this.#commit(batch);
      return true;
    });
  }

  async #commit(batch: Batch): Promise<void> {
    this.#database.commit(batch);
    const isLost = this.losesNextAnswer;
    this.losesNextAnswer = false;
    await settle();
    if (isLost || this.isAway) throw connectionLost();
  }

  async tryAppend(): Promise<void> {
    await this.#reach();
  }

  async chainAt(index: bigint): Promise<string | undefined> {
    await this.#reach();
    return this.#database.content.entries.find((entry) => entry.index === index)?.chain;
  }

  load(prepare: (loaded: LoadedLog, reader: LogReader) => Promise<Values>): Promise<LoadedLog> {
    return this.#database.locked(async () => {
      await this.#reach();
      const { content } = this.#database;
      const { head: position, entities } = content;
      const meta = new Map(content.meta);
      const state = {
        index: position.index,
        entities: [...entities.values()].map((row) => readStoredEntity(row, `${row.kind} ${row.id}`)),
        meta,
      };
      const { restores } = this.#database;
      const loaded = { position, state, tail: content.entries.slice(-2).reverse() };
      const values = await prepare(loaded, {
        chainAt: (index) => this.chainAt(index),
        entriesAfter: async (index) => content.entries.filter((entry) => entry.index > index),
      });
      await this.#reach();
      if (this.#database.restores !== restores) throw connectionLost();
      for (const [key, value] of values) meta.set(key, value);
      this.#database.content = { ...this.#database.content, meta };
      this.loaded = position.chain;
      return loaded;
    });
  }

  async putMeta(values: Values): Promise<void> {
    await this.#reach();
    const { content } = this.#database;
    this.#database.content = { ...content, meta: new Map([...content.meta, ...values]) };
  }

  cutOff(isCutOff: boolean): void {
    this.isAway = isCutOff;
  }

  starting<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  /** As the end of the process: whatever it does now fails. */
  async close(): Promise<void> {
    this.isAway = true;
    this.#database.logs.delete(this);
  }

  #page(after: bigint): LogPage {
    const { head, entries } = this.#database.content;
    return { head, entries: entries.filter(({ index }) => index > after).slice(0, MAX_READ) };
  }

  async #reach(): Promise<void> {
    await settle();
    if (!this.isAway) return;
    this.failures++;
    throw connectionLost();
  }
}

function connectionLost(): Error {
  return Object.assign(new Error('the connection was refused'), { code: 'ECONNREFUSED' });
}

// Stores the state in one SQLite file. Each append is one SQL transaction that is on the disk before it returns, so
// acknowledged changes survive kill -9. The file contains private keys: only its owner may read it.

import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describeError } from '#lib/errors.ts';
import { claimPrivateFile } from '#lib/files/atomic-file.ts';
import { writeObstacle } from '#lib/files/writable.ts';
import { THIS_PROCESS } from '#lib/net/port-holder.ts';
import { holderOf } from './file-holder.ts';
import {
  DamagedError,
  indexesAfter,
  type Prepare,
  type Store,
  type StoredEntity,
  type StoredState,
  StoreError,
  StoreWriteError,
} from './store.ts';
import { readStoredEntity } from './stored-entity.ts';

const FORMAT = '1';
/**
 * Each commit is synced to disk, and the lock is exclusive. Checkpoints run every 4,000 pages (16 MiB), because they
 * block as well.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA wal_autocheckpoint = 4000;
`;
/**
 * Bodies are stored in insertion order. Sorted by their random ids, each commit would write as many pages as it has
 * changes.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS entity (kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id));
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #putMeta: StatementSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#end = database.prepare('COMMIT');
    this.#put = database.prepare(
      'INSERT INTO entity (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body',
    );
    this.#delete = database.prepare('DELETE FROM entity WHERE kind = ? AND id = ?');
    this.#putMeta = database.prepare(
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    );
  }

  /**
   * Opens or creates the file. Throws StoreError if another program wrote it, if it is in use, or if it cannot be
   * opened.
   */
  static open(path: string): SqliteStore {
    let database: DatabaseSync | undefined;
    try {
      // Creates the file unreadable for others from the start.
      if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
      for (const file of [path, `${path}-wal`]) if (existsSync(file)) claimPrivateFile(file);
      // A relative `:memory:` or `file:…` would not mean a file of that name to SQLite.
      database = new DatabaseSync(resolve(path));
      database.exec(SETTINGS);
      database.exec(TABLES);
      const store = new SqliteStore(database);
      const format = store.#meta().get('format') ?? FORMAT;
      if (format !== FORMAT) throw new StoreError(`${path} was written by another version (format ${format})`);
      store.#putMeta.run('format', FORMAT);
      return store;
    } catch (error) {
      database?.close();
      if (error instanceof StoreError) throw error;
      const obstacle = isAboutPath(error) ? writeObstacle(path) : undefined;
      if (obstacle !== undefined) throw new StoreError(`${path} is not usable as a data file: ${obstacle}`);
      throw new StoreError(`${path} is not usable as a data file: ${openProblem(path, error)}`, { cause: error });
    }
  }

  /** The same for a file that must exist. */
  static openExisting(path: string): SqliteStore {
    if (!existsSync(path)) throw new StoreError(`${path} does not exist`);
    return SqliteStore.open(path);
  }

  /**
   * Writes a state to a new file, and deletes the file if that fails. Rejects with StoreError, also if the file exists.
   */
  static async copy(path: string, state: StoredState): Promise<void> {
    if (existsSync(path)) throw new StoreError(`${path} already exists`);
    const store = SqliteStore.open(path);
    let isWhole = false;
    try {
      store.#transaction(() => {
        for (const { kind, entity } of state.entities) store.#put.run(kind, entity.id, JSON.stringify(entity));
        for (const [key, value] of state.meta) store.#putMeta.run(key, value);
        store.#putMeta.run('index', String(state.index));
      });
      isWhole = true;
    } finally {
      await store.close();
      if (!isWhole) rmSync(path, { force: true });
    }
  }

  /** Rejects with DamagedError for an unreadable row. */
  async load(): Promise<StoredState> {
    const meta = this.#meta();
    const index = meta.get('index') ?? '0';
    if (!/^\d+$/.test(index)) throw new DamagedError('meta', 'index', 'the value is not an integer');
    return { index: BigInt(index), entities: this.#entities(), meta };
  }

  #entities(): StoredEntity[] {
    const entities: StoredEntity[] = [];
    let last = 'the first';
    try {
      for (const row of this.#database.prepare('SELECT rowid, kind, id, body FROM entity ORDER BY rowid').iterate()) {
        last = `after ${String(row.rowid)}`;
        entities.push(readStoredEntity(row, `${String(row.rowid)} (${String(row.kind)} ${String(row.id)})`));
      }
    } catch (error) {
      if (error instanceof DamagedError) throw error;
      throw new DamagedError('entity', last, describeError(error), { cause: error });
    }
    return entities;
  }

  async append(after: bigint, prepare: Prepare): Promise<bigint[]> {
    const sets = prepare([]);
    const indexes = indexesAfter(after, sets);
    const last = indexes.at(-1);
    if (last === undefined) return [];
    this.#transaction(() => {
      for (const { kind, id, after } of sets.flatMap(({ changes }) => changes)) {
        if (after) this.#put.run(kind, id, JSON.stringify(after));
        else this.#delete.run(kind, id);
      }
      this.#putMeta.run('index', String(last));
    });
    return indexes;
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    this.#transaction(() => {
      for (const [key, value] of values) this.#putMeta.run(key, value);
    });
  }

  close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
    return Promise.resolve();
  }

  #meta(): Map<string, string> {
    const rows = this.#database.prepare('SELECT key, value FROM meta').all();
    return new Map(
      rows.map(({ key, value }) => {
        if (typeof key === 'string' && typeof value === 'string') return [key, value];
        throw new DamagedError('meta', String(key), 'key or value is not a string');
      }),
    );
  }

  /** Throws StoreWriteError if nothing was written. */
  #transaction(write: () => void): void {
    try {
      this.#begin.run();
      write();
      this.#end.run();
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      // Clients see this text too, so it omits the path.
      const isRejection = REJECTIONS.has(sqliteCode(error));
      throw new StoreWriteError(`could not write the data: ${remedy(error)}`, { isRejection });
    }
  }
}

/** Low byte of SQLite's error codes. */
const SqliteCode = Object.freeze({
  Busy: 5,
  ReadOnly: 8,
  InputOutput: 10,
  Full: 13,
  CannotOpen: 14,
  TooBig: 18,
  Constraint: 19,
  Mismatch: 20,
} as const);
/** The data is at fault, not the file. */
const REJECTIONS: ReadonlySet<number | undefined> = new Set([
  SqliteCode.TooBig,
  SqliteCode.Constraint,
  SqliteCode.Mismatch,
]);
const PRIMARY_CODE = 0xff;

function sqliteCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & PRIMARY_CODE : undefined;
}

/** The file could not be opened or created; its content is not the cause. */
function isAboutPath(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === undefined || code === SqliteCode.CannotOpen;
}

function openProblem(path: string, error: unknown): string {
  if (sqliteCode(error) !== SqliteCode.Busy) return remedy(error);
  const holder = holderOf(path) ?? 'another program';
  const release = holder === THIS_PROCESS ? 'close its other simulator first' : 'stop it';
  return `it is in use by ${holder}; ${release}, or choose another file`;
}

function remedy(error: unknown): string {
  switch (sqliteCode(error)) {
    case SqliteCode.Full:
      return 'the disk is full; free some space and try again';
    case SqliteCode.InputOutput:
      return 'the disk is full, failing, or limits the size of files; free space or check the disk, then try again';
    case SqliteCode.ReadOnly:
      return 'the file or its disk is read-only; make it writable and try again';
    default:
      return describeError(error);
  }
}

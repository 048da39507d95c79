// Keeps the state in one SQLite file. A commit is one SQL transaction that is on the disk before it returns, so that what a client was
// told survives kill -9. The file holds private keys: only its owner may read it.

import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Change } from '../state/change.ts';
import type { Entity, EntityKind } from '../state/types.ts';
import type { Store, StoredState } from './store.ts';

const FORMAT = '1';
/** On the disk with each commit, for this process alone; what was written is put in its place every 4,000 pages (16 MiB), as that waits too. */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA wal_autocheckpoint = 4000;
`;
/**
 * Bodies lie in the order in which entities were made: in that of their random ids, each commit would write as many pages as it has changes.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS entity (kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id));
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

export class StoreError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('STORE', message, options);
  }
}

export class SqliteStore implements Store {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #putMeta: StatementSync;
  #index = 0n;

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

  /** Opens or makes the file. Throws StoreError when it is not one of ours or cannot be had. */
  static open(path: string): SqliteStore {
    try {
      // Never readable for others, not for a moment.
      if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
      const database = new DatabaseSync(path);
      database.exec(SETTINGS);
      database.exec(TABLES);
      const store = new SqliteStore(database);
      const format = store.#meta().get('format') ?? FORMAT;
      if (format !== FORMAT) throw new StoreError(`${path} was written by another version (format ${format})`);
      store.#putMeta.run('format', FORMAT);
      return store;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      throw new StoreError(`${path} cannot be used as data file: ${describeError(error)}`, { cause: error });
    }
  }

  /** Writes a state to a new file; nothing is left of one that cannot be written whole. Rejects with StoreError, too for a file that is there. */
  static async copy(path: string, state: StoredState): Promise<void> {
    if (existsSync(path)) throw new StoreError(`${path} exists already`);
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

  load(): Promise<StoredState> {
    const meta = this.#meta();
    this.#index = BigInt(meta.get('index') ?? '0');
    const rows = this.#database.prepare('SELECT kind, body FROM entity').all() as { kind: EntityKind; body: string }[];
    const entities = rows.map(({ kind, body }) => ({ kind, entity: JSON.parse(body) as Entity }));
    return Promise.resolve({ index: this.#index, entities, meta });
  }

  async commit(sets: readonly (readonly Change[])[]): Promise<bigint[]> {
    const indexes = sets.map((_set, position) => this.#index + BigInt(position + 1));
    const last = indexes.at(-1);
    if (last === undefined) return [];
    this.#transaction(() => {
      for (const { kind, id, after } of sets.flat()) {
        if (after) this.#put.run(kind, id, JSON.stringify(after));
        else this.#delete.run(kind, id);
      }
      this.#putMeta.run('index', String(last));
    });
    this.#index = last;
    return indexes;
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    this.#transaction(() => {
      for (const [key, value] of values) this.#putMeta.run(key, value);
    });
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }

  #meta(): Map<string, string> {
    const rows = this.#database.prepare('SELECT key, value FROM meta').all() as { key: string; value: string }[];
    return new Map(rows.map(({ key, value }) => [key, value]));
  }

  #transaction(write: () => void): void {
    this.#begin.run();
    try {
      write();
      this.#end.run();
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

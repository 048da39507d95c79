// Keeps the state in one SQLite file. A commit is one SQL transaction that is on the disk before it returns, so that what a client was
// told survives kill -9. The file holds private keys: only its owner may read it.

import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describeError, ProjectError } from '#lib/errors.ts';
import { DEEPEST_JSON, parseJson } from '#lib/json.ts';
import type { Change } from '../change.ts';
import { isEntityKind } from '../tables.ts';
import type { Entity } from '../types.ts';
import { holderOf } from './file-holder.ts';
import { DamagedError, type Store, type StoredEntity, type StoredState, StoreWriteError } from './store.ts';

const FORMAT = '1';
/** An entity holds values of a body that is not deeper than DEEPEST_JSON, at most some levels further down. */
const DEEPEST_STORED = DEEPEST_JSON + 20;
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

  /** Opens or makes the file. Throws StoreError when it was not written by this program, is in use or cannot be opened. */
  static open(path: string): SqliteStore {
    let database: DatabaseSync | undefined;
    try {
      // Never readable for others, not for a moment.
      if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
      database = new DatabaseSync(path);
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
      throw new StoreError(`${path} cannot be used as data file: ${openProblem(path, error)}`, { cause: error });
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

  /** Rejects with DamagedError for a row that cannot be read. */
  async load(): Promise<StoredState> {
    const meta = this.#meta();
    const index = meta.get('index') ?? '0';
    if (!/^\d+$/.test(index)) throw new DamagedError('meta', 'index', 'the value is not a whole number');
    this.#index = BigInt(index);
    return { index: this.#index, entities: this.#entities(), meta };
  }

  #entities(): StoredEntity[] {
    const entities: StoredEntity[] = [];
    let last = 'the first';
    try {
      for (const row of this.#database.prepare('SELECT rowid, kind, id, body FROM entity ORDER BY rowid').iterate()) {
        last = `after ${String(row.rowid)}`;
        entities.push(readRow(row));
      }
    } catch (error) {
      if (error instanceof DamagedError) throw error;
      throw new DamagedError('entity', last, describeError(error), { cause: error });
    }
    return entities;
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
    if (this.#database.isOpen) this.#database.close();
    return Promise.resolve();
  }

  #meta(): Map<string, string> {
    const rows = this.#database.prepare('SELECT key, value FROM meta').all();
    return new Map(
      rows.map(({ key, value }) => {
        if (typeof key === 'string' && typeof value === 'string') return [key, value];
        throw new DamagedError('meta', String(key), 'key or value is not a text');
      }),
    );
  }

  /** Throws StoreWriteError when nothing was written. */
  #transaction(write: () => void): void {
    try {
      this.#begin.run();
      write();
      this.#end.run();
    } catch (error) {
      // SQLite has rolled back by itself after some errors, such as a full disk.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      // Clients see this text too, so it does not name the path.
      throw new StoreWriteError(`the data cannot be written: ${remedy(error)}`);
    }
  }
}

/** Low byte of SQLite's error codes. */
const SqliteCode = Object.freeze({ Busy: 5, ReadOnly: 8, InputOutput: 10, Full: 13 } as const);
const PRIMARY_CODE = 0xff;

function sqliteCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode & PRIMARY_CODE : undefined;
}

function openProblem(path: string, error: unknown): string {
  if (sqliteCode(error) !== SqliteCode.Busy) return remedy(error);
  return `it is in use by ${holderOf(path) ?? 'another program'}; stop it, or choose another file`;
}

function remedy(error: unknown): string {
  switch (sqliteCode(error)) {
    case SqliteCode.Full:
      return 'the disk is full; free some space and try again';
    case SqliteCode.InputOutput:
      return 'the disk is full, failing, or limits the size of files; make room or look at the disk, then try again';
    case SqliteCode.ReadOnly:
      return 'the file or its disk is read-only; make it writable and try again';
    default:
      return describeError(error);
  }
}

/** Throws DamagedError for a row that does not hold an entity. */
function readRow({ rowid, kind, id, body }: Record<string, unknown>): StoredEntity {
  const row = `${String(rowid)} (${String(kind)} ${String(id)})`;
  const damaged = (why: string) => new DamagedError('entity', row, why);
  if (typeof kind !== 'string' || !isEntityKind(kind)) throw damaged('the kind is unknown');
  if (typeof body !== 'string') throw damaged('the body is not a text');
  let entity: unknown;
  try {
    entity = parseJson(body, DEEPEST_STORED);
  } catch (error) {
    // The parser's message repeats pieces of the body, which may hold a secret.
    throw damaged(`the body is not valid: ${error instanceof SyntaxError ? 'it is not JSON' : describeError(error)}`);
  }
  const problem = entityProblem(entity, id);
  if (problem !== undefined) throw damaged(`the body is not valid: ${problem}`);
  return { kind, entity: entity as Entity, row };
}

/** The fields that all entities have; undefined when they are right. */
function entityProblem(entity: unknown, rowId: unknown): string | undefined {
  if (!isMap(entity)) return 'it is not a map';
  const { id, createdAt, updatedAt, tags, isSystem } = entity;
  if (typeof id !== 'string' || id !== rowId) return 'its id is not that of the row';
  const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
  if (!isDate(createdAt) || !isDate(updatedAt)) return 'createdAt or updatedAt is not a date';
  if (!isMap(tags)) return 'tags is not a map';
  return typeof isSystem === 'boolean' ? undefined : 'isSystem is neither true nor false';
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

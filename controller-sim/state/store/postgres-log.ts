// The log of changes in a PostgreSQL database: each entry is one row of the table `change`, and the lock of the row in
// `head` gives the entries one order. A separate table has the entities, for members that start. Everything is in the
// schema `edgeweave`, whose version migrations.ts knows. An append takes one round trip if nobody else has appended;
// otherwise two: the first one takes the lock and reads, the second one writes and commits.

import pg from 'pg';
import { describeError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Change } from '../change.ts';
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
} from './change-log.ts';
import type { Position } from './history.ts';
import { MIGRATIONS, type Migration, migrate } from './migrations.ts';
import { notice, type PostgresComponents, PostgresConnection, type Session } from './postgres-connection.ts';
import { ASK_COPY, type CopyStatements, copyStatements } from './postgres-copy.ts';
import { headOf, MEMBERS, PostgresRegistry } from './postgres-registry.ts';
import { DamagedError, StoreError } from './store.ts';
import { readStoredEntity } from './stored-entity.ts';

const HEAD = 'SELECT index, timeline, chain FROM edgeweave.head';
/** Appends an empty entry, and takes it back. */
const TRIAL = `${HEAD} FOR UPDATE; SAVEPOINT trial;
  SELECT edgeweave.append_at(timeline, index, chain, ARRAY[index + 1], ARRAY[''], ARRAY[''], '{}', '{}', '{}', '{}', '{}')
    AS moved FROM edgeweave.head;
  ROLLBACK TO trial`;
const CHAIN = 'SELECT chain FROM edgeweave.change WHERE index = $1';
/** Milliseconds for the start of another controller, and between two attempts to start after it. */
const MAX_START_WAIT = 20_000;
const START_INTERVAL = 100;
/** Keys of the advisory locks: for the creation of the tables, and for the start of a member. */
const LOCKS = { tables: 3_022_001, start: 3_022_002 } as const;

export interface PostgresLogComponents extends PostgresComponents {
  /** The steps of the schema; tests add those of a later release. */
  readonly migrations?: readonly Migration[];
}

export class PostgresLog implements ChangeLog {
  readonly registry: PostgresRegistry;
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  readonly #statements: CopyStatements;
  readonly #owner: LogOwner;

  private constructor(
    connection: PostgresConnection,
    components: PostgresLogComponents,
    { statements, owner }: { readonly statements: CopyStatements; readonly owner: LogOwner },
  ) {
    const { migrations = MIGRATIONS } = components;
    this.#connection = connection;
    this.#clock = components.clock;
    this.#statements = statements;
    this.#owner = owner;
    this.registry = new PostgresRegistry(connection, { ...components, owner, statements }, migrations.length);
    connection.onNotification((payload) => this.#notified(payload));
  }

  /** Connects, and creates the tables. Rejects with StoreError. Returns the log for its owner. */
  static async open(url: string, components: PostgresLogComponents): Promise<(owner: LogOwner) => PostgresLog> {
    const connection = await PostgresConnection.open(url, components);
    try {
      await connection.migration(async (session) => {
        await session.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.tables]);
        await migrate(session, components.migrations);
      });
      const isKnown = await connection.query(ASK_COPY).then(
        () => true,
        () => false,
      );
      const statements = copyStatements(isKnown);
      return (owner) => new PostgresLog(connection, components, { statements, owner });
    } catch (error) {
      await connection.close();
      if (error instanceof StoreError) throw error;
      throw new StoreError(`the tables of the database cannot be created: ${describeError(error)}`, { cause: error });
    }
  }

  get reported(): Position | undefined {
    return this.registry.reported;
  }

  async load(prepare: (loaded: LoadedLog, reader: LogReader) => Promise<Values>): Promise<LoadedLog> {
    const work = async (session: Session) => {
      const { position, tail } = await endIn(session);
      // In the order of the disk: by key, the database would look each row up.
      const entities = await session.query('SELECT kind, id, body FROM edgeweave.entity');
      const stored = await session.query('SELECT key, value FROM edgeweave.meta');
      const meta = new Map<string, string>(stored.rows.map(({ key, value }) => [key, value]));
      const { rows } = await session.query(this.#statements.timeline);
      if (rows.length === 0) meta.delete('timeline');
      const state = {
        index: position.index,
        entities: entities.rows.map((row) => readStoredEntity({ ...row, id: idIn(row.id) }, `${row.kind} ${row.id}`)),
        meta,
      };
      const loaded = { position, state, tail };
      const values = await prepare(loaded, {
        chainAt: async (index) => chainIn(await session.query(CHAIN, [index])),
        entriesAfter: async (index) => (await session.query(entriesAfter(index))).rows.map(entryOf),
      });
      if (values.size > 0) await session.query(this.#statements.putMeta, columns(values));
      for (const [key, value] of values) meta.set(key, value);
      return loaded;
    };
    return this.#connection.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ', work, { isSteady: true });
  }

  async read(after: bigint): Promise<LogPage> {
    return pageOf(await this.#connection.queryAll(`${HEAD}; ${entriesAfter(after)}`));
  }

  async append(
    after: bigint,
    work: (page: LogPage, more: (after: bigint) => Promise<readonly LogEntry[]>) => Promise<Batch>,
  ): Promise<void> {
    let isEmpty = false;
    const results = await this.#connection.change(
      `${HEAD} FOR UPDATE; ${entriesAfter(after)}`,
      async (found, session) => {
        const more = async (at: bigint) => (await session.query(entriesAfter(at))).rows.map(entryOf);
        const page = pageOf(found);
        const batch = await work(page, more);
        isEmpty = batch.entries.length === 0;
        return statementsOf(page.head, batch);
      },
    );
    // Its head was locked: only another function can have left it.
    if (!isEmpty && results[0]?.rows[0]?.moved !== true) throw otherFunction();
  }

  async appendAt(base: Position, batch: Batch): Promise<boolean> {
    const [result] = await this.#connection.changeAtOnce(statementAt(base, batch));
    return result?.rows[0]?.moved === true;
  }

  async tryAppend(): Promise<void> {
    const results = await this.#connection.changeAtOnce(TRIAL);
    if (results.at(-2)?.rows[0]?.moved !== true) throw otherFunction();
  }

  async chainAt(index: bigint): Promise<string | undefined> {
    return chainIn(await this.#connection.query(CHAIN, [index]));
  }

  cutOff(isCutOff: boolean): void {
    this.#connection.cutOff(isCutOff);
  }

  async starting<T>(work: () => Promise<T>): Promise<T> {
    const end = this.#clock.monotonic() + MAX_START_WAIT;
    while (!(await this.#holdStart())) {
      if (this.#clock.monotonic() >= end)
        throw new StoreError('no turn to start: another controller has been starting for 20 s; try again');
      await this.#clock.sleep(START_INTERVAL, { name: 'turn to start' });
    }
    try {
      return await work();
    } finally {
      // The lock also ends with its connection.
      await this.#connection.query('SELECT pg_advisory_unlock($1)', [LOCKS.start]).catch(() => undefined);
    }
  }

  /** A statement that waited for the lock would look like a database that does not answer. */
  async #holdStart(): Promise<boolean> {
    const { rows } = await this.#connection.query('SELECT pg_try_advisory_lock($1) AS held', [LOCKS.start]);
    return rows[0].held === true;
  }

  async putMeta(values: Values): Promise<void> {
    await this.#connection.query(this.#statements.putMeta, columns(values));
  }

  close(): Promise<void> {
    this.registry.close();
    return this.#connection.close();
  }

  #notified(payload: string | undefined): void {
    if (payload === MEMBERS || payload === undefined) this.registry.changed();
    if (payload === undefined) this.#owner.appended({});
    else if (/^\d+$/.test(payload)) this.#owner.appended({ index: BigInt(payload) });
  }
}

function otherFunction(): StoreError {
  return new StoreError('its function append_at is not that of this release');
}

function columns(values: Values): [string[], string[]] {
  return [[...values.keys()], [...values.values()]];
}

/** The position of the head and the last entries, if they fit. @throws DamagedError */
async function endIn(session: Session): Promise<Pick<LoadedLog, 'position' | 'tail'>> {
  const position = positionOf((await session.query(HEAD)).rows);
  const { rows } = await session.query('SELECT index, body, chain FROM edgeweave.change ORDER BY index DESC LIMIT 2');
  const tail = rows.map(entryOf);
  const [last] = tail;
  if (last && last.index !== position.index)
    throw new DamagedError('head', '1', `its index is ${position.index}, but the last change is ${last.index}`);
  if (last && last.chain !== '' && last.chain !== position.chain)
    throw new DamagedError('head', '1', `its chain is not that of the last change ${position.index}`);
  return { position, tail };
}

/** @throws DamagedError */
function positionOf(rows: readonly pg.QueryResultRow[]): Position {
  const { index, timeline, chain } = headOf(rows);
  return { timeline, index: BigInt(index), chain };
}

function entriesAfter(index: bigint): string {
  return `SELECT index, body, chain FROM edgeweave.change WHERE index > ${index} ORDER BY index LIMIT ${MAX_READ}`;
}

function pageOf([head, entries]: readonly pg.QueryResult[]): LogPage {
  return { head: positionOf(head?.rows ?? []), entries: (entries?.rows ?? []).map(entryOf) };
}

function entryOf({ index, body, chain }: pg.QueryResultRow): LogEntry {
  return { index: BigInt(index), body: String(body), chain };
}

function chainIn({ rows }: pg.QueryResult): string | undefined {
  return rows[0]?.chain;
}

/** The call that appends a batch if the head is at `base`; it waits for the lock of the head. */
function appendCall({ timeline, index, chain }: Position, { entries, changes }: Batch): string {
  const { put, deleted } = partsOf(changes);
  const values = [
    pg.escapeLiteral(timeline),
    index,
    pg.escapeLiteral(chain),
    `ARRAY[${entries.map((entry) => entry.index)}]::bigint[]`,
    texts(entries.map(({ body }) => body)),
    texts(entries.map((entry) => entry.chain)),
    ...keys(put),
    texts(put.map(({ after }) => JSON.stringify(after))),
    ...keys(deleted),
  ];
  return `edgeweave.append_at(${values})`;
}

function statementAt(base: Position, batch: Batch): string {
  return `SELECT moved, CASE WHEN moved THEN ${notice(lastOf(batch))}::text END FROM ${appendCall(base, batch)} AS moved`;
}

function lastOf({ entries }: Batch): string {
  return String(entries.at(-1)?.index);
}

function partsOf(changes: readonly Change[]) {
  return { put: changes.filter(({ after }) => after), deleted: changes.filter(({ after }) => !after) };
}

function keys(changes: readonly Change[]): string[] {
  return [texts(changes.map(({ kind }) => kind)), texts(changes.map(({ id }) => columnOf(id)))];
}

/** Writes a batch after `head`, whose lock is held. Statements with parameters would each take a round trip. */
function statementsOf(head: Position, batch: Batch): string {
  const { entries, prunedTo } = batch;
  if (entries.length === 0) return '';
  const statements = [`SELECT ${appendCall(head, batch)} AS moved`];
  if (prunedTo !== undefined)
    statements.push(
      `DELETE FROM edgeweave.change WHERE index <= ${prunedTo}
         AND index NOT IN (SELECT position_index FROM edgeweave.member)`,
    );
  return [...statements, `SELECT ${notice(lastOf(batch))}`].join('; ');
}

function texts(values: readonly string[]): string {
  return `ARRAY[${values.map((value) => pg.escapeLiteral(value))}]::text[]`;
}

/**
 * Clients choose the ids of some entities. A text of PostgreSQL has no NUL characters; bodies have them as `\u0000`.
 */
function columnOf(id: string): string {
  return id.replaceAll('\x01', '\x011').replaceAll('\0', '\x010');
}

function idIn(column: string): string {
  return column.replaceAll('\x010', '\0').replaceAll('\x011', '\x01');
}

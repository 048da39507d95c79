// A store in a PostgreSQL database that several controllers share. Each set of changes is one row of the table
// `change`; the lock of the row in `head` gives the sets one order. The entities stand in a table of their own, for
// members that start. Everything is in the schema `edgeweave`.

import type pg from 'pg';
import { describeError, ProjectError } from '#lib/errors.ts';
import { DEEPEST_JSON, parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import type { Change } from '../change.ts';
import { isEntityKind } from '../tables.ts';
import { notify, type PostgresComponents, PostgresConnection } from './postgres-connection.ts';
import { headOf, MEMBER_TABLES, MEMBERS, PostgresRegistry } from './postgres-registry.ts';
import type { NewSet, SharedStore, StoredSet } from './shared-store.ts';
import { StoreError } from './sqlite-store.ts';
import { DamagedError, type StoredState, StoreWriteError } from './store.ts';
import { entityProblem, readStoredEntity } from './stored-entity.ts';

/** Sets that stay in the table `change` for members that were disconnected. */
const HISTORY = 100_000;
/** Older sets are deleted after this many new ones. */
const PRUNE_INTERVAL = 1_000;
/** Sets that are read at once. */
const MOST_READ = 1_000;
/** A set holds entities, which hold values of bodies. */
const DEEPEST_SET = DEEPEST_JSON + 30;
/** Keys of the advisory locks: for the creation of the tables, and for the start of a member. */
const LOCKS = { tables: 3_022_001, start: 3_022_002 } as const;

const TABLES = `
  CREATE SCHEMA IF NOT EXISTS edgeweave;
  CREATE TABLE IF NOT EXISTS edgeweave.entity (kind text, id text, body text NOT NULL, PRIMARY KEY (kind, id));
  CREATE TABLE IF NOT EXISTS edgeweave.meta (key text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE IF NOT EXISTS edgeweave.change (index bigint PRIMARY KEY, body text NOT NULL);
  ${MEMBER_TABLES}
`;

export class PostgresStore implements SharedStore {
  readonly registry: PostgresRegistry;
  readonly #connection: PostgresConnection;
  readonly #log: Log;
  readonly #listeners: (() => void)[] = [];
  /** Index of the last set that this member knows. */
  #index = 0n;
  /** Why the last change was not stored. */
  #problem = '';

  private constructor(connection: PostgresConnection, components: PostgresComponents) {
    this.#connection = connection;
    this.#log = components.log;
    this.registry = new PostgresRegistry(connection, components);
    this.registry.onIndex = (index) => this.#onIndex(index);
    connection.onNotification = (payload) => this.#onNotification(payload);
  }

  /** Connects, and creates the tables. Rejects with StoreError. */
  static async open(url: string, components: PostgresComponents): Promise<PostgresStore> {
    const connection = await PostgresConnection.open(url, components);
    try {
      await connection.transaction('BEGIN', async (client) => {
        await client.query('SELECT pg_advisory_xact_lock($1)', [LOCKS.tables]);
        await client.query(TABLES);
      });
      return new PostgresStore(connection, components);
    } catch (error) {
      await connection.close();
      throw new StoreError(`the tables of the database cannot be created: ${describeError(error)}`, { cause: error });
    }
  }

  async load(): Promise<StoredState> {
    return this.#connection.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async (client) => {
      const head = await client.query(
        'SELECT index, (SELECT max(index) FROM edgeweave.change) AS last FROM edgeweave.head',
      );
      const entities = await client.query('SELECT kind, id, body FROM edgeweave.entity ORDER BY kind, id');
      const meta = await client.query('SELECT key, value FROM edgeweave.meta');
      const { index, last } = headOf(head.rows);
      if (last !== null && last !== index)
        throw new DamagedError('head', '1', `its index is ${index}, but the last change is ${last}`);
      this.#index = BigInt(index);
      return {
        index: this.#index,
        entities: entities.rows.map((row) => readStoredEntity({ ...row, id: idIn(row.id) }, `${row.kind} ${row.id}`)),
        meta: new Map(meta.rows.map(({ key, value }) => [key, value])),
      };
    });
  }

  async append(after: bigint, prepare: (missed: readonly StoredSet[]) => readonly NewSet[]): Promise<bigint[]> {
    try {
      const indexes = await this.#connection.transaction('BEGIN', async (client) => {
        const { rows } = await client.query('SELECT index FROM edgeweave.head FOR UPDATE');
        const head = BigInt(headOf(rows).index);
        if (head < after)
          throw new StoreError(`the database went back from change ${after} to ${head}; restart this controller`);
        const sets = prepare(await missedBetween(client, after, head));
        return sets.length === 0 ? [] : write(client, head, sets);
      });
      this.#index = indexes.at(-1) ?? this.#index;
      this.#problem = '';
      return indexes;
    } catch (error) {
      this.#report(describeError(error));
      // Whatever was stored after all is read with the next changes.
      const isRejection = isRejectionOf(error);
      const remedy = isRejection ? 'change it' : 'try again';
      throw new StoreWriteError(`the database did not store the change: ${reasonOf(error)}; ${remedy}`, {
        isRejection,
        cause: error,
      });
    }
  }

  /** Logs each problem once until a change is stored. */
  #report(problem: string): void {
    if (problem !== this.#problem) this.#log.warn({ error: problem }, 'the database does not store changes');
    this.#problem = problem;
  }

  async read(after: bigint): Promise<readonly StoredSet[]> {
    const sets = await next(this.#connection, after);
    this.#index = sets.at(-1)?.index ?? after;
    if (sets.length === MOST_READ) this.#appended(); // there may be more
    return sets;
  }

  onAppended(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async starting<T>(work: () => Promise<T>): Promise<T> {
    try {
      await this.#connection.query('SELECT pg_advisory_lock($1)', [LOCKS.start]);
    } catch (error) {
      throw new StoreError(
        `no turn to start: another controller may be starting (${describeError(error)}); try again`,
        {
          cause: error,
        },
      );
    }
    try {
      return await work();
    } finally {
      // The lock also ends with its connection.
      await this.#connection.query('SELECT pg_advisory_unlock($1)', [LOCKS.start]).catch(() => undefined);
    }
  }

  async putMeta(values: ReadonlyMap<string, string>): Promise<void> {
    try {
      await this.#connection.query(
        `INSERT INTO edgeweave.meta SELECT * FROM unnest($1::text[], $2::text[])
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [[...values.keys()], [...values.values()]],
      );
    } catch (error) {
      throw new StoreWriteError(`the database did not store the change: ${describeError(error)}`, { cause: error });
    }
  }

  close(): Promise<void> {
    this.registry.close();
    return this.#connection.close();
  }

  #onNotification(payload: string | undefined): void {
    if (payload === MEMBERS || payload === undefined) this.registry.changed();
    if (payload === undefined) this.#appended();
    else if (/^\d+$/.test(payload)) this.#onIndex(BigInt(payload));
  }

  #onIndex(index: bigint): void {
    if (index > this.#index) this.#appended();
  }

  #appended(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The first sets after an index; sets are committed in their order, so none is missing between them. */
async function next(client: Pick<PostgresConnection, 'query'>, after: bigint): Promise<StoredSet[]> {
  const { rows } = await client.query(
    'SELECT index, body FROM edgeweave.change WHERE index > $1 ORDER BY index LIMIT $2',
    [String(after), MOST_READ],
  );
  const sets = rows.map(readSet);
  const gap = sets.findIndex(({ index }, position) => index !== after + BigInt(position + 1));
  if (gap >= 0) throw missing(after + BigInt(gap + 1));
  return sets;
}

async function missedBetween(client: pg.Client, after: bigint, head: bigint): Promise<StoredSet[]> {
  const missed: StoredSet[] = [];
  for (let at = after; at < head; at = missed.at(-1)?.index ?? at) {
    const sets = await next(client, at);
    if (sets.length === 0) throw missing(at + 1n);
    missed.push(...sets);
  }
  return missed;
}

function missing(index: bigint): StoreError {
  const why = `${HISTORY} newer ones exist, or it was deleted`;
  return new StoreError(`the change ${index} is no longer in the database (${why}); restart this controller`);
}

/** For clients: without the address and the user of the database, which its messages contain. */
function reasonOf(error: unknown): string {
  if (error instanceof ProjectError) return error.message;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? `it reports ${code}` : 'its connection was lost';
}

/**
 * Data exceptions, violated constraints, and exceeded limits of the program: the data is at fault, not the database.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
function isRejectionOf(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^(?:22|23|54)[\dA-Z]{3}$/.test(code);
}

/** Clients choose the ids of some entities. A text of PostgreSQL has no NUL characters; bodies have them as `\u0000`. */
function columnOf(id: string): string {
  return id.replaceAll('\x01', '\x011').replaceAll('\0', '\x010');
}

function idIn(column: string): string {
  return column.replaceAll('\x010', '\0').replaceAll('\x011', '\x01');
}

/** Returns the indexes of the sets. */
async function write(client: pg.Client, head: bigint, sets: readonly NewSet[]): Promise<bigint[]> {
  const indexes = sets.map((_set, position) => head + BigInt(position + 1));
  const last = indexes.at(-1) ?? head;
  await client.query('INSERT INTO edgeweave.change SELECT * FROM unnest($1::bigint[], $2::text[])', [
    indexes.map(String),
    sets.map((set) => JSON.stringify(set)),
  ]);
  // The last state of each entity: a statement may change a row only once.
  const final = new Map<string, Change>();
  for (const change of sets.flatMap(({ changes }) => changes)) final.set(`${change.kind} ${change.id}`, change);
  const put = [...final.values()].filter(({ after }) => after);
  const deleted = [...final.values()].filter(({ after }) => !after);
  await client.query(
    `INSERT INTO edgeweave.entity SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
     ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
    [put.map(({ kind }) => kind), put.map(({ id }) => columnOf(id)), put.map(({ after }) => JSON.stringify(after))],
  );
  await client.query(
    'DELETE FROM edgeweave.entity e USING unnest($1::text[], $2::text[]) AS d (kind, id) WHERE e.kind = d.kind AND e.id = d.id',
    [deleted.map(({ kind }) => kind), deleted.map(({ id }) => columnOf(id))],
  );
  await client.query('UPDATE edgeweave.head SET index = $1', [String(last)]);
  if (head / BigInt(PRUNE_INTERVAL) !== last / BigInt(PRUNE_INTERVAL))
    await client.query('DELETE FROM edgeweave.change WHERE index <= $1', [String(last - BigInt(HISTORY))]);
  await notify(client, String(last));
  return indexes;
}

/** Throws DamagedError for a row without a set: nothing of it may be applied. */
function readSet({ index, body }: Readonly<Record<string, unknown>>): StoredSet {
  const damaged = (why: string, cause?: unknown) =>
    new DamagedError('change', String(index), `the body is invalid: ${why}`, { cause });
  let set: Partial<NewSet> | null;
  try {
    set = parseJson(String(body), DEEPEST_SET) as Partial<NewSet> | null;
  } catch (error) {
    throw damaged('it is not JSON', error);
  }
  const changes: unknown = set?.changes;
  if (!set || !Array.isArray(changes) || typeof set.time !== 'number') throw damaged('it has no changes or no time');
  for (const change of changes) {
    const problem = changeProblem(change);
    if (problem !== undefined) throw damaged(problem);
  }
  return { ...(set as NewSet), index: BigInt(String(index)) };
}

function changeProblem(change: Partial<Change> | null): string | undefined {
  const { kind, id, before, after } = change ?? {};
  if (typeof kind !== 'string' || !isEntityKind(kind)) return 'the kind of a change is unknown';
  if (typeof id !== 'string' || (!before && !after)) return 'a change has no entity';
  for (const entity of [before, after]) {
    const problem = entity === undefined ? undefined : entityProblem(entity, id);
    if (problem !== undefined) return `${kind} ${id}: ${problem}`;
  }
  return undefined;
}

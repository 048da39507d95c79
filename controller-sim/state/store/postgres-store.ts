// A store in a PostgreSQL database that several controllers share. Each set of changes is one row of the table
// `change`; the lock of the row in `head` gives the sets one order. The entities stand in a table of their own, for
// members that start. Everything is in the schema `edgeweave`.

import type pg from 'pg';
import { describeError } from '#lib/errors.ts';
import { DEEPEST_JSON, parseJson } from '#lib/json.ts';
import type { Change } from '../change.ts';
import { notify, type PostgresComponents, PostgresConnection } from './postgres-connection.ts';
import { MEMBER_TABLES, MEMBERS, PostgresRegistry } from './postgres-registry.ts';
import type { NewSet, SharedStore, StoredSet } from './shared-store.ts';
import { StoreError } from './sqlite-store.ts';
import { DamagedError, type StoredState, StoreWriteError } from './store.ts';
import { readStoredEntity } from './stored-entity.ts';

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
  readonly #listeners: (() => void)[] = [];
  /** Index of the last set that this member has read. */
  #index = 0n;

  private constructor(connection: PostgresConnection, components: PostgresComponents) {
    this.#connection = connection;
    this.registry = new PostgresRegistry(connection, components);
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
      const head = await client.query('SELECT index FROM edgeweave.head');
      const entities = await client.query('SELECT kind, id, body FROM edgeweave.entity ORDER BY kind, id');
      const meta = await client.query('SELECT key, value FROM edgeweave.meta');
      this.#index = BigInt(head.rows[0].index);
      return {
        index: this.#index,
        entities: entities.rows.map((row) => readStoredEntity(row, `${row.kind} ${row.id}`)),
        meta: new Map(meta.rows.map(({ key, value }) => [key, value])),
      };
    });
  }

  async append(prepare: (missed: readonly StoredSet[]) => readonly NewSet[]): Promise<bigint[]> {
    try {
      const indexes = await this.#connection.transaction('BEGIN', async (client) => {
        const { rows } = await client.query('SELECT index FROM edgeweave.head FOR UPDATE');
        const head = BigInt(rows[0].index);
        const missed: StoredSet[] = [];
        while (this.#index < head) missed.push(...(await this.#next(client)));
        const sets = prepare(missed);
        return sets.length === 0 ? [] : write(client, head, sets);
      });
      this.#index = indexes.at(-1) ?? this.#index;
      return indexes;
    } catch (error) {
      // Clients see this text, so it omits the address. Whatever was stored after all is read with the next changes.
      throw new StoreWriteError(`the database did not store the change: ${describeError(error)}; try again`, {
        cause: error,
      });
    }
  }

  async read(): Promise<readonly StoredSet[]> {
    const sets = await this.#next(this.#connection);
    if (sets.length === MOST_READ) this.#appended(); // there may be more
    return sets;
  }

  onAppended(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async starting<T>(work: () => Promise<T>): Promise<T> {
    await this.#connection.query('SELECT pg_advisory_lock($1)', [LOCKS.start]);
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
    if (payload === undefined || (/^\d+$/.test(payload) && BigInt(payload) > this.#index)) this.#appended();
  }

  #appended(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The next sets; sets are committed in their order, so none is missing between them. */
  async #next(client: Pick<PostgresConnection, 'query'>): Promise<StoredSet[]> {
    const { rows } = await client.query(
      'SELECT index, body FROM edgeweave.change WHERE index > $1 ORDER BY index LIMIT $2',
      [String(this.#index), MOST_READ],
    );
    const sets = rows.map(readSet);
    const [first] = sets;
    if (first && first.index !== this.#index + 1n)
      throw new StoreError(`this controller missed more than ${HISTORY} changes; restart it`);
    this.#index = sets.at(-1)?.index ?? this.#index;
    return sets;
  }
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
    [put.map(({ kind }) => kind), put.map(({ id }) => id), put.map(({ after }) => JSON.stringify(after))],
  );
  await client.query(
    'DELETE FROM edgeweave.entity e USING unnest($1::text[], $2::text[]) AS d (kind, id) WHERE e.kind = d.kind AND e.id = d.id',
    [deleted.map(({ kind }) => kind), deleted.map(({ id }) => id)],
  );
  await client.query('UPDATE edgeweave.head SET index = $1', [String(last)]);
  if (head / BigInt(PRUNE_INTERVAL) !== last / BigInt(PRUNE_INTERVAL))
    await client.query('DELETE FROM edgeweave.change WHERE index <= $1', [String(last - BigInt(HISTORY))]);
  await notify(client, String(last));
  return indexes;
}

/** Throws DamagedError for a row without a set. */
function readSet({ index, body }: Readonly<Record<string, unknown>>): StoredSet {
  try {
    return { ...(parseJson(String(body), DEEPEST_SET) as NewSet), index: BigInt(String(index)) };
  } catch (error) {
    throw new DamagedError('change', String(index), 'the body is invalid: it is not JSON', { cause: error });
  }
}

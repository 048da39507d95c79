// A store in a PostgreSQL database that several controllers share. Each set of changes is one row of the table
// `change`; the lock of the row in `head` gives the sets one order. The entities stand in a table of their own, for
// members that start. Everything is in the schema `edgeweave`, whose version migrations.ts knows. A chain of hashes
// (history.ts) shows whether the database still has the history that this member knows.

import type pg from 'pg';
import type { Clock } from '#lib/clock.ts';
import { describeError, TimeoutError } from '#lib/errors.ts';
import { DEEPEST_JSON, parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import type { Change } from '../change.ts';
import { isEntityKind } from '../tables.ts';
import { databaseProblem } from './database-problem.ts';
import { HistoryError, mayContinue, nextChain, type Position } from './history.ts';
import { migrate } from './migrations.ts';
import { notify, type PostgresComponents, PostgresConnection } from './postgres-connection.ts';
import { headOf, MEMBERS, PostgresRegistry } from './postgres-registry.ts';
import type { NewSet, SharedStore, StoredSet } from './shared-store.ts';
import { StoreError } from './sqlite-store.ts';
import { DamagedError, type StoredState, StoreWriteError } from './store.ts';
import { entityProblem, readStoredEntity } from './stored-entity.ts';

/** Sets that stay in the table `change` for members that were disconnected. */
const HISTORY = 100_000;
/** Older sets are deleted after this many new ones. */
const PRUNE_INTERVAL = 1_000;
/** Milliseconds after which a database that did not answer is asked again. */
const SILENCE = 1_000;
/** Sets that are read at once. */
const MOST_READ = 1_000;
/** A set holds entities, which hold values of bodies. */
const DEEPEST_SET = DEEPEST_JSON + 30;
const HEAD = 'SELECT index, timeline, chain FROM edgeweave.head';
/** Keys of the advisory locks: for the creation of the tables, and for the start of a member. */
const LOCKS = { tables: 3_022_001, start: 3_022_002 } as const;

export class PostgresStore implements SharedStore {
  readonly registry: PostgresRegistry;
  readonly isImmediate = false;
  readonly #connection: PostgresConnection;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #listeners: (() => void)[] = [];
  /** Index of the last set that this member knows. */
  #index = 0n;
  #timeline = '';
  /** The chain at each index that the caller may continue from. */
  readonly #chains = new Map<bigint, string>();
  /** Why the last change was not stored. */
  #problem = '';
  /** Monotonic time until which changes are rejected at once: the database did not answer, and each would wait for it. */
  #silentUntil = Number.NEGATIVE_INFINITY;

  private constructor(connection: PostgresConnection, components: PostgresComponents) {
    this.#connection = connection;
    this.#log = components.log;
    this.#clock = components.clock;
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
        await migrate(client);
      });
      return new PostgresStore(connection, components);
    } catch (error) {
      await connection.close();
      if (error instanceof StoreError) throw error;
      throw new StoreError(`the tables of the database cannot be created: ${describeError(error)}`, { cause: error });
    }
  }

  async load(): Promise<StoredState> {
    return this.#connection.transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', async (client) => {
      const head = await client.query(HEAD);
      const { rows: newest } = await client.query(
        'SELECT index, chain FROM edgeweave.change ORDER BY index DESC LIMIT 1',
      );
      const entities = await client.query('SELECT kind, id, body FROM edgeweave.entity ORDER BY kind, id');
      const meta = await client.query('SELECT key, value FROM edgeweave.meta');
      const position = positionOf(head.rows);
      const { index, chain } = position;
      const [last] = newest;
      if (last && BigInt(last.index) !== index)
        throw new DamagedError('head', '1', `its index is ${index}, but the last change is ${last.index}`);
      if (last && last.chain !== '' && last.chain !== chain)
        throw new DamagedError('head', '1', `its chain is not that of the last change ${index}`);
      this.#index = index;
      this.#timeline = position.timeline;
      this.#chains.clear();
      this.#chains.set(index, chain);
      return {
        index: this.#index,
        entities: entities.rows.map((row) => readStoredEntity({ ...row, id: idIn(row.id) }, `${row.kind} ${row.id}`)),
        meta: new Map(meta.rows.map(({ key, value }) => [key, value])),
      };
    });
  }

  async append(after: bigint, prepare: (missed: readonly StoredSet[]) => readonly NewSet[]): Promise<bigint[]> {
    try {
      if (this.#clock.monotonic() < this.#silentUntil) throw new TimeoutError('the database', 0);
      const written = await this.#connection.change(async (client) => {
        const { rows } = await client.query(`${HEAD} FOR UPDATE`);
        const head = positionOf(rows);
        const own = this.#positionAt(after);
        if (!mayContinue(own, head)) throw new HistoryError(own, head);
        const missed = await this.#missedBetween(client, after, head.index);
        if (this.#chains.get(head.index) !== head.chain) throw new HistoryError(this.#positionAt(head.index), head);
        const sets = prepare(missed);
        return sets.length === 0 ? [] : write(client, head, sets);
      });
      for (const { index, chain } of written) this.#chains.set(index, chain);
      const indexes = written.map(({ index }) => index);
      this.#index = indexes.at(-1) ?? this.#index;
      this.#problem = '';
      return indexes;
    } catch (error) {
      const isSilent = error instanceof TimeoutError && this.#clock.monotonic() >= this.#silentUntil;
      if (isSilent) this.#silentUntil = this.#clock.monotonic() + SILENCE;
      this.#report(databaseProblem(error));
      // Whatever was stored after all is read with the next changes.
      const isRejection = isRejectionOf(error);
      const remedy = isRejection ? 'change it' : 'try again';
      throw new StoreWriteError(`the database did not store the change: ${databaseProblem(error)}; ${remedy}`, {
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
    const head = positionOf((await this.#connection.query(HEAD)).rows);
    const own = this.#positionAt(after);
    if (!mayContinue(own, head)) throw new HistoryError(own, head);
    const sets = await this.#next(this.#connection, after);
    if (sets.length === 0 && head.index > after) throw missing(after + 1n);
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

  #positionAt(index: bigint): Position {
    for (const known of this.#chains.keys()) if (known < index) this.#chains.delete(known);
    return { timeline: this.#timeline, index, chain: this.#chains.get(index) ?? '' };
  }

  /**
   * The first sets after an index; sets are committed in their order, so none is missing between them. Rejects with
   * HistoryError for a set that does not continue the chain.
   */
  async #next(client: Pick<PostgresConnection, 'query'>, after: bigint): Promise<StoredSet[]> {
    const { rows } = await client.query(
      'SELECT index, body, chain FROM edgeweave.change WHERE index > $1 ORDER BY index LIMIT $2',
      [String(after), MOST_READ],
    );
    let chain = this.#chains.get(after) ?? '';
    return rows.map((row, position) => {
      const index = after + BigInt(position + 1);
      if (BigInt(row.index) !== index) throw missing(index);
      const set = readSet(row);
      const own = chain;
      chain = nextChain(chain, index, row.body);
      if (row.chain !== chain)
        throw new HistoryError(
          { timeline: this.#timeline, index: index - 1n, chain: own },
          { timeline: this.#timeline, index, chain: row.chain },
        );
      this.#chains.set(index, chain);
      return set;
    });
  }

  async #missedBetween(client: pg.Client, after: bigint, head: bigint): Promise<StoredSet[]> {
    const missed: StoredSet[] = [];
    for (let at = after; at < head; at = missed.at(-1)?.index ?? at) {
      const sets = await this.#next(client, at);
      if (sets.length === 0) throw missing(at + 1n);
      missed.push(...sets);
    }
    return missed;
  }

  #onNotification(payload: string | undefined): void {
    if (payload === MEMBERS || payload === undefined) this.registry.changed();
    if (payload === undefined) this.#appended();
    else if (/^\d+$/.test(payload)) this.#onIndex(BigInt(payload));
  }

  /** A smaller index shows that the database went back: reading on reports it. */
  #onIndex(index: bigint): void {
    if (index !== this.#index) this.#appended();
  }

  #appended(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** @throws DamagedError */
function positionOf(rows: readonly pg.QueryResultRow[]): Position {
  const { index, timeline, chain } = headOf(rows);
  return { timeline, index: BigInt(index), chain };
}

function missing(index: bigint): StoreError {
  const why = `${HISTORY} newer ones exist, or it was deleted`;
  return new StoreError(`the change ${index} is no longer in the database (${why}); restart this controller`);
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

/** Returns the positions after each set. */
async function write(client: pg.Client, head: Position, sets: readonly NewSet[]): Promise<Position[]> {
  const bodies = sets.map((set) => JSON.stringify(set));
  const positions: Position[] = [];
  let last = head;
  for (const body of bodies) {
    const index = last.index + 1n;
    last = { ...head, index, chain: nextChain(last.chain, index, body) };
    positions.push(last);
  }
  await client.query('INSERT INTO edgeweave.change SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])', [
    positions.map(({ index }) => String(index)),
    bodies,
    positions.map(({ chain }) => chain),
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
  await client.query('UPDATE edgeweave.head SET index = $1, chain = $2', [String(last.index), last.chain]);
  if (head.index / BigInt(PRUNE_INTERVAL) !== last.index / BigInt(PRUNE_INTERVAL))
    await client.query('DELETE FROM edgeweave.change WHERE index <= $1', [String(last.index - BigInt(HISTORY))]);
  await notify(client, String(last.index));
  return positions;
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

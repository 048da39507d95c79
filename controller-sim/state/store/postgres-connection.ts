// Two connections to a PostgreSQL database: one for statements, opened again when it is next needed, and one for
// notifications, opened again as soon as possible. The second one also renews the membership, because statements may
// wait for a lock. Errors never contain the password of the address.

import type { Socket } from 'node:net';
import pg from 'pg';
import { background } from '#lib/background.ts';
import { describeError, TimeoutError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { Turns } from '#lib/queue/turns.ts';
import type { Subscription } from '#lib/subscription.ts';
import type { Clock } from '#lib/time/clock.ts';
import { CutOffError } from './shared-store.ts';
import { StoreError } from './store.ts';

/** Milliseconds. */
const CONNECT_TIMEOUT = 5_000;
/** For a change, from the connection on: its client waits for it. */
const CHANGE_TIMEOUT = 1_500;
const STATEMENT_TIMEOUT = 30_000;
const LOCK_TIMEOUT = 20_000;
/** For statements that wait for no lock of a change. */
const ASIDE_TIMEOUT = 5_000;
/** A member that hangs within a transaction loses its connection, and with it the lock. */
const MAX_PAUSE_MS = 10_000;
const MAX_GOODBYE_MS = 1_000;
const RECONNECT_INTERVAL = 1_000;
/** The channel of notifications. */
const CHANNEL = 'edgeweave';
/** A pooler between this process and the database may ignore the settings of the connection. */
const BEGIN_CHANGE = `BEGIN; ${settings({
  lock_timeout: CHANGE_TIMEOUT,
  statement_timeout: CHANGE_TIMEOUT,
  idle_in_transaction_session_timeout: MAX_PAUSE_MS,
})}`;
/** Statements in BEGIN_CHANGE. */
const BEGIN_COUNT = 2;
/** The process of the server that serves a connection. */
const SESSION = 'SELECT pg_backend_pid() AS pid';
/** One session serves two open connections: notifications and locks of a session would reach the wrong one. */
const SHARED_SESSION =
  'a connection pooler in front of it shares sessions among connections; a controller needs its own: set pool_mode = session, or give the address of the database itself';
const TRY_LOCK = 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS held';

export interface PostgresComponents {
  readonly clock: Clock;
  readonly log: Log;
}

export class PostgresConnection {
  readonly #url: string;
  readonly #components: PostgresComponents;
  readonly #closing = new AbortController();
  #client: Promise<pg.Client> | undefined;
  readonly #turns = new Turns();
  #listening: pg.Client | undefined;
  readonly #notifications: Listeners<string | undefined>;
  #isCutOff = false;
  /** The advisory lock that the connection for notifications holds, or tries to hold. */
  #heldLock: readonly [number, string] | undefined;

  private constructor(url: string, components: PostgresComponents) {
    this.#url = url;
    this.#components = components;
    this.#notifications = new Listeners('notifications of the database', components.log);
  }

  /** Rejects with StoreError if the database cannot be reached. */
  static async open(url: string, components: PostgresComponents): Promise<PostgresConnection> {
    const connection = new PostgresConnection(url, components);
    try {
      const { rows } = await connection.query(SESSION);
      await connection.#listen();
      const [own] = (await connection.queryAside(SESSION)).rows;
      if (own.pid === rows[0].pid) throw new StoreError(SHARED_SESSION);
      return connection;
    } catch (error) {
      await connection.close();
      throw new StoreError(`the database ${placeOf(url)} cannot be used: ${describeError(error)}`, { cause: error });
    }
  }

  /** Calls `listener` with each notification, and with undefined after a reconnect: notifications may be lost. */
  onNotification(listener: (payload: string | undefined) => void): Subscription {
    return this.#notifications.add(listener);
  }

  #opened(): Promise<pg.Client> {
    this.#closing.signal.throwIfAborted();
    if (this.#isCutOff) return Promise.reject(new CutOffError());
    if (this.#client) return this.#client;
    const opening = this.#open(() => {
      if (this.#client === opening) this.#client = undefined;
    });
    this.#client = opening;
    opening.catch(() => {
      if (this.#client === opening) this.#client = undefined;
    });
    return opening;
  }

  /**
   * Runs `work` in a transaction, after all earlier work: the connection has one transaction at a time. After an error
   * the next work opens another connection.
   */
  transaction<T>(begin: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
    return this.#inTurn(async (client) => {
      await client.query(`${begin}; ${settings({ idle_in_transaction_session_timeout: MAX_PAUSE_MS })}`);
      const result = await work(client);
      await client.query('COMMIT');
      return result;
    });
  }

  /**
   * The same for a change, in two round trips: `statements` run with the beginning of the transaction, and the text
   * that `work` returns runs with its end. Rejects with TimeoutError if it takes longer than its client should wait.
   * Its connection is closed then: `work` does not go on, but what it has committed may have been stored. Resolves with
   * the results of the text.
   */
  change(
    statements: string,
    work: (results: readonly pg.QueryResult[], client: pg.Client) => Promise<string>,
  ): Promise<pg.QueryResult[]> {
    return this.#inTime(async (client) => {
      const text = await work((await queryAll(client, `${BEGIN_CHANGE}; ${statements}`)).slice(BEGIN_COUNT), client);
      return (await queryAll(client, `${text}; COMMIT`)).slice(0, -1);
    });
  }

  /** The same in one round trip. Resolves with the result of each statement. */
  changeAtOnce(statements: string): Promise<pg.QueryResult[]> {
    return this.#inTime(async (client) =>
      (await queryAll(client, `${BEGIN_CHANGE}; ${statements}; COMMIT`)).slice(BEGIN_COUNT, -1),
    );
  }

  /** `isSteady`: an answer that arrives without a pause of this length may take longer as a whole. */
  async #inTime<T>(work: (client: pg.Client) => Promise<T>, { isSteady = false } = {}): Promise<T> {
    const late = Promise.withResolvers<never>();
    const tooLate = new TimeoutError('the database', CHANGE_TIMEOUT);
    let isOver = false;
    let running: pg.Client | undefined;
    let arrived = 0;
    const limit = () => this.#components.clock.after('answer of the database', CHANGE_TIMEOUT, end);
    const end = () => {
      const before = arrived;
      arrived = bytesFrom(running);
      if (isSteady && arrived > before) {
        timer = limit();
        return;
      }
      isOver = true;
      late.reject(tooLate);
      running?.end().catch(() => undefined); // its statement fails
    };
    let timer = limit();
    const changing = this.#inTurn(async (client) => {
      if (isOver) throw tooLate;
      running = client;
      arrived = bytesFrom(client);
      return work(client);
    });
    try {
      return await Promise.race([changing, late.promise]);
    } finally {
      timer.cancel();
    }
  }

  /**
   * Runs several statements in one round trip, after all earlier work. They have no parameters. Rejects with
   * TimeoutError if the database is silent for longer than the client of a change should wait: changes wait for this.
   */
  queryAll(statements: string): Promise<pg.QueryResult[]> {
    return this.#inTime((client) => queryAll(client, statements), { isSteady: true });
  }

  /** Runs one statement, after all earlier work. */
  query(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#inTurn((client) => client.query(text, [...values]));
  }

  /** Runs one statement at once, beside other work. Rejects while the connection for notifications is lost. */
  async queryAside(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    const client = this.#listening;
    if (!client) throw new StoreError('the connection to the database was lost');
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      // Without an answer, notifications do not arrive either: its end opens another connection.
      if (!(error instanceof pg.DatabaseError)) cut(client);
      throw error;
    }
  }

  /** Takes an advisory lock, which ends with this process. @returns false if another connection has it */
  async hold(space: number, name: string): Promise<boolean> {
    const { rows } = await this.queryAside(TRY_LOCK, [space, name]);
    if (rows[0].held !== true) return false;
    this.#heldLock = [space, name];
    return true;
  }

  #inTurn<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      const opening = this.#opened();
      const client = await opening;
      try {
        return await work(client);
      } catch (error) {
        if (this.#client === opening) this.#client = undefined; // its transaction ends with it
        client.end().catch(() => undefined);
        throw error;
      }
    });
  }

  /** Ends both connections, and opens none until it is called with false. */
  cutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    if (!isCutOff) return;
    if (this.#listening) cut(this.#listening);
    this.#client?.then(cut, () => undefined);
    this.#client = undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort(new StoreError('the store is closed'));
    await this.#turns.settled();
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await Promise.all([client, this.#listening].map((each) => each && this.#end(each)));
  }

  /** Says goodbye, and does not wait for a database that does not answer. */
  async #end(client: pg.Client): Promise<void> {
    const timer = this.#components.clock.after('end of a connection', MAX_GOODBYE_MS, () => cut(client));
    await client.end().catch(() => undefined);
    timer.cancel();
  }

  /** `onEnd` is called when the connection is lost; `timeout` in milliseconds is that of a statement. */
  async #open(onEnd: (lost: pg.Client) => void, timeout = STATEMENT_TIMEOUT): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: timeout,
      statement_timeout: STATEMENT_TIMEOUT,
      lock_timeout: LOCK_TIMEOUT,
      idle_in_transaction_session_timeout: MAX_PAUSE_MS,
      keepAlive: true,
      application_name: 'edgeweave-sim',
    });
    client.on('error', () => onEnd(client)); // without a listener it would end the process
    client.on('end', () => onEnd(client));
    await client.connect();
    return client;
  }

  async #listen(): Promise<void> {
    if (this.#isCutOff) throw new CutOffError();
    const client = await this.#open((lost) => this.#listenAgain(lost), ASIDE_TIMEOUT);
    client.on('notification', ({ payload }) => this.#notifications.call(payload ?? ''));
    try {
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.#heldLock) await client.query(TRY_LOCK, [...this.#heldLock]);
      this.#closing.signal.throwIfAborted();
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.#listening = client;
  }

  /** A lost connection reports an error and its end. */
  #listenAgain(lost: pg.Client): void {
    const { log } = this.#components;
    if (this.#listening !== lost || this.#closing.signal.aborted) return;
    this.#listening = undefined;
    log.warn({ database: placeOf(this.#url) }, 'the connection to the database was lost, reconnecting');
    background(log, 'connection to the database', this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    const { clock, log } = this.#components;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#listen();
        log.info({ database: placeOf(this.#url) }, 'connected to the database again');
        this.#notifications.call(undefined);
        return;
      } catch {
        await clock.sleep(RECONNECT_INTERVAL, { name: 'reconnect to the database', signal }).catch(() => undefined);
      }
    }
  }
}

/** Ends a connection without a goodbye, which a database that hangs would not answer. */
function cut(client: pg.Client): void {
  client.connection.stream.destroy();
}

/** The statement that sets limits in milliseconds for one transaction. */
function settings(limits: Readonly<Record<string, number>>): string {
  return `SELECT ${Object.entries(limits).map(([name, limit]) => `set_config('${name}', '${limit}', true)`)}`;
}

/** Bytes that have arrived over a connection. */
function bytesFrom(client: pg.Client | undefined): number {
  return client ? (client.connection.stream as Socket).bytesRead : 0;
}

/** The result of each statement: the driver returns a list for several. */
async function queryAll(client: pg.Client, statements: string): Promise<pg.QueryResult[]> {
  return [await client.query(statements)].flat();
}

/** The call that sends a notification when the transaction commits. */
export function notice(payload: string): string {
  return `pg_notify('${CHANNEL}', ${pg.escapeLiteral(payload)})`;
}

/** Sends a notification when the transaction commits. */
export async function notify(client: pg.Client, payload: string): Promise<void> {
  await client.query(`SELECT ${notice(payload)}`);
}

/** Host, port and name of a database, without user and password. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'of the option store';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

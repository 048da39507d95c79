// Two connections to a PostgreSQL database: one for statements, opened again when it is next needed, and one for
// notifications, opened again as soon as possible. The second one also renews the membership, because statements may
// wait for a lock. Errors never contain the password of the address.
//
// A network may drop a connection silently. So every statement passes through #inTime, which cuts a connection that
// does not answer: callers wait for a bounded time, and later statements are sent over a new connection.

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
const CONNECT_TIMEOUT = 3_000;
/** For a statement or a transaction, from the call on: its client waits for it. */
const STATEMENT_TIMEOUT = 1_500;
/** For the migration of the schema, at a start. */
const MIGRATION_TIMEOUT = 30_000;
const LOCK_TIMEOUT = 20_000;
/** An unused connection is probed after this: a firewall does not forget it, and its loss is noticed. */
const KEEP_ALIVE = 10_000;
/** A member that hangs within a transaction loses its connection, and with it the lock. */
const MAX_PAUSE_MS = 10_000;
const MAX_GOODBYE_MS = 1_000;
const RECONNECT_INTERVAL = 1_000;
/** The channel of notifications. */
const CHANNEL = 'edgeweave';
/** A pooler between this process and the database may ignore the settings of the connection. */
const BEGIN_CHANGE = `BEGIN; ${settings({
  lock_timeout: STATEMENT_TIMEOUT,
  statement_timeout: STATEMENT_TIMEOUT,
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

interface Connecting {
  readonly opening: Promise<pg.Client>;
  /** Undefined until it is open. */
  client?: pg.Client;
}

interface Limits {
  /** Milliseconds from the call on. */
  readonly timeout?: number;
  /** An answer that arrives without a pause of this length may take longer as a whole. */
  readonly isSteady?: boolean;
}

/** A connection for the statements of one piece of work. */
export interface Session {
  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
}

/** Begins to use a connection. @throws TimeoutError if the time is over */
type Use = (client: pg.Client) => Session;

export interface PostgresComponents {
  readonly clock: Clock;
  readonly log: Log;
}

export class PostgresConnection {
  readonly #url: string;
  readonly #components: PostgresComponents;
  readonly #closing = new AbortController();
  /** The connection for statements. */
  #main: Connecting | undefined;
  /** The other connection was dropped silently, so this one may be, too: it is opened again before the next use. */
  #isDoubtful = false;
  readonly #turns = new Turns();
  /** A statement got no answer in time, and no other connection is open yet. */
  #isSilent = false;
  /** Connections that were cut because one of their statements took too long. */
  readonly #late = new WeakSet<pg.Client>();
  #listening: pg.Client | undefined;
  /** Why the connection for notifications is not open. */
  #lost: unknown;
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
      const { rows } = await connection.#inTurn((session) => session.query(SESSION), { timeout: CONNECT_TIMEOUT });
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
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#isCutOff) return Promise.reject(new CutOffError());
    if (this.#main) return this.#main.opening;
    const main: Connecting = { opening: this.#open(() => this.#forget(main)) };
    this.#main = main;
    main.opening.then(
      (client) => {
        main.client = client;
      },
      () => this.#forget(main),
    );
    return main.opening;
  }

  #forget(main: Connecting | undefined): void {
    if (this.#main === main) this.#main = undefined;
  }

  /**
   * Runs `work` in a transaction, after all earlier work: the connection has one transaction at a time. After an error
   * the next work opens another connection.
   */
  transaction<T>(begin: string, work: (session: Session) => Promise<T>, limits?: Limits): Promise<T> {
    return this.#inTurn(async (session) => {
      await session.query(`${begin}; ${settings({ idle_in_transaction_session_timeout: MAX_PAUSE_MS })}`);
      const result = await work(session);
      await session.query('COMMIT');
      return result;
    }, limits);
  }

  /** A transaction of the start, which may wait for that of another controller. */
  migration<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.transaction('BEGIN', work, { timeout: MIGRATION_TIMEOUT });
  }

  /**
   * A transaction with a change, in two round trips: `statements` run with the beginning of the transaction, and the
   * text that `work` returns runs with its end. Rejects with TimeoutError if it takes longer than its client should
   * wait. Its connection is closed then: `work` does not go on, but what it has committed may have been stored.
   * Resolves with the results of the text.
   */
  change(
    statements: string,
    work: (results: readonly pg.QueryResult[], session: Session) => Promise<string>,
  ): Promise<pg.QueryResult[]> {
    return this.#inTurn(async (session) => {
      const text = await work((await queryAll(session, `${BEGIN_CHANGE}; ${statements}`)).slice(BEGIN_COUNT), session);
      return (await queryAll(session, `${text}; COMMIT`)).slice(0, -1);
    });
  }

  /** The same in one round trip. Resolves with the result of each statement. */
  changeAtOnce(statements: string): Promise<pg.QueryResult[]> {
    return this.#inTurn(async (session) =>
      (await queryAll(session, `${BEGIN_CHANGE}; ${statements}; COMMIT`)).slice(BEGIN_COUNT, -1),
    );
  }

  /**
   * Runs several statements in one round trip, after all earlier work. They have no parameters. Rejects with
   * TimeoutError if the database is silent for longer than the client of a change should wait: changes wait for this.
   */
  queryAll(statements: string): Promise<pg.QueryResult[]> {
    return this.#inTurn((session) => queryAll(session, statements), { isSteady: true });
  }

  /** Runs one statement, after all earlier work. */
  query(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#inTurn((session) => session.query(text, values));
  }

  /** Runs one statement at once, beside other work. Rejects while the connection for notifications is lost. */
  queryAside(text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
    return this.#inTime(async (use) => {
      const client = this.#listening;
      if (!client) throw this.#lost;
      try {
        return await use(client).query(text, values);
      } catch (error) {
        // Without an answer, notifications do not arrive either: its end opens another connection.
        if (!(error instanceof pg.DatabaseError)) cut(client);
        throw error;
      }
    });
  }

  /** Takes an advisory lock, which ends with this process. @returns false if another connection has it */
  async hold(space: number, name: string): Promise<boolean> {
    const { rows } = await this.queryAside(TRY_LOCK, [space, name]);
    if (rows[0].held !== true) return false;
    this.#heldLock = [space, name];
    return true;
  }

  /** Runs `work` after all earlier work, on the connection for statements. */
  #inTurn<T>(work: (session: Session) => Promise<T>, limits?: Limits): Promise<T> {
    if (this.#isSilent) return Promise.reject(silence());
    return this.#inTime(
      (use) =>
        this.#turns.run(async () => {
          if (this.#isSilent) throw silence();
          if (this.#isDoubtful) this.#drop(this.#main);
          this.#isDoubtful = false;
          const opening = this.#opened();
          const main = this.#main;
          const session = use(await opening);
          try {
            return await work(session);
          } catch (error) {
            this.#drop(main); // its transaction ends with it
            throw error;
          }
        }),
      limits,
    );
  }

  /** Every statement passes through here. Rejects with TimeoutError, and cuts the connection, if it takes too long. */
  async #inTime<T>(
    work: (use: Use) => Promise<T>,
    { timeout = STATEMENT_TIMEOUT, isSteady = false }: Limits = {},
  ): Promise<T> {
    const late = Promise.withResolvers<never>();
    let isOver = false;
    let used: pg.Client | undefined;
    let arrived = 0;
    /** Statements without an answer: the time between them is that of this process. */
    let pending = 0;
    const limit = () => this.#components.clock.after('answer of the database', timeout, end);
    const end = () => {
      const before = arrived;
      arrived = bytesFrom(used);
      if (isSteady && used && (arrived > before || pending === 0)) {
        timer = limit();
        return;
      }
      isOver = true;
      late.reject(new TimeoutError('the database', timeout));
      this.#noteLate(used);
    };
    let timer = limit();
    const working = work((client) => {
      if (isOver) throw silence();
      used = client;
      arrived = bytesFrom(client);
      const query = async (text: string, values?: readonly unknown[]) => {
        pending++;
        try {
          return await client.query(text, values && [...values]);
        } catch (error) {
          throw this.#late.has(client) ? silence() : error;
        } finally {
          pending--;
        }
      };
      return { query };
    });
    try {
      return await Promise.race([working, late.promise]);
    } finally {
      timer.cancel();
    }
  }

  /**
   * A statement was not answered in time. Until another connection is open, or cannot be opened, further statements are
   * rejected at once: each would wait for as long. `used` is undefined if it waited for its turn or its connection.
   */
  #noteLate(used: pg.Client | undefined): void {
    const main = this.#main;
    if (used) {
      this.#late.add(used);
      cut(used);
      if (used === this.#listening) this.#isDoubtful = true;
    }
    if (!main || main.client !== used) return;
    if (used) this.#forget(main);
    this.#isSilent = true;
    this.#opened()
      .catch(() => undefined)
      .finally(() => {
        this.#isSilent = false;
      });
  }

  #drop(main: Connecting | undefined): void {
    this.#forget(main);
    main?.opening.then((client) => this.#end(client)).catch(() => undefined);
  }

  /** Ends both connections, and opens none until it is called with false. */
  cutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    if (!isCutOff) return;
    if (this.#listening) cut(this.#listening);
    this.#main?.opening.then(cut, () => undefined);
    this.#main = undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort(new StoreError('the store is closed'));
    await this.#turns.settled();
    const client = await this.#main?.opening.catch(() => undefined);
    this.#main = undefined;
    await Promise.all([client, this.#listening].map((each) => each && this.#end(each)));
  }

  /** Says goodbye, and does not wait for a database that does not answer. */
  async #end(client: pg.Client): Promise<void> {
    const timer = this.#components.clock.after('end of a connection', MAX_GOODBYE_MS, () => cut(client));
    await client.end().catch(() => undefined);
    timer.cancel();
  }

  /** `onEnd` is called when the connection is lost. */
  async #open(onEnd: (lost: pg.Client) => void): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      statement_timeout: MIGRATION_TIMEOUT,
      lock_timeout: LOCK_TIMEOUT,
      idle_in_transaction_session_timeout: MAX_PAUSE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE,
      application_name: 'edgeweave-sim',
    });
    client.on('error', () => onEnd(client)); // without a listener it would end the process
    client.on('end', () => onEnd(client));
    let isLate = false;
    const timer = this.#components.clock.after('connection to the database', CONNECT_TIMEOUT, () => {
      isLate = true;
      cut(client);
    });
    try {
      await client.connect();
      return client;
    } catch (error) {
      throw isLate ? new TimeoutError('the database', CONNECT_TIMEOUT) : error;
    } finally {
      timer.cancel();
    }
  }

  async #listen(): Promise<void> {
    if (this.#isCutOff) throw new CutOffError();
    const client = await this.#open((lost) => this.#listenAgain(lost));
    client.on('notification', ({ payload }) => this.#notifications.call(payload ?? ''));
    try {
      await this.#inTime(async (use) => {
        const session = use(client);
        await session.query(`LISTEN ${CHANNEL}`);
        if (this.#heldLock) await session.query(TRY_LOCK, this.#heldLock);
      });
      this.#closing.signal.throwIfAborted();
    } catch (error) {
      cut(client);
      throw error;
    }
    this.#listening = client;
  }

  /** A lost connection reports an error and its end. */
  #listenAgain(lost: pg.Client): void {
    const { log } = this.#components;
    if (this.#listening !== lost || this.#closing.signal.aborted) return;
    this.#listening = undefined;
    this.#lost = new StoreError('the connection to the database was lost');
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
      } catch (error) {
        this.#lost = error;
        await clock.sleep(RECONNECT_INTERVAL, { name: 'reconnect to the database', signal }).catch(() => undefined);
      }
    }
  }
}

/** The database did not answer an earlier statement. */
function silence(): TimeoutError {
  return new TimeoutError('the database', STATEMENT_TIMEOUT);
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
async function queryAll(session: Session, statements: string): Promise<pg.QueryResult[]> {
  return [await session.query(statements)].flat();
}

/** The call that sends a notification when the transaction commits. */
export function notice(payload: string): string {
  return `pg_notify('${CHANNEL}', ${pg.escapeLiteral(payload)})`;
}

/** Host, port and name of a database, without user and password. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'of the option store';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

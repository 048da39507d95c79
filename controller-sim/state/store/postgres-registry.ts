// The members of a cluster in the tables `member` and `head`. A member that does not renew its row for some seconds
// counts as stopped. All changes hold the lock of the row in `head`, so that they have one order.
//
// An advisory lock and the column `instance` show which process is the member with an id. A process that was suspended
// for so long that another one took its id does not take it back.

import type pg from 'pg';
import { background } from '#lib/background.ts';
import { describeError, TimeoutError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { Listeners } from '#lib/listeners.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Subscription } from '#lib/subscription.ts';
import type { Timer } from '#lib/time/clock.ts';
import type { LogOwner } from './change-log.ts';
import { databaseProblem } from './database-problem.ts';
import type { Position } from './history.ts';
import { notice, type PostgresComponents, type PostgresConnection, type Session } from './postgres-connection.ts';
import type { CopyStatements } from './postgres-copy.ts';
import { ReportedHead } from './reported-head.ts';
import {
  type Attempts,
  type Member,
  type MemberInfo,
  type Membership,
  memberKeys,
  type Progress,
  type Registry,
  requireFree,
} from './shared-store.ts';
import { DamagedError, StoreWriteError } from './store.ts';

/** Milliseconds between renewals. A database that is away, or silent, is noticed within two of them. */
const RENEWAL = 1_000;
/** Milliseconds within which each running member reports its index at least once. */
const REPORT = 2 * RENEWAL;
/** Seconds without a renewal after which a member counts as stopped. */
export const LEASE = 10;
/** Milliseconds by which the clocks of a member and of the database may differ. */
const CLOCK_TOLERANCE = 1_000;
/** Milliseconds until the database must have noticed that the connections of an earlier process are closed. */
const MAX_END_MS = 2_000;
const END_INTERVAL = 100;
/** Milliseconds for a member to take the data of the database. */
const MAX_REJOIN = 60_000;
const REJOIN_INTERVAL = 100;
/**
 * The column `rejoin` is empty, or one of these with the id of a request; the reason follows a failure. Only the
 * outcome of its own request tells a caller that the member has rejoined: a database that went back to an older copy
 * has lost the request, or contains an earlier one.
 */
const WANTED = 'wanted ';
const DONE = 'done ';
const FAILED = 'failed ';
const MEMBER_FIELDS = ['controlAddress', 'baseUrl', 'certPem', 'version', 'joinedAt'] as const;
/** The space of the advisory locks for ids of members. */
const LOCKS = 3_022_003;
export const MEMBERS = 'members';
/** The condition for a row that was renewed in time; $1 is the lease. */
const RENEWED = "renewed_at >= now() - $1 * interval '1 second'";
const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

export const MEMBER_TABLES = `
  CREATE TABLE IF NOT EXISTS edgeweave.head (
    id integer PRIMARY KEY CHECK (id = 1), index bigint NOT NULL,
    members_index bigint NOT NULL, leader_id text, leader_index bigint NOT NULL
  );
  INSERT INTO edgeweave.head VALUES (1, 0, 0, NULL, 0) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS edgeweave.member (
    id text PRIMARY KEY, info text NOT NULL, position bigserial NOT NULL,
    renewed_at timestamptz NOT NULL DEFAULT now(), is_running boolean NOT NULL DEFAULT true,
    instance text NOT NULL DEFAULT ''
  );
`;

/** After a change of the members: another leader is chosen where needed, and all are notified. */
const NOTE_CHANGE = `UPDATE edgeweave.head SET members_index = members_index + 1;
  UPDATE edgeweave.head SET leader_index = leader_index + 1, leader_id =
      (SELECT id FROM edgeweave.member WHERE is_running ORDER BY position LIMIT 1)
    WHERE NOT EXISTS (SELECT 1 FROM edgeweave.member WHERE id = leader_id AND is_running);
  SELECT ${notice(MEMBERS)}`;

const ADD_ATTEMPT = `INSERT INTO edgeweave.attempt AS a VALUES ($1, 1, $2)
  ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN $2 - a.since < $3 THEN a.count + 1 ELSE 1 END,
    since = CASE WHEN $2 - a.since < $3 THEN a.since ELSE $2 END
  RETURNING count`;

export interface RegistryComponents extends PostgresComponents {
  /** Reports the position with each renewal, and learns the head from it: a notification may have been lost. */
  readonly owner: LogOwner;
  readonly statements: CopyStatements;
}

export class PostgresRegistry implements Registry {
  readonly #connection: PostgresConnection;
  readonly #components: RegistryComponents;
  readonly #schema: number;
  readonly #listeners: Listeners<void>;
  /** Distinguishes this process from an earlier or later one with the same id. */
  readonly #instance = new IdSource().uuid();
  #id: string | undefined;
  #member: MemberInfo | undefined;
  #timer: Timer | undefined;
  readonly #renewals: CoalescedTask;
  /** The last request to rejoin that this member has begun to fulfil. */
  #rejoin = '';
  #progress: Progress = { head: 0n, reportedHead: 0n, members: new Map() };
  readonly #reportedHead = new ReportedHead(REPORT);
  #reported: Position | undefined;
  readonly #replacement: RepeatedCondition;
  readonly #clockProblem: RepeatedCondition;
  /** A start has claimed the id; a later entry does not replace another process. */
  #isFirst = true;
  /** As last read. */
  #known: Pick<Membership, 'index' | 'leaderIndex'> | undefined;

  /** `schema` is the version of the tables that this program knows. */
  constructor(connection: PostgresConnection, components: RegistryComponents, schema: number) {
    this.#connection = connection;
    this.#components = components;
    this.#schema = schema;
    this.#replacement = new RepeatedCondition(components.clock, LASTING);
    this.#clockProblem = new RepeatedCondition(components.clock, LASTING);
    this.#renewals = new CoalescedTask(components.log, 'renewal of the member', () => this.#renewOwn());
    this.#listeners = new Listeners('members of the cluster', components.log);
  }

  /** Members start one at a time, so that the id remains free until `join`. */
  async claim(id: string): Promise<void> {
    const { clock } = this.#components;
    const end = clock.monotonic() + MAX_END_MS;
    let isHeld = await this.#connection.hold(LOCKS, id);
    while (!isHeld && clock.monotonic() < end) {
      await clock.sleep(END_INTERVAL, { name: 'id of the member' });
      isHeld = await this.#connection.hold(LOCKS, id);
    }
    const { members } = await this.read();
    const late = await this.#connection.query(`SELECT id FROM edgeweave.member WHERE NOT (${RENEWED})`, [LEASE]);
    const lateIds = new Set(late.rows.map((row) => row.id));
    // Without the lock, it is held by a process that hangs, or by a connection whose end was not noticed.
    const isFree = (member: Member) => member.id === id && (isHeld || lateIds.has(id));
    requireFree(
      id,
      members.map((member) => (isFree(member) ? { ...member, isConnected: false } : member)),
    );
  }

  readonly attempts: Attempts = {
    add: async (key, now, milliseconds) => {
      const values = [key, Math.round(now), milliseconds];
      return Number((await this.#connection.queryAside(ADD_ATTEMPT, values)).rows[0]?.count);
    },
    clear: async (key) => {
      await this.#connection.queryAside('DELETE FROM edgeweave.attempt WHERE key = $1', [key]);
    },
  };

  /** As of the last renewal. */
  get progress(): Progress {
    return this.#progress;
  }

  /** The position that the last confirmed renewal has reported. */
  get reported(): Position | undefined {
    return this.#reported;
  }

  async join(member: MemberInfo): Promise<void> {
    const { clock } = this.#components;
    await this.#enter(member);
    this.#member = member;
    this.#timer?.cancel();
    this.#timer = clock.every('renewal of the member', RENEWAL, () => {
      if (this.#renewals.isRunning) this.#components.owner.notRenewed(new TimeoutError('the renewal', RENEWAL));
      this.renew();
    });
    this.renew();
  }

  renew(): void {
    if (this.#member) this.#renewals.request();
  }

  async leave(): Promise<void> {
    this.#timer?.cancel();
    this.#member = undefined;
    const id = this.#id;
    if (id === undefined) return;
    this.#id = undefined;
    await this.#change(async (session) => {
      const own = 'UPDATE edgeweave.member SET is_running = false WHERE id = $1 AND instance = $2';
      await session.query(own, [id, this.#instance]);
      return true;
    }).catch(() => undefined); // the others notice it after the lease
  }

  remove(id: string): Promise<boolean> {
    return this.#change(async (session) => {
      const { rowCount } = await session.query('DELETE FROM edgeweave.member WHERE id = $1', [id]);
      await session.query('DELETE FROM edgeweave.meta WHERE key = ANY($1)', [memberKeys(id)]);
      return rowCount === 1;
    });
  }

  transfer(id: string): Promise<boolean> {
    return this.#change(async (session) => {
      const { rowCount } = await session.query(
        `UPDATE edgeweave.head SET leader_id = $1, leader_index = leader_index + 1
         WHERE EXISTS (SELECT 1 FROM edgeweave.member WHERE id = $1 AND is_running)`,
        [id],
      );
      return rowCount === 1;
    });
  }

  async rejoin(id: string): Promise<boolean> {
    const { clock } = this.#components;
    let request = new IdSource().uuid();
    const asked = await this.#change(async (session) => {
      const text = 'UPDATE edgeweave.member SET rejoin = $2 WHERE id = $1 AND is_running';
      return (await session.query(text, [id, WANTED + request])).rowCount === 1;
    });
    if (!asked) return false;
    const end = clock.monotonic() + MAX_REJOIN;
    while (clock.monotonic() < end) {
      const { rows } = await this.#connection.query('SELECT rejoin FROM edgeweave.member WHERE id = $1', [id]);
      const state: string = rows[0]?.rejoin ?? `${FAILED}${request} it was removed`;
      if (state === DONE + request) return true;
      const failure = `${FAILED}${request} `;
      if (state.startsWith(failure))
        throw new StoreWriteError(`${id} could not rejoin: ${state.slice(failure.length)}`);
      if (!state.startsWith(WANTED))
        throw new StoreWriteError(
          `${id} may not have rejoined: the database no longer has the request, since it went back to an older copy, or somebody else asked too; see sim cluster list, and ask again`,
        );
      request = state.slice(WANTED.length); // a later request replaces this one
      await clock.sleep(REJOIN_INTERVAL, { name: 'rejoin of a member' });
    }
    throw new StoreWriteError(
      `${id} did not rejoin within ${MAX_REJOIN / 1_000} s: it hangs, or does not reach the database`,
    );
  }

  async read(): Promise<Membership> {
    const [head, members] = await this.#connection.transaction(READ, async (session) => [
      await session.query('SELECT index, members_index, leader_id, leader_index FROM edgeweave.head'),
      await session.query(
        'SELECT id, info, is_running, problem, rejoin, instance, position_index FROM edgeweave.member ORDER BY position',
      ),
    ]);
    const { index, members_index, leader_id, leader_index } = headOf(head.rows);
    const membership = {
      index: BigInt(members_index),
      leaderId: leader_id ?? undefined,
      leaderIndex: BigInt(leader_index),
      members: members.rows.map(readMember),
    };
    this.#known = membership;
    const positions = members.rows.map(({ id, position_index }) => [id, BigInt(position_index)] as const);
    this.#progress = this.#progressAt(BigInt(index), positions);
    const own = members.rows.find((row) => row.instance === this.#instance);
    if (own) this.#startRejoin(own.rejoin);
    return membership;
  }

  onChange(listener: () => void): Subscription {
    return this.#listeners.add(listener);
  }

  /** Stops renewing. */
  close(): void {
    this.#timer?.cancel();
    this.#member = undefined;
  }

  /** The members may have changed. */
  changed(): void {
    this.#listeners.call();
  }

  /**
   * Runs `work` under the lock; if it changed something, another leader is chosen where needed, and all are notified.
   */
  async #change(work: (session: Session) => Promise<boolean>): Promise<boolean> {
    try {
      let isChanged = false;
      await this.#connection.change('SELECT 1 FROM edgeweave.head FOR UPDATE', async (_locked, session) => {
        isChanged = await work(session);
        return isChanged ? NOTE_CHANGE : '';
      });
      if (isChanged) this.changed();
      return isChanged;
    } catch (error) {
      throw new StoreWriteError(`the members of the cluster could not be changed: ${databaseProblem(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * A request to rejoin remains: a start may have loaded its data before the request. @returns false if another process
   * is this member
   */
  async #enter(member: MemberInfo): Promise<boolean> {
    this.#id = member.id;
    return this.#change(async (session) => {
      const { rowCount } = await session.query(
        `INSERT INTO edgeweave.member AS m (id, info, instance, schema) VALUES ($2, $3, $4, $6)
         ON CONFLICT (id) DO UPDATE
         SET info = excluded.info, renewed_at = now(), is_running = true, instance = excluded.instance,
           schema = excluded.schema
         WHERE m.instance = excluded.instance OR NOT m.is_running OR NOT (m.${RENEWED}) OR $5`,
        [LEASE, member.id, JSON.stringify(member), this.#instance, this.#isFirst, this.#schema],
      );
      this.#isFirst &&= rowCount !== 1;
      return rowCount === 1;
    });
  }

  async #renewOwn(): Promise<void> {
    try {
      if (this.#member) await this.#renew(this.#member);
    } catch (error) {
      if (this.#member) this.#components.owner.notRenewed(error);
      this.#components.log.debug({ error: describeError(error) }, 'the membership could not be renewed');
    }
  }

  /**
   * Also notices members that no longer renew, and changes whose notification was lost. A member that was away too long
   * enters again, unless another process has taken its id.
   */
  async #renew(member: MemberInfo): Promise<void> {
    const { clock, owner } = this.#components;
    const { position, problem } = owner.status();
    const asked = clock.now();
    const { rows } = await this.#connection.queryAside(
      `WITH own AS (
         UPDATE edgeweave.member SET renewed_at = now(), position_index = $4, position_chain = $5
         WHERE id = $2 AND instance = $3 RETURNING is_running, problem, rejoin
       )
       SELECT (SELECT is_running FROM own) AS is_running, (SELECT problem FROM own) AS problem,
         (SELECT rejoin FROM own) AS rejoin, index, chain, timeline,
         (${this.#components.statements.timeline}) AS router_timeline, members_index, leader_index,
         extract(epoch FROM clock_timestamp()) * 1000 AS now,
         (SELECT count(*)::int FROM edgeweave.member WHERE is_running AND id <> $2 AND NOT (${RENEWED})) AS late,
         (SELECT json_object_agg(id, position_index::text) FROM edgeweave.member WHERE id <> $2) AS positions
       FROM edgeweave.head`,
      [LEASE, member.id, this.#instance, String(position.index), position.chain],
    );
    const { is_running, late, positions, ...head } = headOf(rows);
    this.#reported = position;
    this.#noteClock({ asked, answered: clock.now(), theirs: Number(head.now) });
    const others = Object.entries<string>(positions ?? {}).map(([id, index]) => [id, BigInt(index)] as const);
    this.#progress = this.#progressAt(BigInt(head.index), [...others, [member.id, position.index]]);
    owner.appended({
      index: BigInt(head.index),
      chain: head.chain,
      timeline: head.timeline,
      routerTimeline: head.router_timeline,
    });
    const { index, leaderIndex } = this.#known ?? {};
    if (BigInt(head.members_index) !== index || BigInt(head.leader_index) !== leaderIndex) this.changed();
    if (is_running !== true && this.#id === member.id) this.#noteReplaced(!(await this.#enter(member)));
    if (is_running !== null && head.problem !== problem) await this.#setProblem(problem);
    this.#startRejoin(head.rejoin);
    if (late > 0) await this.#change(stopLate);
  }

  #progressAt(head: bigint, positions: readonly (readonly [id: string, index: bigint])[]): Progress {
    const reportedHead = this.#reportedHead.note(head, this.#components.clock.monotonic());
    return { head, reportedHead, members: new Map(positions) };
  }

  #setProblem(problem: string): Promise<boolean> {
    return this.#change(async (session) => {
      const text = 'UPDATE edgeweave.member SET problem = $1 WHERE id = $2 AND instance = $3';
      return (await session.query(text, [problem, this.#id, this.#instance])).rowCount === 1;
    });
  }

  #startRejoin(wanted: string | null): void {
    if (!wanted?.startsWith(WANTED) || wanted === this.#rejoin) return;
    this.#rejoin = wanted;
    const request = wanted.slice(WANTED.length);
    const rejoining = this.#components.owner
      .rejoin()
      .then(
        () => DONE + request,
        (error: unknown) => `${FAILED}${request} ${describeError(error) || 'it failed'}`,
      )
      .then((outcome) => this.#endRejoin(wanted, outcome))
      .finally(() => this.renew());
    background(this.#components.log, 'rejoin of this controller', rejoining);
  }

  /** A later request waits for its own rejoin, which begins with the next renewal. */
  #endRejoin(wanted: string, outcome: string): Promise<boolean> {
    return this.#change(async (session) => {
      const text = 'UPDATE edgeweave.member SET rejoin = $1 WHERE id = $2 AND instance = $3 AND rejoin = $4';
      return (await session.query(text, [outcome, this.#id, this.#instance, wanted])).rowCount === 1;
    });
  }

  /** Times in milliseconds since the epoch. A jump of this clock while the database answers looks the same. */
  #noteClock({ asked, answered, theirs }: { asked: number; answered: number; theirs: number }): void {
    const isWrong = theirs < asked - CLOCK_TOLERANCE || theirs > answered + CLOCK_TOLERANCE;
    if (!isWrong) this.#clockProblem.ended();
    else if (this.#clockProblem.happened())
      this.#components.log.warn(
        { memberId: this.#id, ahead: Math.round(answered - theirs) },
        'the clocks of this controller and of the database differ; sessions end early or late: set them (NTP)',
      );
  }

  /** Logs once that another process has the id of this one. */
  #noteReplaced(isReplaced: boolean): void {
    if (!isReplaced) this.#replacement.ended();
    else if (this.#replacement.happened())
      this.#components.log.error(
        { memberId: this.#id },
        'another process runs with the id of this controller; stop one of them',
      );
  }
}

/** The row of the table `head`. @throws DamagedError */
export function headOf(rows: readonly pg.QueryResultRow[]): pg.QueryResultRow {
  const [head] = rows;
  if (!head) throw new DamagedError('head', '1', 'it is missing');
  return head;
}

/** @throws DamagedError for a row without a member */
function readMember({ id, info, is_running, problem }: pg.QueryResultRow): Member {
  let member: Partial<MemberInfo> | null | undefined;
  try {
    member = JSON.parse(info);
  } catch {
    throw new DamagedError('member', id, 'the info is not JSON');
  }
  for (const name of MEMBER_FIELDS)
    if (typeof member?.[name] !== 'string') throw new DamagedError('member', id, `the info has no ${name}`);
  return { ...(member as MemberInfo), id, isConnected: is_running, ...(problem !== '' && { problem }) };
}

async function stopLate(session: Session): Promise<boolean> {
  const { rowCount } = await session.query(
    `UPDATE edgeweave.member SET is_running = false
     WHERE is_running AND NOT (${RENEWED})`,
    [LEASE],
  );
  return (rowCount ?? 0) > 0;
}

// The members of a cluster in the tables `member` and `head`. A member that does not renew its row for some seconds
// counts as stopped. All changes hold the lock of the row in `head`, so that they have one order.
//
// An advisory lock and the column `instance` show which process is the member with an id. A process that was suspended
// for so long that another one took its id does not take it back.

import type pg from 'pg';
import type { Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { notify, type PostgresComponents, type PostgresConnection } from './postgres-connection.ts';
import { demandFree, type Member, type MemberInfo, type Membership, type Registry } from './shared-store.ts';
import { DamagedError, StoreWriteError } from './store.ts';

/** Milliseconds between renewals. */
const RENEWAL = 2_000;
/** Seconds without a renewal after which a member counts as stopped. */
const LEASE = 10;
/** Milliseconds until the database must have noticed that the connections of an earlier process are closed. */
const LONGEST_END = 2_000;
const END_INTERVAL = 100;
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

export class PostgresRegistry implements Registry {
  readonly #connection: PostgresConnection;
  readonly #components: PostgresComponents;
  readonly #listeners = new Set<() => void>();
  /** Distinguishes this process from an earlier or later one with the same id. */
  readonly #instance = new IdSource().uuid();
  #id: string | undefined;
  #timer: Timer | undefined;
  #renewing = false;
  #isReplaced = false;
  /** A start has claimed the id; a later entry does not replace another process. */
  #isFirst = true;
  /** As last read. */
  #known: Pick<Membership, 'index' | 'leaderIndex'> | undefined;
  /** Receives the index of the last change at each renewal: a notification may have been lost. */
  onIndex: (index: bigint) => void = () => undefined;

  constructor(connection: PostgresConnection, components: PostgresComponents) {
    this.#connection = connection;
    this.#components = components;
  }

  /** Members start one at a time, so that the id remains free until `join`. */
  async claim(id: string): Promise<void> {
    const { clock } = this.#components;
    const end = clock.monotonic() + LONGEST_END;
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
    demandFree(
      id,
      members.map((member) => (isFree(member) ? { ...member, isConnected: false } : member)),
    );
  }

  async join(member: MemberInfo): Promise<void> {
    const { clock } = this.#components;
    await this.#enter(member);
    this.#timer?.cancel();
    this.#timer = clock.every('renewal of the member', RENEWAL, () => void this.#renew(member));
  }

  async leave(): Promise<void> {
    this.#timer?.cancel();
    const id = this.#id;
    if (id === undefined) return;
    this.#id = undefined;
    await this.#change(async (client) => {
      const own = 'UPDATE edgeweave.member SET is_running = false WHERE id = $1 AND instance = $2';
      await client.query(own, [id, this.#instance]);
      return true;
    }).catch(() => undefined); // the others notice it after the lease
  }

  remove(id: string): Promise<boolean> {
    return this.#change(async (client) => {
      const { rowCount } = await client.query('DELETE FROM edgeweave.member WHERE id = $1', [id]);
      return rowCount === 1;
    });
  }

  transfer(id: string): Promise<boolean> {
    return this.#change(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE edgeweave.head SET leader_id = $1, leader_index = leader_index + 1
         WHERE EXISTS (SELECT 1 FROM edgeweave.member WHERE id = $1 AND is_running)`,
        [id],
      );
      return rowCount === 1;
    });
  }

  async read(): Promise<Membership> {
    const [head, members] = await this.#connection.transaction(READ, async (client) => [
      await client.query('SELECT members_index, leader_id, leader_index FROM edgeweave.head'),
      await client.query('SELECT id, info, is_running FROM edgeweave.member ORDER BY position'),
    ]);
    const { members_index, leader_id, leader_index } = headOf(head.rows);
    const membership = {
      index: BigInt(members_index),
      leaderId: leader_id ?? undefined,
      leaderIndex: BigInt(leader_index),
      members: members.rows.map(readMember),
    };
    this.#known = membership;
    return membership;
  }

  onChange(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Stops renewing. */
  close(): void {
    this.#timer?.cancel();
  }

  /** The members may have changed. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Runs `work` under the lock; if it changed something, another leader is chosen where needed, and all are notified. */
  async #change(work: (client: pg.Client) => Promise<boolean>): Promise<boolean> {
    try {
      const isChanged = await this.#connection.transaction('BEGIN', async (client) => {
        await client.query('SELECT 1 FROM edgeweave.head FOR UPDATE');
        if (!(await work(client))) return false;
        await client.query('UPDATE edgeweave.head SET members_index = members_index + 1');
        await client.query(
          `UPDATE edgeweave.head SET leader_index = leader_index + 1, leader_id =
             (SELECT id FROM edgeweave.member WHERE is_running ORDER BY position LIMIT 1)
           WHERE NOT EXISTS (SELECT 1 FROM edgeweave.member WHERE id = leader_id AND is_running)`,
        );
        await notify(client, MEMBERS);
        return true;
      });
      if (isChanged) this.changed();
      return isChanged;
    } catch (error) {
      throw new StoreWriteError(`the members of the cluster could not be changed: ${describeError(error)}`, {
        cause: error,
      });
    }
  }

  /** @returns false if another process is this member */
  async #enter(member: MemberInfo): Promise<boolean> {
    this.#id = member.id;
    return this.#change(async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO edgeweave.member AS m (id, info, instance) VALUES ($2, $3, $4)
         ON CONFLICT (id) DO UPDATE
         SET info = excluded.info, renewed_at = now(), is_running = true, instance = excluded.instance
         WHERE m.instance = excluded.instance OR NOT m.is_running OR NOT (m.${RENEWED}) OR $5`,
        [LEASE, member.id, JSON.stringify(member), this.#instance, this.#isFirst],
      );
      this.#isFirst &&= rowCount !== 1;
      return rowCount === 1;
    });
  }

  /**
   * Also notices members that no longer renew, and changes whose notification was lost. A member that was away too long
   * enters again, unless another process has taken its id.
   */
  async #renew(member: MemberInfo): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      const { rows } = await this.#connection.queryAside(
        `WITH own AS (
           UPDATE edgeweave.member SET renewed_at = now() WHERE id = $2 AND instance = $3 RETURNING is_running
         )
         SELECT (SELECT is_running FROM own) AS is_running, index, members_index, leader_index,
           (SELECT count(*)::int FROM edgeweave.member WHERE is_running AND id <> $2 AND NOT (${RENEWED})) AS late
         FROM edgeweave.head`,
        [LEASE, member.id, this.#instance],
      );
      const { is_running, late, ...head } = headOf(rows);
      this.onIndex(BigInt(head.index));
      const { index, leaderIndex } = this.#known ?? {};
      if (BigInt(head.members_index) !== index || BigInt(head.leader_index) !== leaderIndex) this.changed();
      if (is_running !== true && this.#id === member.id) this.#noteReplaced(!(await this.#enter(member)));
      if (late > 0) await this.#change(stopLate);
    } catch (error) {
      this.#components.log.debug({ error: describeError(error) }, 'the membership could not be renewed');
    } finally {
      this.#renewing = false;
    }
  }

  /** Logs once that another process has the id of this one. */
  #noteReplaced(isReplaced: boolean): void {
    if (isReplaced && !this.#isReplaced)
      this.#components.log.error(
        { memberId: this.#id },
        'another process runs with the id of this controller; stop one of them',
      );
    this.#isReplaced = isReplaced;
  }
}

/** The row of the table `head`. @throws DamagedError */
export function headOf(rows: readonly pg.QueryResultRow[]): pg.QueryResultRow {
  const [head] = rows;
  if (!head) throw new DamagedError('head', '1', 'it is missing');
  return head;
}

/** @throws DamagedError for a row without a member */
function readMember({ id, info, is_running }: pg.QueryResultRow): Member {
  let member: Partial<MemberInfo> | null | undefined;
  try {
    member = JSON.parse(info);
  } catch {
    throw new DamagedError('member', id, 'the info is not JSON');
  }
  for (const name of MEMBER_FIELDS)
    if (typeof member?.[name] !== 'string') throw new DamagedError('member', id, `the info has no ${name}`);
  return { ...(member as MemberInfo), id, isConnected: is_running };
}

async function stopLate(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE edgeweave.member SET is_running = false
     WHERE is_running AND NOT (${RENEWED})`,
    [LEASE],
  );
  return (rowCount ?? 0) > 0;
}

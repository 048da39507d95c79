// The members of a cluster in the tables `member` and `head`. A member that does not renew its row for some seconds
// counts as stopped. All changes hold the lock of the row in `head`, so that they have one order.

import type pg from 'pg';
import type { Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import { notify, type PostgresComponents, type PostgresConnection } from './postgres-connection.ts';
import type { Member, MemberInfo, Membership, Registry } from './shared-store.ts';
import { StoreWriteError } from './store.ts';

/** Milliseconds between renewals. */
const RENEWAL = 2_000;
/** Seconds without a renewal after which a member counts as stopped. */
const LEASE = 10;
export const MEMBERS = 'members';
const READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

export const MEMBER_TABLES = `
  CREATE TABLE IF NOT EXISTS edgeweave.head (
    id integer PRIMARY KEY CHECK (id = 1), index bigint NOT NULL,
    members_index bigint NOT NULL, leader_id text, leader_index bigint NOT NULL
  );
  INSERT INTO edgeweave.head VALUES (1, 0, 0, NULL, 0) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS edgeweave.member (
    id text PRIMARY KEY, info text NOT NULL, position bigserial NOT NULL,
    renewed_at timestamptz NOT NULL DEFAULT now(), is_running boolean NOT NULL DEFAULT true
  );
`;

export class PostgresRegistry implements Registry {
  readonly #connection: PostgresConnection;
  readonly #components: PostgresComponents;
  readonly #listeners: (() => void)[] = [];
  #id: string | undefined;
  #timer: Timer | undefined;
  #renewing = false;

  constructor(connection: PostgresConnection, components: PostgresComponents) {
    this.#connection = connection;
    this.#components = components;
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
      await client.query('UPDATE edgeweave.member SET is_running = false WHERE id = $1', [id]);
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
      await client.query('SELECT info, is_running FROM edgeweave.member ORDER BY position'),
    ]);
    const { members_index, leader_id, leader_index } = head.rows[0];
    return {
      index: BigInt(members_index),
      leaderId: leader_id ?? undefined,
      leaderIndex: BigInt(leader_index),
      members: members.rows.map(
        ({ info, is_running }): Member => ({
          ...(JSON.parse(info) as MemberInfo),
          isConnected: is_running,
        }),
      ),
    };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
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

  async #enter(member: MemberInfo): Promise<void> {
    this.#id = member.id;
    await this.#change(async (client) => {
      await client.query(
        `INSERT INTO edgeweave.member (id, info) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET info = excluded.info, renewed_at = now(), is_running = true`,
        [member.id, JSON.stringify(member)],
      );
      return true;
    });
  }

  /** Also notices members that no longer renew. A member that was away too long enters again. */
  async #renew(member: MemberInfo): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    try {
      const { rows } = await this.#connection.query(
        `UPDATE edgeweave.member SET renewed_at = now() WHERE id = $1
         RETURNING is_running, (SELECT count(*)::int FROM edgeweave.member WHERE is_running AND renewed_at < now() - $2 * interval '1 second') AS late`,
        [member.id, LEASE],
      );
      const [own] = rows;
      if (own?.is_running !== true && this.#id === member.id) await this.#enter(member);
      if (own?.late > 0) await this.#change(stopLate);
    } catch (error) {
      this.#components.log.debug({ error: describeError(error) }, 'the membership could not be renewed');
    } finally {
      this.#renewing = false;
    }
  }
}

async function stopLate(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE edgeweave.member SET is_running = false
     WHERE is_running AND renewed_at < now() - $1 * interval '1 second'`,
    [LEASE],
  );
  return (rowCount ?? 0) > 0;
}

// The tables of the database by the version of their schema. Each start migrates forward in one transaction. Released
// migrations do not change: a new one follows, and names the earliest schema whose programs go on with it, so that
// members are upgraded one after the other.

import type { Session } from './postgres-connection.ts';
import { LEASE, MEMBER_TABLES } from './postgres-registry.ts';
import { StoreError } from './store.ts';

/** One step of the schema. */
export interface Migration {
  readonly statements: string;
  /** The earliest schema whose programs go on with the database after this step. */
  readonly oldest: number;
}

/**
 * Appends entries with the entities that they change, if the head is at the position that the caller knows; the caller
 * may hold its lock. As a function its statements are planned once for each connection, not with each change.
 */
const APPEND_AT = `CREATE FUNCTION edgeweave.append_at(
    of_timeline text, after_index bigint, after_chain text, indexes bigint[], bodies text[], chains text[],
    put_kinds text[], put_ids text[], put_bodies text[], deleted_kinds text[], deleted_ids text[]
  ) RETURNS boolean LANGUAGE plpgsql AS $function$
  DECLARE
    last bigint := indexes[cardinality(indexes)];
  BEGIN
    UPDATE edgeweave.head SET index = last, chain = chains[cardinality(chains)]
      WHERE index = after_index AND chain = after_chain AND timeline = of_timeline;
    IF NOT FOUND THEN
      RETURN false;
    END IF;
    INSERT INTO edgeweave.change (index, body, chain) SELECT * FROM unnest(indexes, bodies, chains);
    IF cardinality(put_ids) > 0 THEN
      INSERT INTO edgeweave.entity (kind, id, body) SELECT * FROM unnest(put_kinds, put_ids, put_bodies)
        ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body;
    END IF;
    IF cardinality(deleted_ids) > 0 THEN
      DELETE FROM edgeweave.entity AS e USING unnest(deleted_kinds, deleted_ids) AS d (kind, id)
        WHERE e.kind = d.kind AND e.id = d.id;
    END IF;
    RETURN true;
  END
  $function$`;

const REJECTS_UNVERSIONED = '"of a later release: use that one for all controllers"';

/** The steps to each version, from 1 on. */
export const MIGRATIONS: readonly Migration[] = [
  {
    oldest: 1,
    statements: `CREATE TABLE IF NOT EXISTS edgeweave.entity (kind text, id text, body text NOT NULL, PRIMARY KEY (kind, id));
      CREATE TABLE IF NOT EXISTS edgeweave.meta (key text PRIMARY KEY, value text NOT NULL);
      CREATE TABLE IF NOT EXISTS edgeweave.change (index bigint PRIMARY KEY, body text NOT NULL);
      ${MEMBER_TABLES}`,
  },
  {
    oldest: 2, // changes of programs of version 1 would have no chain
    statements: `ALTER TABLE edgeweave.change ADD COLUMN chain text NOT NULL DEFAULT '';
      ALTER TABLE edgeweave.change ALTER COLUMN chain DROP DEFAULT;
      ALTER TABLE edgeweave.head ADD COLUMN timeline text NOT NULL DEFAULT '', ADD COLUMN chain text NOT NULL DEFAULT '';
      UPDATE edgeweave.head SET timeline = md5(random()::text || clock_timestamp()::text);`,
  },
  {
    oldest: 2,
    statements: `ALTER TABLE edgeweave.member
      ADD COLUMN position_index bigint NOT NULL DEFAULT 0, ADD COLUMN position_chain text NOT NULL DEFAULT '',
      ADD COLUMN problem text NOT NULL DEFAULT '', ADD COLUMN rejoin text NOT NULL DEFAULT '';`,
  },
  {
    oldest: 2,
    statements: `CREATE TABLE IF NOT EXISTS edgeweave.attempt
      (key text PRIMARY KEY, count integer NOT NULL, since bigint NOT NULL);`,
  },
  {
    oldest: 2,
    statements: `ALTER TABLE edgeweave.member ADD COLUMN IF NOT EXISTS schema integer NOT NULL DEFAULT 4;
      ALTER TABLE edgeweave.schema ADD COLUMN IF NOT EXISTS oldest integer NOT NULL DEFAULT 2;`,
  },
  { oldest: 2, statements: `DROP FUNCTION IF EXISTS edgeweave.append_at; ${APPEND_AT}` },
  {
    // Programs of version 1 look at no version. Each start of one inserts the row of the head without a timeline where
    // it is missing, and ends with the error of the database, which has the name of the constraint.
    oldest: 2,
    statements: `ALTER TABLE edgeweave.head DROP CONSTRAINT IF EXISTS ${REJECTS_UNVERSIONED},
      ADD CONSTRAINT ${REJECTS_UNVERSIONED} CHECK (timeline <> '');`,
  },
];

/** Failed proofs of users count for a day at most. */
const FORGET_ATTEMPTS =
  "DELETE FROM edgeweave.attempt WHERE since < extract(epoch FROM now() - interval '1 day') * 1000";

/**
 * Rows of members that run and know an earlier schema. Tables of earlier releases lack the column: their members know
 * the schema of the database ($3).
 */
const EARLIER = `SELECT * FROM (
    SELECT id, coalesce((to_jsonb(m) ->> 'schema')::int, $3) AS schema FROM edgeweave.member AS m
    WHERE is_running AND renewed_at >= now() - $2 * interval '1 second'
  ) AS running WHERE schema < $1 ORDER BY id`;

/**
 * Call it in a transaction, while no other member does. A release works beside an earlier or later one if the schema
 * permits it. @throws StoreError for a schema of a later release that this one cannot use, and if running members could
 * not go on with the schema of this one
 */
export async function migrate(session: Session, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  await session.query('CREATE SCHEMA IF NOT EXISTS edgeweave');
  await session.query('CREATE TABLE IF NOT EXISTS edgeweave.schema (version integer NOT NULL)');
  const { rows } = await session.query(
    `SELECT max(version) AS version, max((to_jsonb(s) ->> 'oldest')::int) AS oldest,
       to_regclass('edgeweave.head') IS NOT NULL AS is_old FROM edgeweave.schema AS s`,
  );
  const { version, oldest, is_old: isOld } = rows[0] ?? {};
  const known = migrations.length;
  const current: number = version ?? (isOld ? 1 : 0);
  if (current > known && (oldest ?? current) > known)
    throw new StoreError(
      `the database has schema ${current}, of a later release; this one knows ${known}: use the later release for all controllers`,
    );
  if (current < known) await advance(session, current, migrations);
  if (current < known || version === null) {
    await session.query('DELETE FROM edgeweave.schema');
    await session.query('INSERT INTO edgeweave.schema (version, oldest) VALUES ($1, $2)', [
      known,
      oldestOf(migrations),
    ]);
  }
  await session.query(FORGET_ATTEMPTS);
}

async function advance(session: Session, current: number, migrations: readonly Migration[]): Promise<void> {
  const steps = migrations.slice(current);
  const needed = oldestOf(steps);
  const earlier = current === 0 ? [] : (await session.query(EARLIER, [needed, LEASE, current])).rows;
  if (earlier.length > 0)
    throw new StoreError(
      `${earlier.map(({ id, schema }) => `${id} (schema ${schema})`).join(', ')} could not go on with schema ${migrations.length} of this release, which needs ${needed} or later; stop ${earlier.length === 1 ? 'this controller' : 'these controllers'} first`,
    );
  for (const { statements } of steps) await session.query(statements);
}

function oldestOf(migrations: readonly Migration[]): number {
  return Math.max(1, ...migrations.map(({ oldest }) => oldest));
}

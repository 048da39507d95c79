// The tables of the database by the version of their schema. Each start migrates forward in one transaction, and rejects
// a schema that it does not know. Released migrations do not change: a new one follows.

import type pg from 'pg';
import { MEMBER_TABLES } from './postgres-registry.ts';
import { StoreError } from './store.ts';

/** The statements that lead to each version, from 1 on. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS edgeweave.entity (kind text, id text, body text NOT NULL, PRIMARY KEY (kind, id));
   CREATE TABLE IF NOT EXISTS edgeweave.meta (key text PRIMARY KEY, value text NOT NULL);
   CREATE TABLE IF NOT EXISTS edgeweave.change (index bigint PRIMARY KEY, body text NOT NULL);
   ${MEMBER_TABLES}`,
  // Programs of version 1 cannot append any longer: their changes would have no chain.
  `ALTER TABLE edgeweave.change ADD COLUMN chain text NOT NULL DEFAULT '';
   ALTER TABLE edgeweave.change ALTER COLUMN chain DROP DEFAULT;
   ALTER TABLE edgeweave.head ADD COLUMN timeline text NOT NULL DEFAULT '', ADD COLUMN chain text NOT NULL DEFAULT '';
   UPDATE edgeweave.head SET timeline = md5(random()::text || clock_timestamp()::text);`,
  // Members of version 2 that still run go on: they ignore these columns.
  `ALTER TABLE edgeweave.member
     ADD COLUMN position_index bigint NOT NULL DEFAULT 0, ADD COLUMN position_chain text NOT NULL DEFAULT '',
     ADD COLUMN problem text NOT NULL DEFAULT '', ADD COLUMN rejoin text NOT NULL DEFAULT '';`,
  `CREATE TABLE IF NOT EXISTS edgeweave.attempt (key text PRIMARY KEY, count integer NOT NULL, since bigint NOT NULL);`,
];

/** Failed proofs of users count for a day at most. */
const FORGET_ATTEMPTS =
  "DELETE FROM edgeweave.attempt WHERE since < extract(epoch FROM now() - interval '1 day') * 1000";

/** Call it in a transaction, while no other member does. @throws StoreError for a schema of a later release */
export async function migrate(client: pg.Client): Promise<void> {
  await client.query('CREATE SCHEMA IF NOT EXISTS edgeweave');
  await client.query('CREATE TABLE IF NOT EXISTS edgeweave.schema (version integer NOT NULL)');
  const { rows } = await client.query(
    "SELECT max(version) AS version, to_regclass('edgeweave.head') IS NOT NULL AS is_old FROM edgeweave.schema",
  );
  const { version, is_old: isOld } = rows[0] ?? {};
  const known = MIGRATIONS.length;
  const current: number = version ?? (isOld ? 1 : 0);
  if (current > known)
    throw new StoreError(
      `the database has schema ${current}, of a later release; this one knows ${known}: use the later release for all controllers`,
    );
  for (const statements of MIGRATIONS.slice(current)) await client.query(statements);
  if (current < known || version === null) {
    await client.query('DELETE FROM edgeweave.schema');
    await client.query('INSERT INTO edgeweave.schema VALUES ($1)', [known]);
  }
  await client.query(FORGET_ATTEMPTS);
}

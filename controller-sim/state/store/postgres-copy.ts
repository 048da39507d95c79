// Which copy of the data a database is: a restore into a new database or of the tables, and a replica that was
// promoted, have another id. The timeline for routers belongs to one copy. Routers that know changes of another one
// must not continue from their index, as the copy may have other changes there.

/** An expression of SQL. */
const COPY = `concat_ws(' ',
    (SELECT system_identifier FROM pg_control_system()), (SELECT timeline_id FROM pg_control_checkpoint()),
    (SELECT oid FROM pg_database WHERE datname = current_database()), 'edgeweave.head'::regclass::oid)`;
const STORED = "SELECT value FROM edgeweave.meta WHERE key = 'copy'";
const TIMELINE = "SELECT value FROM edgeweave.meta WHERE key = 'timeline'";
const PUT = (rows: string) =>
  `INSERT INTO edgeweave.meta ${rows} ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
const VALUES = 'SELECT * FROM unnest($1::text[], $2::text[])';

/** Statements of SQL. */
export interface CopyStatements {
  /** Selects the timeline for routers, if it is that of this copy: one column, one row or none. */
  readonly timeline: string;
  /** Stores values of the meta: an array of keys, and one of values. A timeline becomes that of this copy. */
  readonly putMeta: string;
}

/** Fails where the id cannot be read: some services forbid these functions. */
export const ASK_COPY = `SELECT ${COPY}`;

/** `isKnown`: whether ASK_COPY succeeds. All copies count as one where it does not. */
export function copyStatements(isKnown: boolean): CopyStatements {
  if (!isKnown) return { timeline: TIMELINE, putMeta: PUT(VALUES) };
  return {
    timeline: `${TIMELINE} AND (${STORED}) = ${COPY}`,
    putMeta: PUT(`${VALUES} UNION ALL SELECT 'copy', ${COPY} WHERE 'timeline' = ANY ($1)`),
  };
}

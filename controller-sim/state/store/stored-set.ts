// A set of changes as text in the log: reads it back and rejects damaged ones. Two entities of a set do not get the
// same unique value: the controller that wrote it checked this against all data up to the set before, and the log
// rejects a second set with the same index.

import { MAX_JSON_DEPTH, parseJson } from '#lib/json/json.ts';
import type { Change } from '../change.ts';
import type { Entity } from '../entity.ts';
import { storedProblem } from '../entity-form.ts';
import { isEntityKind } from '../tables.ts';
import type { LogEntry } from './change-log.ts';
import type { NewSet, StoredSet } from './store.ts';
import { DamagedError } from './store.ts';
import { entityProblem } from './stored-entity.ts';

/** A set holds entities, which hold values of bodies. */
const MAX_SET_DEPTH = MAX_JSON_DEPTH + 30;

/** @throws DamagedError for an entry without a set: nothing of it may be applied */
export function readSet({ index, body }: Pick<LogEntry, 'index' | 'body'>): StoredSet {
  const damaged = (why: string, cause?: unknown) =>
    new DamagedError('change', String(index), `the body is invalid: ${why}`, { cause });
  let set: Partial<NewSet> | null;
  try {
    set = parseJson(body, MAX_SET_DEPTH) as Partial<NewSet> | null;
  } catch (error) {
    throw damaged('it is not JSON', error);
  }
  const changes: unknown = set?.changes;
  if (!set || !Array.isArray(changes) || typeof set.time !== 'number') throw damaged('it has no changes or no time');
  for (const change of changes) {
    const problem = changeProblem(change);
    if (problem !== undefined) throw damaged(problem);
  }
  return { ...(set as NewSet), index };
}

function changeProblem(change: Partial<Change> | null): string | undefined {
  const { kind, id, before, after } = change ?? {};
  if (typeof kind !== 'string' || !isEntityKind(kind)) return 'the kind of a change is unknown';
  if (typeof id !== 'string' || (!before && !after)) return 'a change has no entity';
  for (const entity of [before, after]) {
    const problem = entity === undefined ? undefined : entityProblem(entity, id);
    if (problem !== undefined) return `${kind} ${id}: ${problem}`;
  }
  const problem = after && storedProblem(kind, after as Entity);
  return problem === undefined ? undefined : `${kind} ${id}: ${problem}`;
}

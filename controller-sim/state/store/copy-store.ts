// Copies a network between a data file and a PostgreSQL database, for a simulator that is to run with the other one.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { inSlices } from '#lib/slices.ts';
import { shown } from '#lib/text/shown-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Change } from '../change.ts';
import { UniqueValues } from '../entity-form.ts';
import { type EntityKind, KIND_NAMES, KINDS } from '../kinds.ts';
import { idsIn } from '../references.ts';
import type { PostgresStore } from './postgres-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import { DamagedError, type StoredEntity, type StoredState, StoreError } from './store.ts';
import { requireUniqueValues } from './stored-entity.ts';

export interface CopyComponents {
  readonly clock: Clock;
  readonly log: Log;
}

/** Entities of one set of changes: the database limits the time of a set. */
const CHUNK = 500;

/**
 * Copies everything from `from` to `to`, each a file or the URL of a database; `to` must not exist, or be an empty
 * database. The copy is another history: routers get the whole data model from it.
 *
 * @returns the number of entities. Rejects with StoreError, DamagedError or StoreWriteError
 */
export async function copyStore(from: string, to: string, components: CopyComponents): Promise<number> {
  const { meta, ...state } = await load(from, components);
  const kept = new Map(meta);
  for (const key of ['timeline', 'copy', 'index', 'format']) kept.delete(key);
  const copied = { ...state, meta: kept };
  if (isDatabase(to)) await writeDatabase(to, copied, components);
  else await SqliteStore.copy(to, copied);
  return state.entities.length;
}

export function isDatabase(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}

async function load(place: string, components: CopyComponents): Promise<StoredState> {
  await using started = new AsyncDisposableStack();
  const store = isDatabase(place) ? await openDatabase(place, components) : SqliteStore.openExisting(place);
  started.defer(() => store.close());
  const state = await store.load();
  if (state.entities.length === 0) throw new StoreError(`${isDatabase(place) ? 'the database' : place} has no network`);
  await inSlices(requireConsistent(state.entities));
  return state;
}

/** Values that must be unique, and references: a copy would spread the damage. */
function* requireConsistent(entities: readonly StoredEntity[]): Generator<void, void> {
  const values = new UniqueValues();
  const ids = new Map<EntityKind, Set<string>>(KIND_NAMES.map((kind) => [kind, new Set()]));
  for (const stored of entities) {
    requireUniqueValues(values, stored);
    yield void ids.get(stored.kind)?.add(stored.entity.id);
  }
  for (const { kind, entity, row = entity.id } of entities) {
    for (const reference of KINDS[kind].refers ?? []) {
      if (reference.onDelete === 'keep') continue;
      const missing = idsIn(entity, reference).find((id) => !ids.get(reference.to)?.has(id));
      if (missing === undefined) continue;
      const why = `${reference.key} refers to the ${reference.to} ${shown(missing)}, which does not exist`;
      throw new DamagedError('entity', row, `${why}; repair the data first, with the operation fixDataIntegrity`);
    }
    yield;
  }
}

async function writeDatabase(url: string, state: StoredState, components: CopyComponents): Promise<void> {
  await using started = new AsyncDisposableStack();
  const store = await openDatabase(url, components);
  started.defer(() => store.close());
  await store.starting(async () => {
    const { index, entities } = await store.load();
    if (index > 0n || entities.length > 0)
      throw new StoreError('the database already has a network; use an empty one, or drop the schema edgeweave in it');
    try {
      let after = index;
      for (let start = 0; start < state.entities.length; start += CHUNK) {
        const changes = state.entities.slice(start, start + CHUNK).map(creationOf);
        const appended = await store.append(after, () => [
          { origin: undefined, time: components.clock.now(), changes },
        ]);
        after = appended.at(-1) ?? after;
      }
      await store.putMeta(state.meta);
    } catch (error) {
      const why = describeError(error);
      throw new StoreError(`the database has only a part of the copy: ${why}; drop the schema edgeweave in it`, {
        cause: error,
      });
    }
  });
}

/** Each row has the kind of its entity. */
function creationOf({ kind, entity }: StoredEntity): Change {
  return { kind, id: entity.id, before: undefined, after: entity } as Change;
}

async function openDatabase(url: string, components: CopyComponents): Promise<PostgresStore> {
  const { PostgresStore: Postgres } = await import('./postgres-store.ts');
  return Postgres.open(url, components);
}

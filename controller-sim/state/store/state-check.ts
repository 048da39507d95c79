// Compares the rows of entities with the log at a load. The hash in the last set of changes decides; a difference is
// searched in the changes that the log still has, so that the error names the row.

import { inSlices } from '#lib/slices.ts';
import type { LoadedLog, LogEntry } from './change-log.ts';
import { nextChain } from './history.ts';
import { hashOfAll, hashText } from './state-hash.ts';
import { DamagedError, type StoredEntity } from './store.ts';
import { readSet } from './stored-set.ts';

const REMEDY = 'restore a backup, or the row as the table change has it';

interface LastChange {
  readonly index: bigint;
  /** Undefined for a deletion. */
  readonly text: string | undefined;
}

/**
 * Returns the hash of the entities. Rejects with DamagedError if the log has another one, or if its last set is
 * damaged; `isWanted` accepts the latter, as an operator wants the entities as they are. A last set without a hash is
 * of an earlier release, which is not checked; an empty log has none.
 */
export async function checkedHash(
  loaded: LoadedLog,
  entriesAfter: EntriesAfter,
  { isWanted = false } = {},
): Promise<bigint> {
  const { entities, index } = loaded.state;
  const hash = await inSlices(hashOfAll(entities));
  const expected = expectedHash(loaded, isWanted);
  if (expected === undefined || expected === hashText(hash)) return hash;
  throw await differenceFrom(entities, entriesAfter, index);
}

function expectedHash({ position, tail }: LoadedLog, isWanted: boolean): string | undefined {
  const [last, previous] = tail;
  if (!last || last.chain === '' || last.index !== position.index) return undefined; // of the first release, or removed
  const isNeighbour = previous?.index === last.index - 1n;
  const before = last.index === 1n ? '' : isNeighbour ? previous?.chain : undefined;
  if (
    last.chain === position.chain &&
    (before === undefined || nextChain(before, last.index, last.body) === last.chain)
  )
    return readSet(last).state;
  if (isWanted) return undefined;
  throw new DamagedError(
    'change',
    String(position.index),
    'it is not the one that was stored; restore a backup, or empty the table while no controller runs',
  );
}

/** Entries of the log after an index, a page of them. */
export type EntriesAfter = (index: bigint) => Promise<readonly LogEntry[]>;

async function differenceFrom(
  entities: readonly StoredEntity[],
  entriesAfter: EntriesAfter,
  head: bigint,
): Promise<DamagedError> {
  const { changes, isComplete } = await lastChanges(entriesAfter);
  for (const { kind, entity } of entities) {
    const key = keyOf(kind, entity.id);
    const change = changes.get(key);
    changes.delete(key);
    if (!change && !isComplete) continue;
    if (change?.text === undefined) return new DamagedError('entity', key, `no change has stored it; delete the row`);
    if (change.text !== JSON.stringify(entity))
      return new DamagedError('entity', key, `it differs from change ${change.index}; ${REMEDY}`);
  }
  for (const [key, { index, text }] of changes)
    if (text !== undefined) return new DamagedError('entity', key, `it is missing since change ${index}; ${REMEDY}`);
  return new DamagedError('entity', 'unknown', `the rows are not those of change ${head}; restore a backup`);
}

async function lastChanges(entriesAfter: EntriesAfter) {
  const changes = new Map<string, LastChange>();
  let page = await entriesAfter(0n);
  const isComplete = page[0]?.index === 1n;
  while (page.length > 0) {
    for (const entry of page)
      for (const { kind, id, after } of readSet(entry).changes)
        changes.set(keyOf(kind, id), { index: entry.index, text: after && JSON.stringify(after) });
    page = await entriesAfter(page.at(-1)?.index ?? 0n);
  }
  return { changes, isComplete };
}

function keyOf(kind: string, id: string): string {
  return `${kind} ${id}`;
}

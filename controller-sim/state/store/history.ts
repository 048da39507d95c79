// The identity of a history of changes that several controllers share. A chain of hashes covers every change and all
// before it, so that two databases with equal indexes and different changes are told apart: a copy that was restored, a
// replica that was not up to date, a row that was changed.
//
//   chain 1 = hash(chain 0, 1, body 1) ─► chain 2 = hash(chain 1, 2, body 2) ─► …

import { createHash } from 'node:crypto';
import { StoreError } from './store.ts';

/** A point of a history. */
export interface Position {
  /** Id of the history: a new database has another one. */
  readonly timeline: string;
  /** Index of the last change. */
  readonly index: bigint;
  /** The hash of the last change and of all before it; empty before the first one. */
  readonly chain: string;
}

/** Characters of a chain in messages. */
const SHOWN = 8;

/** The chain of a change, whose body is the text that the store has. */
export function nextChain(chain: string, index: bigint, body: string): string {
  return createHash('sha256').update(`${chain}\n${index}\n`).update(body).digest('hex');
}

/** The store has another history than this controller: it must neither follow it nor write to it. */
export class HistoryError extends StoreError {
  constructor(own: Position, theirs: Position) {
    super(
      `the database has another history: it is at ${describePosition(theirs)}, this controller at ${describePosition(own)}. ` +
        'It was restored from an older copy, replaced or changed; restore the newer copy, or let this controller take its data: sim cluster rejoin',
    );
  }
}

/** The log contains all that this controller has, which must load all data again. */
export class BehindError extends StoreError {}

/**
 * Whether the log with the head `theirs` contains everything up to `own`; undefined if it no longer has what shows it.
 * `reported` is an earlier position on the way to `own`, whose entry members keep.
 */
export async function isPrefix(
  own: Position,
  theirs: Position,
  { chainAt, reported }: { chainAt(index: bigint): Promise<string | undefined>; reported: Position | undefined },
): Promise<boolean | undefined> {
  if (!mayContinue(own, theirs)) return false;
  if (own.index === theirs.index || own.index === 0n) return true;
  for (const known of [own, reported]) {
    if (known === undefined || known.timeline !== own.timeline || known.index > own.index) continue;
    const chain = known.index === 0n ? '' : await chainAt(known.index);
    if (chain !== undefined) return chain === known.chain;
  }
  return undefined;
}

/** Whether a store at `theirs` may contain everything up to `own`. With equal indexes, it does. */
export function mayContinue(own: Position, theirs: Position): boolean {
  if (own.timeline !== theirs.timeline || theirs.index < own.index) return false;
  return theirs.index > own.index || theirs.chain === own.chain;
}

export function describePosition({ timeline, index, chain }: Position): string {
  return `change ${index} (${chain.slice(0, SHOWN) || 'none'}, timeline ${timeline.slice(0, SHOWN)})`;
}

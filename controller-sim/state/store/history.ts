// The identity of a history of changes that several controllers share. A chain of hashes covers every change and all before
// it, so that two databases with equal indexes and different changes are told apart: a copy that was restored, a replica
// that was not up to date, a row that was changed.
//
//   chain 1 = hash(chain 0, 1, body 1) ─► chain 2 = hash(chain 1, 2, body 2) ─► …

import { createHash } from 'node:crypto';
import { StoreError } from './sqlite-store.ts';

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
      `the database has another history: it is at ${describe(theirs)}, this controller at ${describe(own)}. ` +
        'It was restored from an older copy, replaced or changed; restore the newer copy, or restart this controller to take its data',
    );
  }
}

/** Whether a store at `theirs` may contain everything up to `own`. With equal indexes, it does. */
export function mayContinue(own: Position, theirs: Position): boolean {
  if (own.timeline !== theirs.timeline || theirs.index < own.index) return false;
  return theirs.index > own.index || theirs.chain === own.chain;
}

function describe({ timeline, index, chain }: Position): string {
  return `change ${index} (${chain.slice(0, SHOWN) || 'none'}, timeline ${timeline.slice(0, SHOWN)})`;
}

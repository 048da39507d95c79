// Builds changes in the tables, one on the other, and leaves the tables as they were: other code sees a change only
// once the store has it.

import type { Change } from './change.ts';
import type { Origin } from './origin.ts';
import { applyChanges, requireIndexable, undoChanges } from './tables.ts';
import { Transaction, type TransactionComponents } from './transaction.ts';

/** A change that a caller wants. */
export interface Wanted {
  readonly origin: Origin | undefined;
  readonly build: (transaction: Transaction) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The outcome of a change. The caller hears of it once the store has confirmed the data before it. */
export interface Attempt {
  readonly wanted: Wanted;
  readonly changes: readonly Change[];
  /** Whether `build` threw. */
  readonly isFailed: boolean;
  /** Its result, or what it threw. */
  readonly outcome: unknown;
}

/** `next` is the index of the first one that changes something. */
export function attemptAll(data: TransactionComponents, all: readonly Wanted[], next: bigint): Attempt[] {
  const attempts: Attempt[] = [];
  let index = next;
  for (const wanted of all) {
    applyChanges(data.tables, attempts.at(-1)?.changes ?? []);
    const attempt = attemptOne(data, wanted, index);
    attempts.push(attempt);
    if (attempt.changes.length > 0) index += 1n;
  }
  for (const { changes } of attempts.slice(0, -1).toReversed()) undoChanges(data.tables, changes);
  return attempts;
}

function attemptOne(data: TransactionComponents, wanted: Wanted, index: bigint): Attempt {
  try {
    const transaction = new Transaction(data, index);
    const outcome = wanted.build(transaction);
    const changes = transaction.changes();
    requireIndexable(data.tables, changes);
    return { wanted, changes, isFailed: false, outcome };
  } catch (error) {
    return { wanted, changes: [], isFailed: true, outcome: error };
  }
}

/** Tells the caller. */
export function settle({ wanted: { resolve, reject }, isFailed, outcome }: Attempt): void {
  if (isFailed) reject(outcome);
  else resolve(outcome);
}

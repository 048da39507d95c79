// Runs a seed without a change: the transaction is built, and abandoned.

import type { State } from '../../state/state.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { Seeded } from './seeded.ts';

/** Ends the transaction. */
class Planned extends Error {
  readonly seeded: Seeded;

  constructor(seeded: Seeded) {
    super('planned');
    this.seeded = seeded;
  }
}

/** Rejects with SeedError. */
export async function planned(
  state: Pick<State, 'changeInSlices'>,
  apply: (transaction: Transaction) => Generator<void, Seeded>,
): Promise<Seeded> {
  try {
    return await state.changeInSlices(function* (transaction): Generator<void, Seeded> {
      throw new Planned(yield* apply(transaction));
    });
  } catch (error) {
    if (error instanceof Planned) return error.seeded;
    throw error;
  }
}

// Checks of faults of the store, and the error that they make.

import { StoreWriteError } from '../../state/store/store.ts';
import { requireFlags, withDelays } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import type { StoreFault, StoreRule } from './fault.ts';

export const STORE_FIELDS = ['delay', 'fail', 'full'];

export function checkedStore(fault: StoreFault): StoreRule {
  const { delay, fail, full } = fault;
  requireFlags({ fail, full });
  if (fail && full) throw new InvalidError('full', 'use one of fail and full', full);
  if (!fail && !full && delay === undefined)
    throw new InvalidError('fail', 'the fault has no effect; use delay, fail or full', '');
  return withDelays(fault, ['delay']) as StoreRule;
}

/** Undefined for a rule that only delays. */
export function storeErrorOf({ fail, full }: StoreRule, id: string): StoreWriteError | undefined {
  if (!fail && !full) return undefined;
  return new StoreWriteError(`the fault ${id} of the lab: ${full ? 'the disk is full' : 'the store fails'}`);
}

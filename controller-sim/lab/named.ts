// Finds entities by id or name, and suggests similar names.

import { didYouMean } from '#lib/suggestion.ts';
import type { Table } from '../state/table.ts';
import type { Named } from '../state/types.ts';
import { UnknownError } from './lab-error.ts';

/** `word` is the kind in the message. @throws UnknownError */
export function named<T extends Named>(table: Table<T>, word: string, given: string): T {
  const found = table.get(given) ?? table.findBy('name', given);
  if (found) return found;
  const meant = didYouMean(
    given,
    Iterator.from(table.values()).map(({ name }) => name),
  );
  throw new UnknownError(`there is no ${word} ${given}${meant && `; ${meant}`}`);
}

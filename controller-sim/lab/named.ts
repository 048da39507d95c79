// Finds entities by id or name, and suggests similar names.

import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { Named } from '../state/entity.ts';
import type { Table } from '../state/table.ts';
import { UnknownError } from './lab-error.ts';

/** Names in an error. */
const MAX_NAMED = 10;

/** `word` is the kind in the message, which suggests names of `others`, too. @throws UnknownError */
export function named<T extends Named>(
  table: Table<T>,
  word: string,
  given: string,
  others: readonly { values(): Iterable<Named> }[] = [],
): T {
  const found = table.get(given) ?? table.findBy('name', given);
  if (found) return found;
  const names = [table, ...others].flatMap((each) => Array.from(each.values(), ({ name }) => name));
  const meant = names.length === 0 ? 'none exists' : meantOrKnown(given, names, MAX_NAMED);
  throw new UnknownError(`there is no ${word} ${shown(given)}; ${meant}`);
}

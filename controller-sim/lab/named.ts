// Finds entities by id or name, and suggests similar names.

import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { UnknownError } from './lab-error.ts';

/** Names in an error. */
const MAX_NAMED = 10;

/** Entities by their id, and by their name. */
export interface NamedTable<T extends HasName = HasName> {
  get(id: string): T | undefined;
  findBy(key: 'name', name: string): T | undefined;
  values(): Iterable<T>;
}

interface HasName {
  readonly name: string;
}

/** `word` is the kind in the message, which suggests names of `others`, too. @throws UnknownError */
export function named<T extends HasName>(
  table: NamedTable<T>,
  word: string,
  given: string,
  others: readonly { values(): Iterable<HasName> }[] = [],
): T {
  const found = table.get(given) ?? table.findBy('name', given);
  if (found) return found;
  const names = [table, ...others].flatMap((each) => Array.from(each.values(), ({ name }) => name));
  const meant = names.length === 0 ? 'none exists' : meantOrKnown(given, names, MAX_NAMED);
  throw new UnknownError(`there is no ${word} ${shown(given)}; ${meant}`);
}

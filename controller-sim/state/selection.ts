// The first entities of an order, out of all that match, without sorting all of them.

import { type Compare, placeOf } from './ordered.ts';

/** Above this count, sorting all matches is cheaper than keeping the first ones sorted. */
export const MAX_SELECTED = 1_000;

/** @returns how many entities match, and the first `count` of them in the order of `compare` */
export function selectFirst<T>(
  entities: Iterable<T>,
  matches: (entity: T) => boolean,
  compare: Compare<T>,
  count: number,
): { total: number; first: T[] } {
  if (count > MAX_SELECTED) {
    const matching: T[] = [];
    for (const entity of entities) if (matches(entity)) matching.push(entity);
    return { total: matching.length, first: matching.sort(compare).slice(0, count) };
  }
  let total = 0;
  const first: T[] = [];
  for (const entity of entities) {
    if (!matches(entity)) continue;
    total++;
    if (first.length === count && (count === 0 || compare(first[count - 1] as T, entity) < 0)) continue;
    first.splice(placeOf(first, entity, compare), 0, entity);
    if (first.length > count) first.pop();
  }
  return { total, first };
}

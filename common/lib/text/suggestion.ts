// "Did you mean": suggests the most similar known word.

const FARTHEST = 2;
const BAND = 2 * FARTHEST + 1;

/** Characters of a word for which similar ones are searched: nobody types longer ones. */
const MAX_WORD = 100;
/** Steps of a search, each about 10 ns: candidates beyond them are not considered. */
const MAX_STEPS = 1_000_000;

/**
 * The candidate nearest to `word`: equal except for case, or at most two typing mistakes away. The search is bounded,
 * whatever the words are: strangers choose both.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = FARTHEST + 1;
  let steps = 0;
  for (const candidate of candidates) {
    steps++;
    if (steps > MAX_STEPS) break;
    if (Math.abs(candidate.length - word.length) > FARTHEST) continue;
    steps += word.length * BAND;
    const distance = candidate.toLowerCase() === lower ? 0 : editDistance(word, candidate);
    // In a word of three letters, two mistakes produce another word.
    if (distance < bestDistance && distance < Math.max(candidate.length, word.length) / 2) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `did you mean X?` for the candidate nearest to `word`, or an empty string. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = suggest(word, candidates);
  return meant === undefined ? '' : `did you mean ${meant}?`;
}

/** `did you mean X?`; if no candidate is near, each of them once, or their number if they are more than `max`. */
export function meantOrKnown(word: string, candidates: readonly string[], max = Number.POSITIVE_INFINITY): string {
  const names = [...new Set(candidates)]; // a router and its identity have the same name
  const known = names.length > max ? `there are ${names.length}` : `known are ${names.join(', ')}`;
  return didYouMean(word, candidates) || known;
}

/**
 * Damerau-Levenshtein distance (two swapped neighbors count once) of words whose lengths differ by at most FARTHEST;
 * more than FARTHEST if it is larger. Only pairs of places that are at most FARTHEST apart can contribute.
 */
function editDistance(a: string, b: string): number {
  const far = FARTHEST + 1;
  let [beforeLast, last, current] = [0, 1, 2].map(() => new Uint8Array(b.length + 1).fill(far)) as [Row, Row, Row];
  for (let column = 0; column <= Math.min(b.length, FARTHEST); column++) last[column] = column;
  for (let row = 1; row <= a.length; row++) {
    current.fill(far);
    if (row <= FARTHEST) current[0] = row;
    for (let column = Math.max(1, row - FARTHEST); column <= Math.min(b.length, row + FARTHEST); column++) {
      const isSame = a[row - 1] === b[column - 1];
      let distance = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        distance = Math.min(distance, at(beforeLast, column - 2) + 1);
      current[column] = Math.min(far, distance);
    }
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return at(last, b.length);
}

type Row = Uint8Array;

function at(row: Row, column: number): number {
  return row[column] ?? FARTHEST + 1;
}

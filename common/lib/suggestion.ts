// "Did you mean": suggests the most similar known word.

const FARTHEST = 2;

/** The candidate nearest to `word`: equal except for case, or at most two typing mistakes away. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = FARTHEST + 1;
  for (const candidate of candidates) {
    const distance = candidate.toLowerCase() === word.toLowerCase() ? 0 : editDistance(word, candidate);
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

/** `did you mean X?`; if no candidate is near, all of them, or their number if they are more than `most`. */
export function meantOrKnown(word: string, candidates: readonly string[], most = Number.POSITIVE_INFINITY): string {
  const known = candidates.length > most ? `there are ${candidates.length}` : `known are ${candidates.join(', ')}`;
  return didYouMean(word, candidates) || known;
}

/** Damerau-Levenshtein distance (two swapped neighbors count once). */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > FARTHEST) return FARTHEST + 1;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(at(row - 1, column) + 1, (current[column - 1] ?? 0) + 1, at(row - 1, column - 1) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        distance = Math.min(distance, at(row - 2, column - 2) + 1);
      current.push(distance);
    }
  }
  return at(a.length, b.length);
}

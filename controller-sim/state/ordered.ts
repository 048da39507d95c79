// A sorted list in pieces: an insertion among a hundred thousand entities moves a few hundred, and a page is found by counting pieces.

/** Negative if `a` comes first; 0 only for versions of the same entity. */
export type Compare<T> = (a: T, b: T) => number;

const LONGEST_PIECE = 512;

export class Ordered<T> {
  readonly #compare: Compare<T>;
  /** No piece is empty; all entities of a piece precede those of the next. */
  readonly #pieces: T[][] = [];

  constructor(entities: Iterable<T>, compare: Compare<T>) {
    this.#compare = compare;
    const all = [...entities].sort(compare);
    // Half full, to leave room for insertions.
    for (let from = 0; from < all.length; from += LONGEST_PIECE / 2)
      this.#pieces.push(all.slice(from, from + LONGEST_PIECE / 2));
  }

  /** Replaces `before` by `after`; either may be undefined. */
  replace(before: T | undefined, after: T | undefined): void {
    if (before !== undefined && after !== undefined && this.#compare(before, after) === 0) this.#overwrite(after);
    else {
      if (before !== undefined) this.#remove(before);
      if (after !== undefined) this.#add(after);
    }
  }

  slice(from: number, to: number): T[] {
    const found: T[] = [];
    let before = 0;
    for (const piece of this.#pieces) {
      if (before >= to) break;
      if (before + piece.length > from) found.push(...piece.slice(Math.max(0, from - before), to - before));
      before += piece.length;
    }
    return found;
  }

  filter(matches: (entity: T) => boolean): T[] {
    return this.#pieces.flatMap((piece) => piece.filter(matches));
  }

  #add(entity: T): void {
    if (this.#pieces.length === 0) {
      this.#pieces.push([entity]);
      return;
    }
    const at = Math.min(this.#pieceOf(entity), this.#pieces.length - 1);
    const piece = this.#pieces[at] as T[];
    piece.splice(placeOf(piece, entity, this.#compare), 0, entity);
    if (piece.length > LONGEST_PIECE) this.#pieces.splice(at + 1, 0, piece.splice(LONGEST_PIECE / 2));
  }

  #overwrite(entity: T): void {
    const piece = this.#pieces[this.#pieceOf(entity)];
    if (piece) piece[placeOf(piece, entity, this.#compare)] = entity;
  }

  #remove(entity: T): void {
    const at = this.#pieceOf(entity);
    const piece = this.#pieces[at];
    if (!piece) return;
    piece.splice(placeOf(piece, entity, this.#compare), 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
  }

  /** The first piece whose last entity does not precede `entity`. */
  #pieceOf(entity: T): number {
    return firstFrom(this.#pieces.length, (at) => this.#compare((this.#pieces[at] as T[]).at(-1) as T, entity) < 0);
  }
}

/** The index of `entity` in a sorted list, or the index at which to insert it. */
export function placeOf<T>(entities: readonly T[], entity: T, compare: Compare<T>): number {
  return firstFrom(entities.length, (at) => compare(entities[at] as T, entity) < 0);
}

/** The first of `count` places that does not precede the wanted one. */
function firstFrom(count: number, precedes: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (precedes(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

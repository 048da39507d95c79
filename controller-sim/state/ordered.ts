// A sorted list in pieces: an insertion among a hundred thousand entities moves a few hundred, and a page is found by
// counting pieces.

/** Negative if `a` comes first; 0 only for versions of the same entity. Its parameters are bivariant, as in `Of`. */
export type Compare<T> = { compare(a: T, b: T): number }['compare'];

const MAX_PIECE = 512;

/** A text of each entity, to search in; the same object for the same text. */
export interface SearchText<T> {
  of(entity: T): string;
}

export class Ordered<T> {
  readonly #compare: Compare<T>;
  /** No piece is empty; all entities of a piece precede those of the next. */
  readonly #pieces: Piece<T>[] = [];

  constructor(entities: Iterable<T>, compare: Compare<T>) {
    this.#compare = compare;
    const all = [...entities].sort(compare);
    // Half full, to leave room for insertions.
    for (let from = 0; from < all.length; from += MAX_PIECE / 2)
      this.#pieces.push(new Piece(all.slice(from, from + MAX_PIECE / 2)));
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
    for (const { entities } of this.#pieces) {
      if (before >= to) break;
      if (before + entities.length > from) found.push(...entities.slice(Math.max(0, from - before), to - before));
      before += entities.length;
    }
    return found;
  }

  filter(matches: (entity: T) => boolean): T[] {
    return this.#pieces.flatMap(({ entities }) => entities.filter(matches));
  }

  /**
   * Finds the entities whose text contains `needle`, which has to be `isSearchable`.
   *
   * @returns their number, and those from the position `from` up to `to` among them
   */
  search(text: SearchText<T>, needle: string, from: number, to: number): { total: number; found: T[] } {
    let total = 0;
    const found: T[] = [];
    for (const piece of this.#pieces) {
      const joined = piece.joined(text);
      const matches = joined.find(needle);
      const first = Math.max(0, from - total);
      const end = Math.min(matches.length, to - total);
      for (let each = first; each < end; each++)
        found.push(piece.entities[joined.indexAt(matches[each] as number)] as T);
      total += matches.length;
    }
    return { total, found };
  }

  #add(entity: T): void {
    if (this.#pieces.length === 0) {
      this.#pieces.push(new Piece([entity]));
      return;
    }
    const at = Math.min(this.#pieceOf(entity), this.#pieces.length - 1);
    const piece = this.#pieces[at] as Piece<T>;
    piece.splice(placeOf(piece.entities, entity, this.#compare), 0, entity);
    if (piece.entities.length > MAX_PIECE)
      this.#pieces.splice(at + 1, 0, new Piece(piece.splice(MAX_PIECE / 2, MAX_PIECE)));
  }

  #overwrite(entity: T): void {
    const piece = this.#pieces[this.#pieceOf(entity)];
    piece?.splice(placeOf(piece.entities, entity, this.#compare), 1, entity);
  }

  #remove(entity: T): void {
    const at = this.#pieceOf(entity);
    const piece = this.#pieces[at];
    if (!piece) return;
    piece.splice(placeOf(piece.entities, entity, this.#compare), 1);
    if (piece.entities.length === 0) this.#pieces.splice(at, 1);
  }

  /** The first piece whose last entity does not precede `entity`. */
  #pieceOf(entity: T): number {
    return firstFrom(
      this.#pieces.length,
      (at) => this.#compare((this.#pieces[at] as Piece<T>).entities.at(-1) as T, entity) < 0,
    );
  }
}

class Piece<T> {
  readonly entities: T[];
  /** Built by the first search after a change. */
  readonly #joined = new Map<SearchText<T>, Joined>();

  constructor(entities: T[]) {
    this.entities = entities;
  }

  splice(from: number, count: number, ...added: T[]): T[] {
    this.#joined.clear();
    return this.entities.splice(from, count, ...added);
  }

  joined(text: SearchText<T>): Joined {
    let joined = this.#joined.get(text);
    if (!joined) {
      joined = new Joined(this.entities.map((entity) => text.of(entity)));
      this.#joined.set(text, joined);
    }
    return joined;
  }
}

const SEPARATOR = '\n';
/** Replaces separators within texts. Unicode has no such character. */
const NO_CHARACTER = '\uffff';
/** Needles of which a piece keeps the matches: the pages of a search, and a console that repeats it, scan only once. */
const REMEMBERED_NEEDLES = 4;

/** Texts of all entities of a piece as one: searching it is five times faster than searching each. */
class Joined {
  readonly #text: string;
  /** The position at which the text of each entity starts. */
  readonly #starts: readonly number[];
  /** By needle, the oldest first. */
  readonly #matches = new Map<string, readonly number[]>();

  constructor(texts: readonly string[]) {
    let end = 0;
    this.#starts = texts.map((text) => {
      const start = end;
      end += text.length + 1;
      return start;
    });
    this.#text = texts.map((text) => text.replaceAll(SEPARATOR, NO_CHARACTER)).join(SEPARATOR);
  }

  /** The position of the first match in each text that contains `needle`. */
  find(needle: string): readonly number[] {
    const remembered = this.#matches.get(needle);
    if (remembered) return remembered;
    const matches: number[] = [];
    for (let at = this.#text.indexOf(needle); at >= 0; ) {
      matches.push(at);
      const end = this.#text.indexOf(SEPARATOR, at);
      at = end < 0 ? -1 : this.#text.indexOf(needle, end + 1);
    }
    if (this.#matches.size >= REMEMBERED_NEEDLES) this.#matches.delete(this.#matches.keys().next().value as string);
    this.#matches.set(needle, matches);
    return matches;
  }

  /** The index of the entity whose text contains `position`. */
  indexAt(position: number): number {
    return firstFrom(this.#starts.length, (each) => (this.#starts[each] as number) <= position) - 1;
  }
}

/** Whether `Ordered.search` finds exactly the texts that contain `needle`. */
export function isSearchable(needle: string): boolean {
  return needle !== '' && !needle.includes(SEPARATOR) && !needle.includes(NO_CHARACTER);
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

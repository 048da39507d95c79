// Entities sorted by id, split into pieces. An insertion among a hundred thousand moves a few hundred, and a page is
// found by counting pieces.

import type { Entity } from './types.ts';

const LONGEST_PIECE = 512;

export class Ordered<T extends Entity> {
  /** Pieces are never empty and are in order. */
  readonly #pieces: T[][] = [];

  constructor(entities: Iterable<T>) {
    const all = [...entities].sort(byId);
    // Half full, to leave room for insertions.
    for (let from = 0; from < all.length; from += LONGEST_PIECE / 2)
      this.#pieces.push(all.slice(from, from + LONGEST_PIECE / 2));
  }

  /** Adds an entity or replaces its older version. */
  set(entity: T): void {
    if (this.#pieces.length === 0) {
      this.#pieces.push([entity]);
      return;
    }
    const at = Math.min(this.#pieceOf(entity.id), this.#pieces.length - 1);
    const piece = this.#pieces[at] as T[];
    const index = placeOf(piece, entity.id);
    piece.splice(index, piece[index]?.id === entity.id ? 1 : 0, entity);
    if (piece.length > LONGEST_PIECE) this.#pieces.splice(at + 1, 0, piece.splice(LONGEST_PIECE / 2));
  }

  delete(id: string): void {
    const at = this.#pieceOf(id);
    const piece = this.#pieces[at];
    if (!piece) return;
    const index = placeOf(piece, id);
    if (piece[index]?.id === id) piece.splice(index, 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
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

  /** The first piece whose last entity is not before `id`. */
  #pieceOf(id: string): number {
    return firstFrom(this.#pieces.length, (at) => ((this.#pieces[at] as T[]).at(-1) as T).id < id);
  }
}

/** The position of an id in a sorted list, or where it would be inserted. */
export function placeOf(entities: readonly Entity[], id: string): number {
  return firstFrom(entities.length, (at) => (entities[at] as Entity).id < id);
}

/** The first of `count` positions for which `comesBefore` is false. */
function firstFrom(count: number, comesBefore: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comesBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byId(a: Entity, b: Entity): number {
  return a.id < b.id ? -1 : 1;
}

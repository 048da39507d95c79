// Entities of one kind in memory, with indexes: by id, by unique keys, by foreign keys, by role attribute. Entities are
// immutable: a new version replaces the old one.

import type { Entity, Named } from './entity.ts';
import { type Compare, Ordered } from './ordered.ts';

/** Keys that have an index for sorted lists: those that consoles sort by. */
export const SORT_KEYS = ['id', 'name', 'createdAt', 'updatedAt'] as const;

export interface IndexedSort {
  readonly key: (typeof SORT_KEYS)[number];
  readonly descending: boolean;
}

const BY_ID: IndexedSort = { key: 'id', descending: false };

/**
 * Missing values come first in ascending order; equal ones are in the order of their ids. Dates have one format, so
 * texts compare as dates.
 */
export function compareBy<T extends Entity>({ key, descending }: IndexedSort): Compare<T> {
  const sign = descending ? -1 : 1;
  const sortValue = (entity: T) => (entity as Entity & Partial<Named>)[key];
  return (a, b) => {
    const [left, right] = [sortValue(a), sortValue(b)];
    if (left === right) return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
    return left === undefined || (right !== undefined && left < right) ? -sign : sign;
  };
}

/** A function of an entity. Its parameter is bivariant, so that a table or a kind is also one of entities. */
export type Of<T, Result> = { of(entity: T): Result }['of'];

/** `Key` has the names of fields. */
export interface TableDefinition<T extends Entity, Key extends string = keyof T & string> {
  /** Keys with unique values; null and undefined are not indexed. */
  readonly unique?: readonly Key[];
  /** Further keys that contain the id of another entity, a list of ids, or selectors. */
  readonly references?: readonly Key[];
  /** Computed ids of other entities, by the name of their index. */
  readonly derived?: Readonly<Record<string, Of<T, readonly string[]>>>;
}

export class Table<T extends Entity> {
  readonly #byId = new Map<string, T>();
  readonly #unique = new Map<string, Map<string, string>>();
  readonly #references = new Map<string, Map<string, Set<string>>>();
  readonly #keys: readonly string[];
  readonly #derived: ReadonlyMap<string, Of<T, readonly string[]>>;
  readonly #byRole = new Map<string, Set<string>>();
  /** Each is built on first use and then maintained; `SORT_KEYS` bounds their number. */
  readonly #ordered = new Map<string, Ordered<T>>();

  constructor({ unique = [], references = [], derived = {} }: TableDefinition<T, string>) {
    this.#keys = references;
    this.#derived = new Map(Object.entries(derived));
    for (const key of unique) this.#unique.set(key, new Map());
    for (const key of [...references, ...this.#derived.keys()]) this.#references.set(key, new Map());
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): T | undefined {
    return this.#byId.get(id);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  values(): IterableIterator<T> {
    return this.#byId.values();
  }

  /** All entities in the order of `sort`, ties by id; by id alone without it. */
  ordered(sort: IndexedSort = BY_ID): Pick<Ordered<T>, 'slice' | 'filter' | 'search'> {
    const name = `${sort.key} ${sort.descending}`;
    let ordered = this.#ordered.get(name);
    if (!ordered) {
      ordered = new Ordered<T>(this.#byId.values(), compareBy(sort));
      this.#ordered.set(name, ordered);
    }
    return ordered;
  }

  /** Whether any entity's key refers to `id`. */
  refersTo(key: string, id: string): boolean {
    return this.#references.get(key)?.has(id) ?? false;
  }

  /** The entity with a unique value. */
  findBy(key: keyof T & string, value: string): T | undefined {
    const id = this.#unique.get(key)?.get(value);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** The entity with an id or a unique value, if any; undefined if the key is not unique. */
  lookUp(key: string, value: string): T[] | undefined {
    const id = key === 'id' ? value : this.#unique.get(key) && (this.#unique.get(key)?.get(value) ?? '');
    if (id === undefined) return undefined;
    const found = this.#byId.get(id);
    return found ? [found] : [];
  }

  /** Entities whose key, or computed ids under this name, refer to `id`. */
  referring(key: string, id: string): T[] {
    return [...(this.#references.get(key)?.get(id) ?? [])].flatMap((each) => this.#byId.get(each) ?? []);
  }

  /** Ids of entities with a role attribute. */
  withRole(attribute: string): ReadonlySet<string> {
    return this.#byRole.get(attribute) ?? NONE;
  }

  /** Role attributes in use, sorted. */
  roleAttributes(): string[] {
    return [...this.#byRole.keys()].sort();
  }

  /** Adds, replaces or, without `after`, removes an entity, which `requireIndexable` has accepted. */
  apply(id: string, after: T | undefined): void {
    const before = this.#byId.get(id);
    if (before) this.#index(before, false);
    for (const ordered of this.#ordered.values()) ordered.replace(before, after);
    if (after) {
      this.#byId.set(id, after);
      this.#index(after, true);
    } else this.#byId.delete(id);
  }

  /** Throws if the entity cannot be indexed. */
  requireIndexable(entity: T): void {
    const { roleAttributes = [] } = entity as { roleAttributes?: unknown };
    if (!Array.isArray(roleAttributes)) throw new TypeError('roleAttributes is not a list');
    for (const derive of this.#derived.values()) derive(entity);
  }

  #index(entity: T, add: boolean): void {
    const fields = entity as Readonly<Partial<Record<string, unknown>>>;
    for (const [key, index] of this.#unique) {
      const value = fields[key];
      if (typeof value !== 'string') continue;
      if (add) index.set(value, entity.id);
      else if (index.get(value) === entity.id) index.delete(value);
    }
    for (const key of this.#keys) {
      const index = this.#references.get(key);
      const field = fields[key];
      for (const value of Array.isArray(field) ? field : [field])
        if (index && typeof value === 'string') toggle(index, value, entity.id, add);
    }
    for (const [name, derive] of this.#derived) {
      const index = this.#references.get(name);
      for (const id of index ? derive(entity) : []) if (index) toggle(index, id, entity.id, add);
    }
    const { roleAttributes } = entity as { roleAttributes?: readonly string[] };
    for (const attribute of roleAttributes ?? []) toggle(this.#byRole, attribute, entity.id, add);
  }
}

const NONE: ReadonlySet<string> = new Set();

function toggle(index: Map<string, Set<string>>, key: string, id: string, add: boolean): void {
  const ids = index.get(key);
  if (add) {
    if (ids) ids.add(id);
    else index.set(key, new Set([id]));
    return;
  }
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}

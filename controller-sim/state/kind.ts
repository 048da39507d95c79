// The description of a kind of entity: its indexes, its names, and its references to entities of other kinds.

import type { Entity } from './entity.ts';
import type { Field, Fields } from './fields.ts';
import type { Of, TableDefinition } from './table.ts';

/** The two groups of entities that a policy joins. */
export type Side = 'left' | 'right';

/** A field with the ids of other entities. `To` has the names of their kinds. */
export interface Reference<Key extends string = string, To extends string = string> {
  /** Path of field names, separated by dots. */
  readonly key: Key | `${Key}.${string}`;
  /** The index of the table that has the ids; that of the key if missing. */
  readonly index?: string;
  readonly to: To;
  /** Where ids are found: in `@id` selectors, in map keys, in the lists of a map, or in the value itself. */
  readonly form: 'id' | 'ids' | 'selectors' | 'map' | 'lists';
  /** The side of the policy that these selectors fill. A kind of policies has a left side, then a right one. */
  readonly side?: Side;
  /**
   * The repair of an id that does not resolve. `delete`: the entity is useless without it. `remove`: the id is removed.
   * `put`: this id replaces it. `report`: the intended id is unknown, so an administrator must repair it.
   */
  readonly repair: 'delete' | 'remove' | 'report' | { readonly put: string };
  /**
   * The consequence of deleting the other entity: this entity is deleted, the id is removed, or it stays. `field`: the
   * deletion is rejected; the error names the field and, in `by`, the entities that refer.
   */
  readonly onDelete: 'delete' | 'remove' | 'keep' | { readonly field: string; readonly by: string };
}

export interface Kind<T extends Entity, To extends string = string, Key extends string = keyof T & string>
  extends TableDefinition<T, Key> {
  /** Name in messages of the APIs, if it is not that of the kind. */
  readonly singular?: string;
  /** Its name in sentences, if that is not the name of the kind in words. */
  readonly words?: string;
  /** Path segment in the APIs. */
  readonly plural: string;
  /** The reference's name of its store, in events, counts and messages. */
  readonly store: string;
  /** The tables have an index of ids and selectors. Role lists are checked in this order. */
  readonly refers?: readonly Reference<Key, To>[];
  /** Whether lists and policies select its entities by role attributes. */
  readonly hasRoleAttributes?: boolean;
  /** Whether policies select the entity; true for all if missing. */
  readonly isSelectable?: Of<T, boolean>;
  /** All fields beside those of each entity. Kinds that administrators configure have them: files contain these. */
  readonly fields?: Readonly<Record<string, Field>>;
  /** Checks several fields together, and returns the problem. */
  readonly demand?: Of<T, string | undefined>;
  /** Fields with credentials: events omit them. */
  readonly secrets?: readonly Key[];
  /** Path segments of the lists below an entity in the APIs. */
  readonly lists?: readonly string[] | Of<T, readonly string[]>;
  /** Whether references to an entity in answers have the links of its lists. */
  readonly isReferredWithLists?: boolean;
  /**
   * Fields with which an entity proves who it is, with their values for an entity that has no proof yet: a file brings
   * them only with credentials.
   */
  readonly proofs?: Readonly<Record<string, unknown>>;
  /** Whether administrators configure its entities, or those that the function selects: snapshots contain them. */
  readonly isConfigured?: boolean | Of<T, boolean>;
}

/** A description that knows the type of the stored entities; the field never has a value. */
export interface Stores<T extends Entity> {
  readonly stored?: T;
}

/** The parts of a description from which the types of kinds.ts follow. */
export interface Typed<R, A> {
  readonly refers?: R;
  readonly hasRoleAttributes?: A;
}

/** Describes the kind with entities of the type `T`. */
export function kind<T extends Entity>(): <
  const R extends readonly Reference<keyof T & string>[] = [],
  const A extends boolean = false,
>(
  definition: Kind<T> & Typed<R, A> & { readonly fields?: Fields<T, Entity> },
) => Kind<T> & Typed<R, A> & Stores<T> {
  return (definition) => definition;
}

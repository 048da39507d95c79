// The description of a section of seeds: how an entry becomes the body of the management API, how its entity is
// created, and how an export writes it. The files in sections/ describe one each.

import type { Body } from '../../entities/body.ts';
import type { IdentityEnrollment } from '../../entities/enrollment.ts';
import type { SignedEnrollment } from '../../entities/router.ts';
import type { EntityKind, EntityTypes } from '../../state/kinds.ts';
import type { Tables } from '../../state/tables.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { Names } from './export-names.ts';
import type { SeedPath } from './mistake.ts';

export type Entry = Readonly<Record<string, unknown>>;
export type Fields = Record<string, unknown>;

/** Converts `@name` to the id of an entity of the kind; `field` is the place within the entry. */
export type Refer = (kind: EntityKind, value: unknown, field: SeedPath) => unknown;

/** Made before the transaction, because it takes time. */
export interface Prepared {
  readonly passwordHash?: string;
  readonly identityEnrollment?: IdentityEnrollment;
  readonly routerEnrollment?: SignedEnrollment;
}

export interface Section<K extends EntityKind = EntityKind> {
  readonly kind: K;
  /** The kind in messages, if it is not that of all entities of the kind. */
  readonly word?: string;
  /** The type of the body in schemas/api/bodies.json. */
  readonly bodyType: string;
  /** Whether ids are short, as those of the management API. */
  readonly hasShortId?: boolean;
  body(entry: Entry, refer: Refer): Fields;
  create(transaction: Transaction, id: string, body: Body, made: Prepared): void;
  /** Changes an entity that exists; the body has all of its fields. */
  update?(transaction: Transaction, entity: EntityTypes[K], body: Body): void;
  /** Fields that cannot be changed. */
  readonly fixed?: readonly string[];
  /** Deletes an entity; by default with the consequences that its kind describes. */
  remove?(transaction: Transaction, entity: EntityTypes[K]): void;
  /** Adds the fields that the body cannot contain. */
  complete?(transaction: Transaction, id: string, entry: Entry, refer: Refer, made: Prepared): void;
  /** Whether an export contains the entity; all by default. */
  isExported?(entity: EntityTypes[K], tables: Tables): boolean;
  /** The entry of an entity, without name and tags. `now` in milliseconds. */
  entry(entity: EntityTypes[K], names: Names, now: number): Fields;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Ids of all entities in a list of `@name`. */
export function all(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
  return listOf(value).map((each, index) => refer(kind, each, [...field, index]));
}

/** Selectors of policies: `#attribute` as it is, `@name` as `@id`. */
export function roles(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
  return listOf(value).map((role, index) =>
    typeof role === 'string' && role.startsWith('@') ? `@${refer(kind, role, [...field, index])}` : role,
  );
}

/** Only the fields that are not empty, false or zero. */
export function filled(fields: object): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

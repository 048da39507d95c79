// A section of seeds: how an entry becomes the body of the management API, and how an export writes an entity. Both
// follow from the schema of seeds, the references of the kind and its rules; a section describes only differences.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { BODY_SCHEMAS, type DataSchema } from '#schemas/api/body-schemas.ts';
import schema from '#schemas/sim/seed.schema.json' with { type: 'json' };
import type { Body } from '../../entities/body.ts';
import type { IdentityEnrollment } from '../../entities/enrollment.ts';
import type { SignedEnrollment } from '../../entities/router.ts';
import type { Rules } from '../../entities/rules.ts';
import type { Reference } from '../../state/kind.ts';
import { type EntityKind, type EntityTypes, inWords, isSelectable, KINDS } from '../../state/kinds.ts';
import { valueAt } from '../../state/references.ts';
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
  readonly name: string;
  readonly kind: K;
  /** The kind in messages. */
  readonly word: string;
  /** The type of the body in schemas/api/bodies.json. */
  readonly bodyType: string;
  /** Whether ids are short, as those of the management API. */
  readonly hasShortId: boolean;
  /** Fields that cannot be changed. */
  readonly fixed: readonly string[];
  /** Fields that are set when all entities exist: they refer to later sections, which refer to this one. */
  readonly later: readonly string[];
  /** Without the later fields. */
  body(entry: Entry, refer: Refer): Fields;
  laterBody(entry: Entry, refer: Refer): Fields;
  create(transaction: Transaction, id: string, body: Body, made: Prepared): void;
  /** Changes an entity that exists; the body has all of its fields. Undefined if nothing can be changed. */
  readonly update: ((transaction: Transaction, entity: EntityTypes[K], body: Body) => void) | undefined;
  remove(transaction: Transaction, entity: EntityTypes[K]): void;
  /** Adds the fields that the body cannot contain. */
  complete(transaction: Transaction, id: string, entry: Entry, refer: Refer, made: Prepared): void;
  /** Whether an export contains the entity. */
  isExported(entity: EntityTypes[K], tables: Tables): boolean;
  /** The entry of an entity, without name and tags. `now` in milliseconds. */
  entry(entity: EntityTypes[K], names: Names, now: number): Fields;
}

type Derived = 'bodyType' | 'complete' | 'fixed' | 'hasShortId' | 'isExported' | 'later' | 'update' | 'word';

/** The differences from what is derived. */
export interface Differences<K extends EntityKind> extends Partial<Pick<Section<K>, Derived>> {
  /** Paths of fields of the body, with their values if an entry lacks them. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Changes a body in which the references are ids. */
  body?(body: Fields, entry: Entry, refer: Refer): Fields;
  /** The fields that are not those of the entity. */
  entry?(entity: EntityTypes[K], names: Names, now: number): Fields;
}

/** The rules of a kind, and the differences of its section. */
export interface Described<K extends EntityKind = EntityKind> {
  readonly rules: Rules<K, object, SignedEnrollment | undefined>;
  readonly own: Differences<K>;
}

export function described<K extends EntityKind>(rules: Described<K>['rules'], own: Differences<K> = {}): Described<K> {
  return { rules, own };
}

/** A field in the schema of seeds. One without a type is ignored. */
interface Property {
  readonly description?: string;
  readonly type?: unknown;
  readonly enum?: unknown;
  /** Exports omit the field if it has this value, or is empty. */
  readonly default?: unknown;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Property>>;
}

/** A reference of the kind, with its places in entries and in bodies. */
interface PlacedReference extends Reference<string, EntityKind> {
  readonly inEntry: string;
  readonly inBody: string;
}

export function sectionOf<K extends EntityKind>(name: string, { rules, own }: Described<K>): Section<K> {
  const { kind } = rules;
  const { bodyType = `${kind}Create`, later = [], defaults = {} } = own;
  const fields = fieldsOf(name);
  const references = placed(kind, fields, BODY_SCHEMAS[bodyType] ?? {});
  const wholeBody = (entry: Entry, refer: Refer) => {
    const body: Fields = withoutNulls(entry);
    for (const { to, form, inEntry, inBody } of references) {
      const value = valueAt(entry, inEntry);
      if (inBody !== inEntry || !value) set(body, inEntry, null);
      if (value) set(body, inBody, idsOf(to, form, value, inEntry.split('.'), refer));
    }
    return body;
  };
  const part = (entry: Entry, isLater: boolean) =>
    Object.fromEntries(Object.entries(entry).filter(([field]) => later.includes(field) === isLater));
  const body = (entry: Entry, refer: Refer) => {
    const whole = wholeBody(later.length === 0 ? entry : part(entry, false), refer);
    for (const [path, value] of Object.entries(defaults))
      if ((valueAt(whole, path) ?? null) === null) set(whole, path, value);
    return own.body?.(whole, entry, refer) ?? whole;
  };
  return {
    word: inWords(kind),
    hasShortId: false,
    fixed: [],
    update: (transaction, entity, changed) => rules.update(transaction, entity, changed),
    complete: () => undefined,
    isExported: (entity) => !entity.isSystem && isSelectable(kind, entity),
    ...own,
    name,
    kind,
    bodyType,
    later,
    body,
    laterBody: (entry, refer) => (later.length === 0 ? {} : wholeBody(part(entry, true), refer)),
    create: (transaction, id, given, made) => rules.create(transaction, id, given, made.routerEnrollment),
    remove: (transaction, entity) => rules.remove(transaction, entity),
    entry: (entity, names, now) => {
      const entry: Fields = {};
      for (const field of fields.keys()) if (Object.hasOwn(entity, field)) entry[field] = valueAt(entity, field);
      for (const reference of references)
        set(entry, reference.inEntry, named(valueAt(entity, reference.key), reference, names));
      for (const [field, { default: omitted }] of fields)
        if (omitted !== undefined && (isEmpty(entry[field]) || entry[field] === omitted)) entry[field] = undefined;
      return Object.assign(entry, own.entry?.(entity, names, now));
    },
  };
}

/** The fields of an entry, except for the ignored ones. */
function fieldsOf(name: string): ReadonlyMap<string, Property> {
  const definitions: Readonly<Record<string, ObjectSchema>> = schema.definitions;
  const { $ref } = schema.properties[name as keyof typeof schema.properties].items;
  const { properties = {} } = definitions[$ref.replace('#/definitions/', '')] ?? {};
  const known = Object.entries(properties).filter(([, { type, enum: values }]) => type ?? values);
  return new Map(known.filter(([field]) => field !== 'name' && field !== 'tags'));
}

/** A reference `serviceId` may be the field `service` of entries, and of bodies. */
function placed(kind: EntityKind, fields: ReadonlyMap<string, Property>, body: DataSchema): PlacedReference[] {
  return (KINDS[kind].refers ?? []).flatMap((reference) => {
    const { key } = reference;
    const inEntry = [key, key.replace(/Id$/, '')].find((path) => fields.has(rootOf(path)));
    if (inEntry === undefined) return [];
    return { ...reference, inEntry, inBody: Object.hasOwn(body.properties ?? {}, rootOf(key)) ? key : inEntry };
  });
}

function rootOf(path: string): string {
  return path.replace(/\..*/, '');
}

function idsOf(to: EntityKind, form: Reference['form'], value: unknown, field: SeedPath, refer: Refer): unknown {
  if (form === 'id') return refer(to, value, field);
  return form === 'selectors' ? roles(to, value, field, refer) : all(to, value, field, refer);
}

/** `@name` in place of the ids of a reference; null without one. */
function named(value: unknown, { to, form }: Reference<string, EntityKind>, names: Names): unknown {
  if (value === null || value === undefined) return null;
  if (form === 'id') return names.one(to, value as string);
  return form === 'selectors' ? names.roles(to, value as string[]) : names.all(to, value as string[]);
}

/** Sets a value at a path, in copies of the maps on the way. Null leaves no key in them, and undefined in the map. */
function set(map: Fields, path: string, value: unknown): void {
  const dot = path.indexOf('.');
  if (dot < 0) {
    map[path] = value ?? undefined;
    return;
  }
  const key = path.slice(0, dot);
  const inner = { ...(map[key] as Fields | undefined) };
  set(inner, path.slice(dot + 1), value);
  map[key] = Object.fromEntries(Object.entries(inner).filter(([, each]) => each !== undefined));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Ids of all entities in a list of `@name`. */
function all(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
  return listOf(value).map((each, index) => refer(kind, each, [...field, index]));
}

/** Selectors of policies: `#attribute` as it is, `@name` as `@id`. */
function roles(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
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

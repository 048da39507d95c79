// A snapshot as JSON for a file: to attach it to a report, and to load it into another simulator. Without credentials
// it has no passwords, certificates, second factors and one-time tokens; identities of the simulator that loads it keep
// theirs. The administrator is always that of the simulator that loads it. A file is checked by the rules of the API,
// and brings credentials only if the caller asks for them.

import { isDeepStrictEqual } from 'node:util';
import { shown } from '#lib/text/shown-text.ts';
import { ApiError } from '../errors/errors.ts';
import type { Entity, Vouching } from '../state/entity.ts';
import { formProblem, UniqueValues } from '../state/entity-form.ts';
import { checkIndexKeys } from '../state/index-keys.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Identity } from '../state/kinds/identity.ts';
import { type EntityKind, KIND_NAMES, KINDS } from '../state/kinds.ts';
import { idsIn, valueAt } from '../state/references.ts';
import { entityProblem } from '../state/store/stored-entity.ts';
import type { Table } from '../state/table.ts';
import type { Tables } from '../state/tables.ts';
import type { ClockMark } from './lab-clock.ts';
import { InvalidError } from './lab-error.ts';
import { reasonOf } from './seed/item.ts';

export const SNAPSHOT_FORMAT = 'edgeweave-snapshot/1';
const CREDENTIALS: readonly EntityKind[] = ['authenticator', 'enrollment', 'mfa'];

export interface SnapshotFile {
  readonly format: typeof SNAPSHOT_FORMAT;
  readonly name: string;
  /** ISO 8601, of the simulator's clock. */
  readonly takenAt: string;
  /** Whether it has passwords, certificates, second factors and one-time tokens. */
  readonly credentials: boolean;
  readonly clock: ClockMark;
  /** By kind. */
  readonly entities: Readonly<Partial<Record<EntityKind, readonly Entity[]>>>;
}

export interface SaveOptions {
  /** Includes credentials; default false. */
  readonly credentials?: boolean;
}

export type Entities = ReadonlyMap<EntityKind, ReadonlyMap<string, Entity>>;
type MutableEntities = Map<EntityKind, Map<string, Entity>>;
type Note = (problem: string) => void;

export function entitiesForFile(entities: Entities, { credentials = false }: SaveOptions): SnapshotFile['entities'] {
  return Object.fromEntries(
    [...entities]
      .filter(([kind]) => credentials || !CREDENTIALS.includes(kind))
      .map(([kind, byId]) => [kind, [...byId.values()].map((entity) => (credentials ? entity : plain(kind, entity)))]),
  );
}

function plain(kind: EntityKind, entity: Entity): Entity {
  const secrets = (KINDS[kind].secrets ?? []) as readonly string[];
  return Object.fromEntries(Object.entries(entity).filter(([field]) => !secrets.includes(field))) as Entity;
}

/** How the content of a file is taken. */
export interface SnapshotLoadOptions {
  /**
   * Takes credentials from the file, and identities that become administrators; default false. The file has no say in
   * this: its author may be a stranger.
   */
  readonly credentials?: boolean;
}

/** Problems that an error lists. */
const MAX_LISTED = 20;
/** Ends the messages about what the file may not bring. */
const REMEDY = 'if you trust its author, load it with the option credentials';

/**
 * The entities of a file, with the administrator of `tables`, and without the option with their credentials. The rules
 * are those of the API: the form of each field, unique values, references. @throws InvalidError, which names all
 * problems
 */
export function entitiesOfFile(
  file: unknown,
  tables: Tables,
  { credentials: isTrusted = false }: SnapshotLoadOptions = {},
): { readonly file: SnapshotFile; readonly entities: Entities } {
  const snapshot = checkedHead(file);
  const problems: string[] = [];
  const note = (problem: string) => void problems.push(problem);
  const given = checkedKinds(snapshot, note);
  if (problems.length > 0) throw invalidFile(problems);
  const entities = new Map<EntityKind, Map<string, Entity>>();
  for (const [kind, list] of Object.entries(withAdministrator(given, tables)) as [EntityKind, Entity[]][])
    entities.set(kind, checkedEntities(kind, list, snapshot.credentials, note));
  if (problems.length > 0) throw invalidFile(problems);
  if (!snapshot.credentials)
    for (const kind of CREDENTIALS)
      if ((entities.get(kind)?.size ?? 0) > 0) note(`${kind} of the snapshot is not empty, and it has no credentials`);
  if (snapshot.credentials && !isTrusted) note(`the snapshot has credentials; ${REMEDY}`);
  if (!isTrusted) withoutProofs(entities, tables, note);
  keepCredentials(entities, tables, snapshot.credentials);
  requireUnique(entities, note);
  requireReferences(entities, note);
  requireLogin(entities, tables, note);
  if (problems.length > 0) throw invalidFile(problems);
  return { file: snapshot, entities };
}

function invalidFile(problems: readonly string[]): InvalidError {
  const listed = problems.slice(0, MAX_LISTED).join('; ');
  const further = problems.length - MAX_LISTED;
  return new InvalidError('file', further > 0 ? `${listed}; and ${further} more` : listed, '');
}

function checkedHead(file: unknown): SnapshotFile {
  const { format, entities, clock, takenAt, credentials } = (file ?? {}) as Partial<SnapshotFile>;
  if (format !== SNAPSHOT_FORMAT || typeof entities !== 'object' || entities === null)
    throw new InvalidError('file', `this is not a snapshot; its format must be ${SNAPSHOT_FORMAT}`, String(format));
  if (![clock?.now, clock?.advanced, clock?.rate].every(Number.isFinite))
    throw new InvalidError('file', 'the snapshot has no clock', '');
  if (typeof takenAt !== 'string' || Number.isNaN(Date.parse(takenAt)))
    throw new InvalidError('file', 'takenAt of the snapshot is not a time', String(takenAt));
  return { ...(file as SnapshotFile), credentials: credentials === true };
}

/** All kinds that administrators configure; those that the file lacks are empty. */
function checkedKinds({ entities }: SnapshotFile, note: Note): SnapshotFile['entities'] {
  const configured = KIND_NAMES.filter((kind) => KINDS[kind].isConfigured);
  for (const [kind, list] of Object.entries(entities)) {
    if (!configured.includes(kind as EntityKind)) note(`${shown(kind)} of the snapshot is not a kind that it can have`);
    if (!Array.isArray(list) || list.some((entity) => typeof entity !== 'object' || entity === null))
      note(`${shown(kind)} of the snapshot is not a list of entities`);
  }
  return Object.fromEntries(configured.map((kind) => [kind, entities[kind] ?? []]));
}

/** By id. Secrets may be missing in a file without credentials. */
function checkedEntities(
  kind: EntityKind,
  list: readonly Entity[],
  hasCredentials: boolean,
  note: Note,
): Map<string, Entity> {
  const { secrets = [], isConfigured } = KINDS[kind];
  const byId = new Map<string, Entity>();
  for (const [index, entity] of list.entries()) {
    const problem =
      entityProblem(entity, entity.id) ??
      formProblem(kind, entity, hasCredentials ? [] : secrets) ??
      keyProblem(kind, entity) ??
      (byId.has(entity.id) ? 'its id appears twice' : undefined) ??
      (typeof isConfigured === 'function' && !isConfigured(entity) ? 'administrators do not create it' : undefined);
    if (problem === undefined) byId.set(entity.id, entity);
    else note(`${kind}[${index}] of the snapshot: ${problem}`);
  }
  return byId;
}

/** A restore would fail for keys that the store rejects. */
function keyProblem(kind: EntityKind, entity: Entity): string | undefined {
  try {
    checkIndexKeys(kind, entity);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return reasonOf(error);
  }
}

/**
 * The file's administrator has another id and other credentials: references to it become references to this
 * simulator's.
 */
function withAdministrator(given: SnapshotFile['entities'], tables: Tables): SnapshotFile['entities'] {
  const [other, ...more] = (given.identity as readonly Identity[]).filter(({ isDefaultAdmin }) => isDefaultAdmin);
  const admin = administratorOf(tables);
  if (!other || !admin || typeof other.id !== 'string')
    throw new InvalidError('file', 'the snapshot has no administrator', '');
  if (more.length > 0) throw new InvalidError('file', 'the snapshot has several default administrators', '');
  const names = new Map([
    [other.id, admin.id],
    [`@${other.id}`, `@${admin.id}`],
  ]);
  const renamed = JSON.parse(JSON.stringify(given), (_key, value) => names.get(value) ?? value) as Record<
    EntityKind,
    Entity[]
  >;
  return { ...renamed, identity: renamed.identity.map((each) => (each.id === admin.id ? admin : each)) };
}

function administratorOf({ identity }: Tables): Identity | undefined {
  return Iterator.from(identity.values()).find(({ isDefaultAdmin }) => isDefaultAdmin);
}

/**
 * Entities of a stranger's file prove who they are as those of this simulator do, or not at all; nobody becomes an
 * administrator, and new authorities and issuers do not vouch for administrators.
 */
function withoutProofs(entities: MutableEntities, tables: Tables, note: Note): void {
  for (const [kind, byId] of entities) {
    const { proofs = {} } = KINDS[kind];
    for (const [id, entity] of byId) {
      const current = (tables[kind] as Table<Entity>).get(id);
      const own = Object.fromEntries(
        Object.entries(proofs).map(([field, missing]) => [field, current ? valueAt(current, field) : missing]),
      );
      byId.set(id, { ...entity, ...own });
    }
  }
  for (const kind of ['ca', 'externalJwtSigner'] as const) {
    const byId = entities.get(kind);
    for (const [id, entity] of byId ?? []) {
      const current = tables[kind].get(id);
      const isSame = isDeepStrictEqual({ ...current, ...NO_TRUST }, { ...entity, ...NO_TRUST });
      byId?.set(id, isSame ? (current as Entity) : { ...entity, ...NO_TRUST });
    }
  }
  for (const identity of (entities.get('identity') as ReadonlyMap<string, Identity> | undefined)?.values() ?? []) {
    const current = tables.identity.get(identity.id);
    const had = current?.disabled ? undefined : current;
    const isNew = (right: string) => !had?.isAdmin && !had?.permissions?.includes(right);
    if (!identity.disabled && ((identity.isAdmin && !had?.isAdmin) || identity.permissions?.some(isNew)))
      note(`the identity ${shown(identity.name)} of the snapshot gets rights of administrators; ${REMEDY}`);
  }
}

const NO_TRUST: Partial<Vouching> = { vouchesForAdmins: false };

/** The administrator's, and without those of the file also those whose owners are in it. */
function keepCredentials(entities: MutableEntities, tables: Tables, hasOwn: boolean): void {
  const admin = administratorOf(tables)?.id;
  const isOfAdmin = (entity: Entity) => (entity as { identityId?: string | null }).identityId === admin;
  for (const kind of CREDENTIALS) {
    const byId = entities.get(kind);
    for (const [id, entity] of byId ?? []) if (isOfAdmin(entity)) byId?.delete(id);
    for (const entity of (tables[kind] as Table<Entity>).values())
      if (isOfAdmin(entity) || (!hasOwn && missingOf(entities, kind, entity).length === 0))
        byId?.set(entity.id, entity);
  }
}

function requireUnique(entities: MutableEntities, note: Note): void {
  const values = new UniqueValues();
  for (const [kind, byId] of entities)
    for (const [id, entity] of byId) {
      const problem = values.add(kind, entity);
      if (problem !== undefined) note(`${kind} ${shown(id)} of the snapshot: ${problem}`);
    }
}

function requireReferences(entities: MutableEntities, note: Note): void {
  for (const [kind, byId] of entities)
    for (const [id, entity] of byId)
      for (const [key, missing] of missingOf(entities, kind, entity))
        note(
          `${kind} ${shown(id)} of the snapshot: ${key} refers to ${shown(missing)}, which the snapshot does not have`,
        );
}

/** The references of an entity that do not resolve. */
function missingOf(entities: Entities, kind: EntityKind, entity: Entity): [key: string, id: string][] {
  return (KINDS[kind].refers ?? [])
    .filter(({ onDelete, to }) => onDelete !== 'keep' && entities.has(to))
    .flatMap((reference) =>
      idsIn(entity, reference)
        .filter((id) => !entities.get(reference.to)?.has(id))
        .map((id): [string, string] => [reference.key, id]),
    );
}

/** A restore must not lock the administrator out. */
function requireLogin(entities: MutableEntities, tables: Tables, note: Note): void {
  const id = administratorOf(tables)?.authPolicyId ?? '';
  const before = tables.authPolicy.get(id);
  const after = entities.get('authPolicy')?.get(id) as AuthPolicy | undefined;
  const isLocked = ({ primary, secondary }: AuthPolicy) =>
    !primary.updb.allowed || secondary.requireTotp || secondary.requireExtJwtSigner !== null;
  if (before && after && isLocked(after) && !isLocked(before))
    note(`the auth policy ${shown(after.name)} of the snapshot locks the administrator of this simulator out`);
}

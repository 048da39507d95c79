// A snapshot as JSON for a file: to attach it to a report, and to load it into another simulator. Without credentials
// it has no passwords, certificates, second factors and one-time tokens; identities of the simulator that loads it keep
// theirs. The administrator is always that of the simulator that loads it.

import type { Entity } from '../state/entity.ts';
import { formProblem } from '../state/entity-form.ts';
import type { Identity } from '../state/kinds/identity.ts';
import { type EntityKind, KIND_NAMES, KINDS } from '../state/kinds.ts';
import { entityProblem } from '../state/store/stored-entity.ts';
import type { Tables } from '../state/tables.ts';
import type { ClockMark } from './lab-clock.ts';
import { InvalidError } from './lab-error.ts';

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

/** The entities of a file, with the administrator and the credentials of `tables`. @throws InvalidError */
export function entitiesOfFile(
  file: unknown,
  tables: Tables,
): { readonly file: SnapshotFile; readonly entities: Entities } {
  const { format, entities: given } = (file ?? {}) as Partial<SnapshotFile>;
  if (format !== SNAPSHOT_FORMAT || typeof given !== 'object' || given === null)
    throw new InvalidError('file', `this is not a snapshot; its format must be ${SNAPSHOT_FORMAT}`, String(format));
  const snapshot = file as SnapshotFile;
  if (![snapshot.clock?.now, snapshot.clock?.advanced, snapshot.clock?.rate].every(Number.isFinite))
    throw new InvalidError('file', 'the snapshot has no clock', '');
  if (typeof snapshot.takenAt !== 'string' || Number.isNaN(Date.parse(snapshot.takenAt)))
    throw new InvalidError('file', 'takenAt of the snapshot is not a time', String(snapshot.takenAt));
  for (const [kind, list] of Object.entries(given))
    if (!Array.isArray(list) || list.some((entity) => typeof entity !== 'object' || entity === null))
      throw new InvalidError('file', `${kind} of the snapshot is not a list of entities`, '');
  const own = withAdministrator(given, tables);
  const entities = new Map<EntityKind, Map<string, Entity>>();
  for (const kind of KIND_NAMES) {
    if (!KINDS[kind].isConfigured) continue;
    entities.set(kind, new Map((own[kind] ?? []).map((entity, index) => [checkedId(kind, entity, index), entity])));
  }
  keepCredentials(entities, tables, snapshot.credentials === true);
  return { file: snapshot, entities };
}

/**
 * The file's administrator has another id and other credentials: references to it become references to this
 * simulator's.
 */
function withAdministrator(given: SnapshotFile['entities'], tables: Tables): SnapshotFile['entities'] {
  const other = (given.identity as readonly Identity[] | undefined)?.find(({ isDefaultAdmin }) => isDefaultAdmin);
  const admin = administratorOf(tables);
  if (!other || !admin || typeof other.id !== 'string')
    throw new InvalidError('file', 'the snapshot has no administrator', '');
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

function checkedId(kind: EntityKind, entity: unknown, index: number): string {
  const { id } = (entity ?? {}) as { readonly id?: unknown };
  const problem = entityProblem(entity, id) ?? formProblem(kind, entity as Entity);
  if (problem !== undefined) throw new InvalidError('file', `${kind}[${index}] of the snapshot: ${problem}`, '');
  return id as string;
}

function keepCredentials(entities: Map<EntityKind, Map<string, Entity>>, tables: Tables, hasOwn: boolean): void {
  const identities = entities.get('identity');
  const admin = administratorOf(tables)?.id;
  for (const kind of CREDENTIALS) {
    const byId = entities.get(kind);
    const current = [...tables[kind].values()] as (Entity & { readonly identityId?: string })[];
    for (const [id, entity] of byId ?? [])
      if ((entity as { identityId?: string }).identityId === admin) byId?.delete(id);
    for (const entity of current) {
      const { identityId = '' } = entity;
      if (identityId === admin || (!hasOwn && identities?.has(identityId))) byId?.set(entity.id, entity);
    }
  }
}

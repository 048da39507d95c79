// Named states of the simulator in memory, to which a test returns. A snapshot holds what administrators configure:
// identities with their credentials, services, policies, routers. A restore is one change of the state: routers,
// clients and events learn of it as of any other. The clock returns to the time of the snapshot, the faults are those
// of then, and the journal is empty.
//
// Sessions, revocations and the terminators of hosts belong to running clients, not to a snapshot: they stay where
// their identity, service and router stay, and end otherwise. So do certificates that routers have renewed.

import { isDeepStrictEqual } from 'node:util';
import { Listeners } from '#lib/listeners.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { Subscription } from '#lib/subscription.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import { endApiSession } from '../entities/api-session.ts';
import type { Entity } from '../state/entity.ts';
import type { Router } from '../state/kinds/router.ts';
import { type EntityKind, KIND_NAMES, KINDS } from '../state/kinds.ts';
import type { State } from '../state/state.ts';
import type { Table } from '../state/table.ts';
import type { Tables } from '../state/tables.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Faults, FaultsMark } from './faults/faults.ts';
import { requireFields, requireWord } from './input.ts';
import type { Journal } from './journal/journal.ts';
import { KEPT, type Kept } from './kept.ts';
import type { ClockMark, LabClock } from './lab-clock.ts';
import { InvalidError, UnknownError } from './lab-error.ts';
import {
  type Entities,
  entitiesForFile,
  entitiesOfFile,
  type SaveOptions,
  SNAPSHOT_FORMAT,
  type SnapshotFile,
  type SnapshotLoadOptions,
} from './snapshot-file.ts';

/** The state after the start of the simulator. */
export const START = 'start';
const NOTHING: Restored = { created: 0, changed: 0, deleted: 0 };
const MAX_SNAPSHOTS = 100;
const NAME = /^[\w.-]{1,100}$/;

/** The kinds that administrators configure; each after the kinds to which it refers. */
const CONFIGURED = KIND_NAMES.filter((kind) => KINDS[kind].isConfigured);

interface Taken {
  readonly info: Snapshot;
  readonly clock: ClockMark;
  readonly faults: FaultsMark;
  readonly entities: Entities;
}

export interface SnapshotInfo {
  readonly name: string;
  readonly takenAt: Date;
  /** Index of the last change in it. */
  readonly index: bigint;
  /** How many entities it has. */
  readonly entities: number;
}

/** A snapshot that was taken: `using snapshot = snapshots.take(…)` deletes it with the block. */
export interface Snapshot extends SnapshotInfo, Disposable {
  /**
   * Returns to it. Rejects like `restore` of the lab, and with UnknownError if it was deleted, or replaced by another
   * one with its name.
   */
  restore(options?: RestoreOptions): Promise<Restored>;
  /** Deletes it. Further calls have no effect, nor has a call after it was deleted or replaced. */
  remove(): void;
}

/** How many entities a restore created, changed and deleted. */
export interface Restored {
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
}

export interface RestoreOptions {
  /** A restore leaves these as they are. */
  readonly keep?: readonly Kept[];
}

export interface SnapshotComponents {
  readonly state: State;
  readonly clock: LabClock;
  readonly faults: Pick<Faults, 'mark' | 'clear' | 'returnTo'>;
  readonly journal: Pick<Journal, 'clear'>;
  readonly others: OtherSnapshots;
  /** Resolves when the routers of this process have followed a restore. Rejects if they do not. */
  readonly settled: () => Promise<void>;
}

/** The snapshots of other controllers of the network. */
export interface OtherSnapshots {
  /** Restores one of theirs. Resolves with undefined if none has this name. */
  restore(name: string, options: RestoreOptions): Promise<Restored | undefined>;
  /** Tells them that this controller has restored one of its snapshots. */
  restored(name: string, options: RestoreOptions): Promise<void>;
}

/** The snapshots of one controller; the API `/lab/v1` has those of all. */
export class LabSnapshots {
  readonly #components: SnapshotComponents;
  readonly #state: State;
  readonly #clock: LabClock;
  readonly #taken = new Map<string, Taken>();
  /** The faults of this controller that belong to snapshots of others, by their name. */
  readonly #elsewhere = new BoundedMap<string, FaultsMark>(MAX_SNAPSHOTS);
  readonly #restored: Listeners<void>;

  constructor(components: SnapshotComponents) {
    this.#components = components;
    this.#state = components.state;
    this.#restored = new Listeners('restored data', components.state.log);
    this.#clock = components.clock;
  }

  /** Takes the first snapshot, once the simulator is ready. */
  takeStart(): void {
    this.#take(START);
  }

  /** Calls `listener` after the data was restored, here or by another controller, until the subscription ends. */
  onRestored(listener: () => void): Subscription {
    return this.#restored.add(listener);
  }

  /** All snapshots, the oldest first. */
  list(): SnapshotInfo[] {
    return [...this.#taken.values()].map(({ info: { name, takenAt, index, entities } }) => ({
      name,
      takenAt,
      index,
      entities,
    }));
  }

  has(name: string): boolean {
    return this.#taken.has(name);
  }

  /** A snapshot as JSON for a file; without credentials by default. @throws UnknownError, InvalidError */
  save(name: string, options: SaveOptions = {}): SnapshotFile {
    requireFields(options, ['credentials']);
    const { credentials = false } = options;
    const { info, clock, entities } = this.#find(name);
    return {
      format: SNAPSHOT_FORMAT,
      name,
      takenAt: info.takenAt.toISOString(),
      credentials,
      clock,
      entities: entitiesForFile(entities, { credentials }),
    };
  }

  /**
   * Takes the content of a file under a name, which replaces a snapshot with this name: `restore` then applies it,
   * without faults. The administrator stays that of this simulator. @throws InvalidError for other content, an invalid
   * name, or beyond the limit
   */
  load(name: string, content: unknown, options: SnapshotLoadOptions = {}): Snapshot {
    requireFields(options, ['credentials']);
    this.#requireName(name);
    const { file, entities } = entitiesOfFile(content, this.#state.tables, options);
    this.#clock.checkMark(file.clock);
    const count = entities.values().reduce((sum, { size }) => sum + size, 0);
    const facts = { name, takenAt: new Date(file.takenAt), index: this.#state.index, entities: count };
    const info = this.#handleOf(facts);
    this.#taken.delete(name);
    this.#taken.set(name, { info, clock: file.clock, faults: { active: [] }, entities });
    return info;
  }

  /** Replaces a snapshot with the same name. @throws InvalidError for an invalid name, or beyond the limit */
  take(name: string): Snapshot {
    this.#requireName(name);
    return this.#take(name);
  }

  #requireName(name: string): void {
    if (!NAME.test(name))
      throw new InvalidError('name', 'use 1 to 100 letters, digits, dots, hyphens and underscores', name);
    if (name === START) throw new InvalidError('name', `${START} is the state after the start; choose another`, name);
    if (!this.#taken.has(name) && this.#taken.size > MAX_SNAPSHOTS)
      throw new InvalidError('name', `${MAX_SNAPSHOTS} snapshots exist; delete one first`, name);
  }

  /** @throws UnknownError, or InvalidError for `start` */
  delete(name: string): void {
    this.#find(name);
    if (name === START) throw new InvalidError('name', `${START} cannot be deleted`, name);
    this.#taken.delete(name);
  }

  /** Another controller has taken a snapshot for all: the faults of this one belong to it. */
  takenElsewhere(name: string): void {
    this.forget(name);
    this.#elsewhere.set(name, this.#components.faults.mark());
  }

  /** Another controller has the name now, or deletes it for all. @returns whether it existed here */
  forget(name: string): boolean {
    this.#elsewhere.delete(name);
    return name !== START && this.#taken.delete(name);
  }

  /**
   * Returns to a snapshot, for all controllers; another one may have taken it. Rejects with UnknownError, and with
   * InvalidError for an unknown word in `keep`. If the change cannot be stored, nothing has changed.
   */
  async restore(name: string, options: RestoreOptions = {}): Promise<Restored> {
    const restores = restoredParts(options);
    if (!this.#taken.has(name)) {
      const elsewhere = await this.#components.others.restore(name, options);
      if (elsewhere) return elsewhere;
    }
    const { entities, clock, faults } = this.#find(name);
    const restored = restores('state') ? await this.#restoreState(entities, restores('faults')) : NOTHING;
    if (restores('state')) this.#restored.call();
    if (restores('clock')) await this.#clock.returnTo(clock);
    if (restores('faults')) this.#components.faults.returnTo(faults);
    if (restores('journal')) this.#components.journal.clear();
    await this.#components.others.restored(name, options);
    await this.#components.settled();
    return restored;
  }

  /** Another controller has restored one of its snapshots. */
  restoredElsewhere(name: string, options: RestoreOptions): void {
    const restores = restoredParts(options);
    if (restores('state')) this.#restored.call();
    if (restores('faults')) this.#components.faults.returnTo(this.#elsewhere.get(name) ?? { active: [] });
    if (restores('journal')) this.#components.journal.clear();
  }

  /** A fault of the store must not prevent its own end. */
  async #restoreState(entities: Entities, endsFaults: boolean): Promise<Restored> {
    const { faults } = this.#components;
    const before = faults.mark();
    if (endsFaults) faults.clear();
    try {
      return await this.#state.changeInSlices((transaction) => restoreIn(transaction, entities));
    } catch (error) {
      if (endsFaults) faults.returnTo(before);
      throw error;
    }
  }

  #take(name: string): Snapshot {
    const entities = entitiesOf(this.#state.tables);
    const count = entities.values().reduce((sum, { size }) => sum + size, 0);
    const facts = { name, takenAt: this.#clock.now(), index: this.#state.index, entities: count };
    const info = this.#handleOf(facts);
    this.#taken.delete(name); // the newest is last
    this.#taken.set(name, { info, clock: this.#clock.mark(), faults: this.#components.faults.mark(), entities });
    return info;
  }

  #handleOf(facts: SnapshotInfo): Snapshot {
    const { name } = facts;
    const isCurrent = () => this.#taken.get(name)?.info === handle;
    const remove = () => {
      if (isCurrent()) this.#taken.delete(name);
    };
    const restore = async (options?: RestoreOptions) => {
      if (!isCurrent()) throw new UnknownError(`the snapshot ${name} was deleted, or replaced by a later one`);
      return this.restore(name, options);
    };
    const handle: Snapshot = { ...facts, restore, remove, [Symbol.dispose]: remove };
    return handle;
  }

  #find(name: string): Taken {
    const found = this.#taken.get(name);
    if (found) return found;
    const names = [...this.#taken.keys()];
    throw new UnknownError(`there is no snapshot ${name}; ${meantOrKnown(name, names)}`);
  }
}

/** Whether a restore returns a part. @throws InvalidError for an unknown word in `keep` */
function restoredParts(options: RestoreOptions): (part: Kept) => boolean {
  requireFields(options, ['keep']);
  const { keep = [] } = options;
  for (const each of keep) requireWord('keep', each, KEPT);
  return (part) => !keep.includes(part);
}

/** Entities are immutable: a snapshot shares them with the tables. */
function entitiesOf(tables: Tables): Entities {
  return new Map(
    CONFIGURED.map((kind) => [kind, new Map([...tableOf(tables, kind).values()].filter(isKept(kind)).map(byId))]),
  );
}

function byId(entity: Entity): [string, Entity] {
  return [entity.id, entity];
}

function isKept(kind: EntityKind): (entity: Entity) => boolean {
  const { isConfigured } = KINDS[kind];
  return typeof isConfigured === 'function' ? isConfigured : () => isConfigured === true;
}

function tableOf(tables: Tables, kind: EntityKind): Table<Entity> {
  return tables[kind];
}

/** One entity in each step. */
function* restoreIn(transaction: Transaction, entities: Entities): Generator<void, Restored> {
  const counts = { created: 0, changed: 0, deleted: 0 };
  for (const kind of CONFIGURED.toReversed()) {
    const wanted = entities.get(kind);
    for (const entity of [...tableOf(transaction.tables, kind).values()].filter(isKept(kind))) {
      if (wanted?.has(entity.id)) continue;
      yield transaction.delete(kind, entity.id);
      counts.deleted += 1;
    }
  }
  for (const kind of CONFIGURED) {
    for (const [id, taken] of entities.get(kind) ?? []) {
      const current = transaction.get(kind, id);
      const entity = kind === 'router' ? withOwnCertificate(taken as Router, current as Router | undefined) : taken;
      yield;
      if (current === entity || isDeepStrictEqual(current, entity)) continue;
      transaction.put(kind, entity as never); // the entity was in the table of this kind
      counts[current ? 'changed' : 'created'] += 1;
    }
  }
  yield* endOrphans(transaction);
  return counts;
}

/**
 * A router that renews its certificate no longer has the one of then. An administrator who replaces or removes its
 * fingerprint does not change its certificate.
 */
function withOwnCertificate(taken: Router, current: Router | undefined): Router {
  if (!current || current.certPem === null || current.certPem === taken.certPem) return taken;
  const { certPem, fingerprint } = current;
  return fingerprint === sha1Fingerprint(leafOf(certPem)) ? { ...taken, certPem, fingerprint } : taken;
}

/** Ends the sessions and terminators whose identity, service or router no longer exists. */
function* endOrphans(transaction: Transaction): Generator<void, void> {
  const { tables } = transaction;
  const isGone = (kind: EntityKind, id: string) => transaction.get(kind, id) === undefined;
  for (const { id, identityId, authenticatorId } of [...tables.apiSession.values()])
    if (isGone('identity', identityId) || (authenticatorId !== '' && isGone('authenticator', authenticatorId)))
      yield endApiSession(transaction, id);
  for (const { id, serviceId } of [...tables.session.values()])
    if (isGone('service', serviceId)) yield transaction.delete('session', id);
  for (const { id, serviceId, routerId } of [...tables.terminator.values()])
    if (isGone('service', serviceId) || isGone('router', routerId)) yield transaction.delete('terminator', id);
}

// Creates the entities of a seed in a transaction. The rules of entities see earlier writes of the transaction by id,
// but not by name: names and other unique values within the seed are compared here.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { didYouMean } from '#lib/text/suggestion.ts';
import { Body } from '../../entities/body.ts';
import { enableIdentity, updateIdentity } from '../../entities/identity.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Entity, Named } from '../../state/entity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import { type EntityKind, inWords, KINDS } from '../../state/kinds.ts';
import type { Transaction } from '../../state/transaction.ts';
import { changedFields, entryOf, isSame } from './differences.ts';
import { Names } from './export-names.ts';
import { routerIdentityBody, usernameOf } from './identities.ts';
import { type Item, isOfRouter, labelOf, placeOf, reasonOf } from './item.ts';
import type { Note, SeedPath } from './mistake.ts';
import type { Entry, Refer } from './section.ts';
import { SECTIONS, type Section, type SectionName } from './sections.ts';
import type { SectionCounts, SeedDifference, Seeded, SeedOptions, SeedStep } from './seeded.ts';

/**
 * Milliseconds of processor time for all entities: other changes wait meanwhile. 10,000 take about a second, but the
 * schema of a config type may make each config expensive.
 */
const MAX_WORK_MS = 30_000;
/** An export of the reference has the policies that belong to routers; new routers get their own. */
const OF_ROUTER = /^edge-router-.+-system$/;

/** Fields that each change writes. */
const NO_CONTENT = { updatedAt: '', version: '', disabledAt: '' };

/** Changes that a plan lists. */
const MAX_STEPS = 1_000;
/** Entities with other values than the document that an answer lists. */
const MAX_DIFFERENT = 20;

/** A change that the applier makes. */
export interface SeedChange {
  readonly action: SeedStep['action'];
  readonly section: Section;
  /** Undefined for a deletion. */
  readonly item?: Item;
  readonly id: string;
  readonly name: string;
  /** The entry of the entity before; empty for a new one. */
  readonly current: Entry;
  /** The entry afterwards; empty for a deletion. */
  readonly merged: Entry;
}

/** For callers that follow the changes, or protect entities. */
export interface ApplierHooks {
  /** `kind id` of entities that are not deleted. */
  readonly spared?: ReadonlySet<string> | undefined;
  /** Called in the order of the changes. */
  readonly onChange?: ((change: SeedChange) => void) | undefined;
}

export interface ApplierOptions extends SeedOptions, ApplierHooks {
  /** The sections that the document has. */
  readonly sections: ReadonlySet<string>;
  /** Milliseconds of processor time that this thread has used; default: the real ones. */
  readonly processorTime?: (() => number) | undefined;
}

export class Applier {
  readonly #transaction: Transaction;
  readonly #items: readonly Item[];
  readonly #note: Note;
  readonly #processorTime: () => number;
  /** `kind name` to the entry of the seed. */
  readonly #named = new Map<string, Item>();
  /** `kind key value` to the label of the entity that has it. */
  readonly #taken = new Map<string, string>();
  readonly #created = new Map<SectionName, number>();
  readonly #existing = new Map<SectionName, number>();
  readonly #changed = new Map<SectionName, number>();
  readonly #deleted = new Map<SectionName, number>();
  readonly #steps: SeedStep[] = [];
  readonly #different: SeedDifference[] = [];
  /** Items whose later fields are not written yet, with their entries. */
  readonly #incomplete = new Map<Item, { readonly id: string; readonly entry: Entry }>();
  /** `kind id` of entities beside the seed → the label of an entry that refers to it. */
  readonly #referred = new Map<string, string>();
  /** Ids of the entities that the seed names, by kind. */
  readonly #kept = new Set<string>();
  readonly #options: ApplierOptions;
  readonly #exported: Names;
  /** Ids of routers that this transaction created. */
  readonly #newRouters = new Set<string>();

  constructor(transaction: Transaction, items: readonly Item[], note: Note, options: ApplierOptions) {
    this.#options = options;
    this.#processorTime = options.processorTime ?? threadTime;
    this.#exported = new Names(transaction.tables);
    this.#transaction = transaction;
    this.#items = items;
    this.#note = note;
  }

  /** One entity in each step. Notes mistakes. The transaction must be abandoned if there are any. */
  *apply(): Generator<void, Seeded> {
    for (const item of this.#items) yield this.#register(item);
    let used = 0;
    for (const item of this.#items) {
      if (used >= MAX_WORK_MS) {
        this.#note(
          item.path,
          `creating the entities before this one takes longer than ${MAX_WORK_MS} ms; divide the seed`,
        );
        break;
      }
      const began = this.#processorTime();
      if (!item.isBroken) this.#add(item);
      used += this.#processorTime() - began;
      yield;
    }
    for (const [item, entity] of this.#incomplete) yield this.#completeLater(item, entity);
    const { apply, prune, plan } = this.#options;
    if (prune) yield* this.#prune();
    return {
      created: counts(this.#created),
      existing: counts(this.#existing),
      ...(this.#different.length > 0 && { different: this.#different }),
      ...(apply && { changed: counts(this.#changed) }),
      ...(prune && { deleted: counts(this.#deleted) }),
      ...(plan && { steps: this.#steps }),
    };
  }

  #register(item: Item): void {
    const { section, entry, path } = item;
    const { service, router, binding = '', address, identity = '' } = entry;
    const name =
      section.kind === 'terminator' ? JSON.stringify([service, router, binding, address, identity]) : entry.name;
    if (typeof name !== 'string') return;
    const key = `${section.kind} ${name}`;
    if (this.#named.has(key)) {
      item.isBroken = true;
      this.#note(
        section.kind === 'terminator' ? path : [...path, 'name'],
        `${labelOf(section, entry)} appears twice in the seed; rename or remove one`,
      );
    } else this.#named.set(key, item);
  }

  #add(item: Item): void {
    const { section, entry } = item;
    const existing = this.#existingId(item);
    this.#kept.add(`${section.kind} ${existing ?? item.id}`);
    try {
      if (existing !== undefined) return this.#keepOrChange(item, existing);
      if (isOfRouter(item)) this.#updateRouterIdentity(item);
      else if (!this.#create(item)) return;
      this.#requireUnique(item);
      if (item.isBroken) return;
      count(this.#created, section.name);
      this.#step({ action: 'create', kind: section.word, name: nameOf(entry) });
      const id = isOfRouter(item) ? this.#routerIdentityId(String(entry.name)) : item.id;
      this.#report('create', item, { id, current: {}, merged: entry });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#fail(item, placeOf(item, error), reasonOf(error));
    }
    if (section.name === 'edgeRouters' && entry.isTunnelerEnabled === true)
      this.#take(item, 'identity name', entry.name, [...item.path, 'name']);
  }

  #fail(item: Item, path: SeedPath, message: string | (() => string)): void {
    item.isBroken = true;
    this.#note(
      path,
      () => `${labelOf(item.section, item.entry)}: ${typeof message === 'string' ? message : message()}`,
    );
  }

  #report(action: 'create' | 'change', item: Item, facts: Pick<SeedChange, 'id' | 'current' | 'merged'>): void {
    this.#options.onChange?.({ action, section: item.section, item, name: nameOf(item.entry), ...facts });
  }

  #step(step: SeedStep): void {
    if (this.#options.plan && this.#steps.length < MAX_STEPS) this.#steps.push(step);
  }

  #keepOrChange(item: Item, id: string): void {
    const { section, entry, path } = item;
    const entity = this.#transaction.get(section.kind, id);
    const current = entity && entryOf(section, entity, this.#exported, this.#transaction.clock.now());
    const fields = current ? changedFields(section.name, entry, current) : [];
    if (!entity || !current || fields.length === 0) return count(this.#existing, section.name);
    if (!this.#options.apply) {
      if (this.#different.length < MAX_DIFFERENT)
        this.#different.push({ kind: section.word, name: nameOf(entry), fields });
      return count(this.#existing, section.name);
    }
    const fixed = fields.find((field) => !section.update || section.fixed.includes(field));
    if (fixed !== undefined) return this.#fail(item, [...path, fixed], `${fixed} cannot be changed; delete it first`);
    const merged = { ...current, ...withoutNulls(entry) };
    this.#update(item, entity, merged);
    if (item.isBroken) return;
    if (!this.#isChanged(section, entity, fields)) {
      this.#transaction.put(section.kind, entity as never);
      return count(this.#existing, section.name);
    }
    count(this.#changed, section.name);
    this.#step({ action: 'change', kind: section.word, name: nameOf(entry), fields });
    this.#report('change', item, { id, current, merged });
  }

  /** An entry may have values in another form than the stored one, and the defaults of fields. */
  #isChanged({ kind, later }: Section, before: Entity, fields: readonly string[]): boolean {
    if (fields.some((field) => later.includes(field))) return true;
    const content = (entity: object | undefined) => ({ ...entity, ...NO_CONTENT });
    return !isSame(content(this.#transaction.get(kind, before.id)), content(before));
  }

  #update(item: Item, entity: Entity, merged: Entry): void {
    const { section } = item;
    const refer = this.#referTo(item);
    const body = withoutNulls(section.body(merged, refer));
    if (item.isBroken) return;
    if (section.kind === 'identity' && merged.disabled !== true && (entity as Identity).disabled)
      enableIdentity(this.#transaction, entity as Identity);
    const now = this.#transaction.get(section.kind, entity.id);
    section.update?.(this.#transaction, now as never, new Body(body, 'patch'));
    section.complete(this.#transaction, entity.id, merged, refer, {});
    if (section.later.length > 0) this.#incomplete.set(item, { id: entity.id, entry: merged });
  }

  /** Deletes what the sections of the document do not have, the last sections first. */
  *#prune(): Generator<void, void> {
    for (const section of SECTIONS.toReversed()) {
      if (!this.#options.sections.has(section.name)) continue;
      const entities: (Entity & Partial<Named>)[] = [...this.#transaction.tables[section.kind].values()];
      const pruned = entities.filter((entity) => this.#isPruned(section, entity));
      // As a plan lists them, whatever the order of the table is.
      pruned.sort((a, b) => ((a.name ?? a.id) < (b.name ?? b.id) ? -1 : 1));
      for (const entity of pruned) yield this.#delete(section, entity);
    }
  }

  #isPruned(section: Section, entity: Entity & Partial<Named & Identity>): boolean {
    const key = `${section.kind} ${entity.id}`;
    if (this.#kept.has(key) || this.#options.spared?.has(key) || entity.isSystem) return false;
    if (!section.isExported(entity as never, this.#transaction.tables)) return false;
    if (section.kind === 'identity' && entity.type === 'Router') return false; // it follows its router
    if (section.kind === 'edgeRouterPolicy' && OF_ROUTER.test(entity.name ?? '')) return false;
    return this.#transaction.get(section.kind, entity.id) !== undefined;
  }

  #delete(section: Section, entity: Entity & Partial<Named>): void {
    const { kind, word, name: sectionName } = section;
    const name = entity.name ?? entity.id;
    const user = this.#referred.get(`${kind} ${entity.id}`);
    if (user !== undefined)
      return this.#note(
        [sectionName],
        `the ${word} ${name} cannot be deleted: ${user} of the seed refers to it; add it to ${sectionName}`,
      );
    try {
      const current = this.#transaction.get(kind, entity.id);
      if (!current) return; // the deletion of another entity has deleted it
      section.remove(this.#transaction, current as never);
      count(this.#deleted, sectionName);
      this.#step({ action: 'delete', kind: word, name });
      this.#options.onChange?.({ action: 'delete', section, id: entity.id, name, current: {}, merged: {} });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#note([sectionName], () => `the ${word} ${name} cannot be deleted: ${String(reasonOf(error))}`);
    }
  }

  /** False if the entry refers to something that does not exist. */
  #create(item: Item): boolean {
    const { section, entry, id, made } = item;
    if (!made) {
      this.#fail(item, item.path, 'it was deleted while the seed was prepared; seed again');
      return false;
    }
    const refer = this.#referTo(item);
    const fields = withoutNulls(section.body(entry, refer));
    if (item.isBroken) return false;
    section.create(this.#transaction, id, new Body(fields, 'create'), made);
    if (section.kind === 'router') this.#newRouters.add(id);
    section.complete(this.#transaction, id, entry, refer, made);
    if (section.later.length > 0) this.#incomplete.set(item, { id, entry });
    return !item.isBroken;
  }

  /** The tunneler of a new router has an identity without role attributes. */
  #updateRouterIdentity(item: Item): void {
    const router = this.#named.get(`router ${String(item.entry.name)}`);
    const identity = router && this.#transaction.get('identity', router.id);
    if (router?.isBroken) return;
    if (identity?.type !== 'Router')
      return this.#fail(item, item.path, 'no edge router of the seed has this name and a tunneler (isTunnelerEnabled)');
    const body = routerIdentityBody(item.section, item.entry, this.#referTo(item));
    if (!item.isBroken) updateIdentity(this.#transaction, identity, body);
  }

  /** Sets the fields that refer to entities of later sections. */
  #completeLater(item: Item, { id, entry }: { readonly id: string; readonly entry: Entry }): void {
    if (item.isBroken) return;
    const fields = item.section.laterBody(entry, this.#referTo(item));
    if (item.isBroken) return;
    try {
      this.#updateLater(item.section, id, fields);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#fail(item, placeOf(item, error), reasonOf(error));
    }
  }

  #updateLater({ kind, update }: Section, id: string, fields: object): void {
    const entity = this.#transaction.get(kind, id);
    if (entity && Object.keys(fields).length > 0)
      update?.(this.#transaction, entity as never, new Body(fields, 'patch'));
  }

  /** The id of the entity in the data that has the entry's name. */
  #existingId({ section, entry }: Item): string | undefined {
    if (section.kind === 'terminator') return this.#sameTerminator(entry)?.id;
    if (section.kind === 'identity' && entry.isDefaultAdmin === true) return this.#adminId();
    const known = this.#transaction.tables[section.kind].lookUp('name', String(entry.name))?.[0];
    if (known) return known.id;
    if (section.kind !== 'edgeRouterPolicy' || !OF_ROUTER.test(String(entry.name))) return undefined;
    const [routers, identities] = [entry.edgeRouterRoles, entry.identityRoles].map((list) => JSON.stringify(list));
    return routers === identities ? String(entry.name) : undefined;
  }

  #adminId(): string | undefined {
    const admin = Iterator.from(this.#transaction.tables.identity.values()).find(
      ({ isDefaultAdmin }) => isDefaultAdmin,
    );
    return admin?.id ?? '';
  }

  #sameTerminator({ service, router, binding, address, identity }: Entry): Terminator | undefined {
    const { tables } = this.#transaction;
    const [serviceId, routerId] = [this.#known('service', service), this.#known('router', router)];
    if (serviceId === undefined || routerId === undefined) return undefined;
    return tables.terminator
      .referring('serviceId', serviceId)
      .find(
        (each) =>
          each.routerId === routerId &&
          each.address === address &&
          (!binding || each.binding === binding) &&
          each.instanceId === (identity ?? ''),
      );
  }

  /** The id of an entity in the data. */
  #known(kind: EntityKind, reference: unknown): string | undefined {
    return this.#transaction.tables[kind].lookUp('name', String(reference).slice(1))?.[0]?.id;
  }

  /** Resolves names for an entry, and notes those that do not exist. */
  #referTo(item: Item): Refer {
    return (kind, value, field) => {
      if (typeof value !== 'string' || !value.startsWith('@')) return value;
      const name = value.slice(1);
      const own = this.#named.get(`${kind} ${name}`) ?? (kind === 'identity' ? this.#tunneler(name) : undefined);
      if (own?.isBroken) item.isBroken = true;
      if (own) return isOfRouter(own) ? this.#routerIdentityId(name) : (this.#existingId(own) ?? own.id);
      const known = this.#known(kind, value);
      if (known !== undefined) {
        // A field that the entry leaves out does not prevent the deletion.
        if (item.entry[String(field[0])] !== undefined)
          this.#referred.set(`${kind} ${known}`, labelOf(item.section, item.entry));
        return known;
      }
      this.#fail(item, [...item.path, ...field], () => {
        const meant = didYouMean(name, this.#names(kind));
        return `there is no ${inWords(kind)} ${name}; ${meant || 'add it to the seed'}`;
      });
      return value;
    };
  }

  #tunneler(name: string): Item | undefined {
    const router = this.#named.get(`router ${name}`);
    return router?.entry.isTunnelerEnabled === true ? router : undefined;
  }

  #routerIdentityId(name: string): string {
    return this.#known('identity', `@${name}`) ?? this.#tunneler(name)?.id ?? '';
  }

  #names(kind: EntityKind): string[] {
    const own = [...this.#named.values()].filter(({ section }) => section.kind === kind);
    const known: Iterable<Entity & Partial<Named>> = this.#transaction.tables[kind].values();
    return [...own.map(({ entry }) => String(entry.name)), ...Array.from(known, ({ name }) => name ?? '')];
  }

  #requireUnique(item: Item): void {
    const { section, entry, id, path } = item;
    const entity = this.#transaction.get(section.kind, id) as (Entity & Entry) | undefined;
    if (section.kind === 'identity' && !isOfRouter(item))
      this.#take(item, 'identity name', entry.name, [...path, 'name']);
    for (const key of KINDS[section.kind].unique ?? [])
      if (key !== 'name') this.#take(item, `${section.kind} ${key}`, entity?.[key], [...path, key]);
    if (typeof entry.password === 'string') this.#take(item, 'username', usernameOf(entry), [...path, 'username']);
  }

  #take(item: Item, what: string, value: unknown, path: SeedPath): void {
    if (typeof value !== 'string' || value === '') return;
    const key = `${what} ${value}`;
    const owner = this.#taken.get(key);
    if (owner === undefined) this.#taken.set(key, labelOf(item.section, item.entry));
    else this.#fail(item, path, `its ${what.split(' ').at(-1)} is also that of ${owner}; change one`);
  }
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function nameOf({ name, address }: Entry): string {
  return String(name ?? address);
}

function count(counters: Map<SectionName, number>, section: SectionName): void {
  counters.set(section, (counters.get(section) ?? 0) + 1);
}

function counts(counters: ReadonlyMap<SectionName, number>): SectionCounts {
  return Object.fromEntries(counters);
}

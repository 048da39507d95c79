// Seeds a network: reads a document, checks it, prepares what takes time, and creates the entities that are missing in
// one transaction, by the rules of the management API. If anything is wrong, nothing changes, and all mistakes are
// reported at once.

import { isMap } from '#lib/json/is-map.ts';
import { withoutNulls } from '#lib/json/without-nulls.ts';
import { inSlices, slices } from '#lib/slices.ts';
import type { Clock } from '#lib/time/clock.ts';
import bodies from '#schemas/api/bodies.json' with { type: 'json' };
import {
  type EnrollmentSigner,
  prepareEnrollment,
  signEnrollment,
  type WantedEnrollment,
} from '../../entities/enrollment.ts';
import { loadSchemaValidator } from '../../entities/schema-validator.ts';
import { ApiError } from '../../errors/errors.ts';
import type { State } from '../../state/state.ts';
import type { Transaction } from '../../state/transaction.ts';
import { Applier, type ApplierHooks } from './apply.ts';
import { checkSeed } from './check.ts';
import { entryOf, namesake } from './differences.ts';
import { readSeedObject, readSeedText, type SeedSource } from './document.ts';
import { Names } from './export-names.ts';
import { usernameOf } from './identities.ts';
import { type Item, labelOf, placeOf, reasonOf } from './item.ts';
import { Mistakes, type Note, type SeedPath } from './mistake.ts';
import type { Entry, Prepared } from './section.ts';
import { SECTIONS } from './sections.ts';
import type { Seeded, SeedOptions } from './seeded.ts';

export interface SeedComponents {
  readonly state: State;
  readonly clock: Clock;
  readonly tokens: EnrollmentSigner;
  readonly passwords: { hash(password: string): Promise<string> };
  /** Lifetime of one-time tokens in milliseconds. */
  readonly enrollmentLifetime: number;
  /** Throws ApiError for a body that does not match its type in schemas/api/bodies.json. */
  readonly validateBody: (type: string, body: unknown) => Promise<void> | void;
  /** Milliseconds of processor time that this thread has used; default: the real ones. */
  readonly processorTime?: () => number;
}

/** A document that is ready to be applied. */
export interface PreparedSeed {
  /** In steps. @throws SeedError; the transaction must then be abandoned */
  apply(transaction: Transaction): Generator<void, Seeded>;
}

const MAX_ENTITIES = 100_000;
/** Hashing one takes tens of milliseconds of a core. */
const MAX_PASSWORDS = 500;
/** Passwords that are hashed and tokens that are signed at the same time. */
const AT_ONCE = 3;
/** Stands for what a seed with mistakes does not need. */
const NOTHING: Prepared = { passwordHash: '', routerEnrollment: { id: '', token: '', jwt: '', expiresAt: '' } };

/** `file` names a text in messages. Rejects with SeedError. */
export async function prepareSeed(
  components: SeedComponents,
  document: unknown,
  { file, ...options }: SeedOptions & ApplierHooks & { readonly file?: string | undefined } = {},
): Promise<PreparedSeed> {
  const source = typeof document === 'string' ? await inSlices(readSeedText(document, file)) : readSeedObject(document);
  const mistakes = new Mistakes();
  const note: Note = (path, message) =>
    mistakes.add(() => ({ ...source.at(path), message: typeof message === 'string' ? message : message() }));
  const items = await inSlices(readItems(components, source, note, options));
  requireLimits(items, note);
  if (items.length > MAX_ENTITIES) throw mistakes.error(file);
  await loadSchemaValidator();
  await checkBodies(components, items, note, options);
  // Hashing takes long, and a seed with mistakes is not stored.
  if (mistakes.count === 0) await prepareAll(components, items);
  else for (const item of items) item.made = NOTHING;
  return {
    *apply(transaction) {
      const document = (source.value ?? {}) as object;
      const sections = new Set(SECTIONS.map(({ name }) => name).filter((name) => Object.hasOwn(document, name)));
      const applier = new Applier(transaction, items, note, {
        ...options,
        sections,
        processorTime: components.processorTime,
      });
      const seeded = yield* applier.apply();
      if (mistakes.count > 0) throw mistakes.error(file);
      return seeded;
    },
  };
}

/** The entries of all sections, in the order of creation. */
function* readItems(
  { state }: SeedComponents,
  { value }: SeedSource,
  note: Note,
  { apply }: SeedOptions,
): Generator<void, Item[]> {
  if (value === null || value === undefined) return [];
  const findings = yield* checkSeed(value);
  const broken = new Set<string>();
  for (const { path, missing, describe } of findings) {
    const [section, index] = path;
    if (apply && missing !== undefined && missing !== 'name' && isChange(state, value, path)) continue;
    if (index === undefined) broken.add(String(section));
    broken.add(`${section} ${index}`);
    yield note(path, () => `${titleOf(value, path)}${describe()}`);
  }
  const document = typeof value === 'object' ? (value as Readonly<Record<string, unknown>>) : {};
  const items: Item[] = [];
  for (const section of SECTIONS) {
    const entries = document[section.name];
    if (!Array.isArray(entries) || broken.has(section.name)) continue;
    for (const [index, entry] of entries.entries()) {
      yield void items.push({
        section,
        entry: isMap(entry) ? entry : {},
        path: [section.name, index],
        id: section.hasShortId ? state.ids.short() : state.ids.long(),
        made: undefined,
        isBroken: broken.has(`${section.name} ${index}`),
      });
    }
  }
  return items;
}

/** Whether an entry, itself and not a part of it, is of an entity that exists: it may leave out what stays. */
function isChange({ tables }: State, value: unknown, [name, index, ...deeper]: SeedPath): boolean {
  const section = SECTIONS.find((each) => each.name === name);
  const entries = (value as Readonly<Record<string, unknown>>)[String(name)];
  const entry: unknown = Array.isArray(entries) ? entries[Number(index)] : undefined;
  if (!section || deeper.length > 0 || typeof entry !== 'object' || entry === null) return false;
  return namesake(tables, section, entry as Entry) !== undefined;
}

/** `identity anna: ` for a place within an entry. */
function titleOf(value: unknown, [name, index]: SeedPath): string {
  const section = SECTIONS.find((each) => each.name === name);
  const entries = (value as Readonly<Record<string, unknown>>)[String(name)];
  const entry: unknown = Array.isArray(entries) && typeof index === 'number' ? entries[index] : undefined;
  return section && isMap(entry) ? `${labelOf(section, entry)}: ` : '';
}

function requireLimits(items: readonly Item[], note: Note): void {
  if (items.length > MAX_ENTITIES) note([], `the seed has more than ${MAX_ENTITIES} entities; divide it`);
  const passwords = items.filter(({ entry }) => hasPassword(entry));
  const [further] = passwords.slice(MAX_PASSWORDS);
  if (further) note(further.path, `the seed has more than ${MAX_PASSWORDS} passwords; divide it`);
  for (const { entry, section, path } of passwords) {
    const { length } = usernameOf(entry);
    if (length < minLength || length > maxLength) note(path, `${labelOf(section, entry)}: ${USERNAME_PROBLEM}`);
  }
}

/** Logins with other user names are rejected. */
const { minLength, maxLength } = bodies.$defs.username;
const USERNAME_PROBLEM = `a user name has ${minLength} to ${maxLength} characters; give another one as username`;

function hasPassword({ password }: Entry): boolean {
  return typeof password === 'string';
}

/** Checks the types of the bodies, with names in place of ids. */
async function checkBodies(
  { validateBody, state, clock }: SeedComponents,
  items: readonly Item[],
  note: Note,
  { apply }: SeedOptions,
): Promise<void> {
  const names = new Names(state.tables);
  const pause = slices();
  for (const item of items) {
    if (item.isBroken) continue;
    await pause();
    const { section, entry } = item;
    const existing = apply ? namesake(state.tables, section, entry) : undefined;
    const whole = existing ? { ...entryOf(section, existing, names, clock.now()), ...withoutNulls(entry) } : entry;
    try {
      await validateBody(section.bodyType, withoutNulls(section.body(whole, (_kind, value) => value)));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      item.isBroken = true;
      note(placeOf(item, error), `${labelOf(section, entry)}: ${reasonOf(error)}`);
    }
  }
}

/** Passwords and one-time tokens of the entities that do not exist yet. */
async function prepareAll(components: SeedComponents, items: readonly Item[]): Promise<void> {
  const waiting = items.filter((item) => !item.isBroken && !existsNow(components.state, item));
  while (waiting.length > 0)
    await Promise.all(
      waiting.splice(0, AT_ONCE).map(async (item) => {
        item.made = await prepare(components, item);
      }),
    );
}

function existsNow({ tables }: State, { section, entry }: Item): boolean {
  return namesake(tables, section, entry) !== undefined;
}

async function prepare(components: SeedComponents, { section, entry, id }: Item): Promise<Prepared> {
  if (section.name === 'edgeRouters') return { routerEnrollment: await signEnrollment(components, 'erott', id) };
  if (section.name === 'transitRouters') return { routerEnrollment: await signEnrollment(components, 'trott', id) };
  if (section.name !== 'identities') return {};
  const { password, enrollment } = entry;
  const wanted = wantedEnrollment(withoutNulls((enrollment ?? {}) as Entry), id);
  return {
    ...(typeof password === 'string' && { passwordHash: await components.passwords.hash(password) }),
    ...(wanted && { identityEnrollment: await prepareEnrollment(components, wanted) }),
  };
}

function wantedEnrollment({ ott, ottca, updb }: Entry, identityId: string): WantedEnrollment | undefined {
  if (ott === true) return { identityId, method: 'ott' };
  if (typeof ottca === 'string') return { identityId, method: 'ottca' };
  return typeof updb === 'string' ? { identityId, method: 'updb', username: updb } : undefined;
}

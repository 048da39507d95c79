// A test expects a number of entries that meet a filter, now or within a time. If the journal has others, the message
// names the entries that nearly met the filter, and what they lack.

import { ProjectError, TimeoutError } from '#lib/errors.ts';
import { shown } from '#lib/text/shown-text.ts';
import type { Clock } from '#lib/time/clock.ts';
import { requireFields, requireWholeNumbers, waitOf } from '../input.ts';
import { requirePath } from '../request-paths.ts';
import type { JournalEntry, JournalFilter } from './journal-entry.ts';

/** Milliseconds. */
const MAX_WITHIN_MS = 50_000;
const MAX_TIMES = 10_000;
/** Entries in a message. */
const MAX_NEAR = 3;

/** Without the number of entries, which `times` is about. */
export type VerifyFilter = Omit<JournalFilter, 'limit'>;

export interface VerifyOptions {
  /** The exact number of entries; by default at least one. */
  readonly times?: number;
  /**
   * Milliseconds, or a duration such as `5s`, to wait for them; default 0. With `times: 0` none may come until its end.
   */
  readonly within?: number | string;
}

/** The journal has another number of entries; the message names the nearest ones. */
export class VerificationError extends ProjectError {
  /** How many entries met the filter. */
  readonly count: number;

  constructor(message: string, found: number) {
    super('NOT_VERIFIED', message);
    this.count = found;
  }
}

/** The journal. */
interface Entries {
  readonly last: number;
  readonly clearings: number;
  count(filter: JournalFilter): number;
  latest(filter: JournalFilter, limit: number): JournalEntry[];
  match(filter: JournalFilter, options: { readonly timeout: number }): Promise<JournalEntry>;
}

/**
 * Resolves with the number of entries. Rejects with VerificationError, InvalidError, or ClosedError when the simulator
 * closes. Entries that come meanwhile are counted one by one: many callers may wait, and each request adds an entry.
 */
export async function verify(
  journal: Entries,
  clock: Clock,
  filter: VerifyFilter,
  options: VerifyOptions,
): Promise<number> {
  requireFields(options, ['times', 'within']);
  if (typeof filter.path === 'string') requirePath(filter.path);
  const { times } = options;
  requireWholeNumbers({ times }, 0, MAX_TIMES);
  const within = waitOf('within', options.within ?? 0, MAX_WITHIN_MS);
  const end = clock.monotonic() + within;
  const isDecided = (found: number) => (times === 0 ? found > 0 : found >= (times ?? 1));
  let { last, clearings } = journal;
  let found = journal.count(filter);
  while (!isDecided(found) && clock.monotonic() < end) {
    await next(journal, filter, last, end - clock.monotonic());
    const isCleared = journal.clearings !== clearings;
    found = isCleared ? journal.count(filter) : found + journal.count(after(filter, last));
    ({ last, clearings } = journal);
  }
  if (times === undefined ? found > 0 : found === times) return found;
  throw new VerificationError(messageOf(journal, filter, found, { ...options, within }), found);
}

/** Resolves when an entry after `last` meets the filter, or when the time is over. */
async function next(journal: Entries, filter: VerifyFilter, last: number, timeout: number): Promise<void> {
  try {
    await journal.match(after(filter, last), { timeout });
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
  }
}

function after(filter: VerifyFilter, last: number): VerifyFilter {
  return { ...filter, after: Math.max(last, filter.after ?? 0) };
}

function messageOf(
  journal: Entries,
  filter: VerifyFilter,
  found: number,
  { times, within }: { readonly times?: number; readonly within: number },
): string {
  const wanted = times === undefined ? 'at least 1 entry' : `${times} ${times === 1 ? 'entry' : 'entries'}`;
  const conditions = Object.entries(filter).map(([name, value]) => `${name} ${shown(String(value))}`);
  const where = conditions.length === 0 ? '' : ` with ${conditions.join(', ')}`;
  const time = within === 0 ? '' : ` within ${within / 1_000}s`;
  const hint = found > 0 ? '' : nearestText(journal, filter);
  return `the journal must have ${wanted}${where}${time}, and has ${found}${hint}`;
}

/** The end of a message about a filter that no entry meets: the nearest entries, and what they lack. */
export function nearestText(journal: Pick<Entries, 'latest'>, filter: VerifyFilter): string {
  const near = nearest(journal, filter);
  return near.length === 0 ? '' : `; the nearest:\n${near.map((line) => `  ${line}`).join('\n')}`;
}

/** The latest entries that meet all conditions but one, each with that one. */
function nearest(journal: Pick<Entries, 'latest'>, filter: VerifyFilter): string[] {
  const { after: _, ...conditions } = filter;
  const near = Object.keys(conditions).flatMap((name) => {
    const others = Object.fromEntries(Object.entries(filter).filter(([other]) => other !== name));
    return journal.latest(others, MAX_NEAR).map((entry) => ({ name, entry }));
  });
  return near
    .sort((a, b) => b.entry.sequence - a.entry.sequence)
    .slice(0, MAX_NEAR)
    .map(({ name, entry }) => `${shortOf(entry)} (its ${name}: ${shownValue(entry, name)})`);
}

function shortOf(entry: JournalEntry): string {
  if (entry.kind === 'http') return `#${entry.sequence} ${entry.method} ${entry.path} ${entry.status ?? 'no answer'}`;
  return `#${entry.sequence} ${entry.router.name ?? entry.router.id ?? 'unknown router'} ${entry.message ?? (entry.kind === 'control' ? entry.event : '')}`;
}

function shownValue(entry: object, name: string): string {
  const value = (entry as Readonly<Record<string, unknown>>)[name];
  if (typeof value === 'object' && value !== null) {
    const { name: ofEntity, id } = value as { readonly name?: string; readonly id?: string };
    return ofEntity ?? id ?? 'unknown';
  }
  return value === undefined ? 'none' : String(value);
}

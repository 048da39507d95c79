// The requests of clients and the messages of routers: a ring with the latest entries. Records are made into their
// shown form only when somebody reads them, because every request and every control message adds one.
//
//   requests, control messages ─► add ─► ring (drops the oldest) ─► entries, listeners, waits

import { ClosedError, TimeoutError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { type Subscription, subscription } from '#lib/subscription.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { requireFields, requireFlags, requireWholeNumbers } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import { ALL_MESSAGE_NAMES } from '../message-names.ts';
import { knownOperations, METHODS } from '../operation-names.ts';
import { MAX_PATH_LENGTH, matchesPath, requirePath } from '../request-paths.ts';
import { JOURNAL_KINDS, type JournalEntry, type JournalFilter, type JournalRecord } from './journal-entry.ts';
import { type JournalRecording, recordingText } from './recording.ts';
import { nearestText, type VerifyFilter, type VerifyOptions, verify } from './verification.ts';

/** Entries; beyond it the oldest are dropped. */
const MAX_ENTRIES = 10_000;
/**
 * Bytes of addresses, headers, bodies, answers, messages and reasons in all entries; beyond it the oldest entries are
 * dropped.
 */
const MAX_BYTES = 16 * 1024 * 1024;
/** Milliseconds. */
const DEFAULT_WAIT = 10_000;
const MAX_WAIT_MS = 600_000;
/** Waits at the same time. */
const MAX_WAITS = 1_000;
/** Known names of messages in the error for an unknown one. */
const MAX_NAMES = 20;

const FILTER_NAMES = [
  'kind',
  'identity',
  'router',
  'message',
  'path',
  'operation',
  'method',
  'status',
  'fault',
  'failed',
  'after',
  'limit',
] as const;

export type JournalCondition = JournalFilter | ((entry: JournalEntry) => boolean);

export interface WaitOptions {
  /** Milliseconds; default 10,000. */
  readonly timeout?: number;
  /** For a predicate: only later entries than the one with this sequence number. */
  readonly after?: number;
}

interface Wait {
  readonly selects: Selects;
  readonly timer: Timer;
  resolve(entry: JournalEntry): void;
  reject(error: Error): void;
}

type Selects = (record: JournalRecord, sequence: number) => boolean;

export interface JournalComponents {
  /** For time limits: they do not notice an advance of the other clock. */
  readonly wireClock: Clock;
  readonly log: Log;
}

/** The requests of clients and the messages of routers: the latest 10,000. */
export class Journal {
  readonly #clock: Clock;
  readonly #listeners: Listeners<JournalEntry>;
  readonly #ring: (JournalRecord | undefined)[] = [];
  readonly #waits = new Set<Wait>();
  #listening = 0;
  /** Sequence number of the oldest entry, and of the next one. */
  #first = 1;
  #next = 1;
  #bytes = 0;
  #clearings = 0;
  #isClosed = false;

  constructor({ wireClock, log }: JournalComponents) {
    this.#clock = wireClock;
    this.#listeners = new Listeners('journal', log);
  }

  /** The sequence number of the latest entry; 0 before the first one. */
  get last(): number {
    return this.#next - 1;
  }

  /** How many entries it has. */
  get size(): number {
    return this.#next - this.#first;
  }

  /** How often it was cleared. */
  get clearings(): number {
    return this.#clearings;
  }

  /** The entries that meet all conditions, the newest last. @throws InvalidError */
  entries(filter: JournalFilter = {}): JournalEntry[] {
    return this.#numbers(filter).map((sequence) => this.#at(sequence).show(sequence));
  }

  /** The latest entries that meet all conditions, the newest first. @throws InvalidError */
  latest(filter: JournalFilter, limit: number): JournalEntry[] {
    const selects = selectorOf(filter);
    const found: JournalEntry[] = [];
    for (let at = this.#next - 1; at >= this.#first && found.length < limit; at--)
      if (selects(this.#at(at), at)) found.push(this.#at(at).show(at));
    return found;
  }

  /**
   * The requests that meet all conditions, with stand-ins for secrets: for a file of `sim replay`. @throws InvalidError
   */
  recording(filter: JournalFilter = {}): JournalRecording {
    const records = this.#numbers({ ...filter, kind: 'http' }).map((sequence) => this.#at(sequence).recorded);
    return recordingText('journal', records);
  }

  /** How many entries meet all conditions: the same number, without their shown form. @throws InvalidError */
  count(filter: JournalFilter): number {
    return this.#numbers(filter).length;
  }

  /** Calls `listener` with every further entry, until the subscription ends. */
  subscribe(listener: (entry: JournalEntry) => void): Subscription {
    const remove = this.#listeners.add((entry) => listener(entry));
    this.#listening += 1;
    return subscription(() => {
      this.#listening -= 1;
      remove();
    });
  }

  /**
   * Resolves with the first entry that meets the condition. Entries that exist already count, unless `after` excludes
   * them. Rejects with TimeoutError, whose message names the nearest entries; with ClosedError when the simulator
   * closes; with InvalidError for a wrong condition.
   */
  async waitFor(condition: JournalCondition, options: WaitOptions = {}): Promise<JournalEntry> {
    try {
      return await this.match(condition, options);
    } catch (error) {
      if (error instanceof TimeoutError && typeof condition !== 'function')
        error.message += nearestText(this, condition);
      throw error;
    }
  }

  /** Like `waitFor`; an error does not name the nearest entries, for which all entries are read. */
  async match(condition: JournalCondition, options: WaitOptions = {}): Promise<JournalEntry> {
    requireFields(options, ['timeout', 'after']);
    const { timeout = DEFAULT_WAIT, after } = options;
    if (this.#isClosed) throw new ClosedError('the simulator');
    if (!(timeout >= 0 && timeout <= MAX_WAIT_MS))
      throw new InvalidError('timeout', `use 0 to ${MAX_WAIT_MS} milliseconds`, timeout);
    if (typeof condition !== 'function' && typeof condition.path === 'string') requirePath(condition.path);
    const selects =
      typeof condition === 'function'
        ? (record: JournalRecord, sequence: number) => sequence > (after ?? 0) && condition(record.show(sequence))
        : selectorOf({ ...(after !== undefined && { after }), ...condition });
    for (let at = this.#first; at < this.#next; at++) if (selects(this.#at(at), at)) return this.#at(at).show(at);
    if (this.#waits.size >= MAX_WAITS) throw new InvalidError('waitFor', `${MAX_WAITS} waits are in progress`, '');
    return this.#wait(selects, timeout);
  }

  /**
   * Resolves with the entries that meet the filter, once there are as many as expected. Rejects with VerificationError,
   * whose message names the nearest entries; with InvalidError; with ClosedError when the simulator closes.
   */
  async verify(filter: VerifyFilter, options: VerifyOptions = {}): Promise<JournalEntry[]> {
    await this.verifyCount(filter, options);
    return this.entries(filter);
  }

  /** The same for callers that need only the number of entries: thousands of them take long to show. */
  verifyCount(filter: VerifyFilter, options: VerifyOptions = {}): Promise<number> {
    return verify(this, this.#clock, filter, options);
  }

  clear(): void {
    this.#ring.length = 0;
    this.#clearings += 1;
    this.#first = this.#next;
    this.#bytes = 0;
  }

  /** For the rooms that serve clients and routers. */
  add(record: JournalRecord): void {
    if (this.#isClosed) return;
    if (this.size === MAX_ENTRIES) this.#dropFirst();
    const sequence = this.#next++;
    this.#ring[sequence % MAX_ENTRIES] = record;
    this.#bytes += record.weight;
    while (this.#bytes > MAX_BYTES && this.size > 1) this.#dropFirst();
    if (this.#listening > 0) this.#listeners.call(record.show(sequence));
    for (const wait of this.#waits) this.#check(wait, record, sequence);
  }

  close(): void {
    this.#isClosed = true;
    for (const wait of [...this.#waits]) wait.reject(new ClosedError('the simulator'));
    this.#listeners.clear();
    this.clear();
  }

  /** The sequence numbers of the entries that meet a filter, in order. @throws InvalidError */
  #numbers(filter: JournalFilter): number[] {
    const selects = selectorOf(filter);
    const { after, limit = MAX_ENTRIES } = filter;
    const found: number[] = [];
    const isForward = after !== undefined;
    const from = isForward ? Math.max(this.#first, after + 1) : this.#next - 1;
    for (let at = from; at >= this.#first && at < this.#next && found.length < limit; at += isForward ? 1 : -1)
      if (selects(this.#at(at), at)) found.push(at);
    return isForward ? found : found.reverse();
  }

  #wait(selects: Selects, timeout: number): Promise<JournalEntry> {
    return new Promise((resolve, reject) => {
      const over = () => {
        wait.timer.cancel();
        this.#waits.delete(wait);
      };
      const wait: Wait = {
        selects,
        timer: this.#clock.after('journal wait', timeout, () =>
          wait.reject(new TimeoutError('the wait for an entry of the journal', timeout)),
        ),
        resolve: (entry) => (over(), resolve(entry)),
        reject: (error) => (over(), reject(error)),
      };
      this.#waits.add(wait);
    });
  }

  /** The error of a caller's predicate ends its own wait. */
  #check(wait: Wait, record: JournalRecord, sequence: number): void {
    try {
      if (wait.selects(record, sequence)) wait.resolve(record.show(sequence));
    } catch (error) {
      wait.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #at(sequence: number): JournalRecord {
    return this.#ring[sequence % MAX_ENTRIES] as JournalRecord;
  }

  #dropFirst(): void {
    const place = this.#first % MAX_ENTRIES;
    this.#bytes -= this.#ring[place]?.weight ?? 0;
    this.#ring[place] = undefined;
    this.#first += 1;
  }
}

/** @throws InvalidError */
function selectorOf(filter: JournalFilter): Selects {
  checkFilter(filter);
  const { kind, identity, router, message, path, operation, method, status, fault, failed, after = 0 } = filter;
  return (record, sequence) =>
    sequence > after &&
    (kind === undefined || record.kind === kind) &&
    (!failed || record.isFailed) &&
    (operation === undefined || record.operationId === operation) &&
    (method === undefined || record.method === method.toUpperCase()) &&
    (status === undefined || record.status === status) &&
    (fault === undefined || record.fault === fault) &&
    (identity === undefined || isNamed(record.identity, identity)) &&
    (router === undefined || isNamed(record.router, router)) &&
    (message === undefined || record.message === message) &&
    (path === undefined || (record.kind === 'http' && matchesPath(path, record.path)));
}

function isNamed(named: { readonly id?: string; readonly name?: string } | undefined, text: string): boolean {
  return named !== undefined && (named.id === text || named.name === text);
}

/** Otherwise a misspelled name would select nothing, and a check that nothing was asked would pass. */
function requireName(field: string, name: string, known: Iterable<string>): void {
  const names = [...known];
  if (!names.includes(name))
    throw new InvalidError(field, `there is no ${field} ${name}; ${meantOrKnown(name, names, MAX_NAMES)}`, name);
}

function checkFilter(filter: JournalFilter): void {
  requireFields(filter, FILTER_NAMES, 'the journal has no filter');
  const { kind, identity, router, message, path, operation, method, status, fault, failed, after, limit } = filter;
  if (kind !== undefined && !JOURNAL_KINDS.includes(kind))
    throw new InvalidError('kind', `use one of ${JOURNAL_KINDS.join(', ')}`, kind);
  for (const [name, text] of Object.entries({ identity, router, message, path, operation, method, fault }))
    if (text !== undefined && typeof text !== 'string') throw new InvalidError(name, 'use a text', text);
  if (path !== undefined && path.length > MAX_PATH_LENGTH)
    throw new InvalidError('path', `use at most ${MAX_PATH_LENGTH} characters`, '');
  if (message !== undefined && !/^-?\d+$/.test(message)) requireName('message', message, ALL_MESSAGE_NAMES);
  if (operation !== undefined) requireName('operation', operation, knownOperations());
  if (method !== undefined) requireName('method', method.toUpperCase(), [...METHODS, 'OPTIONS']);
  requireFlags({ failed });
  requireWholeNumbers({ status, after, limit }, 0);
}

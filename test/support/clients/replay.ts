// Replays recorded exchanges against a running controller. Values in angle brackets are learned from our answers at
// their place in the recording, and inserted into later requests. Status, error code and structure are compared: the
// keys, and the kinds of their values.

import { readFileSync } from 'node:fs';
import type { HttpClient } from '#http/http-client.ts';
import { isMap } from '#lib/json/is-map.ts';

export interface Recording {
  readonly seq: number;
  readonly name: string;
  readonly deployment: 'standalone' | 'cluster';
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: unknown;
  readonly status: number;
  readonly responseBody: unknown;
  /** The target of a redirect. */
  readonly location?: string;
}

/** Options for playing one recording. */
export interface Special {
  /** Uses the certificate of a client. */
  readonly over?: HttpClient;
  /** Replaces the recorded body. */
  readonly body?: string;
}

export interface Verdict {
  readonly recording: Recording;
  /** The answer, parsed if it is JSON. */
  readonly answer?: unknown;
  readonly outcome: 'equal' | 'different' | 'not served' | 'value missing';
  readonly why: string;
}

const PLACEHOLDER = /<[^<>\s]+>/g;
/** Placeholders with one value in all recordings: `<id:service1>`, `<code1>`. */
const NAMED = /<[A-Za-z_]+(?::[\w-]+|\d+)>/g;
/** The specification has these fields in every envelope. */
const VERSION = /^meta\.api(?:Enrollment)?Version$/;
const HOUR = 3_600_000;
/** Statuses that only the reference sends; the specification has ordinary ones for these errors. */
const ORDINARY = new Map([
  [601, 400],
  [602, 400],
  [606, 400],
]);

/** A bad request that the reference answers with a server error: code and cause must be equal, our status is 400. */
function expectedStatus({ status, responseBody }: Recording): number {
  const { code } = (responseBody as { error?: { code?: string } } | null)?.error ?? {};
  return ORDINARY.get(status) ?? (status === 500 && code === 'UNHANDLED' ? 400 : status);
}

export function readRecordings(): Recording[] {
  const text = readFileSync(new URL('../../vectors/http.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { recordings: Recording[] }).recordings;
}

export class Replay {
  readonly #base: string;
  readonly #client: HttpClient;
  readonly #known: Map<string, string>;

  constructor(base: string, client: HttpClient, known: Readonly<Record<string, string>>) {
    this.#base = base;
    this.#client = client;
    this.#known = new Map(Object.entries({ '<date:future>': new Date(Date.now() + HOUR).toISOString(), ...known }));
  }

  know(placeholder: string, value: string): void {
    this.#known.set(placeholder, value);
  }

  /** Replaces placeholders in text by their known values. */
  fill(text: string): string {
    return text.replace(PLACEHOLDER, (placeholder) => this.#known.get(placeholder) ?? placeholder);
  }

  async play(recording: Recording, special: Special = {}): Promise<Verdict> {
    let answer: unknown;
    const verdict = (outcome: Verdict['outcome'], why = ''): Verdict => ({ recording, outcome, why, answer });
    const { path, requestHeaders: headers, requestBody } = this.#fill(recording) as Recording;
    const body = special.body ?? encode(requestBody, headers['content-type'] ?? '');
    const missing = JSON.stringify([path, headers, body]).match(PLACEHOLDER);
    if (missing) return verdict('value missing', missing.join(' '));
    const response = await (special.over ?? this.#client).send(`${this.#base}${path}`, {
      method: recording.method,
      headers,
      ...(body !== undefined && { body }),
    });
    const text = response.bytes.toString();
    answer = parse(text);
    if (recording.location !== undefined) this.#learn(recording.location, String(response.headers.location ?? ''));
    if (recording.status !== 404 && /path \/\S* was not found/.test(text)) return verdict('not served');
    this.#learn(recording.responseBody, answer);
    const expected = expectedStatus(recording);
    if (response.status !== expected)
      return verdict('different', `status ${response.status} instead of ${expected}: ${text.slice(0, 300)}`);
    const differences =
      expected >= 400
        ? compareErrors(recording.responseBody, answer)
        : compareShapes(recording.responseBody, answer, '');
    return differences.length === 0 ? verdict('equal') : verdict('different', differences.join('; '));
  }

  /** Replaces placeholders in a value by their known values. */
  #fill(value: unknown): unknown {
    if (typeof value === 'string')
      return value.replace(PLACEHOLDER, (placeholder) => this.#known.get(placeholder) ?? placeholder);
    if (Array.isArray(value)) return value.map((each) => this.#fill(each));
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#fill(each)]));
  }

  #learn(recorded: unknown, ours: unknown): void {
    if (typeof recorded === 'string' && typeof ours === 'string') {
      // The text around the placeholders must be equal.
      const names = recorded.match(NAMED) ?? [];
      const pattern = recorded.split(NAMED).map(RegExp.escape).join('([^&]+)');
      const values = names.length > 0 ? new RegExp(`^${pattern.replace(/<[^<>]+>/g, '.+')}$`).exec(ours) : null;
      for (const [index, name] of names.entries()) if (values) this.#known.set(name, values[index + 1] as string);
    }
    if (typeof recorded !== 'object' || recorded === null || typeof ours !== 'object' || ours === null) return;
    if (Array.isArray(recorded)) {
      // The order depends on ids, so entries with names are matched by name.
      for (const [index, each] of recorded.entries()) this.#learn(each, counterpart(each, index, ours as unknown[]));
      return;
    }
    for (const [key, value] of Object.entries(recorded)) this.#learn(value, (ours as Record<string, unknown>)[key]);
  }
}

/** Encodes a body for its content type. */
function encode(body: unknown, type: string): string | undefined {
  if (body === null || body === undefined) return undefined;
  if (typeof body === 'string') return body;
  return type.includes('form-urlencoded')
    ? new URLSearchParams(body as Record<string, string>).toString()
    : JSON.stringify(body);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // some answers are PEM
  }
}

function counterpart(recorded: unknown, index: number, ours: readonly unknown[]): unknown {
  const name = (recorded as { name?: unknown } | null)?.name;
  return name === undefined ? ours[index] : ours.find((each) => (each as { name?: unknown } | null)?.name === name);
}

interface Rejection {
  readonly code?: string;
  readonly message?: string;
  readonly cause?: Readonly<Record<string, unknown>>;
}

/** Compares code, message and the fields in the cause, but not the cause's text. */
function compareErrors(recorded: unknown, ours: unknown): string[] {
  const one = rejectionOf(recorded);
  const other = rejectionOf(ours);
  const differences = one.code === other.code ? [] : [`code ${other.code} instead of ${one.code}`];
  if (one.message !== other.message) differences.push(`message ${other.message} instead of ${one.message}`);
  for (const key of ['field', 'code', 'value']) {
    const [wanted, found] = [one.cause?.[key], other.cause?.[key]];
    if (!isEquivalent(wanted, found)) differences.push(`${key} ${String(found)} instead of ${String(wanted)}`);
  }
  return differences;
}

/** Some errors have no envelope, and OAuth errors have only a code. */
function rejectionOf(body: unknown): Rejection {
  const { error } = (body ?? {}) as { error?: Rejection | string };
  return typeof error === 'string' ? { code: error } : (error ?? (body as Rejection | null) ?? {});
}

/** Values that differ between runs must only exist; secrets are never repeated. */
function isEquivalent(wanted: unknown, found: unknown): boolean {
  if (wanted === found) return true;
  return typeof wanted === 'string' && (found === '' || (found !== undefined && wanted.search(PLACEHOLDER) >= 0));
}

/**
 * Missing keys, additional keys, and values of another kind. Lists are compared by the merged keys of their entries.
 */
function compareShapes(recorded: unknown, ours: unknown, at: string): string[] {
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    if (recorded.length === 0 || ours.length === 0)
      return recorded.length === ours.length ? [] : [`${at}: ${ours.length} entries instead of ${recorded.length}`];
    const pairs = byName(recorded, ours);
    if (pairs) return pairs.flatMap(([one, other]) => compareShapes(one, other, `${at}[]`));
    return compareShapes(merged(recorded), merged(ours), `${at}[]`);
  }
  if (isMap(recorded) && isMap(ours)) {
    return [...new Set([...Object.keys(recorded), ...Object.keys(ours)])].flatMap((key) => {
      const where = at === '' ? key : `${at}.${key}`;
      if (!(key in ours)) return [`${where} is missing`];
      if (!(key in recorded)) return VERSION.test(where) ? [] : [`${where} is not expected`];
      return compareShapes(recorded[key], ours[key], where);
    });
  }
  return kind(recorded) === kind(ours) || recorded === null || ours === null
    ? []
    : [`${at}: ${kind(ours)} instead of ${kind(recorded)}`];
}

/** Entries of different kinds have no fixed order: those with the same names on both sides are compared. */
function byName(recorded: readonly unknown[], ours: readonly unknown[]): [unknown, unknown][] | undefined {
  const nameOf = (entry: unknown) => (isMap(entry) ? (entry.postureCheckName ?? entry.name) : undefined);
  const pairs = recorded.map((entry): [unknown, unknown] => [
    entry,
    ours.find((other) => nameOf(other) !== undefined && nameOf(other) === nameOf(entry)),
  ]);
  return pairs.length === ours.length && pairs.every(([, other]) => other !== undefined) ? pairs : undefined;
}

/** One entry with the keys of all entries. */
function merged(list: readonly unknown[]): unknown {
  if (!list.every(isMap)) return list[0];
  const all: Record<string, unknown> = {};
  for (const [key, value] of list.flatMap((each) => Object.entries(each))) {
    const before = all[key];
    if (isMap(before) && isMap(value)) all[key] = merged([before, value]);
    else if (Array.isArray(before) && Array.isArray(value)) all[key] = [...before, ...value];
    else if (before === undefined || before === null) all[key] = value;
  }
  return all;
}

function kind(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

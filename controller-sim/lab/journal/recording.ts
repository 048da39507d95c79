// A recording: the requests that a controller answered, with their answers, one JSON object a line. Secrets have
// stand-ins: the same one for the same value, so that a client that gets a token from a replay can send it back.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { ProjectError } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { parseJson } from '#lib/json/json.ts';
import { suggest } from '#lib/text/suggestion.ts';
import { flag, mapOf, optional, shape, text } from '../../state/fields.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly body: string;
}

export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body is binary. */
  readonly isBase64?: true;
}

export interface Recorded {
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
}

interface Head {
  readonly format: typeof FORMAT;
  readonly upstream: string;
}

const RECORDED = shape({
  request: shape({ method: text, path: text, query: text, body: text }),
  answer: shape({
    status: (value, place) =>
      Number.isInteger(value) && Number(value) >= 200 && Number(value) < 600 ? undefined : `${place} is not a status`,
    headers: mapOf(text),
    body: text,
    isBase64: optional(flag),
  }),
});

const FORMAT = 'edgeweave-recording-1';
/** Bytes of a body. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Bytes of a file that is replayed. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Names of fields and parameters whose values are secrets, without case, `_` and `-`. */
const SECRET =
  /^(?:.*password|.*token|.*jwt|secret|clientsecret|codeverifier|codechallenge|recoverycodes|provisioningurl|assertion|key)$/;
/** Answers to clients need these; others, such as dates, differ in each run. */
const KEPT_HEADERS = ['content-type', 'location', 'retry-after', 'www-authenticate'];

export function headLine(upstream: string): string {
  const head: Head = { format: FORMAT, upstream };
  return JSON.stringify(head);
}

/** The answers of a journal as a recording. */
export interface JournalRecording {
  /** Requests in it. */
  readonly requests: number;
  /** Requests that it lacks: without an answer, or larger than the journal keeps. */
  readonly omitted: number;
  /** For a file that `sim replay` answers from. */
  readonly text: string;
}

/** `recorded` has undefined for each request that cannot be part of it. */
export function recordingText(upstream: string, recorded: readonly (Recorded | undefined)[]): JournalRecording {
  const standIns = new StandIns();
  const lines = recorded.flatMap((each) =>
    each ? [JSON.stringify({ request: standIns.request(each.request), answer: standIns.answer(each.answer) })] : [],
  );
  const text = `${[headLine(upstream), ...lines].join('\n')}\n`;
  return { requests: lines.length, omitted: recorded.length - lines.length, text };
}

/** Reads a file. @throws ProjectError for one that cannot be read, or is not a recording; the message has the line */
export function readRecording(file: string): Recorded[] {
  let text: string;
  try {
    text = readTextFileSync(file, MAX_FILE_BYTES);
  } catch (error) {
    throw new ProjectError('RECORDING', readProblem(file, error), { cause: error });
  }
  const [first = '', ...lines] = text.split('\n').filter((line) => line !== '');
  if ((parsed(first, file, 1) as Partial<Head>).format !== FORMAT)
    throw new ProjectError('RECORDING', `${file} is not a recording of \`sim record\``);
  return lines.map((line, index) => {
    const recorded = parsed(line, file, index + 2);
    const problem = RECORDED(recorded, '');
    if (problem !== undefined) throw new ProjectError('RECORDING', `${file}:${index + 2}: ${problem}`);
    return recorded as Recorded;
  });
}

function parsed(line: string, file: string, number: number): object {
  try {
    const value = parseJson(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // the error below names the line
  }
  throw new ProjectError('RECORDING', `${file}:${number}: the line is not a JSON object`);
}

/** Splits a URL of a request, and shows its body as text. */
export function requestOf(method: string, url: string, body: Buffer): RecordedRequest {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  return { method, path, query, body: isUtf8(body) ? body.toString() : body.toString('base64') };
}

export function answerOf(status: number, headers: Readonly<Record<string, unknown>>, body: Buffer): RecordedAnswer {
  const kept = KEPT_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  const common = { status, headers: Object.fromEntries(kept) as Record<string, string> };
  if (isUtf8(body)) return { ...common, body: body.toString() };
  return { ...common, body: body.toString('base64'), isBase64: true };
}

/** Replaces secrets in texts: JSON, forms and queries. */
export class StandIns {
  /** By the hashes of secrets. */
  readonly #known = new Map<string, string>();

  request(request: RecordedRequest): RecordedRequest {
    return { ...request, query: this.#form(request.query), body: this.#body(request.body, isSecretOfRequest) };
  }

  answer(answer: RecordedAnswer): RecordedAnswer {
    const { headers } = answer;
    const { location, 'content-type': type = '' } = headers;
    const shown = {
      ...answer,
      ...(location !== undefined && { headers: { ...headers, location: this.#place(location) } }),
    };
    // The image of a second factor shows its secret.
    if (type.startsWith('image/')) return { ...shown, body: '' };
    if (type.startsWith('application/jwt')) return { ...shown, body: this.#standIn(answer.body) };
    return answer.isBase64 ? shown : { ...shown, body: this.#body(answer.body, isSecret) };
  }

  #body(text: string, isHidden: (name: string) => boolean): string {
    const value = jsonOf(text);
    if (value !== undefined) return JSON.stringify(mapped(value, isHidden, (secret) => this.#standIn(secret)));
    return isForm(text) ? this.#form(text) : text;
  }

  #form(text: string): string {
    if (text === '') return text;
    const pairs = [...new URLSearchParams(text)].map(([name, value]) => [
      name,
      isSecretOfRequest(name) ? this.#standIn(value) : value,
    ]);
    return new URLSearchParams(pairs).toString();
  }

  /** Parameters of a URL, before its fragment and in it. */
  #place(url: string): string {
    const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
    const shown = (part: string) => (part.includes('=') ? part.slice(0, 1) + this.#form(part.slice(1)) : part);
    return path + shown(query) + shown(fragment);
  }

  #standIn(secret: string): string {
    const hash = createHash('sha256').update(secret).digest('base64');
    const known = this.#known.get(hash) ?? `recorded-${this.#known.size + 1}`;
    this.#known.set(hash, known);
    return known;
  }
}

/**
 * Requests with equal keys get the answers of each other: the order of fields and the values of secrets do not count.
 */
export function keyOf({ method, path, query, body }: RecordedRequest): string {
  return JSON.stringify([method, path, plainForm(query), plainBody(body)]);
}

/** The recorded request that a request resembles most, for people; undefined without any. */
export function nearest(request: RecordedRequest, recorded: readonly RecordedRequest[]): string | undefined {
  const samePlace = recorded.filter(({ method, path }) => method === request.method && path === request.path);
  const [near] = samePlace;
  if (near) {
    const parts = [
      plainForm(near.query) === plainForm(request.query) ? '' : `the query ${near.query || '(none)'}`,
      plainBody(near.body) === plainBody(request.body) ? '' : `the body ${near.body.slice(0, 300) || '(none)'}`,
    ].filter(Boolean);
    return `${near.method} ${near.path} with ${parts.join(' and ')}`;
  }
  const places = [...new Set(recorded.map(({ method, path }) => `${method} ${path}`))];
  const other = places.find((place) => place.endsWith(` ${request.path}`));
  const wanted = `${request.method} ${request.path}`;
  return other ?? suggest(wanted, places) ?? longestPrefix(wanted, places);
}

function longestPrefix(wanted: string, places: readonly string[]): string | undefined {
  const common = (place: string) => {
    let length = 0;
    while (length < place.length && place[length] === wanted[length]) length++;
    return length;
  };
  return places.toSorted((a, b) => common(b) - common(a))[0];
}

function plainForm(text: string): string {
  const form = [...new URLSearchParams(text)].map(([name, value]) => [name, isSecretOfRequest(name) ? '' : value]);
  return JSON.stringify(form.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

function plainBody(text: string): string {
  const value = jsonOf(text);
  if (value !== undefined) return JSON.stringify(sorted(mapped(value, isSecretOfRequest, () => '')));
  // Requests for certificates have new keys in each run.
  if (text.includes('-----BEGIN CERTIFICATE REQUEST-----')) return 'certificate request';
  return isForm(text) ? plainForm(text) : text;
}

function isForm(text: string): boolean {
  return /^[\w.%+-]+=[^\s{}]*$/.test(text);
}

function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isSecret(name: string): boolean {
  return SECRET.test(name.toLowerCase().replaceAll(/[_-]/g, ''));
}

/** One-time passwords and codes of OIDC; errors of answers have a field with the same name. */
function isSecretOfRequest(name: string): boolean {
  return isSecret(name) || name === 'code';
}

/** Passes the texts of the fields that `isHidden` names through `replace`. */
function mapped(
  value: unknown,
  isHidden: (name: string) => boolean,
  replace: (secret: string) => string,
  isWithin = false,
): unknown {
  if (typeof value === 'string') {
    if (isWithin && value !== '') return replace(value);
    return value.includes('-----BEGIN CERTIFICATE REQUEST-----') ? 'certificate request' : value;
  }
  if (Array.isArray(value)) return value.map((each) => mapped(each, isHidden, replace, isWithin));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapped(each, isHidden, replace, isHidden(name))]),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]));
}

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
import { isPathOfOperation } from '../operation-names.ts';
import { isShownName, isShownParameter, replaceSecrets, withoutOpaque } from './redact.ts';

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
  /password|passwd|passphrase|secret|credential|cookie|privatekey|recoverycode|provisioningurl|authorization$|tokens?$|jwts?$|codeverifier|codechallenge|assertion|^key$/;
/** Stand-ins of secrets in a text. */
const STAND_INS = /recorded-\d+/g;
/** A text that has only certificates. */
const CERTIFICATES = /^(?:\s*-----BEGIN CERTIFICATE-----[\sA-Za-z\d+/=]*-----END CERTIFICATE-----)+\s*$/;
/** Answers to clients need these; others, such as dates, differ in each run. */
const KEPT_HEADERS = ['auth-request-id', 'content-type', 'location', 'retry-after', 'www-authenticate'];

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
  return parseRecording(text, file);
}

/** @throws ProjectError */
export function parseRecording(text: string, file: string): Recorded[] {
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

/**
 * Replaces secrets by stand-ins. Only what can be parsed is kept: JSON, forms, queries, certificates. Any other text
 * may be or contain a secret, and its length stands for it.
 */
export class StandIns {
  /** By the hashes of secrets. */
  readonly #known = new Map<string, string>();
  readonly #replace = (secret: string): string => this.#standIn(secret);

  request(request: RecordedRequest): RecordedRequest {
    const { path, query, body } = request;
    return {
      ...request,
      path: pathWith(path, this.#replace),
      query: this.#form(query),
      body: this.#requestBody(body),
    };
  }

  answer(answer: RecordedAnswer): RecordedAnswer {
    const { headers, body, isBase64 } = answer;
    const { location, 'auth-request-id': login, 'content-type': type = '' } = headers;
    const hidden = {
      ...(location !== undefined && { location: this.#place(location) }),
      ...(login !== undefined && { 'auth-request-id': this.#standIn(login) }),
    };
    const shown = { ...answer, headers: { ...headers, ...hidden } };
    if (type.startsWith('application/pkcs7-mime') || CERTIFICATES.test(body)) return shown;
    if (type.startsWith('application/jwt')) return { ...shown, body: this.#standIn(body) };
    return { ...shown, body: isBase64 || type.startsWith('image/') ? '' : this.#body(body, isSecret) };
  }

  #requestBody(body: string): string {
    if (jsonOf(body) === undefined) {
      if (isCertificateRequest(body)) return CERTIFICATE_REQUEST;
      if (isForm(body)) return this.#form(body);
    }
    return this.#body(body, isSecretOfRequest);
  }

  #body(text: string, isHidden: (name: string) => boolean): string {
    const value = jsonOf(text);
    if (value !== undefined) return JSON.stringify(mapped(value, isHidden, this.#replace, isUnnamed(value)));
    return text === '' ? text : `(a text of ${text.length} characters is not recorded)`;
  }

  #form(text: string): string {
    if (text === '') return text;
    return new URLSearchParams(parametersOf(text, this.#replace)).toString();
  }

  /** The path of a URL, and the parameters before its fragment and in it. */
  #place(url: string): string {
    const [, whole = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
    const [, origin = '', path = ''] = /^(\w+:\/\/[^/]*)?(.*)$/s.exec(whole) ?? [];
    const shown = (part: string) => (part === '' ? part : part.slice(0, 1) + this.#form(part.slice(1)));
    return replaceSecrets(origin, this.#replace) + pathWith(path, this.#replace) + shown(query) + shown(fragment);
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
  const key = [method, pathWith(path, () => ''), plainForm(query), plainBody(body)];
  return JSON.stringify(key).replaceAll(STAND_INS, '');
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
  const form = parametersOf(text, () => '');
  return JSON.stringify(form.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

/** Bodies that are not recorded without secrets are equal to each other. */
function plainBody(text: string): string {
  const value = jsonOf(text);
  if (value !== undefined) return JSON.stringify(sorted(mapped(value, isSecretOfRequest, () => '', isUnnamed(value))));
  // Requests for certificates have new keys in each run.
  if (isCertificateRequest(text)) return CERTIFICATE_REQUEST;
  if (text === '') return text;
  return isForm(text) ? plainForm(text) : 'text';
}

const CERTIFICATE_REQUEST = 'certificate request';

function isCertificateRequest(text: string): boolean {
  return text === CERTIFICATE_REQUEST || text.includes('-----BEGIN CERTIFICATE REQUEST-----');
}

/** A path with something in place of its secrets. Ids and names of operations stay. */
function pathWith(path: string, replace: (secret: string) => string): string {
  const shown = isPathOfOperation(path) ? path : withoutOpaque(path, replace);
  return shown
    .split('/')
    .map((segment) => replaceSecrets(segment, replace))
    .join('/');
}

/** Parameters of a query or a form: only those that are known to have no secrets keep their values. */
function parametersOf(text: string, replace: (secret: string) => string): [name: string, value: string][] {
  return [...new URLSearchParams(text)].map(([name, value]) => [
    isShownName(name) ? name : replace(name),
    isShownParameter(name) || value === '' ? replaceSecrets(value, replace) : replace(value),
  ]);
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

/** Whether a value is a list of texts: no names tell what they are. */
function isUnnamed(value: unknown): boolean {
  return Array.isArray(value) && value.some((each) => typeof each === 'string');
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
    return isCertificateRequest(value) ? CERTIFICATE_REQUEST : replaceSecrets(value, replace);
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

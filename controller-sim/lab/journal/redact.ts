// Removes secrets from what the journal shows of a request: its path, its query, its body and the reason of its error.
// Values are shown only where a secret is not expected; a removed one leaves a mark. Recordings, which a client must be
// able to replay, put something in its place (recording.ts); which texts are secrets is said here.

import { ownText } from '#lib/text/own-text.ts';

const REMOVED = '…';
/** Characters of a shown body. */
export const MAX_BODY_LENGTH = 4_096;
/** Characters of a shown path, of a shown query and of a shown reason. */
export const MAX_TEXT_LENGTH = 1_024;
const MAX_DEPTH = 20;
/** Entries of a list or an object in a shown body. */
const MAX_PARTS = 200;

/** Fields whose values are credentials, keys or codes, or may contain them. */
const SECRET_NAME =
  /pass(?:word|wd|phrase)|token|jwt|secret|key|code|csr|pem|cert|credential|assertion|authorization|cookie|otp|provisioning|verifier|nonce|signature/i;
/**
 * Secrets in values of other fields: signed tokens, PEM blocks, credentials in URLs, and the formats of the simulator's
 * own tokens (UUIDs and hex digits; no entity has such an id).
 */
const SECRET_VALUE =
  /eyJ[\w-]{6,}(?:\.[\w-]*)*|-----BEGIN [\s\S]*|(?<=:\/\/)[^/@\s]+(?=@)|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f-]{4,17}|[\da-f]{32,}/gi;
/** Secrets in values that are otherwise kept. */
const KEPT_SECRET =
  /eyJ[\w-]{6,}\.[\w.-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|(?<=:\/\/)[^/@\s]+(?=@)/g;
/** Query parameters whose values are shown. Ids of unfinished logins are secrets; so is whatever is unknown. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set([
  'filter',
  'sort',
  'limit',
  'offset',
  'method',
  'type',
  'query',
  'policyType',
  'roleFilter',
  'roleSemantic',
  'configTypes',
  'withIds',
  'asCompressed',
  'response_type',
  'scope',
  'client_id',
]);
/** Parameters of which only the name is shown. Other names are hidden: a client may send a token as one. */
const NAMED_PARAMETERS: ReadonlySet<string> = new Set([
  'token',
  'id',
  'authRequestID',
  'code',
  'state',
  'nonce',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'id_token_hint',
  'post_logout_redirect_uri',
]);
/** Fields of forms, which only OIDC requests and logins have, whose values are shown. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  'grant_type',
  'scope',
  'client_id',
  'response_type',
  'username',
  'audience',
  'requested_token_type',
  'subject_token_type',
]);
/** Headers whose values are shown. Others with usual names are shown without their values. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'if-none-match',
  'origin',
  'retry-after',
  'server',
  'user-agent',
  'edgeweave-data-index',
  'ziti-instance-id',
]);
/** Headers that are shown, and characters of a shown value. */
const MAX_HEADERS = 32;
const MAX_HEADER_LENGTH = 200;
/** Encodings within each other that are removed to look for secrets; a text with more of them is one. */
const MAX_ENCODINGS = 5;
/** A segment of an unknown path that may be a token, an id or a code. */
const OPAQUE = /^(?=.*\d).{6,}$|^[A-Z\d]{5,}$|^.{40,}$/;

/** `isKnown`: the path belongs to an operation, so that its segments are names and ids. */
export function shownPath(path: string, isKnown: boolean): string {
  const shown = isKnown ? path : withoutOpaque(path, () => REMOVED);
  return cut(shown.split('/').map(withoutSecrets).join('/'), MAX_TEXT_LENGTH);
}

/** Replaces the segments of a path of no operation that may be secrets. */
export function withoutOpaque(path: string, replace: (segment: string) => string): string {
  const given = path.split('/');
  const enroll = given.indexOf('enroll');
  const mayBeSecret = (segment: string, index: number) =>
    ((enroll >= 0 && index > enroll) || isOpaque(segment)) && !isPlain(segment);
  return given.map((segment, index) => (mayBeSecret(segment, index) ? replace(segment) : segment)).join('/');
}

/** Whether the values of a parameter or a field of a form may be kept. */
export function isShownParameter(name: string): boolean {
  return SHOWN_PARAMETERS.has(name) || SHOWN_FIELDS.has(name);
}

/** Whether the name of a parameter may be kept: a client may send a token as one. */
export function isShownName(name: string): boolean {
  return isShownParameter(name) || NAMED_PARAMETERS.has(name) || isPlain(name.replaceAll('_', '-'));
}

/** Replaces secrets in a text of any field: signed tokens, private keys, credentials in URLs. Certificates stay. */
export function replaceSecrets(text: string, replace: (secret: string) => string): string {
  return text.replaceAll(KEPT_SECRET, replace);
}

function isOpaque(segment: string): boolean {
  return OPAQUE.test(segment) || OPAQUE.test(decoded(segment) ?? '');
}

/** A word such as `ott`, `edge` or `current-api-session`. */
function isPlain(segment: string): boolean {
  return /^[a-z]{0,12}(?:-[a-z]{1,12}){0,3}$/.test(segment) || /^v\d$/.test(segment);
}

/** The text after the `?`. */
export function shownQuery(query: string): string {
  // Whole parameters are judged: a part of a secret may not look like one.
  const shown = query.split('&').map((parameter) => {
    const [name = '', ...values] = parameter.split('=');
    if (NAMED_PARAMETERS.has(name)) return `${name}=${REMOVED}`;
    if (!SHOWN_PARAMETERS.has(name)) return REMOVED;
    const value = values.join('=');
    const isShown = name !== 'filter' || !SECRET_NAME.test(decoded(value) ?? 'secret'); // such as token = "…"
    return `${name}=${isShown ? withoutSecrets(value) : REMOVED}`;
  });
  return cut(shown.join('&'), MAX_TEXT_LENGTH);
}

/** JSON without secrets, cut to `MAX_BODY_LENGTH` characters; a text that is not a form is named only by its length. */
export function shownBody(body: unknown, contentType: string): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body !== 'string') return cut(JSON.stringify(redacted(body, 0)), MAX_BODY_LENGTH);
  if (!contentType.startsWith('application/x-www-form-urlencoded') || body.length > MAX_BODY_LENGTH)
    return `(text of ${body.length} characters)`;
  return cut(JSON.stringify(shownForm(new URLSearchParams(body))), MAX_BODY_LENGTH);
}

/** The fields of a decoded message without secrets. Its numbers are counts, indexes and codes of errors. */
export function shownMessage(content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redacted(content, 0, true) as Record<string, unknown>;
}

/** Headers without secrets: a client may send one in any header. */
export function shownHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const shown: Record<string, string> = {};
  let count = 0;
  for (const name in headers) {
    if (headers[name] === undefined || ++count > MAX_HEADERS) continue;
    if (SHOWN_HEADERS.has(name)) shown[name] = withoutSecrets(ownText(cut(String(headers[name]), MAX_HEADER_LENGTH)));
    else if (isPlain(name)) shown[name] = REMOVED;
  }
  return shown;
}

/** JSON of an answer without secrets; any other text is named only by its length. */
export function shownAnswer(text: string): string {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  return value === undefined ? `(text of ${text.length} characters)` : JSON.stringify(redacted(value, 0));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shownForm(form: URLSearchParams): Record<string, string> {
  const shown = Array.from(form).map(([name, value]) => {
    if (SHOWN_FIELDS.has(name)) return [name, withoutSecrets(value)];
    return [SECRET_NAME.test(name) && isPlain(name.replaceAll('_', '-')) ? name : REMOVED, REMOVED];
  });
  return Object.fromEntries(shown);
}

/** `path` as the client sent it may be part of the reason. */
export function shownReason(reason: string, path: string, shown: string): string {
  const replaced = path.length > 1 ? reason.replaceAll(path, () => shown) : reason;
  return cut(withoutSecrets(replaced), MAX_TEXT_LENGTH);
}

/** `showsNumbers`: fields with the name of a secret keep numbers. */
function redacted(value: unknown, depth: number, showsNumbers = false): unknown {
  if (typeof value === 'string') return withoutSecrets(cut(value, MAX_BODY_LENGTH));
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return REMOVED;
  if (Array.isArray(value)) {
    const parts = value.slice(0, MAX_PARTS).map((each) => redacted(each, depth + 1, showsNumbers));
    return value.length > MAX_PARTS ? [...parts, REMOVED] : parts;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, MAX_PARTS)
    .map(([name, each]) => [
      withoutSecrets(cut(name, MAX_TEXT_LENGTH)),
      SECRET_NAME.test(name) && !isHarmless(each, showsNumbers) ? REMOVED : redacted(each, depth + 1, showsNumbers),
    ]);
  return Object.fromEntries(entries.length > MAX_PARTS ? [...shown, [REMOVED, REMOVED]] : shown);
}

/** A flag such as `certRequired`, or a field that is left out. */
function isHarmless(value: unknown, showsNumbers: boolean): boolean {
  return typeof value === 'boolean' || value === null || (showsNumbers && typeof value === 'number');
}

/** Also without secrets that are percent-encoded, once or several times: these remove the whole text. */
function withoutSecrets(text: string): string {
  const plain = decoded(text);
  if (plain === undefined || (plain !== text && plain.search(SECRET_VALUE) >= 0 && text.search(SECRET_VALUE) < 0))
    return REMOVED;
  return text.replaceAll(SECRET_VALUE, REMOVED);
}

export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}${REMOVED}` : text;
}

/** The text without its percent-encodings; undefined if they are too deep. */
function decoded(text: string): string | undefined {
  let plain = text;
  for (let count = 0; count <= MAX_ENCODINGS; count++) {
    const next = plain.replaceAll(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
    if (next === plain) return plain;
    plain = next;
  }
  return undefined;
}

// Faults that a test adds to its own controller: which requests or control messages they match, and their effect.

import { parseDuration } from '#lib/duration.ts';
import { describeError } from '#lib/errors.ts';
import { meantOrKnown } from '#lib/suggestion.ts';
import { readOperations } from '#schemas/api/operations.ts';
import { API_ERRORS, type ApiErrorCode } from '../../errors/errors.ts';
import { InvalidError } from '../lab-error.ts';
import { MESSAGE_NAMES } from '../message-names.ts';

/** Milliseconds: a request and its answer may take a minute in total. */
const MAX_DELAY_MS = 50_000;
const MAX_TEXT_LENGTH = 1_000;
/** Known words in a message. */
const MAX_SHOWN = 20;
const MIN_STATUS = 400;
const MAX_STATUS = 599;
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface CommonFault {
  /** How many requests or messages it affects; all by default. */
  readonly times?: number;
  /** 0 to 1: the share of the matching ones that it affects; 1 by default. */
  readonly probability?: number;
}

/**
 * A fault of the APIs. A request must match all conditions. Needs an effect: `delay`, or one of `status`, `code`, `close`
 * and `truncate`, or a delay and one of these.
 */
export interface HttpFault extends CommonFault {
  readonly kind: 'http';
  readonly method?: string;
  /** The beginning of the path; with `*` for any characters, the whole path. */
  readonly path?: string;
  /** The id of an operation, such as `listServices`. */
  readonly operation?: string;
  /** Id or name of the caller; matches only requests with a valid session. */
  readonly identity?: string;
  /** Milliseconds, or a duration such as `2s`: before the request is handled. At most 50 seconds. */
  readonly delay?: number | string;
  /** 400 to 599. The request is not handled. By default the status of the code. */
  readonly status?: number;
  /** An error code of the APIs, such as `NOT_FOUND`. */
  readonly code?: string;
  /** The connection closes without an answer; the request is not handled. */
  readonly close?: boolean;
  /** The request is handled; the connection closes after half of the answer. */
  readonly truncate?: boolean;
}

/** A fault of control channels. Needs one effect: `drop`, `delay` or `reject`. */
export interface ControlFault extends CommonFault {
  readonly kind: 'control';
  /** Id or name; all routers by default. */
  readonly router?: string;
  /** The name of a content type, such as `Route`; all messages by default. */
  readonly message?: string;
  /** `in` from the router, `out` to it; both by default. */
  readonly direction?: 'in' | 'out';
  readonly drop?: boolean;
  readonly delay?: number | string;
  /** New connections are rejected; open ones stay. */
  readonly reject?: boolean;
}

export type NewFault = HttpFault | ControlFault;

type Checked<F extends NewFault> = Omit<F, 'delay'> & { readonly delay?: number };
interface Counted {
  readonly id: string;
  /** How many requests or messages it has affected. */
  readonly hits: number;
}

/** A fault that was added; `delay` is in milliseconds. */
export type Fault = (Checked<HttpFault> | Checked<ControlFault>) & Counted;

/** A fault of the simulator that is counted and removed here: `using fault = faults.add(…)` removes it with the block. */
export interface FaultHandle extends Counted, Disposable {
  /** The fault with its present count. */
  readonly fault: Fault;
  /** Further calls have no effect, nor has a call after the fault was removed otherwise. */
  remove(): void;
}
export type HttpRule = Checked<HttpFault>;
export type ControlRule = Checked<ControlFault>;

const COMMON_FIELDS = ['kind', 'times', 'probability', 'delay'];
const FIELDS: Readonly<Record<NewFault['kind'], readonly string[]>> = {
  http: [...COMMON_FIELDS, 'method', 'path', 'operation', 'identity', 'status', 'code', 'close', 'truncate'],
  control: [...COMMON_FIELDS, 'router', 'message', 'direction', 'drop', 'reject'],
};

let operations: ReadonlySet<string> | undefined;

/** Requests to the lab itself are never affected. */
function knownOperations(): ReadonlySet<string> {
  operations ??= new Set(readOperations().flatMap(({ api, id }) => (api === 'lab' ? [] : [id])));
  return operations;
}

/** Returns an own copy without undefined fields. @throws InvalidError that names the field */
export function checkedFault(given: NewFault): HttpRule | ControlRule {
  if (typeof given !== 'object' || given === null) throw new InvalidError('fault', 'use an object', given);
  const entries = Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== false);
  const fault = Object.fromEntries(entries) as unknown as NewFault;
  const { kind } = fault;
  if (kind !== 'http' && kind !== 'control') throw new InvalidError('kind', 'use http or control', kind);
  for (const name of Object.keys(fault))
    if (!FIELDS[kind].includes(name))
      throw new InvalidError(
        name,
        `faults of this kind have no ${name}; ${meantOrKnown(name, FIELDS[kind], MAX_SHOWN)}`,
        '',
      );
  checkCommon(fault);
  const delay = fault.delay === undefined ? undefined : delayOf(fault.delay);
  const rule = { ...fault, ...(delay !== undefined && { delay }) };
  return rule.kind === 'http' ? checkedHttp(rule as HttpRule) : checkedControl(rule as ControlRule);
}

function checkCommon({ times, probability }: CommonFault): void {
  if (times !== undefined && !(Number.isSafeInteger(times) && times >= 1))
    throw new InvalidError('times', 'use a whole number of at least 1', times);
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1))
    throw new InvalidError('probability', 'use a number from 0 to 1', probability);
}

function delayOf(given: number | string): number {
  let milliseconds: number;
  try {
    milliseconds = typeof given === 'number' ? given : parseDuration(given);
  } catch (error) {
    throw new InvalidError('delay', describeError(error), given);
  }
  if (!(milliseconds > 0 && milliseconds <= MAX_DELAY_MS))
    throw new InvalidError('delay', `use a duration up to ${MAX_DELAY_MS / 1_000}s, for example 500ms`, given);
  return milliseconds;
}

function checkedHttp(rule: HttpRule): HttpRule {
  const { method, path, operation, identity, status, code, close, truncate, delay } = rule;
  checkTexts({ method, path, operation, identity, code });
  checkFlags({ close, truncate });
  if (path !== undefined && !/^[/*]/.test(path)) throw new InvalidError('path', 'begin with / or *', path);
  const upper = method?.toUpperCase();
  if (upper !== undefined) checkKnown('method', upper, METHODS);
  if (operation !== undefined) checkKnown('operation', operation, knownOperations());
  if (code !== undefined) checkKnown('code', code, Object.keys(API_ERRORS));
  if (status !== undefined && !(Number.isInteger(status) && status >= MIN_STATUS && status <= MAX_STATUS))
    throw new InvalidError('status', `use ${MIN_STATUS} to ${MAX_STATUS}`, status);
  const ends = [status ?? code, close, truncate].filter((each) => each !== undefined).length;
  if (ends > 1) throw new InvalidError('status', 'use one of status (with code), close and truncate', status);
  if (ends === 0 && delay === undefined)
    throw new InvalidError('delay', 'the fault has no effect; use delay, status, close or truncate', '');
  return { ...rule, ...(upper !== undefined && { method: upper }) };
}

function checkedControl(rule: ControlRule): ControlRule {
  const { router, message, direction, drop, reject, delay } = rule;
  checkTexts({ router, message, direction });
  checkFlags({ drop, reject });
  if (direction !== undefined && direction !== 'in' && direction !== 'out')
    throw new InvalidError('direction', 'use in (from the router) or out (to the router)', direction);
  if (message !== undefined) checkKnown('message', message, MESSAGE_NAMES);
  const effects = [drop, reject, delay].filter((each) => each !== undefined).length;
  if (effects !== 1) throw new InvalidError('drop', 'use one of drop, delay and reject', '');
  if (reject && (message ?? direction) !== undefined)
    throw new InvalidError('reject', 'rejects connections; it has no message and no direction', '');
  return rule;
}

function checkTexts(texts: Readonly<Record<string, unknown>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && !(typeof text === 'string' && text !== '' && text.length <= MAX_TEXT_LENGTH))
      throw new InvalidError(name, `use 1 to ${MAX_TEXT_LENGTH} characters`, '');
}

function checkFlags(flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags))
    if (flag !== undefined && flag !== true) throw new InvalidError(name, 'use true or false', flag);
}

function checkKnown(field: string, given: string, known: Iterable<string>): void {
  const all = [...known];
  if (!all.includes(given))
    throw new InvalidError(field, `${given} is unknown; ${meantOrKnown(given, all, MAX_SHOWN)}`, given);
}

/** The answer of a rule with a status or a code. */
export function errorOf({ status, code }: HttpRule): { readonly code: ApiErrorCode; readonly status: number } {
  const known = code as ApiErrorCode | undefined;
  if (known !== undefined) return { code: known, status: status ?? API_ERRORS[known][0] };
  return { code: USUAL_CODES[status ?? 0] ?? 'UNHANDLED', status: status ?? MAX_STATUS };
}

/** Codes for a status alone. */
const USUAL_CODES: Readonly<Record<number, ApiErrorCode>> = {
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'REQUEST_ENTITY_TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'STORE_UNAVAILABLE',
};

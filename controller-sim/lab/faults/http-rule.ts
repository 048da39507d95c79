// Faults of the APIs: their checks, and the answers that they make.

import { isMap } from '#lib/json/is-map.ts';
import { API_ERRORS } from '../../errors/errors.ts';
import { given, requireFields, requireFlags, requireTexts, requireWord, withDelays } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import { knownOperations, METHODS } from '../operation-names.ts';
import { requirePath } from '../request-paths.ts';
import type { CheckedAnswer, HttpAnswer, HttpFault, HttpRule } from './fault.ts';

const MIN_STATUS = 200;
const MIN_ERROR_STATUS = 400;
const MAX_STATUS = 599;
const MAX_ANSWERS = 100;
const MAX_HEADERS = 50;
/** Characters of a body as JSON. */
const MAX_BODY_LENGTH = 1024 * 1024;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Printable, and no line breaks. */
const HEADER_VALUE = /^[\t\x20-\x7e]{0,4000}$/;
/** They belong to the connection, or follow from the body. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length', 'transfer-encoding', 'upgrade']);

const ANSWER_FIELDS = ['status', 'code', 'body', 'headers', 'close', 'truncate', 'delay'];
export const HTTP_FIELDS = [...ANSWER_FIELDS, 'method', 'path', 'operation', 'identity', 'answers'];

export function checkedHttp(fault: HttpFault): HttpRule {
  const { method, path, operation, identity, answers } = fault;
  requireTexts({ method, path, operation, identity });
  if (path !== undefined) requirePath(path);
  const upper = method?.toUpperCase();
  if (upper !== undefined) requireWord('method', upper, METHODS);
  if (operation !== undefined) requireWord('operation', operation, knownOperations());
  const own = ANSWER_FIELDS.some((name) => name in fault);
  if (answers !== undefined) return { ...fault, ...upperOf(upper), ...checkedAnswers(answers, own) } as HttpRule;
  if (!own)
    throw new InvalidError('delay', 'the fault has no effect; use delay, status, close, truncate or answers', '');
  return { ...fault, ...upperOf(upper), ...checkedAnswer(fault) } as HttpRule;
}

function upperOf(method: string | undefined): { readonly method?: string } {
  return method === undefined ? {} : { method };
}

function checkedAnswers(answers: readonly HttpAnswer[], hasOwn: boolean): { answers: CheckedAnswer[] } {
  if (hasOwn) throw new InvalidError('answers', 'the effects stand in the answers; use one form', '');
  if (!Array.isArray(answers) || answers.length < 1 || answers.length > MAX_ANSWERS)
    throw new InvalidError('answers', `use a list of 1 to ${MAX_ANSWERS} answers`, '');
  return {
    answers: answers.map((each: unknown) => {
      if (!isMap(each)) throw new InvalidError('answers', 'use objects', each);
      const answer = given(each);
      requireFields(answer, ANSWER_FIELDS, 'an answer has no');
      return checkedAnswer(answer as HttpAnswer);
    }),
  };
}

function checkedAnswer(answer: HttpAnswer): CheckedAnswer {
  const { status, code, body, headers, close, truncate } = answer;
  requireTexts({ code });
  requireFlags({ close, truncate });
  if (code !== undefined) requireWord('code', code, Object.keys(API_ERRORS));
  if (status !== undefined && !(Number.isInteger(status) && status >= MIN_STATUS && status <= MAX_STATUS))
    throw new InvalidError('status', `use ${MIN_STATUS} to ${MAX_STATUS}`, status);
  if (code !== undefined && (body !== undefined || (status ?? MIN_ERROR_STATUS) < MIN_ERROR_STATUS))
    throw new InvalidError('code', 'an error code has its own body and an error status; use status and body', code);
  const hasAnswer = [status, code, body].some((each) => each !== undefined);
  if ([hasAnswer, close, truncate].filter(Boolean).length > 1)
    throw new InvalidError('status', 'use one of status (with code or body), close and truncate', status);
  if (headers !== undefined && !hasAnswer)
    throw new InvalidError('headers', 'headers belong to an answer; use status, code or body too', '');
  if (body !== undefined) checkBody(body);
  const { delay } = withDelays(answer, ['delay']);
  return {
    ...pick(answer, ['status', 'code', 'body', 'close', 'truncate']),
    ...(delay !== undefined && { delay }),
    ...(headers !== undefined && { headers: checkedHeaders(headers) }),
  } as CheckedAnswer;
}

function checkBody(body: unknown): void {
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch {
    // A cycle, or a BigInt: rejected like a function, which has no JSON.
  }
  if (text === undefined || text.length > MAX_BODY_LENGTH)
    throw new InvalidError('body', `use a text or JSON of at most ${MAX_BODY_LENGTH} characters`, '');
}

function checkedHeaders(headers: unknown): Readonly<Record<string, string>> {
  const entries = isMap(headers) ? Object.entries(headers) : [];
  if (entries.length < 1 || entries.length > MAX_HEADERS)
    throw new InvalidError('headers', `use an object with 1 to ${MAX_HEADERS} headers`, '');
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      throw new InvalidError('headers', `the header ${name.slice(0, 100)} cannot be set; use another name`, '');
    if (typeof value !== 'string' || !HEADER_VALUE.test(value))
      throw new InvalidError('headers', `the header ${name} must be a text without line breaks`, '');
  }
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function pick(from: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}

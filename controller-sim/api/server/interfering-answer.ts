// The answer that an interference gives in place of the handler: an error of the APIs, or a given status and body.

import { API_ERRORS, type ApiErrorCode } from '../../errors/errors.ts';
import type { InterferingAnswer } from '../operations/request-tap.ts';

const MIN_ERROR_STATUS = 400;
/** The status of an error without status and code. */
const UNKNOWN_STATUS = 599;

/** Whether it answers in place of the handler. */
export function hasAnswer({ status, code, body }: InterferingAnswer): boolean {
  return status !== undefined || code !== undefined || body !== undefined;
}

/** The error of an answer with a status or a code, and without a body. */
export function errorOf({ status, code }: InterferingAnswer): { readonly code: ApiErrorCode; readonly status: number } {
  const known = code as ApiErrorCode | undefined;
  if (known !== undefined) return { code: known, status: status ?? API_ERRORS[known][0] };
  return { code: USUAL_CODES[status ?? 0] ?? 'UNHANDLED', status: status ?? UNKNOWN_STATUS };
}

/** Whether an answer with this status is an error. */
export function isError({ status, code, body }: InterferingAnswer): boolean {
  return body === undefined && (code !== undefined || (status ?? 0) >= MIN_ERROR_STATUS);
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

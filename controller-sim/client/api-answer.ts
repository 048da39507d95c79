// Reads the answers of a controller that may be broken or hostile. Errors show what it says in one line, without
// characters that a terminal obeys.

import { describeError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { parseJson } from '#lib/json/json.ts';
import { inOneLine } from '#lib/text/shown-text.ts';

export interface ErrorBody {
  readonly code: string;
  readonly field: string | undefined;
  /** In one line, with the field. */
  readonly reason: string;
  readonly data: unknown;
}

export interface Envelope {
  readonly data?: unknown;
  readonly meta?: { readonly pagination?: { readonly totalCount?: unknown } } | null;
  readonly error?: unknown;
}

/** Characters of a reason. */
const MAX_REASON = 2_000;

/** Empty for a text that is not a JSON object. */
export function readEnvelope(text: string): Envelope {
  try {
    const value = parseJson(text);
    return isMap(value) ? value : {};
  } catch {
    return {}; // not JSON: the status tells enough
  }
}

/** The token of a new session; undefined for an answer without one. */
export function tokenIn({ data }: Envelope): string | undefined {
  const { token } = (data ?? {}) as { readonly token?: unknown };
  return typeof token === 'string' ? token : undefined;
}

/** The error of an answer; undefined without one. */
export function errorIn({ error }: Envelope): ErrorBody | undefined {
  if (!isMap(error)) return undefined;
  const { code, message, cause } = error;
  const details = isMap(cause) ? cause : {};
  const field = textOf(details.field);
  const reason = textOf(details.reason);
  const described = reason && field ? `${field}: ${reason}` : reason;
  return {
    code: textOf(code) ?? '',
    field,
    reason: described ?? textOf(details.message) ?? textOf(message) ?? '',
    data: details.data,
  };
}

/** Undefined for other values, also for an empty text. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? inOneLine(value.slice(0, MAX_REASON)) : undefined;
}

/** Why no answer came. */
export function connectionProblem(error: unknown): string {
  return inOneLine(describeError(error)).slice(0, MAX_REASON);
}

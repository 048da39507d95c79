// The envelope of answers: `{data, meta}` for results, `{error, meta}` for errors.

import { randomBytes } from 'node:crypto';
import type { ApiError } from '../../errors/errors.ts';
import type { Answer } from '../http/context.ts';

const JSON_TYPE = 'application/json';
/** Versions of the APIs. The specification has them in every envelope, the reference only in errors. */
const VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' };
const META = JSON.stringify(VERSIONS);
const REQUEST_ID_BYTES = 6;

/** An answer ready for sending. */
export interface Sent {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `status` is the operation's default, for answers without their own. */
export function wrapAnswer(answer: Answer, status: number): Sent {
  if ('raw' in answer) return { status: answer.status ?? status, contentType: answer.contentType, body: answer.raw };
  if ('page' in answer) {
    const { items, isText, ...page } = answer.page;
    const data = isText ? `[${items.join(',')}]` : JSON.stringify(items);
    return json(status, `{"data":${data},"meta":${JSON.stringify({ ...VERSIONS, ...page })}}`);
  }
  if ('json' in answer) return json(status, `{"data":${answer.json},"meta":${META}}`);
  const body = JSON.stringify({ data: answer.data, meta: { ...VERSIONS, ...answer.meta } });
  return { ...json(answer.status ?? status, body), ...(answer.headers && { headers: answer.headers }) };
}

export function wrapError({ code, status, message, details }: ApiError): Sent {
  const requestId = randomBytes(REQUEST_ID_BYTES).toString('base64url');
  const error = { code, message, requestId, ...(details && { cause: details }) };
  return json(status, JSON.stringify({ error, meta: VERSIONS }));
}

function json(status: number, body: string): Sent {
  return { status, contentType: JSON_TYPE, body };
}

// The envelope of answers: `{data, meta}` for results, `{error, meta}` for errors.

import type { Random } from '#lib/random.ts';
import type { ApiError } from '../../errors/errors.ts';
import type { Answer, Json } from '../operations/context.ts';

const JSON_TYPE = 'application/json';
/** Versions of the APIs. The specification has them in every envelope, the reference only in errors. */
const VERSIONS = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' };
const DATA_START = Buffer.from('{"data":');
const DATA_END = Buffer.from(`,"meta":${JSON.stringify(VERSIONS)}}`);
const LIST_START = Buffer.from('{"data":[');
const COMMA = Buffer.from(',');
const REQUEST_ID_BYTES = 6;

/** Constant answers with their envelope, by their data. */
const constants = new WeakMap<Buffer, Buffer>();

/** An answer ready for sending. */
export interface Sent {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isConstant?: boolean;
}

/** `status` is the operation's default, for answers without their own. */
export function wrapAnswer(answer: Answer, status: number): Sent {
  if ('raw' in answer) {
    const { raw, contentType, headers, isConstant = false } = answer;
    return { status: answer.status ?? status, contentType, body: raw, isConstant, ...(headers && { headers }) };
  }
  if ('page' in answer) {
    const { items, ...page } = answer.page;
    return json(status, JSON.stringify({ data: items, meta: { ...VERSIONS, ...page } }));
  }
  if ('jsonPage' in answer) {
    const { items, ...page } = answer.jsonPage;
    const meta = JSON.stringify({ ...VERSIONS, ...page });
    const data = items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]));
    return json(status, Buffer.concat([LIST_START, ...data, Buffer.from(`],"meta":${meta}}`)]));
  }
  if ('json' in answer) return { ...json(status, enveloped(answer)), isConstant: answer.isConstant ?? false };
  const body = JSON.stringify({ data: answer.data, meta: { ...VERSIONS, ...answer.meta } });
  return { ...json(answer.status ?? status, body), ...(answer.headers && { headers: answer.headers }) };
}

export function wrapError(
  { code, status, message, details }: Pick<ApiError, 'code' | 'status' | 'message' | 'details'>,
  random: Random,
): Sent {
  const requestId = random.bytes(REQUEST_ID_BYTES).toString('base64url');
  const error = { code, message, requestId, ...(details && { cause: details }) };
  return json(status, JSON.stringify({ error, meta: VERSIONS }));
}

function enveloped({ json: data, isConstant = false }: Json): Buffer {
  const known = constants.get(data);
  if (known) return known;
  const body = Buffer.concat([DATA_START, data, DATA_END]);
  if (isConstant) constants.set(data, body);
  return body;
}

function json(status: number, body: string | Buffer): Sent {
  return { status, contentType: JSON_TYPE, body };
}

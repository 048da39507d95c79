// Answers in the OpenAPI document: the envelope around data, pages, bodies without an envelope, other content types,
// and errors.

import { ANSWER_SCHEMAS } from '#schemas/api/answer-schemas.ts';
import type { ApiAnswer, ApiOperation } from '#schemas/api/operations.ts';

type Json = Record<string, unknown>;

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'done',
  201: 'created',
  202: 'begun',
  400: 'the request is invalid',
  401: 'not authenticated, or not permitted',
  403: 'not allowed',
  404: 'not found',
  405: 'the path does not support the method',
  406: 'no acceptable content type is available',
  409: 'conflicts with the current state',
  410: 'used already',
  413: 'the body is too large',
  415: 'the content type of the body is not supported',
  429: 'too many requests',
  500: 'internal error',
  501: 'not supported',
  503: 'temporarily unavailable',
};
/** Every operation may answer these errors. */
const ALWAYS = [400, 405, 406, 413, 429];

const PAGINATION: Json = {
  type: 'object',
  required: ['limit', 'offset', 'totalCount'],
  properties: { limit: { type: 'integer' }, offset: { type: 'integer' }, totalCount: { type: 'integer' } },
};
const CAUSE: Json = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    reason: { type: 'string' },
    code: { type: 'string' },
    message: { type: 'string' },
  },
};

const VERSIONS = { apiEnrollmentVersion: { type: 'string' }, apiVersion: { type: 'string' } };

/** Schemas that answer descriptions refer to. */
export const ANSWER_COMPONENTS: Readonly<Record<string, object>> = {
  ...ANSWER_SCHEMAS,
  nothing: { type: 'object', maxProperties: 0 },
  meta: { type: 'object', properties: VERSIONS },
  pageMeta: {
    type: 'object',
    required: ['pagination'],
    properties: {
      ...VERSIONS,
      pagination: PAGINATION,
      filterableFields: { type: 'array', items: { type: 'string' } },
    },
  },
  error: {
    type: 'object',
    required: ['error', 'meta'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'requestId'],
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          requestId: { type: 'string' },
          cause: CAUSE,
        },
      },
      meta: reference('meta'),
    },
  },
};

/** By status. */
export function responses({ access, method, path, body, answer, status, rejections }: ApiOperation): Json {
  const statuses = new Set([
    ...ALWAYS,
    ...rejections,
    ...(access === 'none' ? [] : [401]),
    ...(path.includes('{') ? [404] : []),
    ...(body ? [415] : []),
    ...(method === 'GET' ? [] : [503]),
  ]);
  const rejected = { 'application/json': { schema: reference('error') } };
  return Object.fromEntries(
    [status, ...[...statuses].sort()].map((each) => [
      each,
      { description: MEANINGS[each] ?? '', content: each === status ? granted(answer) : rejected },
    ]),
  );
}

function granted({ kind, type, forms }: ApiAnswer): Json {
  const json = kind && { 'application/json': { schema: schemaOf(kind, type) } };
  const others = forms.map((form) => [form, formOf(form, type)]);
  return { ...json, ...Object.fromEntries(others) };
}

/** YAML describes the same schema as JSON. Images, certificates and tokens have none. */
function formOf(form: string, type: string): Json {
  return form.endsWith('/yaml') ? { schema: reference(type) } : {};
}

function schemaOf(kind: NonNullable<ApiAnswer['kind']>, type: string): Json {
  switch (kind) {
    case 'none':
      return envelope(reference('nothing'), 'meta');
    case 'data':
      return envelope(reference(type), 'meta');
    case 'page':
      return envelope({ type: 'array', items: reference(type) }, 'pageMeta');
    case 'bare':
      return reference(type);
  }
}

function envelope(data: Json, meta: string): Json {
  return { type: 'object', required: ['data', 'meta'], properties: { data, meta: reference(meta) } };
}

/** A reference in the notation of the type tables; the document rewrites it. */
function reference(type: string): Json {
  return { $ref: `#/$defs/${type}` };
}

// What the operations answer, for the OpenAPI document: the envelope round their data, pages, bodies without envelope, other content types,
// and refusals.

import answers from '#schemas/api/answers.json' with { type: 'json' };
import type { ApiAnswer, ApiOperation } from '#schemas/api/operations.ts';

type Json = Record<string, unknown>;

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'done',
  201: 'created',
  202: 'begun',
  400: 'the request is not valid',
  401: 'not logged in, or not allowed',
  403: 'not allowed',
  404: 'there is no such thing',
  405: 'the path does not know the method',
  406: 'there is no answer of the content type that is asked for',
  409: 'something stands against it',
  410: 'used already',
  413: 'the body is too large',
  415: 'the body is of a content type that is not taken',
  429: 'too many requests',
  500: 'an error of the server',
  501: 'named, and not served',
  503: 'temporarily unavailable',
};
/** Every operation may be refused so. */
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

/** Everything that the descriptions of answers refer to. */
export const ANSWER_SCHEMAS: Readonly<Record<string, Json>> = {
  ...answers.$defs,
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
export function responses({ access, method, path, body, answer, status, refusals }: ApiOperation): Json {
  const statuses = new Set([
    ...ALWAYS,
    ...refusals,
    ...(access === 'none' ? [] : [401]),
    ...(path.includes('{') ? [404] : []),
    ...(body ? [415] : []),
    ...(method === 'GET' ? [] : [503]),
  ]);
  const refused = { 'application/json': { schema: reference('error') } };
  return Object.fromEntries(
    [status, ...[...statuses].sort()].map((each) => [
      each,
      { description: MEANINGS[each] ?? '', content: each === status ? granted(answer) : refused },
    ]),
  );
}

function granted({ kind, type, forms }: ApiAnswer): Json {
  const json = kind && { 'application/json': { schema: schemaOf(kind, type) } };
  const others = forms.map((form) => [form, formOf(form, type)]);
  return { ...json, ...Object.fromEntries(others) };
}

/** YAML is another way to write what is JSON; what is neither has no schema: images, certificates, tokens. */
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

/** In the form of the tables of types: the document rewrites it. */
function reference(type: string): Json {
  return { $ref: `#/$defs/${type}` };
}

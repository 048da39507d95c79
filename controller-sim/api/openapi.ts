// The OpenAPI 3.1 document of an API, made from the table of operations and the types of bodies.

import bodies from '#schemas/api/bodies.json' with { type: 'json' };
import { type ApiName, type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { BASES } from './bases.ts';

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
  409: 'something stands against it',
  410: 'used already',
  413: 'the body is too large',
  429: 'too many requests',
  500: 'an error of the server',
  501: 'named, and not served',
  503: 'not now',
};

const PARAMETERS: Readonly<Record<string, Json>> = {
  limit: { type: 'integer' },
  offset: { type: 'integer' },
  filter: { type: 'string' },
  roleFilter: { type: 'array', items: { type: 'string' } },
  roleSemantic: { type: 'string', enum: ['AllOf', 'AnyOf'] },
  configTypes: { type: 'array', items: { type: 'string' } },
  policyType: { type: 'string', enum: ['dial', 'bind'] },
  withIds: { type: 'boolean' },
  token: { type: 'string' },
};
const AUTH_METHOD: Json = { type: 'string', enum: ['password', 'cert', 'ext-jwt'] };
/** Every operation may be refused so. */
const ALWAYS = [400, 405, 413, 429];

/** JSON Schema's own words for the bodies: our keyword for enumerations without regard to case is no part of it. */
export function openApiDocument(api: ApiName): Json {
  const operations = readOperations().filter((operation) => operation.api === api);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe(operation);
    paths[operation.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: { title: `${api} API`, version: '1.0.0', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: BASES[api][0] }],
    security: [{ session: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'header', name: 'zt-session' },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
      schemas: { ...(rewrite(bodies.$defs) as Json), error: ERROR, success: SUCCESS },
    },
  };
}

const ERROR: Json = {
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
        cause: { type: 'object' },
      },
    },
    meta: { type: 'object' },
  },
};
const SUCCESS: Json = {
  type: 'object',
  required: ['data', 'meta'],
  properties: { data: { type: ['object', 'array', 'null'] }, meta: { type: 'object' } },
};

function describe(operation: ApiOperation): Json {
  const { id, access, path, query, body, status, refusals } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = query.map(({ name, required }) => ({
    name,
    in: 'query',
    required,
    schema: name === 'method' && required ? AUTH_METHOD : (PARAMETERS[name] ?? { type: 'string' }),
  }));
  const statuses = [...new Set([...refusals, ...ALWAYS, ...(inPath.length > 0 ? [404] : [])])].sort();
  return {
    operationId: id,
    tags: [path.split('/')[1] || 'root'],
    ...(access === 'none' && { security: [] }),
    parameters: [...inPath, ...inQuery],
    ...(body && {
      requestBody: {
        required: !body.optional,
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${body.type}` } } },
      },
    }),
    responses: {
      [status]: { description: MEANINGS[status] ?? '', content: answer('success') },
      ...Object.fromEntries(
        statuses.map((each) => [each, { description: MEANINGS[each] ?? '', content: answer('error') }]),
      ),
    },
  };
}

function answer(schema: 'success' | 'error'): Json {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** References point into the document, and what JSON Schema does not know is left out. */
function rewrite(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rewrite);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (key === '$ref') return [[key, String(value).replace('#/$defs/', '#/components/schemas/')]];
      return key === 'anyCase' ? [['enum', value]] : [[key, rewrite(value)]];
    }),
  );
}

// Builds the OpenAPI 3.1 document of an API from the table of operations and the types of bodies. openapi-answers.ts
// describes the answers.

import { BASES } from '#schemas/api/bases.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { type ApiName, type ApiOperation, readOperations, variantsOf } from '#schemas/api/operations.ts';
import { parametersOf } from '#schemas/api/path-template.ts';
import { ANSWER_COMPONENTS, responses } from './openapi-answers.ts';

type Json = Record<string, unknown>;

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

export function openApiDocument(api: ApiName): Json {
  const operations = readOperations().filter((operation) => operation.api === api);
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    path[operation.method.toLowerCase()] = describe(operation);
    paths[operation.path] = path;
  }
  return rewrite({
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
      schemas: { ...BODY_SCHEMAS, ...ANSWER_COMPONENTS },
    },
  }) as Json;
}

function describe(operation: ApiOperation): Json {
  const { id, access, path, query } = operation;
  const inPath = parametersOf(path).map((name) => ({
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
  return {
    operationId: id,
    tags: [path.split('/')[1] || 'root'],
    ...(access === 'none' && { security: [] }),
    parameters: [...inPath, ...inQuery],
    ...requestBody(operation),
    responses: responses(operation),
  };
}

function requestBody({ body, bodyForms }: ApiOperation): Json {
  if (!body && bodyForms.length === 0) return {};
  const json = body && { 'application/json': { schema: bodySchema(body.type) } };
  const others = bodyForms.map((form) => [form, { schema: { type: 'string' } }]);
  return { requestBody: { required: !body?.optional, content: { ...json, ...Object.fromEntries(others) } } };
}

/** A posture check or posture response is one of several variants. */
function bodySchema(type: string): Json {
  if (type === 'postureResponses') return { type: 'array', items: bodySchema('postureResponseCreate') };
  const variants = variantsOf(type);
  if (!variants) return { $ref: `#/$defs/${type}` };
  return {
    oneOf: Array.from(variants, ([typeId, variant]) => ({
      allOf: [{ $ref: `#/$defs/${variant}` }, { properties: { typeId: { const: typeId } } }],
    })),
  };
}

/** Rewrites references to point into the document. */
function rewrite(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(rewrite);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === '$ref' ? [key, String(value).replace('#/$defs/', '#/components/schemas/')] : [key, rewrite(value)],
    ),
  );
}

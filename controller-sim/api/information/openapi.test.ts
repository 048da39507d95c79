// The OpenAPI documents are complete, and match the reference's recorded answers.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { BASES } from '#schemas/api/bases.ts';
import type { ApiName } from '#schemas/api/operations.ts';
import { openApiDocument } from './openapi.ts';

interface Recording {
  seq: number;
  api: string;
  method: string;
  path: string;
  status: number;
  responseBody: unknown;
}
interface Document {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content: Record<string, { schema?: object }> }> }>
  >;
  components: { schemas: Record<string, object> };
}

const { recordings } = JSON.parse(
  readFileSync(new URL('../../../test/vectors/http.json', import.meta.url), 'utf8'),
) as {
  recordings: Recording[];
};
/** The reference rejects large bodies before its API sees them, with a different answer. */
const TOO_LARGE = 413;
/** Values for the placeholders in recordings. */
const VALUES: Readonly<Record<string, unknown>> = {
  '<date>': '2026-01-01T00:00:00.000Z',
  '<verificationToken:ca1>': '00000000-0000-4000-8000-000000000000',
  '<interfaces>': [],
};

/** A recorded body with values for its placeholders. */
function filledIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filledIn);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each)]));
  return VALUES[String(value)] ?? value;
}

function pathOf(document: Document, base: string, path: string): string | undefined {
  const [plain = ''] = path.slice(base.length).split('?');
  const fits = (pattern: string) => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain);
  return Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .find(fits);
}

for (const api of ['management', 'client'] as const satisfies ApiName[]) {
  const document = openApiDocument(api) as unknown as Document;
  const ajv = new Ajv2020({
    strict: false,
    formats: {
      'date-time': (text: string) => !Number.isNaN(Date.parse(text)),
      uuid: /^[0-9a-f-]{36}$/,
      uri: URL.canParse,
      byte: true,
    },
  });
  const local = (schema: object) =>
    JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', 'document#/$defs/')) as object;
  ajv.addSchema({ $id: 'document', $defs: local(document.components.schemas) });

  t.test(`${api}: every reference in the document resolves`, async (t) => {
    const references = new Set(JSON.stringify(document).match(/"\$ref":"[^"]+"/g));
    t.ok(references.size > 50);
    for (const reference of references) {
      const [, name = ''] = /^"\$ref":"#\/components\/schemas\/(\w+)"$/.exec(reference) ?? [];
      t.hasOwnProp(document.components.schemas, name, reference);
    }
  });

  t.test(`${api}: the reference's recorded answers match the document`, async (t) => {
    let count = 0;
    for (const { seq, method, path, status, responseBody } of recordings) {
      const [base] = BASES[api];
      if (
        !path.startsWith(`${base}/`) ||
        status === TOO_LARGE ||
        typeof responseBody !== 'object' ||
        responseBody === null
      )
        continue;
      const pattern = pathOf(document, base, path);
      const operation = pattern === undefined ? undefined : document.paths[pattern]?.[method.toLowerCase()];
      const schema = operation?.responses[status]?.content['application/json']?.schema;
      if (!schema) continue;
      const validate = ajv.compile(local(schema));
      count += 1;
      // The reference sends null for missing metadata.
      const { meta, ...rest } = filledIn(responseBody) as { meta?: unknown };
      if (!validate({ ...rest, meta: meta ?? {} }))
        t.fail(`${seq} ${method} ${path}: ${ajv.errorsText(validate.errors)}`);
    }
    t.ok(count > 40, `${count} answers`);
  });
}

t.test('the document names the bodies that a request may leave out', async (t) => {
  const { paths } = openApiDocument('management') as unknown as {
    paths: Record<string, Record<string, { requestBody?: { required: boolean } }>>;
  };
  const bodies = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      requestBody ? [{ operation: `${method} ${path}`, ...requestBody }] : [],
    ),
  );
  const optional = bodies.filter(({ required }) => !required).map(({ operation }) => operation);
  t.same(optional.sort(), [
    'delete /identities/{id}/service-configs',
    'get /current-identity/mfa/recovery-codes',
    'post /authenticate',
  ]);
  t.ok(bodies.length > 50, `${bodies.length} bodies`);
});

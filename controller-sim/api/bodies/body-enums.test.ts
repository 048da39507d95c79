// Every enumeration in the bodies of the API, violated alone: the cause names the allowed values.

import t from 'tap';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { ApiError } from '../../errors/errors.ts';
import { validateBody } from './body-rules.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

const TYPES = BODY_SCHEMAS as Readonly<Record<string, Schema>>;
const WRONG = 'Foo';
const SAMPLES: Readonly<Record<string, unknown>> = {
  'date-time': '2030-01-01T00:00:00Z',
  uri: 'https://host',
  url: 'https://host',
  uuid: '11111111-2222-3333-4444-555555555555',
  byte: '',
};
/** `typeId` selects the type of a body before its fields are validated. */
const SELECTOR = 'typeId';

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(TYPES[schema.$ref.slice('#/$defs/'.length)] as Schema);

/** The schema with the properties of all its parts. */
function merged(schema: Schema): Schema {
  const own = resolve(schema);
  const parts = (own.allOf ?? []).map(merged);
  const properties = Object.assign({}, ...parts.map((part) => part.properties), own.properties);
  const required = [...parts, own, ...(own.anyOf ?? []).slice(0, 1)].flatMap((part) => part.required ?? []);
  return { ...own, properties, required };
}

/** A valid value with as few fields as possible. */
function sample(schema: Schema): unknown {
  const { type, format, items, properties = {}, required = [], ...rest } = merged(schema);
  if (rest.enum) return rest.enum[0];
  switch (type) {
    case 'string':
      return SAMPLES[format ?? ''] ?? 'a'.repeat(rest.minLength ?? 1);
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return rest.minimum ?? 1;
    case 'array':
      return Array.from({ length: rest.minItems ?? 0 }, () => sample(items as Schema));
    default:
      return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {})]));
  }
}

interface Violation {
  readonly value: unknown;
  readonly path: string;
  readonly allowed: readonly unknown[];
}

/** Bodies that violate one enumeration each. */
function* violations(schema: Schema, path = ''): Generator<Violation> {
  const { items, properties = {}, additionalProperties, ...own } = merged(schema);
  if (own.enum) yield { value: WRONG, path, allowed: own.enum };
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const [name, property] of Object.entries(properties)) {
    if (path === '' && name === SELECTOR) continue;
    for (const each of violations(property, below(name)))
      yield { ...each, value: { ...(sample(schema) as object), [name]: each.value } };
  }
  if (items) for (const each of violations(items, below('0'))) yield { ...each, value: [each.value] };
  if (typeof additionalProperties === 'object')
    for (const each of violations(additionalProperties, below('key'))) yield { ...each, value: { key: each.value } };
}

/** The specification's spelling in capitals is accepted, and not named beside the other one. */
function named(allowed: readonly unknown[]): string {
  const isOther = (value: unknown) => String(value) === String(value).toUpperCase() && allowed.includes('Windows');
  return allowed.filter((value) => value && !isOther(value)).join(' ');
}

function causeOf(type: string, body: unknown): unknown {
  try {
    validateBody(type, body);
    return undefined;
  } catch (error) {
    return error instanceof ApiError ? error.details : error;
  }
}

t.test('a violated enumeration names the allowed values and the value', async (t) => {
  let tried = 0;
  for (const [type, schema] of Object.entries(TYPES))
    for (const { value, path, allowed } of violations(schema)) {
      if (path === '') continue;
      tried += 1;
      const reason = `${path} in body should be one of [${named(allowed)}]`;
      t.same(causeOf(type, value), { field: path, reason, value: WRONG }, `${type} ${path}`);
    }
  t.ok(tried > 40, `${tried} enumerations`);
});

// The walk beside the schema agrees with a validator of JSON Schema, which editors use too: for documents that are made
// from the schema, both find fault with the same places.

import { deepEqual } from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import t from 'tap';
import { pointerParts } from '#lib/json/json-pointer.ts';
import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { FORMATS } from './formats.ts';
import { resolve } from './resolve.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';
import { type ConfigNode, readDocument } from './text/document.ts';
import { dereference } from './text/normalize.ts';

const RUNS = 60;
/** By keyword of the standard: what reads it. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  check: ['type', 'const', 'enum', 'format', 'pattern', 'minLength', 'minItems', 'required', 'additionalProperties'],
  bounds: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  walk: ['$ref', '$defs', 'properties', 'items', 'oneOf', 'discriminator', 'default'],
  people: ['$schema', '$id', 'title', 'description'],
};
const VALID_TEXTS: Readonly<Record<string, readonly string[]>> = {
  duration: ['5s', '250ms', '-1m'],
  'duration-or-ms': ['5s'],
  address: ['tls:a:1', 'wss:[::1]:65535'],
  'host-port': ['a:1'],
  'host-port-required': ['a:1'],
  'host-port-listen': ['a:0'],
  ip: ['::1', '192.0.2.1'],
  'uri-reference': ['a/b?c'],
  cidr: ['100.64.0.1/10'],
  'datagram-address': ['udp:a:1'],
  'proxy-service': ['s:1', 's:1:udp'],
  interface: ['lo'],
};

/** The keywords of the standard alone. `x-as-list` remains, because both forms of such a value match its type. */
const STANDARD = JSON.parse(
  JSON.stringify(ROUTER_SCHEMA, (key, value: unknown) =>
    key.startsWith('x-') && key !== 'x-as-list' ? undefined : value,
  ),
) as ConfigSchema;

const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  strictNumbers: true,
  discriminator: true,
  allowUnionTypes: true,
  formats: Object.fromEntries(
    Object.entries(FORMATS).map(([name, check]) => [name, (text: string) => check(text) === undefined]),
  ),
});
const validate = ajv.compile(STANDARD);

function* within(schema: ConfigSchema): Generator<ConfigSchema> {
  yield schema;
  const { $defs = {}, properties = {}, items, oneOf = [] } = schema;
  for (const each of [...Object.values($defs), ...Object.values(properties), ...(items ? [items] : []), ...oneOf])
    yield* within(each);
}

function placeOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, tag } = params as Readonly<Record<string, string | undefined>>;
  const key = missingProperty ?? additionalProperty ?? tag;
  const steps = pointerParts(instancePath).map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`));
  return [...steps, ...(key === undefined ? [] : [`.${key}`])].join('').slice(1);
}

/** The places with which a validator of the standard finds fault. */
function byValidator(value: unknown): string[] {
  validate(value);
  return [...new Set((validate.errors ?? []).map(placeOf))].toSorted();
}

function byWalk(value: unknown): string[] {
  return [...new Set(resolve(nodeOf(value), STANDARD).findings.map(({ path }) => path))].toSorted();
}

function nodeOf(value: unknown): ConfigNode {
  const text = JSON.stringify({ value }, (_key, each) => (isUnusable(each) ? `UNUSABLE${each}` : each));
  const { root } = readDocument(text.replaceAll('"UNUSABLENaN"', '.nan').replaceAll('"UNUSABLEInfinity"', '.inf'));
  return root?.entries.get('value') as ConfigNode;
}

function isUnusable(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

const ANYTHING = [null, true, 'x', 'edge', '5s', 'tls:a:1', {}, [null], { binding: 'edge' }, ['x', 5], -5, 0.5, 1e9];

/** Values at the edge of valid ones, among others. */
function wrongFor({ minimum = 0, maximum = 0, exclusiveMinimum = 0, exclusiveMaximum = 0 }: ConfigSchema): unknown[] {
  const bounds = [minimum - 1, minimum, maximum, maximum + 1, exclusiveMinimum, exclusiveMaximum];
  return [...ANYTHING, ...bounds, NaN, Infinity, '', 'hostx', []];
}

/** Values for a schema; `mistakes` in a hundred are probably wrong. */
function valueFor(given: ConfigSchema, mistakes: number): fc.Arbitrary<unknown> {
  const schema = dereference(STANDARD, given);
  const valid = validFor(schema, mistakes);
  if (mistakes === 0) return valid;
  return fc.oneof(
    { depthSize: 'max' }, // else the deep ones would rarely be wrong
    { weight: 100 - mistakes, arbitrary: valid },
    { weight: mistakes, arbitrary: fc.constantFrom(...wrongFor(schema)) },
  );
}

function validFor(schema: ConfigSchema, mistakes: number): fc.Arbitrary<unknown> {
  const { enum: allowed, minimum, exclusiveMinimum, maximum, exclusiveMaximum, items = {} } = schema;
  const [type] = [schema.type ?? 'object'].flat();
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((branch) => valueFor(branch, mistakes)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (allowed) return fc.constantFrom(...allowed);
  if (type === 'object') return mapFor(schema, mistakes);
  if (type === 'array') return fc.array(valueFor(items, mistakes), { minLength: schema.minItems ?? 0, maxLength: 3 });
  if (type === 'boolean') return fc.boolean();
  if (type === 'string')
    return fc.constantFrom(...(VALID_TEXTS[schema.format ?? ''] ?? [schema.pattern === undefined ? 'x' : 'host']));
  const min = minimum ?? (exclusiveMinimum ?? -11) + 0.5;
  const max = maximum ?? (exclusiveMaximum === undefined ? min + 1_000 : exclusiveMaximum - 0.25);
  if (type === 'integer') return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
  return fc.constantFrom(min, max);
}

function mapFor({ properties = {}, required = [] }: ConfigSchema, mistakes: number): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([key, property]) => {
    const value = valueFor(property, mistakes);
    const isRequired = required.includes(key);
    if (isRequired && mistakes === 0) return value;
    return fc.option(value, { nil: undefined, depthSize: 'max', freq: isRequired ? Math.ceil(100 / mistakes) : 2 });
  });
  const unknown = fc.option(fc.constantFrom('constructor', '__proto__', 'x', '5'), { depthSize: 'max', freq: 2 });
  return fc.tuple(unknown, ...fields).map(([other, ...values]) => {
    const entries = Object.keys(properties).map((key, index) => [key, values[index]] as const);
    const more = mistakes === 0 || other === null ? [] : [[other, 5] as const];
    return Object.fromEntries([...entries.filter(([, value]) => value !== undefined), ...more]);
  });
}

t.test('every keyword of the schema is served', async (t) => {
  const known = new Set(Object.values(KEYWORDS).flat());
  for (const schema of within(ROUTER_SCHEMA)) {
    const keywords = Object.keys(schema).filter((keyword) => !keyword.startsWith('x-'));
    t.same(
      keywords.filter((keyword) => !known.has(keyword)),
      [],
      `${schema.description}`,
    );
    if (schema.format !== undefined) t.ok(Object.hasOwn(FORMATS, schema.format), schema.format);
    if (schema.$ref !== undefined) t.notSame(dereference(ROUTER_SCHEMA, schema), schema, schema.$ref);
    t.equal(schema.oneOf === undefined, schema.discriminator === undefined, 'the discriminator selects the kind');
  }
});

t.test('every keyword of our own has a reader', async (t) => {
  const root = join(import.meta.dirname, '../..');
  const files = globSync(['agent/config/**/*.ts', 'tools/generate/*.ts'], { cwd: root, exclude: ['**/*.test.ts'] });
  const code = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const own = new Set([...within(ROUTER_SCHEMA)].flatMap(Object.keys).filter((keyword) => keyword.startsWith('x-')));
  t.ok(own.size > 20, `${own.size} keywords`);
  t.same(
    [...own].filter((keyword) => !code.includes(`'${keyword}'`)),
    [],
  );
});

t.test('each value alone is valid for both, or for none', async (t) => {
  const leaves = [...within(STANDARD)].filter(
    ({ properties, items, oneOf, $ref }) => !(properties || items || oneOf || $ref),
  );
  const kinds = new Map(leaves.map(({ description, default: _, ...schema }) => [JSON.stringify(schema), schema]));
  t.ok(kinds.size > 40, `${kinds.size} kinds`);
  for (const schema of kinds.values()) {
    const isValid = ajv.compile(schema);
    for (const value of wrongFor(schema)) {
      const { findings } = resolve(nodeOf(value), schema);
      t.equal(findings.length === 0, isValid(value), `${JSON.stringify(schema)}: ${value}`);
    }
  }
});

t.test('valid documents are valid for both', async (t) => {
  fc.assert(
    fc.property(valueFor(STANDARD, 0), (value) => deepEqual([byWalk(value), byValidator(value)], [[], []])),
    { numRuns: RUNS },
  );
  t.pass(`${RUNS} documents`);
});

t.test('both find fault with the same places', async (t) => {
  const faults = new Set<string>();
  for (const mistakes of [1, 5, 20])
    fc.assert(
      fc.property(mapFor(STANDARD, mistakes), (value) => {
        const expected = byValidator(value);
        for (const place of expected) faults.add(place);
        deepEqual(byWalk(value), expected);
      }),
      { numRuns: RUNS },
    );
  t.ok(faults.size > 300, `${faults.size} different places`);
});

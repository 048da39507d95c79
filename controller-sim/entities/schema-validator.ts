// Schemas of config types (JSON Schema, draft 7), and the data of configs. Users write both, so a schema is limited in
// size, depth and number of parts, and a check in the number of its steps (schema-check.ts): nothing else runs
// meanwhile.

import META_SCHEMA from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import { isMap } from '#lib/json/is-map.ts';
import { isNestedDeeper, MAX_JSON_DEPTH } from '#lib/json/json.ts';
import { loadPatterns } from '#lib/text/linear-pattern.ts';
import { invalid } from '../errors/errors.ts';
import { patternOf, type Schema, SchemaCheck, UncheckedError, type Violation } from './schema-check.ts';

/** Characters of a schema as JSON; the largest built-in one has 6,821. */
const MAX_SCHEMA_BYTES = 128 * 1024;
/** Objects and arrays in a schema; the largest built-in one has 154. */
const MAX_PARTS = 2_000;
/** Characters of all regular expressions in a schema: large ones take 20 ms for 500. The built-in ones have 90. */
const MAX_PATTERNS_LENGTH = 2_048;
/** Steps of a check, which takes at most 0.1 s. The data of a config in a request has at most 1 MiB. */
const MAX_STEPS = 400_000;

/** Keywords with a schema, with a list of them, and with a map of them. */
const ONE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
];
const LISTS = ['allOf', 'anyOf', 'items', 'oneOf'];
const MAPS = ['$defs', 'definitions', 'dependencies', 'patternProperties', 'properties'];

/** Callers await it before creating or changing a config or a config type. */
export const loadSchemaValidator = loadPatterns;

/** Throws ApiError for a schema that is invalid or exceeds a limit. */
export function requireSchema(schema: Schema): void {
  const reject = (why: string) => invalid('schema', `the schema ${why}`, '(too large to print)');
  if (isNestedDeeper(schema)) throw reject(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
  const { length } = JSON.stringify(schema);
  if (length > MAX_SCHEMA_BYTES)
    throw reject(`has ${length} characters as JSON; at most ${MAX_SCHEMA_BYTES} are allowed`);
  const parts = partsOf(schema);
  if (parts > MAX_PARTS) throw reject(`has ${parts} maps and lists; at most ${MAX_PARTS} are allowed`);
  try {
    const resolve = resolverOf(schema);
    const problem = new SchemaCheck(resolverOf(META_SCHEMA), MAX_STEPS);
    if (!problem.isValid(META_SCHEMA, schema)) throw new Error(worded(problem.violation));
    let patternsLength = 0;
    for (const each of schemasIn(schema)) {
      if (typeof each.$ref === 'string') resolve(each.$ref);
      for (const expression of expressionsIn(each)) {
        patternsLength += expression.length;
        if (patternsLength > MAX_PATTERNS_LENGTH)
          throw new Error(`the regular expressions of the schema have more than ${MAX_PATTERNS_LENGTH} characters`);
        patternOf(expression);
      }
    }
  } catch (error) {
    throw invalid('schema', error instanceof Error ? error.message : String(error), schema);
  }
}

/** The first error in the data. Throws ApiError if the check exceeds its limit. */
export function firstError(schema: Schema, data: unknown): Violation | undefined {
  const check = new SchemaCheck(resolverOf(schema), MAX_STEPS);
  try {
    check.isValid(schema, data);
  } catch (error) {
    if (!(error instanceof UncheckedError)) throw error;
    throw invalid('(root)', `(root) is invalid: (root): the data cannot be checked: ${error.message}`, data);
  }
  return check.violation;
}

function worded({ instancePath = '', message = '' }: Partial<Violation> = {}): string {
  return `schema is invalid: data${instancePath} ${message}`;
}

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, each) => count + partsOf(each), 1);
}

/** Finds the schema of a reference: JSON pointers, and `$id` of schemas within. @throws UncheckedError */
function resolverOf(root: Schema): (reference: string) => unknown {
  const known = new Map<string, unknown>([['#', root]]);
  let byId: ReadonlyMap<unknown, Schema> | undefined;
  return (reference) => {
    if (known.has(reference)) return known.get(reference);
    byId ??= new Map([...schemasIn(root)].toReversed().map((schema) => [schema.$id, schema])); // the first of equals
    const found = reference.startsWith('#/') ? pointed(root, reference) : byId.get(reference);
    if (found === undefined) throw new UncheckedError(`can't resolve reference ${reference} from id #`);
    known.set(reference, found);
    return found;
  };
}

function pointed(root: Schema, reference: string): unknown {
  let value: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign of its own
  }
}

/** A schema and the schemas within it. */
function* schemasIn(value: unknown): Generator<Schema, undefined> {
  if (!isMap(value)) return;
  const schema = value as Schema;
  yield schema;
  for (const keyword of ONE) yield* schemasIn(schema[keyword]);
  for (const keyword of [...LISTS, ...MAPS]) {
    const inner = schema[keyword];
    if (typeof inner === 'object' && inner !== null && Array.isArray(inner) === LISTS.includes(keyword))
      for (const each of Object.values(inner)) yield* schemasIn(each);
  }
}

function expressionsIn({ pattern, patternProperties }: Schema): string[] {
  const names =
    typeof patternProperties === 'object' && patternProperties !== null ? Object.keys(patternProperties) : [];
  return typeof pattern === 'string' ? [pattern, ...names] : names;
}

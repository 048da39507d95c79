// Compiles the schemas of config types (JSON Schema, draft 7) and validates data against them. Users write these
// schemas, so size, depth, number of parts, compile time and validation time are limited: they block the event loop.

import { isIPv4, isIPv6 } from 'node:net';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { within } from '#lib/bounded.ts';
import { describeError, InvariantError } from '#lib/errors.ts';
import { isNestedDeeper, MAX_JSON_DEPTH } from '#lib/json/json.ts';
import { invalid } from '../errors/errors.ts';
import { isBuiltInSchema } from './built-in.ts';
import { UNIQUE_ITEMS } from './unique-items.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Characters of a schema as JSON; the largest built-in one has 6,821. */
const MAX_SCHEMA_BYTES = 128 * 1024;
/** Objects and arrays in a schema; the largest built-in one has 154. */
const MAX_PARTS = 2_000;
/** Milliseconds to compile a schema, and to validate data; the largest schema takes a tenth of it. */
const MAX_COMPILE_MS = 1_000;
const MAX_CHECK_MS = 200;
/**
 * Limit on cached validators, in characters of their schemas; a validator takes many times the memory of its schema.
 */
const MAX_CACHED_BYTES = 1024 * 1024;

/** Formats that are checked; others are ignored. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  ipv4: isIPv4,
  ipv6: isIPv6,
  'idn-hostname': () => true, // CIDRs and wildcards are also written here
};

interface Compiled {
  readonly validate: ValidateFunction;
  readonly size: number;
}

interface Compiler {
  readonly Validators: typeof Ajv;
  /**
   * Checks schemas themselves. Each other validator would compile the schema of schemas, ten times the work of its own.
   */
  readonly schemas: Ajv;
}

let compiler: Compiler | undefined;
/** By schema, least recently used first. */
const cache = new Map<Schema, Compiled>();
let cached = 0;

/** Loads the compiler on demand. Callers await it before creating or changing a config or a config type. */
export async function loadSchemaValidator(): Promise<void> {
  if (compiler) return;
  const { Ajv: Validators } = await import('ajv');
  if (compiler) return;
  const schemas = new Validators({ strict: false, logger: false });
  // Compiles the schema of schemas, without a time limit: an aborted compilation would remain in this validator
  // forever.
  schemas.validateSchema({});
  compiler = { Validators, schemas };
}

/** Throws ApiError for a schema that is invalid or exceeds a limit. */
export function demandSchema(schema: Schema): void {
  compile(schema);
}

/** The first error in the data. Throws ApiError if validation exceeds its time limit. */
export function firstError(schema: Schema, data: unknown): Partial<ErrorObject> | undefined {
  const validate = compile(schema);
  try {
    if (within(MAX_CHECK_MS, () => validate(data))) return undefined;
  } catch (error) {
    throw invalid('(root)', `(root) is invalid: (root): the data cannot be validated: ${describeError(error)}`, data);
  }
  return validate.errors?.[0] ?? {};
}

function compile(schema: Schema): ValidateFunction {
  const known = cache.get(schema);
  if (known) {
    cache.delete(schema);
    cache.set(schema, known);
    return known.validate;
  }
  const size = demandSmall(schema);
  const validate = build(schema);
  cache.set(schema, { validate, size });
  cached += size;
  for (const [oldest, { size: freed }] of cache) {
    if (cached <= MAX_CACHED_BYTES) break;
    cache.delete(oldest);
    cached -= freed;
  }
  return validate;
}

/** Returns the characters of the schema. */
function demandSmall(schema: Schema): number {
  const reject = (why: string) => invalid('schema', `the schema ${why}`, '(too large to print)');
  if (isNestedDeeper(schema)) throw reject(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
  const { length } = JSON.stringify(schema);
  if (length > MAX_SCHEMA_BYTES)
    throw reject(`has ${length} characters as JSON; at most ${MAX_SCHEMA_BYTES} are allowed`);
  const parts = partsOf(schema);
  if (parts > MAX_PARTS) throw reject(`has ${parts} maps and lists; at most ${MAX_PARTS} are allowed`);
  return length;
}

function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, each) => count + partsOf(each), 1);
}

function build(schema: Schema): ValidateFunction {
  // The library's additions to the draft are not supported: an asynchronous validator would accept every value.
  const { $schema: _dialect, $id: _id, $async: _later, ...plain } = schema;
  if (!compiler) throw new InvariantError('the schema compiler is not loaded yet');
  const { Validators, schemas } = compiler;
  try {
    const compiled = () => {
      void schemas.validateSchema(plain, true); // synchronous for all but `$async` schemas
      const ajv = new Validators({
        strict: false,
        verbose: true,
        validateSchema: false,
        logger: false,
        inlineRefs: false, // inlining every definition would multiply the code
        code: { optimize: false }, // takes quadratic time
      });
      ajv.removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS);
      for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format);
      return ajv.compile(plain);
    };
    // A slow machine must be able to use ours.
    return isBuiltInSchema(schema) ? compiled() : within(MAX_COMPILE_MS, compiled);
  } catch (error) {
    throw invalid('schema', error instanceof Error ? error.message : String(error), schema);
  }
}

// Validates bodies against the types of schemas/ in two passes, as the reference does. A value of the wrong type
// makes the body unreadable. Otherwise the first broken rule is reported (reference fact: HTTP entities, section 1).

import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { variantsOf } from '#schemas/api/operations.ts';
import { ApiError, invalid } from '../../errors/errors.ts';
import { normalizeBody } from './normalize-body.ts';

type Definitions = Readonly<Record<string, AnySchemaObject>>;

/** The largest whole number below 2^63 that a JavaScript number can be. */
const INT64 = { minimum: -(2 ** 63), maximum: 2 ** 63 - 1_024 };
/** reference fact: integers have 64 bits. */
const RULES = mapValues(BODY_SCHEMAS as Definitions, boundedIntegers);
/** reference fact: a date without a time is accepted. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * reference fact: a text that violates one of these formats makes the body unreadable, as a value of a wrong type does.
 */
const READ_FORMATS: ReadonlySet<string> = new Set(['byte', 'date-time']);

// The schemas are our own: test/house/generated.test.ts validates them against the meta schema, not every start.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, verbose: true, meta: false, validateSchema: false });
// reference fact: an empty text is the start of 1970.
ajv.addFormat('date-time', (text) => text === '' || (DATE_TIME.test(text) && !Number.isNaN(Date.parse(text))));
ajv.addFormat('uri', (text) => URL.canParse(text));
// Clients send an empty text for a missing URL.
ajv.addFormat('url', (text) => text === '' || URL.canParse(text));
ajv.addFormat('uuid', UUID);
ajv.addFormat('byte', BASE64);
ajv.addSchema({ $id: 'shapes', $defs: mapValues(RULES, shapeOf) });
ajv.addSchema({ $id: 'rules', $defs: RULES });

/** Compiled on first use: a simulator needs only a few of them. */
const compiled = new Map<string, ValidateFunction>();

/** Throws ApiError for a body that does not match its type. Unknown fields are ignored. */
export function validateBody(type: string, body: unknown): void {
  if (type === 'postureResponses' && Array.isArray(body)) {
    for (const each of body) validateBody('postureResponseCreate', each);
    return;
  }
  validate(variantOf(type, body), body);
}

function variantOf(type: string, body: unknown): string {
  const variants = variantsOf(type);
  if (!variants || typeof body !== 'object' || body === null) return type;
  const { typeId } = body as { typeId?: unknown };
  if (typeId === undefined || typeId === null || typeId === '')
    throw invalid('typeId', 'typeId in body is required', '');
  const variant = typeof typeId === 'string' ? variants.get(typeId) : undefined;
  if (variant !== undefined) return variant;
  const message = `invalid typeId value: ${JSON.stringify(typeId)}`;
  throw new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message });
}

function validate(type: string, body: unknown): void {
  normalizeBody(RULES, RULES[type], body);
  const rules = validator('rules', type);
  if (rules(body)) return;
  // The body is invalid or contains nulls. The second pass finds out, in the reference's order of messages.
  const shape = validator('shapes', type);
  if (!shape(body)) throw unreadable(shape.errors?.[0]);
  if (!rules(withoutNulls(body))) throw broken(rules.errors?.[0]);
}

function validator(pass: 'shapes' | 'rules', type: string): ValidateFunction {
  const ref = `${pass}#/$defs/${type}`;
  const known = compiled.get(ref);
  if (known) return known;
  const validator = ajv.compile({ $ref: ref });
  compiled.set(ref, validator);
  return validator;
}

function unreadable(error: ErrorObject | undefined): ApiError {
  const field = fieldOf(error);
  const { schema } = error ?? {};
  if (error?.keyword === 'format')
    return new ApiError('COULD_NOT_PARSE_BODY', {
      code: 'UNHANDLED',
      message: `the field ${field} must be of type ${String(schema)}`,
    });
  const types = Array.isArray(schema) ? (schema as string[]).filter((each) => each !== 'null').join(' or ') : 'int64';
  const wanted = error ? types : 'object';
  const where = field === '' ? 'the body must be' : `the field ${field} must be`;
  return new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message: `${where} of type ${wanted}` });
}

function broken(error: ErrorObject | undefined): ApiError {
  const at = fieldOf(error);
  if (!error) return invalid(at, 'the body is not valid', '');
  const { keyword, data: value, schema, params } = error;
  if (keyword === 'required') {
    const name = (params as { missingProperty: string }).missingProperty;
    const field = at === '' ? name : `${at}.${name}`;
    const type = (error.parentSchema?.properties as Definitions | undefined)?.[name];
    return invalid(field, `${field} in body is required`, isList(type) ? '[]' : '<nil>');
  }
  switch (keyword) {
    case 'enum':
      return invalid(at, `${at} in body should be one of [${spelledOnce(schema as string[]).join(' ')}]`, value);
    case 'minimum':
      return invalid(at, `${at} in body should be greater than or equal to ${String(schema)}`, value);
    case 'maximum':
      return invalid(at, `${at} in body should be less than or equal to ${String(schema)}`, value);
    case 'minLength':
      return invalid(at, `${at} in body should be at least ${String(schema)} chars long`, value);
    case 'maxLength':
      return invalid(at, `${at} in body should be at most ${String(schema)} chars long`, value);
    case 'minItems':
      return invalid(
        at,
        `${at} in body should have at least ${String(schema)} items`,
        String((value as unknown[]).length),
      );
    case 'format':
      return invalid(at, `${at} in body must be of type ${String(schema)}: ${JSON.stringify(value)}`, value);
    default:
      return invalid(at, `${at} in body is not valid: ${error.message ?? keyword}`, value);
  }
}

/** The values of an enumeration; of those that differ in case only, the first. */
function spelledOnce(values: readonly string[]): string[] {
  const named = values.filter(Boolean);
  const folded = named.map((each) => each.toLowerCase());
  return named.filter((_, at) => folded.indexOf(folded[at] as string) === at);
}

/** `operatingSystems.0.type` */
function fieldOf(error: ErrorObject | undefined): string {
  return (error?.instancePath ?? '').slice(1).replaceAll('/', '.');
}

function isList(schema: AnySchemaObject | undefined): boolean {
  const target = schema?.$ref ? RULES[String(schema.$ref).slice('#/$defs/'.length)] : schema;
  return target?.type === 'array';
}

/** Keeps only the types, each of which also accepts null: a null means a missing field. */
function shapeOf(schema: AnySchemaObject): AnySchemaObject {
  const { $ref, type, format, properties, items, additionalProperties, allOf } = schema;
  return {
    ...($ref !== undefined && { $ref }),
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(type === 'integer' && INT64),
    ...(READ_FORMATS.has(String(format)) && { format }),
    ...(properties !== undefined && { properties: mapValues(properties as Definitions, shapeOf) }),
    ...(items !== undefined && { items: shapeOf(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: shapeOf(additionalProperties) }),
    ...(allOf !== undefined && { allOf: (allOf as AnySchemaObject[]).map(shapeOf) }),
  };
}

function boundedIntegers(schema: AnySchemaObject): AnySchemaObject {
  const { type, properties, items, additionalProperties, allOf } = schema;
  return {
    ...(type === 'integer' && INT64),
    ...schema,
    ...(properties !== undefined && { properties: mapValues(properties as Definitions, boundedIntegers) }),
    ...(items !== undefined && { items: boundedIntegers(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: boundedIntegers(additionalProperties) }),
    ...(allOf !== undefined && { allOf: (allOf as AnySchemaObject[]).map(boundedIntegers) }),
  };
}

/** Drops nulls, which the rules treat as missing; in lists of texts they are empty. Free-form maps have no rules. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => (each === null ? '' : withoutNulls(each)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (each === null ? [] : [[key, withoutNulls(each)]])),
  );
}

function mapValues(map: Definitions, change: (schema: AnySchemaObject) => AnySchemaObject): Definitions {
  return Object.fromEntries(Object.entries(map).map(([key, each]) => [key, change(each)]));
}

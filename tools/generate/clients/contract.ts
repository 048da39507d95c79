// The operations of the lab API as methods of a client, with the types of all fields, nested ones too, and a sample of
// each. Everything comes from schemas/lab: python.ts, go.ts and java.ts only write it in their languages.

import { ANSWER_SCHEMAS } from '#schemas/api/answer-schemas.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { parametersOf } from '#schemas/api/path-template.ts';

export type FieldType =
  | { readonly is: 'string'; readonly values?: readonly string[] }
  | { readonly is: 'integer' | 'number' | 'boolean' | 'any' }
  | { readonly is: 'list' | 'map'; readonly of: FieldType }
  | { readonly is: 'record'; readonly record: RecordType };

export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly note: string;
  readonly isRequired: boolean;
}

/** An object with named fields. */
export interface RecordType {
  /** With a capital letter. */
  readonly name: string;
  readonly fields: readonly Field[];
}

/** An operation as a method. */
export interface Call {
  /** In camel case. */
  readonly name: string;
  readonly operation: ApiOperation;
  /** Parameters of the path. */
  readonly path: readonly string[];
  /** Fields of the body, the required ones first. */
  readonly body: readonly Field[];
  /** Optional parts of the query. */
  readonly query: readonly Field[];
  /** The body is one document instead of fields. */
  readonly hasDocument: boolean;
  /** Undefined if the answer has no data. */
  readonly answer: FieldType | undefined;
  /** The method fails unless the answer has this field, and it is true. */
  readonly holds?: string;
  /** The method that fails otherwise. */
  readonly strict?: string;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

/** One of the two files of schemas. */
type Definitions = Readonly<Record<string, Schema>>;

export const GENERATED = 'Generated from schemas/lab by `npm run generate`.';
const BODIES = BODY_SCHEMAS as Definitions;
const ANSWERS = ANSWER_SCHEMAS as Definitions;
const REFERENCE = '#/$defs/';
/** All methods, in the order of the table. Throws if the contract has something that clients cannot say. */
export function readCalls(): Call[] {
  return readOperations()
    .filter(({ api, access }) => api === 'lab' && access !== 'none' && access !== 'partial')
    .flatMap((operation) => withLook(callOf(operation)));
}

export function optionalOf({ body, query }: Call): readonly Field[] {
  return [...body.filter(({ isRequired }) => !isRequired), ...query];
}

export function requiredOf({ body }: Call): readonly Field[] {
  return body.filter(({ isRequired }) => isRequired);
}

/** The records within types, those that others need first; each name once. */
export function recordsIn(types: Iterable<FieldType | undefined>): RecordType[] {
  const found = new Map<string, RecordType>();
  const collect = (type: FieldType | undefined): void => {
    if (type?.is === 'list' || type?.is === 'map') collect(type.of);
    if (type?.is !== 'record' || found.has(type.record.name)) return;
    for (const field of type.record.fields) collect(field.type);
    found.set(type.record.name, type.record);
  };
  for (const type of types) collect(type);
  return [...found.values()];
}

/** A value with every field. */
export function sampleOf(type: FieldType, name: string): unknown {
  switch (type.is) {
    case 'string':
      return type.values?.at(-1) ?? `${name} é`;
    case 'integer':
      return 7;
    case 'number':
      return 0.5;
    case 'boolean':
      return true;
    case 'any':
      return { any: [1, 'text', true] };
    case 'list':
      return [sampleOf(type.of, name)];
    case 'map':
      return { key: sampleOf(type.of, name) };
    case 'record':
      return sampleRecord(type.record.fields);
  }
}

export function sampleRecord(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(fields.map(({ name, type }) => [name, sampleOf(type, name)]));
}

/** A request with every field of a call, and an answer with every field. */
export interface Sample {
  readonly method: string;
  /** Encoded, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly answer: unknown;
}

/** Parameters of a path and documents have the same samples in each call. */
export const SAMPLE_DOCUMENT = { services: [{ name: 'wiki' }] };
export const samplePart = (name: string) => `${name}/ é`;

export function sampleCall({ operation, path, body, query, hasDocument, answer }: Call): Sample {
  const place = path.reduce(
    (text, name) => text.replace(`{${name}}`, encodeURIComponent(samplePart(name))),
    operation.path,
  );
  return {
    method: operation.method,
    path: place,
    query: Object.fromEntries(query.map(({ name, type }) => [name, String(sampleOf(type, name))])),
    body: hasDocument ? SAMPLE_DOCUMENT : body.length > 0 ? sampleRecord(body) : null,
    answer: answer === undefined ? {} : sampleOf(answer, 'answer'),
  };
}

export const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const pascal = (name: string) => name.replace(/^[a-z]/, (letter) => letter.toUpperCase());

function callOf(operation: ApiOperation): Call {
  const { id, path, body, query, answer, lab } = operation;
  const name = id.replace('Lab', '');
  const hasDocument = lab?.hasDocument === true;
  const schema = body && !hasDocument ? resolved(BODIES, { $ref: `${REFERENCE}${body.type}` }) : {};
  const fields = fieldsOf(BODIES, schema, pascal(name));
  if (fields.length > 0 && query.length > 0) throw new Error(`${id} has fields of a body and of a query`);
  return {
    name,
    operation,
    path: parametersOf(path),
    body: [...fields].sort((a, b) => Number(b.isRequired) - Number(a.isRequired)),
    query: query.map(({ name: field, type }) => ({ name: field, type: { is: type }, note: '', isRequired: false })),
    hasDocument,
    answer: answer.kind === 'data' ? typeOf(ANSWERS, { $ref: `${REFERENCE}${answer.type}` }, '') : undefined,
  };
}

/** A call, and the one that also returns an answer that does not hold. */
function withLook(call: Call): Call[] {
  const { expects } = call.operation.lab ?? {};
  if (!expects) return [call];
  const { field: holds, look } = expects;
  return [
    { ...call, holds },
    { ...call, name: look, strict: call.name },
  ];
}

function resolved(definitions: Definitions, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  return resolved(definitions, definitions[schema.$ref.slice(REFERENCE.length)] ?? {});
}

/** `owner` is the name of the record that has the fields. */
function fieldsOf(definitions: Definitions, { properties = {}, required = [] }: Schema, owner: string): Field[] {
  return Object.entries(properties).map(([name, schema]) => {
    const { description = '', enum: values } = { ...resolved(definitions, schema), ...schema };
    const note = [description, values && `One of ${values.join(', ')}.`].filter(Boolean).join(' ');
    const type = typeOf(definitions, schema, `${owner}${pascal(name)}`);
    return { name, type, note, isRequired: required.includes(name) };
  });
}

/** `name` is for a record without a name of its own. */
function typeOf(definitions: Definitions, schema: Schema, name: string): FieldType {
  const { $ref, type, items, properties, additionalProperties, enum: values } = schema;
  if ($ref !== undefined) {
    const own = pascal($ref.slice(REFERENCE.length).replace(/^lab(?=[A-Z])/, ''));
    return typeOf(definitions, definitions[$ref.slice(REFERENCE.length)] ?? {}, own);
  }
  const is = typeof type === 'object' ? type.find((each) => each !== 'null') : type;
  switch (is) {
    case 'string':
      return { is: 'string', ...(values && { values: values.map(String) }) };
    case 'integer':
    case 'number':
    case 'boolean':
      return { is };
    case 'array':
      return { is: 'list', of: items ? typeOf(definitions, items, name.replace(/s$/, '')) : { is: 'any' } };
    case 'object':
      if (properties) return { is: 'record', record: { name, fields: fieldsOf(definitions, schema, name) } };
      if (typeof additionalProperties !== 'object') return { is: 'any' };
      return { is: 'map', of: typeOf(definitions, additionalProperties, name) };
    default:
      return { is: 'any' };
  }
}

// Writes the types of request bodies and answers from the schemas of all APIs, and the operations of each API with the
// types of their bodies and answers. The validator and the OpenAPI documents read the same schemas.

import { ANSWER_SCHEMAS } from '#schemas/api/answer-schemas.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { type ApiAnswer, type ApiOperation, readOperations, variantsOf } from '#schemas/api/operations.ts';
import { parametersOf } from '#schemas/api/path-template.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

type Definitions = Readonly<Record<string, Schema>>;

interface Style {
  /** Added to the type of an optional field: clients send null for fields that they leave out. */
  readonly missing: string;
  /** An object without named fields. */
  readonly object: string;
}

const READ: Style = { missing: ' | null | undefined', object: 'Readonly<Record<string, unknown>>' };
const WRITTEN: Style = { missing: '', object: 'object' };
const REFERENCE = '#/$defs/';
const NOT_SERVED = 501;
const HEAD = (source: string) =>
  `// Generated from schemas/api/${source} and schemas/lab by \`npm run generate\`. Do not edit.\n`;

/** Path (relative to the project) → content. */
export function generateApiTypes(): [path: string, content: string][] {
  return [
    ['schemas/api/gen/bodies.ts', typesOf('bodies.json', BODY_SCHEMAS, READ)],
    ['schemas/api/gen/answers.ts', typesOf('answers.json', ANSWER_SCHEMAS, WRITTEN)],
    ['schemas/api/gen/operation-types.ts', operationTypes()],
    ['schemas/api/gen/collections.ts', collections()],
  ];
}

/** One exported type for each definition. */
function typesOf(source: string, definitions: object, style: Style): string {
  const types = Object.entries(definitions as Definitions).map(
    ([name, schema]) => `export type ${typeName(name)} = ${typeOf(withVariants(name, schema), style)};\n`,
  );
  return [HEAD(source), ...types].join('\n');
}

/** A body with variants has the fields of each of them: its `typeId` tells which are present. */
function withVariants(name: string, schema: Schema): Schema {
  const variants = [...(variantsOf(name)?.values() ?? [])];
  if (variants.length === 0) return schema;
  const own = variants.map((variant) => propertiesOf({ $ref: `${REFERENCE}${variant}` }));
  return { ...schema, properties: Object.assign({}, ...own, schema.properties) };
}

function propertiesOf({ $ref, allOf = [], properties }: Schema): NonNullable<Schema['properties']> {
  const schema = $ref === undefined ? undefined : (BODY_SCHEMAS as Definitions)[nameIn($ref)];
  return Object.assign({}, ...[...allOf, ...(schema ? [schema] : [])].map(propertiesOf), properties);
}

function nameIn($ref: string): string {
  return $ref.slice(REFERENCE.length);
}

function typeName(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

function typeOf(schema: Schema, style: Style): string {
  const { $ref, type, items, properties, additionalProperties, allOf, anyOf } = schema;
  if ($ref !== undefined) return typeName(nameIn($ref));
  if (allOf) {
    const parts = properties ? [...allOf, { type, properties, required: schema.required } as Schema] : allOf;
    return parts.map((each) => typeOf(each, style)).join(' & ');
  }
  // The alternatives of an object only say which fields it needs.
  if (anyOf && !properties) return anyOf.map((each) => typeOf(each, style)).join(' | ');
  if (type === undefined) return 'unknown';
  if (typeof type !== 'string')
    return type.map((each) => (each === 'null' ? each : typeOf({ ...schema, type: each }, style))).join(' | ');
  if (schema.enum)
    return schema.enum
      .filter((each) => each !== null)
      .map((each) => `'${String(each)}'`)
      .join(' | ');
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `readonly ${grouped(items ? typeOf(items, style) : 'unknown')}[]`;
    case 'object':
      if (properties) return fieldsOf(schema, style);
      return additionalProperties ? `Readonly<Record<string, ${typeOf(additionalProperties, style)}>>` : style.object;
    default:
      return type;
  }
}

function grouped(type: string): string {
  return /[ |&]/.test(type) ? `(${type})` : type;
}

function fieldsOf({ properties = {}, required = [] }: Schema, style: Style): string {
  const lines = Object.entries(properties).map(([name, property]) => {
    const note = property.description === undefined ? '' : `  /** ${property.description} */\n`;
    const type = typeOf(property, style).replaceAll('\n', '\n  ');
    const missing = type === 'unknown' ? '' : style.missing;
    return `${note}  readonly ${/^\w+$/.test(name) ? name : `'${name}'`}${required.includes(name) ? `: ${type}` : `?: ${type}${missing}`};`;
  });
  return `{\n${lines.join('\n')}\n}`;
}

const OPERATION = `/**
 * \`Answer\` is the data within the envelope, an item of a page, or the whole body, by \`Kind\`. \`Params\` has the names of the path's
 * parameters, \`Query\` those of the query.
 */
export interface Operation<Body, Kind extends AnswerKind, Answer, Params extends string = never, Query extends string = never> {
  readonly body: Body;
  readonly kind: Kind;
  readonly answer: Answer;
  readonly params: Params;
  readonly query: Query;
}

/** As in ApiAnswer; \`other\` if the answer is never JSON. */
export type AnswerKind = 'none' | 'data' | 'page' | 'bare' | 'other';
`;

function operationTypes(): string {
  const operations = readOperations();
  const apis = Map.groupBy(operations, ({ api }) => api);
  const levels = [...new Set(operations.map(({ access }) => access))].sort();
  const maps = [...apis].map(([api, own]) => `  readonly ${api}: {\n${own.map(operationLine).join('\n')}\n  };`);
  return [
    HEAD('operations.tsv'),
    "import type * as A from './answers.ts';\nimport type * as B from './bodies.ts';\n",
    OPERATION,
    `/** By API and id. */\nexport interface Operations {\n${maps.join('\n')}\n}\n`,
    '/** Each is unique within its API. */\nexport type OperationId = { [Api in keyof Operations]: keyof Operations[Api] }[keyof Operations];\n',
    `/** The fields of a request to each function of the lab, or its document. */\nexport interface LabInputs {\n${labInputs(operations)}\n}\n`,
    `/** Who may call an operation; \`operations.ts\` explains them. */\nexport type AccessLevel =\n${levels.map((each) => `  | '${each}'`).join('\n')};\n`,
  ].join('\n');
}

function operationLine(operation: ApiOperation): string {
  const params = union(parametersOf(operation.path));
  const query = union(operation.query.map(({ name }) => name));
  const names = query === 'never' ? (params === 'never' ? [] : [params]) : [params, query];
  const types = [bodyOf(operation), answerOf(operation.answer), ...names].join(', ');
  return `    readonly ${operation.id}: Operation<${types}>;`;
}

const QUERY = { string: 'string', integer: 'number', boolean: 'boolean' } as const;

function labInputs(operations: readonly ApiOperation[]): string {
  return operations
    .flatMap(({ id, path, query, body, lab }) => {
      if (!lab) return [];
      const fields = [
        ...parametersOf(path).map((name) => `readonly ${name}: string`),
        ...query.map(({ name, type }) => `readonly ${name}?: ${QUERY[type]} | undefined`),
        ...(body && lab.hasDocument ? [`readonly document: B.${typeName(body.type)} | string`] : []),
      ];
      const own = fields.length === 0 && body ? [] : [`{ ${fields.join('; ')} }`];
      const types = [...own, ...(body && !lab.hasDocument ? [`B.${typeName(body.type)}`] : [])];
      return [`  readonly ${id}: ${types.join(' & ')};`];
    })
    .join('\n');
}

function union(names: readonly string[]): string {
  return names.length === 0 ? 'never' : names.map((name) => `'${name}'`).join(' | ');
}

type Verb = 'list' | 'create' | 'get' | 'update' | 'patch' | 'delete';

const VERBS: Readonly<Record<string, Verb>> = {
  'GET /': 'list',
  'POST /': 'create',
  'GET /{id}': 'get',
  'PUT /{id}': 'update',
  'PATCH /{id}': 'patch',
  'DELETE /{id}': 'delete',
};

/** The operations of each collection, such as `services`, of the APIs that clients use. */
function collections(): string {
  const lines = (['management', 'client', 'fabric'] as const).map((api) => {
    const found = new Map<string, string[]>();
    for (const { method, path, id, api: own, status, answer } of readOperations()) {
      const [, segment = '', rest = '/'] = /^\/([a-z-]+)(\/\{id\})?$/.exec(path) ?? [];
      const verb = VERBS[`${method} ${rest}`];
      if (
        own !== api ||
        segment === '' ||
        !verb ||
        status === NOT_SERVED ||
        (verb === 'list' && answer.kind !== 'page')
      )
        continue;
      const name = segment.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      found.set(name, [...(found.get(name) ?? []), `${verb}: '${id}'`]);
    }
    const entries = [...found].filter(([, verbs]) => verbs.length > 1);
    return `  ${api}: {\n${entries.map(([name, verbs]) => `    ${name}: { ${verbs.join(', ')} },`).join('\n')}\n  },`;
  });
  return `${HEAD('operations.tsv')}
/** The operations of each collection of entities, by API. */
export const COLLECTIONS = {
${lines.join('\n')}
} as const;
`;
}

/** Bodies of other content types are text. The server does not read the body of an operation that declares none. */
function bodyOf({ body, bodyForms }: ApiOperation): string {
  if (!body) return bodyForms.length > 0 ? 'unknown' : 'undefined';
  return [
    `B.${typeName(body.type)}`,
    ...(bodyForms.length > 0 ? ['string'] : []),
    ...(body.optional ? ['undefined'] : []),
  ].join(' | ');
}

function answerOf({ kind, type }: ApiAnswer): string {
  if (kind === undefined) return "'other', never";
  return `'${kind}', ${kind === 'none' ? 'never' : `A.${typeName(type)}`}`;
}

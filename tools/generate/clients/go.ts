// The lab client for Go: a method for each operation, with structs for its body, its query and its answer.

import {
  type Call,
  type Field,
  type FieldType,
  GENERATED,
  pascal,
  type RecordType,
  recordsIn,
  SAMPLE_DOCUMENT,
  sampleCall,
  sampleOf,
  samplePart,
} from './contract.ts';

const SIMPLE = { string: 'string', integer: 'int', number: 'float64', boolean: 'bool', any: 'any' } as const;
/** A missing one differs from zero. */
const BY_POINTER: ReadonlySet<string> = new Set(['integer', 'number', 'boolean', 'record']);
const INITIALISMS: Readonly<Record<string, string>> = { id: 'ID', url: 'URL' };

export function goLab(calls: readonly Call[]): string {
  const records = recordsIn(calls.flatMap(({ body, answer }) => [...body.map(({ type }) => type), answer]));
  return `// ${GENERATED} DO NOT EDIT.

package edgeweave

import "net/url"
${records.map((record) => structOf(record, `${record.name} is a part of bodies or answers of the lab.`)).join('')}${calls.map(methodOf).join('')}`;
}

function methodOf(call: Call): string {
  const { name, operation, path, body, query, hasDocument, answer, holds, strict } = call;
  const { method } = operation;
  const id = pascal(name);
  const types = pascal(strict ?? name);
  const structs = [
    ...(body.length > 0 && !strict
      ? [structOf({ name: `${id}Body`, fields: body }, `${id}Body is the body of Lab.${id}.`)]
      : []),
    ...(query.length > 0
      ? [structOf({ name: `${id}Query`, fields: query }, `${id}Query is the query of Lab.${id}.`)]
      : []),
  ];
  const parameters = [
    ...path.map((each) => `${each} string`),
    ...(hasDocument ? ['document any'] : body.length > 0 ? [`body ${types}Body`] : []),
    ...(query.length > 0 ? [`query ${id}Query`] : []),
  ];
  const place = operation.path
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `url.PathEscape(${part.slice(1, -1)})` : `"${part}"`))
    .join('+');
  const about = [
    `// ${id} sends ${method} /lab/v1${operation.path}.`,
    ...(holds
      ? ['// The error is a VerificationError, which names the nearest entries, if the answer does not hold.']
      : []),
    ...(strict ? [`// Unlike ${pascal(strict)}, it also returns an answer that does not hold.`] : []),
  ];
  const sent = hasDocument ? 'document' : body.length > 0 ? 'body' : 'nil';
  const called = `lab.call("${method}", ${place}, ${sent}, ${query.length > 0 ? 'query' : 'nil'})`;
  const code = answer
    ? `	return decoded[${typeOf(answer)}](${holds ? `holding("${holds}")(${called})` : called})`
    : `	_, err := ${called}\n	return err`;
  return `${structs.join('')}
${about.join('\n')}
func (lab *Lab) ${id}(${parameters.join(', ')}) ${answer ? `(${typeOf(answer)}, error)` : 'error'} {
${code}
}
`;
}

function typeOf(type: FieldType): string {
  switch (type.is) {
    case 'list':
      return `[]${typeOf(type.of)}`;
    case 'map':
      return `map[string]${typeOf(type.of)}`;
    case 'record':
      return type.record.name;
    default:
      return SIMPLE[type.is];
  }
}

function fieldType({ type, isRequired }: Field): string {
  return `${!isRequired && BY_POINTER.has(type.is) ? '*' : ''}${typeOf(type)}`;
}

const fieldName = (name: string) => INITIALISMS[name] ?? pascal(name);

interface Row {
  readonly note: string;
  readonly name: string;
  readonly type: string;
  readonly tag: string;
}

function structOf({ name, fields }: RecordType, about: string): string {
  const rows = fields.map((field) => ({
    note: field.note,
    name: fieldName(field.name),
    type: fieldType(field),
    tag: `\`json:"${field.name}${field.isRequired ? '' : ',omitempty'}"\``,
  }));
  return `
// ${about}
type ${name} struct {
${aligned(rows).join('\n')}
}
`;
}

/** As gofmt aligns the columns of adjacent fields. */
function aligned(rows: readonly Row[]): string[] {
  const blocks: Row[][] = [];
  for (const row of rows) {
    if (row.note !== '' || blocks.length === 0) blocks.push([row]);
    else blocks.at(-1)?.push(row);
  }
  return blocks.flatMap((block) => {
    const names = Math.max(...block.map(({ name }) => name.length));
    const types = Math.max(...block.map(({ type }) => type.length));
    return block.flatMap(({ note, name, type, tag }) => [
      ...(note === '' ? [] : [`	// ${note}`]),
      `	${name.padEnd(names)} ${type.padEnd(types)} ${tag}`,
    ]);
  });
}

/** A call with every field of each operation, for the test. */
export function goCalls(calls: readonly Call[]): string {
  const rows = calls.map((call) => {
    const { name, path, body, query, hasDocument, answer, strict } = call;
    const args = [
      ...path.map((each) => JSON.stringify(samplePart(each))),
      ...(hasDocument ? [anyLiteral(SAMPLE_DOCUMENT)] : []),
      ...(body.length > 0 ? [structLiteral(`${pascal(strict ?? name)}Body`, body)] : []),
      ...(query.length > 0 ? [structLiteral(`${pascal(name)}Query`, query)] : []),
    ];
    const called = `lab.${pascal(name)}(${args.join(', ')})`;
    const code = answer ? `return ${called}` : `return nil, ${called}`;
    const sample = JSON.stringify(JSON.stringify(sampleCall(call)));
    return `	{
		"${name}",
		func(lab *Lab) (any, error) {
			${code}
		},
		${sample},
		${answer !== undefined},
	},
`;
  });
  return `// ${GENERATED} DO NOT EDIT.

package edgeweave

// Calls with every field of each operation.
var calls = []fieldCall{
${rows.join('')}}
`;
}

function structLiteral(name: string, fields: readonly Field[]): string {
  const parts = fields.map((field) => {
    const { type, isRequired } = field;
    const value = literal(type, field.name);
    return `${fieldName(field.name)}: ${!isRequired && BY_POINTER.has(type.is) ? `pointer(${value})` : value}`;
  });
  return `${name}{${parts.join(', ')}}`;
}

function literal(type: FieldType, name: string): string {
  switch (type.is) {
    case 'list':
      return `${typeOf(type)}{${literal(type.of, name)}}`;
    case 'map':
      return `${typeOf(type)}{"key": ${literal(type.of, name)}}`;
    case 'record':
      return structLiteral(type.record.name, type.record.fields);
    default:
      return anyLiteral(sampleOf(type, name));
  }
}

function anyLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]any{${value.map(anyLiteral).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `map[string]any{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${anyLiteral(each)}`)
    .join(', ')}}`;
}

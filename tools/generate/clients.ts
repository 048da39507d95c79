// Makes the lab clients of other languages from the operations and bodies of the lab API. What starts and stops the
// program is written by hand beside them, in clients/.

import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { BODY_SCHEMAS, type DataSchema, type JsonType } from '../../schemas/api/body-schemas.ts';

interface Field {
  readonly name: string;
  readonly type: JsonType;
  readonly note: string;
}

/** An operation as a method: what it needs, and what it may have. */
interface Call {
  /** In camel case. */
  readonly name: string;
  readonly operation: ApiOperation;
  /** Parameters of the path. */
  readonly path: readonly string[];
  readonly required: readonly Field[];
  readonly optional: readonly Field[];
  /** Optional parts of the query. */
  readonly query: readonly Field[];
  /** The body is one document instead of fields. */
  readonly hasDocument: boolean;
  /** The method fails unless the answer has this field, and it is true. */
  readonly holds?: string;
  /** The method that fails otherwise. */
  readonly strict?: string;
}

/** Bodies whose fields the lab itself checks. */
const DOCUMENTS: ReadonlySet<string> = new Set(['seed']);
const QUERY_TYPES: Readonly<Record<string, JsonType>> = {
  apply: 'boolean',
  credentials: 'boolean',
  prune: 'boolean',
  plan: 'boolean',
  limit: 'integer',
  after: 'integer',
  status: 'integer',
  failed: 'boolean',
};
/**
 * Operations about what a test expects: their methods fail unless the field of the answer is there and true. A method
 * of a second name returns the answer in any case.
 */
const EXPECTATIONS: Readonly<Record<string, { readonly holds: string; readonly look: string }>> = {
  verifyJournal: { holds: 'verified', look: 'checkJournal' },
  waitForEntry: { holds: 'entry', look: 'findEntry' },
};
const GENERATED = 'Generated from schemas/api by `npm run generate`.';

/** Path (relative to the project) → content. */
export function generateClients(): Map<string, string> {
  const calls = readOperations()
    .filter(({ api, access }) => api === 'lab' && access !== 'none' && access !== 'partial')
    .flatMap((operation) => withLook(callOf(operation)));
  return new Map([
    ['clients/python/edgeweave/lab.py', pythonLab(calls)],
    ['clients/go/lab.go', goLab(calls)],
    ['clients/java/src/main/java/edgeweave/Lab.java', javaLab(calls)],
  ]);
}

function callOf(operation: ApiOperation): Call {
  const { id, path, body, query } = operation;
  const hasDocument = body !== undefined && DOCUMENTS.has(body.type);
  const schema = body && !hasDocument ? resolved({ $ref: `#/$defs/${body.type}` }) : {};
  const fields = Object.entries(schema.properties ?? {}).map(([name, each]) => fieldOf(name, each));
  const isRequired = ({ name }: Field) => schema.required?.includes(name) === true;
  return {
    name: id.replace('Lab', ''),
    operation,
    path: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    required: fields.filter(isRequired),
    optional: fields.filter((field) => !isRequired(field)),
    query: query.map(({ name }) => ({ name, type: QUERY_TYPES[name] ?? 'string', note: '' })),
    hasDocument,
  };
}

/** A call, and the one that also returns an answer that does not hold. */
function withLook(call: Call): Call[] {
  const expectation = EXPECTATIONS[call.name];
  if (!expectation) return [call];
  const { holds, look } = expectation;
  return [
    { ...call, holds },
    { ...call, name: look, strict: call.name },
  ];
}

function resolved(schema: DataSchema): DataSchema {
  if (schema.$ref === undefined) return schema;
  return resolved(BODY_SCHEMAS[schema.$ref.replace('#/$defs/', '')] ?? {});
}

function fieldOf(name: string, schema: DataSchema): Field {
  const { type = 'object', description = '', enum: values } = { ...resolved(schema), ...schema };
  return { name, type, note: [description, values && `One of ${values.join(', ')}.`].filter(Boolean).join(' ') };
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name: string) => name.replace(/^[a-z]/, (letter) => letter.toUpperCase());

const PYTHON: Readonly<Record<JsonType, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  array: 'list[str]',
  object: 'Any',
};

function pythonLab(calls: readonly Call[]): string {
  return `"""The lab API of a simulator. ${GENERATED}"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .http import LabHttp


class Lab(LabHttp):
    """Time, snapshots, faults, the journal, services and identities of a running simulator."""
${calls.map(pythonMethod).join('')}`;
}

function pythonMethod(call: Call): string {
  const { name, operation, path, required, optional, query, hasDocument, holds, strict } = call;
  const { method } = operation;
  const needed = [...path.map((each) => `${snake(each)}: str`), ...required.map((each) => pythonParameter(each))];
  const free = [...optional, ...query].map((each) => `${pythonParameter(each)} | None = None`);
  const parameters = [
    'self',
    ...needed,
    ...(hasDocument ? ['document: Any'] : []),
    ...(free.length > 0 ? ['*'] : []),
    ...free,
  ];
  const sent = [...required, ...optional].map((each) => `"${each.name}": ${snake(each.name)}`);
  const asked = query.map((each) => `"${each.name}": ${snake(each.name)}`);
  const place = operation.path.replaceAll(/\{(\w+)\}/g, (_, each: string) => `{quote(${snake(each)}, safe='')}`);
  const args = [
    `"${method}"`,
    `${path.length > 0 ? 'f' : ''}"${place}"`,
    ...(hasDocument ? ['document'] : sent.length > 0 ? [`{${sent.join(', ')}}`] : []),
    ...(asked.length > 0 ? [`query={${asked.join(', ')}}`] : []),
  ];
  const about = [
    `\`${method} /lab/v1${operation.path}\``,
    ...(holds ? ['Raises VerificationError, which names the nearest entries.'] : []),
    ...(strict ? [`Like ${snake(strict)}, but also returns an answer that does not hold.`] : []),
  ];
  const called = `self._call(${args.join(', ')})`;
  return `
    def ${snake(name)}(${parameters.join(', ')}) -> Any:
        """${about.join('. ')}${notes([...required, ...optional], snake, '        ')}"""
        return ${holds ? `self._holds(${called}, "${holds}")` : called}
`;
}

function pythonParameter({ name, type }: Field): string {
  return `${snake(name)}: ${PYTHON[type]}`;
}

function notes(fields: readonly Field[], named: (name: string) => string, indent: string): string {
  const noted = fields.filter(({ note }) => note !== '');
  if (noted.length === 0) return '';
  return `\n\n${noted.map(({ name, note }) => `${indent}${named(name)}: ${note}`).join('\n')}\n${indent}`;
}

const GO: Readonly<Record<JsonType, string>> = {
  string: 'string',
  integer: '*int',
  number: '*float64',
  boolean: '*bool',
  array: '[]string',
  object: 'any',
};

function goLab(calls: readonly Call[]): string {
  return `// ${GENERATED} DO NOT EDIT.

package edgeweave

import "net/url"
${calls.map(goMethod).join('')}`;
}

function goMethod(call: Call): string {
  const { name, operation, path, required, optional, query, hasDocument, holds, strict } = call;
  const { method } = operation;
  const id = pascal(name);
  const types = pascal(strict ?? name);
  const fields = [...required, ...optional];
  const hasStruct = fields.length > 0 && !strict;
  const struct = hasStruct ? goStruct(`${id}Body`, `the body of Lab.${id}`, fields, required) : '';
  const asked = query.length > 0 ? goStruct(`${id}Query`, `the query of Lab.${id}`, query, []) : '';
  const parameters = [
    ...path.map((each) => `${each} string`),
    ...(hasDocument ? ['document any'] : fields.length > 0 ? [`body ${types}Body`] : []),
    ...(query.length > 0 ? [`query ${id}Query`] : []),
  ];
  const place = operation.path
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `url.PathEscape(${part.slice(1, -1)})` : `"${part}"`))
    .join('+');
  const body = hasDocument ? 'document' : fields.length > 0 ? 'body' : 'nil';
  const about = [
    `// ${id} sends ${method} /lab/v1${operation.path}.`,
    ...(holds
      ? ['// The error is a VerificationError, which names the nearest entries, if the answer does not hold.']
      : []),
    ...(strict ? [`// Unlike ${pascal(strict)}, it also returns an answer that does not hold.`] : []),
  ];
  const called = `lab.call("${method}", ${place}, ${body}, ${query.length > 0 ? 'query' : 'nil'})`;
  return `${struct}${asked}
${about.join('\n')}
func (lab *Lab) ${id}(${parameters.join(', ')}) (Data, error) {
	return ${holds ? `holding("${holds}")(${called})` : called}
}
`;
}

function goStruct(name: string, what: string, fields: readonly Field[], required: readonly Field[]): string {
  const rows = fields.map((field) => {
    const isRequired = required.includes(field);
    const type = isRequired ? GO[field.type].replace('*', '') : GO[field.type];
    const tag = `\`json:"${field.name}${isRequired ? '' : ',omitempty'}"\``;
    return { note: field.note, name: pascal(field.name), type, tag };
  });
  return `
// ${name} is ${what}.
type ${name} struct {
${goAligned(rows).join('\n')}
}
`;
}

/** As gofmt aligns the columns of adjacent fields. */
function goAligned(
  rows: readonly { readonly note: string; readonly name: string; readonly type: string; readonly tag: string }[],
) {
  const blocks: (typeof rows)[number][][] = [];
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

const JAVA: Readonly<Record<JsonType, string>> = {
  string: 'String',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
  array: 'List<String>',
  object: 'Object',
};

function javaLab(calls: readonly Call[]): string {
  return `// ${GENERATED}

package edgeweave;

import java.util.Map;
import javax.net.ssl.SSLContext;

/** The lab API: time, snapshots, faults, the journal, services and identities of a running simulator. */
public final class Lab extends LabHttp {
  Lab(String url, String token, SSLContext tls) {
    super(url, token, tls);
  }
${calls.map(javaMethods).join('')}}
`;
}

/** With options, and without. */
function javaMethods(call: Call): string {
  const { name, operation, path, required, optional, query, hasDocument, holds, strict } = call;
  const { method } = operation;
  const needed = [
    ...path.map((each) => ({ declared: `String ${each}`, name: each })),
    ...required.map((each) => ({ declared: `${JAVA[each.type]} ${each.name}`, name: each.name })),
    ...(hasDocument ? [{ declared: 'Object document', name: 'document' }] : []),
  ];
  const free = [...optional, ...query];
  const parameters = [
    ...needed.map(({ declared }) => declared),
    ...(free.length > 0 ? ['Map<String, ?> options'] : []),
  ];
  const place = operation.path
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `quoted(${part.slice(1, -1)})` : `"${part}"`))
    .join(' + ');
  const fields = required.map((each) => `"${each.name}", ${each.name}`);
  const sent = `with(${[optional.length > 0 ? 'options' : 'Map.of()', ...fields].join(', ')})`;
  const body = hasDocument ? 'document' : required.length + optional.length > 0 ? sent : 'null';
  const notes = free.map((each) => `   * <li>${each.name}${each.note === '' ? '' : `: ${each.note}`}`).join('\n');
  const text = free.length === 0 ? '' : `\n   * Options:\n   * <ul>\n${notes}\n   * </ul>`;
  const about = [
    `${method} /lab/v1${operation.path}`,
    ...(holds ? ['@throws VerificationError that names the nearest entries, if the answer does not hold'] : []),
    ...(strict ? [`Like ${strict}, but also returns an answer that does not hold.`] : []),
  ];
  const called = `call("${method}", ${place}, ${body}, ${query.length > 0 ? 'options' : 'null'})`;
  const short = `
  /** Without options. */
  public Object ${name}(${needed.map(({ declared }) => declared).join(', ')}) {
    return ${name}(${[...needed.map((each) => each.name), 'Map.of()'].join(', ')});
  }
`;
  return `
  /**
   * ${[about[0], ...about.slice(1)].join('. ')}${text}
   */
  public Object ${name}(${parameters.join(', ')}) {
    return ${holds ? `holding(${called}, "${holds}")` : called};
  }
${free.length > 0 ? short : ''}`;
}

// The lab client for Python, with types for checkers and editors: at run time bodies and answers are dictionaries.

import {
  type Call,
  type Field,
  type FieldType,
  GENERATED,
  optionalOf,
  type RecordType,
  recordsIn,
  requiredOf,
  SAMPLE_DOCUMENT,
  sampleCall,
  sampleOf,
  samplePart,
  snake,
} from './contract.ts';

const SIMPLE = { integer: 'int', number: 'float', boolean: 'bool', any: 'Any' } as const;

export function pythonLab(calls: readonly Call[]): string {
  const records = recordsIn(calls.flatMap(({ body, answer }) => [...body.map(({ type }) => type), answer]));
  return `"""The lab API of a simulator. ${GENERATED}"""

from __future__ import annotations

from typing import Any, Literal, TypedDict
from urllib.parse import quote

from .http import LabHttp

${records.map(recordOf).join('')}
class Lab(LabHttp):
    """Time, snapshots, faults, the journal, services and identities of a running simulator."""
${calls.map(methodOf).join('')}`;
}

/** A class of its own has the required fields: Python 3.9 has no other way to say which are. */
function recordOf({ name, fields }: RecordType): string {
  const required = fields.filter(({ isRequired }) => isRequired);
  const optional = fields.filter(({ isRequired }) => !isRequired);
  const typed = (kind: string, own: readonly Field[]) =>
    `
class ${kind}:
${own.map((field) => `${field.note ? `    #: ${field.note}\n` : ''}    ${field.name}: ${typeOf(field.type)}\n`).join('')}
`;
  if (optional.length === 0) return typed(`${name}(TypedDict)`, required);
  if (required.length === 0) return typed(`${name}(TypedDict, total=False)`, optional);
  return typed(`_${name}(TypedDict)`, required) + typed(`${name}(_${name}, total=False)`, optional);
}

function typeOf(type: FieldType): string {
  switch (type.is) {
    case 'string':
      return type.values ? `Literal[${type.values.map((each) => `"${each}"`).join(', ')}]` : 'str';
    case 'list':
      return `list[${typeOf(type.of)}]`;
    case 'map':
      return `dict[str, ${typeOf(type.of)}]`;
    case 'record':
      return type.record.name;
    default:
      return SIMPLE[type.is];
  }
}

function methodOf(call: Call): string {
  const { name, operation, path, body, query, hasDocument, answer, holds, strict } = call;
  const { method } = operation;
  const needed = [...path.map((each) => `${snake(each)}: str`), ...requiredOf(call).map(parameter)];
  const free = optionalOf(call).map((each) => `${parameter(each)} | None = None`);
  const parameters = [
    'self',
    ...needed,
    ...(hasDocument ? ['document: Any'] : []),
    ...(free.length > 0 ? ['*'] : []),
    ...free,
  ];
  const fields = (own: readonly Field[]) => own.map((each) => `"${each.name}": ${snake(each.name)}`).join(', ');
  const place = operation.path.replaceAll(/\{(\w+)\}/g, (_, each: string) => `{quote(${snake(each)}, safe='')}`);
  const args = [
    `"${method}"`,
    `${path.length > 0 ? 'f' : ''}"${place}"`,
    ...(hasDocument ? ['document'] : body.length > 0 ? [`{${fields(body)}}`] : []),
    ...(query.length > 0 ? [`query={${fields(query)}}`] : []),
  ];
  const about = [
    `\`${method} /lab/v1${operation.path}\``,
    ...(holds ? ['Raises VerificationError, which names the nearest entries.'] : []),
    ...(strict ? [`Like ${snake(strict)}, but also returns an answer that does not hold.`] : []),
  ];
  const called = `self._call(${args.join(', ')})`;
  return `
    def ${snake(name)}(${parameters.join(', ')}) -> ${answer ? typeOf(answer) : 'None'}:
        """${about.join('. ')}${notes(body)}"""
        ${answer ? `return ${holds ? `self._holds(${called}, "${holds}")` : called}` : called}
`;
}

function parameter({ name, type }: Field): string {
  return `${snake(name)}: ${typeOf(type)}`;
}

function notes(fields: readonly Field[]): string {
  const noted = fields.filter(({ note }) => note !== '');
  if (noted.length === 0) return '';
  const indent = '        ';
  return `\n\n${noted.map(({ name, note }) => `${indent}${snake(name)}: ${note}`).join('\n')}\n${indent}`;
}

/** A call with every field of each operation, for the test. */
export function pythonCalls(calls: readonly Call[]): string {
  const rows = calls.map((call) => {
    const args = [
      ...call.path.map((each) => literal(samplePart(each))),
      ...(call.hasDocument ? [literal(SAMPLE_DOCUMENT)] : []),
      ...[...call.body, ...call.query].map(
        ({ name, type, isRequired }) => `${isRequired ? '' : `${snake(name)}=`}${literal(sampleOf(type, name))}`,
      ),
    ];
    return `    (lambda lab: lab.${snake(call.name)}(${args.join(', ')}), ${literal(sampleCall(call))}, ${call.answer ? 'True' : 'False'}),\n`;
  });
  return `"""A call with every field of each operation of the lab. ${GENERATED}"""

#: A call, its request and the data of its answer, whether it returns the data.
CALLS = [
${rows.join('')}]
`;
}

function literal(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`)
    .join(', ')}}`;
}

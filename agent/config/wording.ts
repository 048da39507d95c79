// Words in findings of the schema: types, bounds, values, and remedies for a value of the wrong type.

import { suggest } from '#lib/text/suggestion.ts';
import { parseDuration } from '#lib/time/duration.ts';
import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { FORMAT_NAMES, FORMATS } from './formats.ts';
import type { ConfigNode } from './text/document.ts';

export function oneOf(allowed: readonly string[], found: unknown): string {
  const meant = typeof found === 'string' ? suggest(found, allowed) : undefined;
  return `one of ${allowed.filter((each) => each !== '').join(', ')}${meant ? `; did you mean ${meant}?` : ''}`;
}

/** Remedy for a value of the wrong type. */
export function typeHint(schema: ConfigSchema, node: ConfigNode): string {
  const value = node.kind === 'scalar' ? node.scalar : undefined;
  if (typeof value === 'number' && (schema.type === 'integer' || schema.type === 'number'))
    return numberHint(schema, value);
  if (schema.type === 'integer' && typeof value === 'string') return wholeNumberHint(schema, value, node.path);
  if (schema.format === 'duration' && typeof value === 'number')
    return Number.isFinite(value) ? `write the unit: ${value}s or ${value}ms` : '';
  if (node.fromEnvironment && schema.type !== 'string') return 'values from the environment are always strings';
  if (schema.type === 'string' && typeof value === 'boolean')
    return 'put quotes around it: unquoted yes, no, on, off, true and false are booleans';
  if (schema.type === 'string' && typeof value === 'number') return quotesHint(schema, node.literal || String(value));
  return value === null ? nothingHint(schema, node.path) : '';
}

function nothingHint({ type }: ConfigSchema, path: string): string {
  if (type === 'object' && path !== '') return `indent the keys that belong to ${path}`;
  return type === 'array' ? '' : `write a value, or remove the ${path.endsWith(']') ? 'entry' : 'key'}`;
}

/** Quotes do not help if the text would be invalid, for example a port without its host. */
function quotesHint({ format = '' }: ConfigSchema, literal: string): string {
  if (FORMATS[format]?.(literal) === undefined) return 'put quotes around it';
  const isPort = format.startsWith('host-port') && FORMATS[format]?.(`127.0.0.1:${literal}`) === undefined;
  return isPort ? `write the host too, for example 127.0.0.1:${literal}` : '';
}

/** Converts a duration to the fixed unit of a key, which its description or its name states. */
function wholeNumberHint({ description = '' }: ConfigSchema, data: string, key: string): string {
  const named = /(?:Ms|_ms)$/.test(key) ? 'milliseconds' : key.endsWith('Seconds') ? 'seconds' : undefined;
  const unit = /in (milliseconds|seconds)/.exec(description)?.[1] ?? named;
  if (unit === undefined || FORMATS.duration?.(data) !== undefined) return '';
  const value = parseDuration(data) / (unit === 'seconds' ? 1_000 : 1);
  return Number.isSafeInteger(value) ? `the unit is ${unit}: write ${value}` : '';
}

/** Hint for a value that is not a number, or not an integer, where one is expected. */
function numberHint(schema: ConfigSchema, data: number): string {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (schema.type === 'integer' && Number.isFinite(data))
    return `write ${Math.min(maximum, Math.max(minimum, Math.trunc(data)))}`;
  const bounds = boundsInWords(schema);
  if (bounds !== '') return bounds;
  return schema.default === undefined ? '' : `the default is ${schema.default}`;
}

export function boundsInWords(schema: ConfigSchema): string {
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  const min = schema.minimum === undefined ? `more than ${low}` : `at least ${low}`;
  const max = schema.maximum === undefined ? `less than ${high}` : `at most ${high}`;
  if (schema.minimum !== undefined && schema.maximum !== undefined) return `allowed are ${low} to ${high}`;
  if (low !== undefined && high !== undefined) return `allowed is ${min} and ${max}`;
  if (low !== undefined) return `allowed is ${min}`;
  return high === undefined ? '' : `allowed is ${max}`;
}

export function typeInWords(schema: ConfigSchema): string {
  if (schema.format && FORMAT_NAMES[schema.format]) return FORMAT_NAMES[schema.format] as string;
  return [schema.type ?? 'a value']
    .flat()
    .map((type) => WORDS[type] ?? type)
    .join(' or ');
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

/** @param literal The value as written. */
export function foundInWords({ kind, scalar }: ConfigNode, literal: string): string {
  if (kind !== 'scalar') return kind === 'map' ? 'a map' : 'a list';
  if (scalar === null) return 'nothing';
  // YAML 1.1 reads yes, no, on and off as booleans: the author meant something else.
  if (typeof scalar === 'boolean')
    return /^(true|false)$/i.test(literal) ? literal : `${literal}, which means ${scalar}`;
  if (typeof scalar === 'string') return `the string ${literal}`;
  return Number.isFinite(scalar) ? `the number ${literal}` : literal; // .nan and .inf have no better description
}

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

// Walks the tree once, beside the schema: checks each value (schema-check.ts, and here our own keywords: `x-min`,
// `x-float`, `x-clamp`, …), fills in defaults, converts durations to milliseconds, parses addresses, and records the
// source of each value.

import { parseAddress, splitHostPort } from '#lib/net/address.ts';
import { formatDuration, parseDuration } from '#lib/time/duration.ts';
import { boundsText, type ConfigSchema } from '../../schemas/config/schema.ts';
import { type Finding, type FindingCode, finding, type Position, type Severity } from './finding.ts';
import { FORMATS } from './formats.ts';
import { checkValue, type Verdict } from './schema-check.ts';
import type { ConfigNode } from './text/document.ts';
import { branchFor, dereference } from './text/normalize.ts';
import { HIDDEN, type Secret, visibleValue } from './text/secret.ts';

export type ValueSource = 'given' | 'default' | 'environment';

export interface ResolvedValue {
  readonly path: string;
  /** As written in a file; secrets are hidden. */
  readonly written: unknown;
  readonly source: ValueSource;
}

export interface Resolution {
  readonly value: unknown;
  readonly values: ResolvedValue[];
  readonly secrets: Secret[];
  readonly findings: Finding[];
}

/** The values for a tree, and every finding of the schema. */
export function resolve(root: ConfigNode, schema: ConfigSchema): Resolution {
  const resolver = new Resolver(schema);
  const value = resolver.resolve(root, schema, '', root.at);
  return { value, values: resolver.values, secrets: resolver.secrets, findings: resolver.findings };
}

/** The values of a schema without any input. */
export function defaultsOf(root: ConfigSchema, schema: ConfigSchema): unknown {
  const at = { line: 1, column: 1 };
  return new Resolver(root).resolve(undefined, { ...schema, 'x-default-object': true }, '', at);
}

class Resolver {
  readonly values: ResolvedValue[] = [];
  readonly secrets: Secret[] = [];
  readonly findings: Finding[] = [];
  readonly #root: ConfigSchema;

  constructor(root: ConfigSchema) {
    this.#root = root;
  }

  /** @param before The entry before this one, in a list. */
  resolve(
    given: ConfigNode | undefined,
    reference: ConfigSchema,
    path: string,
    at: Position,
    before?: ConfigNode,
  ): unknown {
    const schema = dereference(this.#root, reference);
    const verdict = given ? checkValue({ node: given, schema, path, before }, this.findings) : 'valid';
    const node = verdict === 'ignored' ? undefined : given;
    if (node) this.#aboutKey(node, schema, path, verdict);
    if (schema.oneOf) {
      const branch = node && branchFor(schema, node);
      return branch ? this.resolve(node, branch, path, at, before) : undefined;
    }
    if (schema['x-as-list'] || schema.type === 'array') return this.#list(node, schema, path, at);
    if (schema.type === 'object') return this.#map(node, schema, path, at);
    return this.#scalar(node, schema, path, verdict);
  }

  #map(node: ConfigNode | undefined, schema: ConfigSchema, path: string, at: Position): unknown {
    if (!node && !schema['x-default-object']) return undefined;
    if (node && node.kind !== 'map') return undefined;
    if (node) this.#aboutMap(node, schema, path);
    const result: Record<string, unknown> = {};
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const value = this.resolve(
        node?.entries.get(key),
        property,
        path === '' ? key : `${path}.${key}`,
        node?.at ?? at,
      );
      if (value !== undefined) result[key] = value;
    }
    if (node) this.#useOlderForms(result, node, schema, path);
    return result;
  }

  #useOlderForms(result: Record<string, unknown>, node: ConfigNode, schema: ConfigSchema, path: string): void {
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const newer = property['x-milliseconds-of'];
      const older = node.entries.get(key);
      const milliseconds = result[key];
      if (newer === undefined || typeof milliseconds !== 'number' || !older || node.entries.has(newer)) continue;
      result[newer] = milliseconds;
      // Among the latest ones: a search from the front would pass those of all other listeners.
      const at = this.values.findLastIndex((value) => value.path === `${path}.${newer}`);
      const source = older.fromEnvironment ? 'environment' : 'given';
      this.values[at] = { path: `${path}.${newer}`, written: formatDuration(milliseconds), source };
    }
  }

  #list(node: ConfigNode | undefined, schema: ConfigSchema, path: string, at: Position): unknown {
    if (node?.kind !== 'list') {
      if (schema.default === undefined) return undefined;
      this.values.push({ path, written: schema.default, source: 'default' });
      return [...(schema.default as unknown[])];
    }
    const items = schema.items ?? {};
    if (node.items.length === 0 && schema['x-empty-list'] === 'default') {
      const used = [schema.default].flat().join(', ');
      this.#add('warning', 'CFG-VALUE', path, node.at, `the list is empty, ${used} is used`, 'add an entry');
      return this.#list(undefined, schema, path, at);
    }
    if (node.items.length === 0) this.values.push({ path, written: [], source: 'given' });
    return node.items
      .map((item, index) => this.resolve(item, items, `${path}[${index}]`, at, node.items[index - 1]))
      .filter((value) => value !== undefined);
  }

  #scalar(node: ConfigNode | undefined, schema: ConfigSchema, path: string, verdict: Verdict): unknown {
    const written = node?.kind === 'scalar' ? this.#usable(node, schema, path) : schema.default;
    if (written === undefined || written === null) return undefined;
    if (node?.kind === 'scalar' && verdict === 'valid') this.#aboutScalar(node, schema, path);
    const source: ValueSource = node === undefined ? 'default' : node.fromEnvironment ? 'environment' : 'given';
    const visible = visibleValue(written, schema);
    if (visible === HIDDEN) this.secrets.push({ path, texts: [String(written), node?.literal ?? ''] });
    this.values.push({ path, written: visible, source });
    return convert(written, schema);
  }

  #aboutKey(node: ConfigNode, schema: ConfigSchema, path: string, verdict: Verdict): void {
    if (schema['x-deprecated'])
      this.#add('warning', 'CFG-DEPRECATED', path, node.keyAt, 'this key is deprecated', schema['x-deprecated']);
    if (schema['x-ignored'] && verdict === 'valid')
      this.#add('warning', 'CFG-IGNORED', path, node.keyAt, 'this key is accepted for compatibility and has no effect');
    if (schema['x-unsupported'])
      this.#add('warning', 'CFG-UNSUPPORTED', path, node.keyAt, 'this is not supported and is ignored');
  }

  #aboutMap(node: ConfigNode, schema: ConfigSchema, path: string): void {
    for (const [key, why] of Object.entries(schema['x-portability-without'] ?? {})) {
      if (!node.entries.has(key)) this.#rejectedByReference(path, node.at, why, `set ${key}`);
    }
    for (const key of schema['x-required-together'] ?? []) {
      if (!node.entries.has(key))
        this.#add(
          'error',
          'CFG-MISSING',
          `${path}.${key}`,
          node.at,
          `${key} is missing`,
          `${path} requires all of ${schema['x-required-together']?.join(', ')}`,
        );
    }
  }

  #aboutScalar(node: ConfigNode, schema: ConfigSchema, path: string): void {
    const value = node.scalar;
    if (typeof value === 'number') {
      if (schema.type === 'integer' && node.isFloat)
        this.#add(
          'error',
          'CFG-TYPE',
          path,
          node.at,
          `expected a whole number, found ${node.literal}`,
          Number.isSafeInteger(Math.trunc(value)) ? `write ${Math.trunc(value)}` : 'it is too large',
        );
      if (schema['x-float'] && !node.isFloat)
        this.#add(
          'error',
          'CFG-TYPE',
          path,
          node.at,
          `expected a number with a decimal point, found ${value}`,
          `write ${value}.0; the reference does not start with a whole number here`,
        );
      const min = schema['x-portability-min'];
      if (min !== undefined && value < min)
        this.#rejectedByReference(path, node.at, `the reference rejects values below ${min}`);
    }
    if (typeof value === 'string') this.#aboutText(node, value, schema, path);
  }

  #aboutText(node: ConfigNode, value: string, schema: ConfigSchema, path: string): void {
    if (node.unset?.length && hostOf(value, schema.format) === '')
      this.#add(
        'error',
        'CFG-ENVIRONMENT',
        path,
        node.at,
        `${value} has no host: the environment variable ${node.unset.join(', ')} is not set or empty`,
        'set it, or write the host in the file',
      );
    if (!schema.format?.startsWith('duration') || FORMATS.duration?.(value) !== undefined) return;
    const milliseconds = parseDuration(value);
    const { 'x-min': min, 'x-max': max } = schema;
    const tooShort = min !== undefined && milliseconds < parseDuration(min);
    const tooLong = max !== undefined && milliseconds > parseDuration(max);
    if (tooShort || tooLong)
      this.#add(
        'error',
        'CFG-RANGE',
        path,
        node.at,
        `${value} is out of bounds`,
        max === undefined ? `allowed is at least ${min}` : `allowed are ${min} to ${max}`,
      );
    if (schema['x-positive'] && milliseconds <= 0)
      this.#add('error', 'CFG-RANGE', path, node.at, `${value} is out of bounds`, 'must be positive');
  }

  /** The value, or the one that the router uses instead of a value out of bounds. */
  #usable(node: ConfigNode, schema: ConfigSchema, path: string): unknown {
    const outside = schema['x-default-outside'];
    const bounds = schema['x-clamp'] ?? outside;
    if (!bounds) return node.scalar;
    const isDuration = schema.format === 'duration';
    if (isDuration && FORMATS.duration?.(String(node.scalar)) !== undefined) return node.scalar;
    const amount = (value: unknown) => (isDuration ? parseDuration(String(value)) : Number(value));
    const [min, max] = bounds;
    const value = amount(node.scalar);
    if (schema['x-off'] && value <= 0) return node.scalar;
    const within = Math.min(
      max === null ? Infinity : amount(max),
      Math.max(min === null ? -Infinity : amount(min), value),
    );
    if (within === value || Number.isNaN(value)) return node.scalar;
    const nearest = isDuration ? formatDuration(within) : within;
    const used = outside ? schema.default : nearest;
    const message = `${node.scalar} is out of bounds, ${used} is used`;
    this.#add(
      'warning',
      'CFG-RANGE',
      path,
      node.at,
      message,
      `allowed ${bounds.includes(null) ? 'is' : 'are'} ${boundsText(bounds)}`,
    );
    return used;
  }

  #add(severity: Severity, code: FindingCode, path: string, at: Position, message: string, hint = ''): void {
    this.findings.push(finding({ severity, code, path, at, message, hint }));
  }

  #rejectedByReference(path: string, at: Position, message: string, hint = ''): void {
    this.findings.push(
      finding({ severity: 'warning', code: 'CFG-PORTABILITY', path, at, message, hint, rejectedByReference: true }),
    );
  }
}

/** The host of an address; undefined for a text that is not an address. */
function hostOf(value: string, format: string | undefined): string | undefined {
  if (format === undefined || FORMATS[format]?.(value) !== undefined) return undefined;
  if (format === 'address') return parseAddress(value).host;
  if (format.startsWith('host-port')) return splitHostPort(value).host;
  return format === 'datagram-address' ? /^\w+:(.*?)(:\d*)?$/.exec(value)?.[1] : undefined;
}

/** Texts that the schema check rejected stay unchanged: an invalid configuration is never used. */
function convert(written: unknown, schema: ConfigSchema): unknown {
  const { format } = schema;
  if (format === undefined || typeof written !== 'string' || FORMATS[format]?.(written) !== undefined) return written;
  if (format.startsWith('duration')) return parseDuration(written);
  if (format === 'address') return parseAddress(written);
  if (format.startsWith('host-port')) return splitHostPort(written);
  return written;
}

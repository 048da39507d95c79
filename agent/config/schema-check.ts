// Validates plain values against the JSON Schema and turns the errors of Ajv into findings. Rules that the schema
// cannot express follow in resolve.ts and checks/.

import type { ErrorObject, ValidateFunction } from 'ajv';
import { pointerParts, valueAt } from '#lib/json/json-pointer.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { suggest } from '#lib/text/suggestion.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { makeValidator } from '#schemas/config/gen/validator.js';
import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { type Finding, type FindingCode, finding } from './finding.ts';
import { FORMAT_NAMES, FORMATS, meantAddress } from './formats.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';
import { type ConfigNode, nearestNode } from './text/document.ts';
import { meantPlace } from './text/misplaced.ts';
import { HIDDEN } from './text/secret.ts';

export interface SchemaVerdict {
  readonly findings: Finding[];
  /** Paths whose value is ignored in favor of the default. */
  readonly ignored: ReadonlySet<string>;
  /** Paths whose value is rejected; further findings about them would be redundant. */
  readonly rejected: ReadonlySet<string>;
}

/** An error of the validator, with the value and the part of the schema that it is about. */
interface Violation extends ErrorObject {
  readonly parentSchema: ConfigSchema;
}

const validate: ValidateFunction = makeValidator(
  ROUTER_SCHEMA,
  Object.fromEntries(Object.entries(FORMATS).map(([name, check]) => [name, (text) => check(text) === undefined])),
);

/** Findings of the schema for a tree with the plain value `value`. */
export function checkSchema(root: ConfigNode, value: unknown): SchemaVerdict {
  const findings: Finding[] = [];
  const ignored = new Set<string>();
  if (validate(value)) return { findings, ignored, rejected: new Set() };
  for (const each of validate.errors ?? []) {
    if (SILENT.has(each.keyword)) continue;
    const error = located(each, value);
    const path = toPath(error.instancePath);
    const lenient = leniency(error);
    if (lenient !== undefined) ignored.add(lenient);
    const worded = withVariables(error, word(error, root, path), root);
    findings.push(
      lenient === undefined ? worded : { ...worded, severity: 'warning', hint: worded.hint || consequence(lenient) },
    );
  }
  const rejected = new Set(findings.filter(({ severity }) => severity === 'error').map(({ path }) => path));
  return { findings: withoutEchoes(findings), ignored, rejected };
}

/** Compound keywords: their inner failures are reported separately. */
const SILENT = new Set(['oneOf', 'if', 'allOf', 'anyOf']);

/** Adds what `instancePath` and `schemaPath` point to. The last part of `schemaPath` is the keyword. */
function located(error: ErrorObject, value: unknown): Violation {
  const schemaPath = error.schemaPath.slice(1, error.schemaPath.lastIndexOf('/'));
  return {
    ...error,
    data: valueAt(value, error.instancePath),
    parentSchema: valueAt(ROUTER_SCHEMA, schemaPath) as ConfigSchema,
  };
}

function consequence(ignored: string): string {
  return ignored.endsWith(']') ? 'this entry is ignored' : 'the default is used';
}

/** The path whose value is ignored if the schema is lenient there, else undefined. */
function leniency(error: Violation): string | undefined {
  const schema = error.parentSchema;
  if (schema['x-lenient'] !== 'ignored' || !['type', 'minimum', 'maximum', 'format'].includes(error.keyword))
    return undefined;
  // Bounds still apply to values whose wrong type is ignored.
  const isFreeForm = schema['x-ignored'] === true && error.keyword === 'format';
  if (error.keyword !== 'type' && !schema['x-clamp'] && !isFreeForm) return undefined;
  return toPath(error.instancePath);
}

function word(error: Violation, root: ConfigNode, path: string): Finding {
  const schema = error.parentSchema;
  const node = nearestNode(root, path);
  const make = (code: FindingCode, message: string, hint = '', severity: Finding['severity'] = 'error') =>
    finding({ severity, code, path, at: node.at, message, hint });
  // Before the value is shown: it is the whole map, which may have thousands of such mistakes.
  if (error.keyword === 'additionalProperties') return unknownKey(error, schema, root, path);
  if (error.keyword === 'required') return missingKey(error, root, path, schema);
  const number = node.path === path && node.literal !== '' ? node.literal : show(error.data);
  const literal = schema['x-secret'] ? HIDDEN : number;
  switch (error.keyword) {
    case 'type':
      if (path === 'v') return unsupportedVersion(make, literal);
      return make(
        'CFG-TYPE',
        `expected ${typeInWords(schema)}, found ${foundInWords(error.data, literal)}`,
        typeHint(schema, error.data, node),
      );
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return make('CFG-RANGE', `${literal} is out of bounds`, boundsInWords(schema));
    case 'const':
      return path === 'v'
        ? unsupportedVersion(make, literal)
        : make('CFG-VALUE', `expected ${show(schema.const)}, found ${literal}`);
    case 'enum':
      return make('CFG-VALUE', `${literal} is not allowed`, oneOf((schema.enum ?? []).map(String), error.data));
    case 'discriminator':
      return unknownBinding(error, root, path);
    case 'format':
      return formatFinding(schema, error.data, make);
    case 'pattern':
      return make('CFG-VALUE', `${literal} is not allowed`, `use ${schema['x-allowed'] ?? schema.pattern}`);
    case 'minItems':
      return make('CFG-VALUE', 'the list must not be empty');
    case 'minLength':
      return make('CFG-VALUE', 'must not be empty');
    default:
      return make('CFG-VALUE', 'is invalid');
  }
}

/** Names the unset variables, which cause most mistakes in a value. In a secret, a name may be part of it. */
function withVariables({ parentSchema }: Violation, found: Finding, root: ConfigNode): Finding {
  const node = nearestNode(root, found.path);
  if (node.path !== found.path || !node.unset?.length || parentSchema['x-secret']) return found;
  const remedy = `set the environment variable ${node.unset.join(', ')}`;
  return { ...found, hint: found.hint === '' ? remedy : `${remedy}; ${found.hint}` };
}

type Make = (code: FindingCode, message: string, hint: string) => Finding;

function unsupportedVersion(make: Make, literal: string): Finding {
  return make('CFG-VERSION', `version ${literal} is not supported`, 'the only supported version is 3');
}

function formatFinding(schema: ConfigSchema, data: unknown, make: Make): Finding {
  const format = schema.format ?? '';
  const problem = FORMATS[format]?.(String(data)) ?? 'is invalid';
  const code = format.startsWith('duration')
    ? 'CFG-DURATION'
    : /address|host-port/.test(format)
      ? 'CFG-ADDRESS'
      : 'CFG-VALUE';
  const message = problem.includes(String(data)) && String(data) !== '' ? problem : `${show(data)}: ${problem}`;
  const meant = meantAddress(format, String(data));
  const expected = `expected ${FORMAT_NAMES[format] ?? format}`;
  return make(code, message, meant === undefined ? expected : `${expected}; did you mean ${meant}?`);
}

function unknownKey(error: Violation, schema: ConfigSchema, root: ConfigNode, path: string): Finding {
  const key = String(error.params.additionalProperty);
  const parent = nearestNode(root, path);
  const full = path === '' ? key : `${path}.${key}`;
  const at = parent.entries.get(key)?.keyAt ?? parent.at;
  const replacement = ownValue(schema['x-former'] ?? {}, key);
  if (replacement !== undefined) {
    const message = `${key} is a key of older releases and has no effect`;
    return finding({
      severity: 'info',
      code: 'CFG-IGNORED',
      path: full,
      at,
      message,
      hint: `remove it: ${replacement}`,
    });
  }
  return finding({
    severity: 'warning',
    code: 'CFG-UNKNOWN-KEY',
    path: full,
    at,
    message: `unknown key ${key}, which is ignored`,
    hint: meantPlace(key, path, schema),
  });
}

function missingKey(error: Violation, root: ConfigNode, path: string, schema: ConfigSchema): Finding {
  const node = nearestNode(root, path);
  const key = String(error.params.missingProperty);
  const full = path === '' ? key : `${path}.${key}`;
  if (full === 'v')
    return finding({
      code: 'CFG-VERSION',
      path: full,
      at: node.at,
      message: 'the version of the file format is missing',
      hint: 'add `v: 3`',
    });
  const property = schema.properties?.[key];
  const hint = splitEntry(root, path, key) ?? requiredKeys(key, property) ?? property?.description ?? '';
  return finding({ code: 'CFG-MISSING', path: full, at: node.at, message: `${key} is missing`, hint });
}

/** Remedy for a missing map or list whose content has required keys. */
function requiredKeys(key: string, property: ConfigSchema | undefined): string | undefined {
  const quoted = (keys: readonly string[]) => keys.map((each) => `\`${each}\``).join(' and ');
  if (property?.required) return `add \`${key}:\` with ${quoted(property.required)}`;
  const inEntries = property?.items?.required;
  return inEntries && `add \`${key}:\`, a list of entries with ${quoted(inEntries)}`;
}

/**
 * Remedy for a dash too many, which makes two entries of one: the entry before has the missing key, and only others.
 */
function splitEntry(root: ConfigNode, path: string, key: string): string | undefined {
  const [, list = '', position = ''] = /^(.*)\[(\d+)\]$/.exec(path) ?? [];
  const [before, entry] = [Number(position) - 1, Number(position)].map((each) => nearestNode(root, `${list}[${each}]`));
  const isEntry = before?.path === `${list}[${Number(position) - 1}]` && entry?.path === path;
  const [first] = entry?.entries.keys() ?? [];
  if (!isEntry || first === undefined || !before.entries.has(key)) return undefined;
  if ([...entry.entries.keys()].some((each) => before.entries.has(each))) return undefined;
  return `remove the dash (-) before ${first} if it belongs to the entry before`;
}

function unknownBinding(error: Violation, root: ConfigNode, path: string): Finding {
  const node = nearestNode(root, `${path}.binding`);
  const items = ROUTER_SCHEMA.properties?.listeners?.items;
  const bindings = items?.oneOf?.map((branch) => String(branch.properties?.binding?.const)) ?? [];
  const value = (error.data as { binding?: unknown } | undefined)?.binding;
  if (value === undefined)
    return finding({
      code: 'CFG-MISSING',
      path: `${path}.binding`,
      at: nearestNode(root, path).at,
      message: 'binding is missing',
      hint: splitEntry(root, path, 'binding') ?? `one of ${bindings.join(', ')}`,
    });
  if (typeof value !== 'string')
    return finding({
      code: 'CFG-TYPE',
      path: `${path}.binding`,
      at: node.at,
      message: `expected a string, found ${foundInWords(value, node.literal)}`,
    });
  return finding({
    code: 'CFG-VALUE',
    path: `${path}.binding`,
    at: node.at,
    message: `${show(value)} is not allowed`,
    hint: ownValue(items?.['x-former-values'] ?? {}, value) ?? oneOf(bindings, value),
  });
}

/**
 * Removes duplicates: `required` and the discriminator both report a missing binding, only the latter with a hint. A
 * value of the wrong type may be out of bounds too, which adds nothing.
 */
function withoutEchoes(findings: Finding[]): Finding[] {
  const kept = new Map<string, Finding>();
  for (const each of findings) {
    const key = `${each.code} ${each.path}`;
    if (kept.has(`CFG-TYPE ${each.path}`)) continue;
    if (!kept.get(key)?.hint) kept.set(key, each);
  }
  return [...kept.values()];
}

function oneOf(allowed: readonly string[], found: unknown): string {
  const meant = typeof found === 'string' ? suggest(found, allowed) : undefined;
  return `one of ${allowed.filter((each) => each !== '').join(', ')}${meant ? `; did you mean ${meant}?` : ''}`;
}

function typeHint(schema: ConfigSchema, data: unknown, node: ConfigNode): string {
  if (typeof data === 'number' && (schema.type === 'integer' || schema.type === 'number'))
    return numberHint(schema, data);
  if (schema.type === 'integer' && typeof data === 'string') return wholeNumberHint(schema, data, node.path);
  if (schema.format === 'duration' && typeof data === 'number')
    return Number.isFinite(data) ? `write the unit: ${data}s or ${data}ms` : '';
  if (node.fromEnvironment && schema.type !== 'string') return 'values from the environment are always strings';
  if (schema.type === 'string' && typeof data === 'boolean')
    return 'put quotes around it: unquoted yes, no, on, off, true and false are booleans';
  if (schema.type === 'string' && typeof data === 'number') return quotesHint(schema, node.literal || String(data));
  if (schema.type === 'object' && data === null && node.path !== '')
    return `indent the keys that belong to ${node.path}`;
  if (data === null && schema.type !== 'array')
    return `write a value, or remove the ${node.path.endsWith(']') ? 'entry' : 'key'}`;
  return '';
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

function boundsInWords(schema: ConfigSchema): string {
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  const min = schema.minimum === undefined ? `more than ${low}` : `at least ${low}`;
  const max = schema.maximum === undefined ? `less than ${high}` : `at most ${high}`;
  if (schema.minimum !== undefined && schema.maximum !== undefined) return `allowed are ${low} to ${high}`;
  if (low !== undefined && high !== undefined) return `allowed is ${min} and ${max}`;
  if (low !== undefined) return `allowed is ${min}`;
  return high === undefined ? '' : `allowed is ${max}`;
}

function typeInWords(schema: ConfigSchema): string {
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

function foundInWords(value: unknown, literal: string): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return literal; // .nan and .inf have no better description
  // YAML 1.1 reads yes, no, on and off as booleans: the author meant something else.
  if (typeof value === 'boolean') return /^(true|false)$/i.test(literal) ? literal : `${literal}, which means ${value}`;
  return typeof value === 'object' ? kindInWords(value) : `${kindInWords(value)} ${literal}`;
}

function kindInWords(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return (
    { object: 'a map', string: 'the string', number: 'the number', boolean: 'true or false' }[typeof value as string] ??
    typeof value
  );
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** `/link/dialers/0/groups` to `link.dialers[0].groups`. */
function toPath(pointer: string): string {
  let path = '';
  for (const name of pointerParts(pointer)) {
    if (/^\d+$/.test(name)) path += `[${name}]`;
    else path += path === '' ? name : `.${name}`;
  }
  return path;
}

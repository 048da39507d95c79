// Checks one value against its part of the schema, with the keywords of the standard: type, bounds, required and
// unknown keys, the kind of a list entry. resolve.ts walks to the values, checks our own keywords and adds defaults.

import { ownValue } from '#lib/json/own-value.ts';
import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { type Finding, type FindingCode, finding } from './finding.ts';
import { FORMAT_NAMES, FORMATS, meantAddress } from './formats.ts';
import { type ConfigNode, plain } from './text/document.ts';
import { meantPlace } from './text/misplaced.ts';
import { branchFor } from './text/normalize.ts';
import { HIDDEN } from './text/secret.ts';
import { boundsInWords, foundInWords, oneOf, show, typeHint, typeInWords } from './wording.ts';

/** A value of the file, and what the schema says about it. */
export interface Place {
  readonly node: ConfigNode;
  readonly schema: ConfigSchema;
  readonly path: string;
  /** The entry before this one, in a list. */
  readonly before: ConfigNode | undefined;
}

/** The default replaces an ignored value. Further findings about a rejected value would be redundant. */
export type Verdict = 'valid' | 'ignored' | 'rejected';

/** The keyword that a value violates. */
type Mistake = 'type' | 'const' | 'enum' | 'bounds' | 'format' | 'pattern' | 'minItems' | 'minLength';

/** Adds the findings about a value to `findings`, without those about the values within it. */
export function checkValue(place: Place, findings: Finding[]): Verdict {
  const { node, schema, path } = place;
  const mistake = mistakeOf(node, schema);
  if (mistake !== undefined) {
    const found = withVariables(schema, node, word(mistake, place));
    if (!isLenient(mistake, schema)) {
      findings.push(found);
      return 'rejected';
    }
    const consequence = path.endsWith(']') ? 'this entry is ignored' : 'the default is used';
    findings.push({ ...found, severity: 'warning', hint: found.hint || consequence });
    return 'ignored';
  }
  if (node.kind !== 'map') return 'valid';
  if (schema.oneOf) return checkBinding(place, findings);
  for (const key of schema.required ?? []) if (!node.entries.has(key)) findings.push(missingKey(place, key));
  if (schema.additionalProperties === false)
    for (const [key, value] of node.entries)
      if (ownValue(schema.properties ?? {}, key) === undefined)
        findings.push(withVariables(schema, value, unknownKey(place, key, value)));
  return 'valid';
}

/** The first mistake of a value: others would be echoes of it. */
function mistakeOf(node: ConfigNode, schema: ConfigSchema): Mistake | undefined {
  if (!hasType(node, schema)) return 'type';
  if (node.kind === 'list') return node.items.length < (schema.minItems ?? 0) ? 'minItems' : undefined;
  if (node.kind === 'map') return undefined;
  const { scalar } = node;
  if (schema.const !== undefined && scalar !== schema.const) return 'const';
  if (schema.enum && !schema.enum.includes(scalar)) return 'enum';
  if (typeof scalar === 'number') return isWithinBounds(scalar, schema) ? undefined : 'bounds';
  return typeof scalar === 'string' ? mistakeOfText(scalar, schema) : undefined;
}

function hasType(node: ConfigNode, { type }: ConfigSchema): boolean {
  if (type === undefined) return true;
  return typeof type === 'string' ? isOfType(node, type) : type.some((each) => isOfType(node, each));
}

/** `.nan` and `.inf` are not usable numbers. */
function isOfType({ kind, scalar }: ConfigNode, type: string): boolean {
  if (kind !== 'scalar') return type === (kind === 'map' ? 'object' : 'array');
  if (typeof scalar === 'number')
    return type === 'integer' ? Number.isInteger(scalar) : type === 'number' && Number.isFinite(scalar);
  return type === (scalar === null ? 'null' : typeof scalar);
}

function isWithinBounds(value: number, schema: ConfigSchema): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  return value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
}

function mistakeOfText(text: string, { minLength, pattern, format }: ConfigSchema): Mistake | undefined {
  if (minLength !== undefined && [...text].length < minLength) return 'minLength';
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return 'pattern';
  return format !== undefined && FORMATS[format]?.(text) !== undefined ? 'format' : undefined;
}

/** Whether the schema is lenient about this mistake. Bounds still apply to values whose wrong type is ignored. */
function isLenient(mistake: Mistake, schema: ConfigSchema): boolean {
  if (schema['x-lenient'] !== 'ignored') return false;
  const isClamped = schema['x-clamp'] !== undefined;
  if (mistake === 'format') return isClamped || schema['x-ignored'] === true;
  return mistake === 'type' || (mistake === 'bounds' && isClamped);
}

function word(mistake: Mistake, { node, schema, path }: Place): Finding {
  const make = (code: FindingCode, message: string, hint = '') => finding({ code, path, at: node.at, message, hint });
  const literal = schema['x-secret'] ? HIDDEN : literalOf(node);
  if (path === 'v')
    return make('CFG-VERSION', `version ${literal} is not supported`, 'the only supported version is 3');
  switch (mistake) {
    case 'type':
      return make(
        'CFG-TYPE',
        `expected ${typeInWords(schema)}, found ${foundInWords(node, literal)}`,
        typeHint(schema, node),
      );
    case 'bounds':
      return make('CFG-RANGE', `${literal} is out of bounds`, boundsInWords(schema));
    case 'const':
      return make('CFG-VALUE', `expected ${show(schema.const)}, found ${literal}`);
    case 'enum':
      return make('CFG-VALUE', `${literal} is not allowed`, oneOf((schema.enum ?? []).map(String), node.scalar));
    case 'format':
      return formatFinding(schema, String(node.scalar), make);
    case 'pattern':
      return make('CFG-VALUE', `${literal} is not allowed`, `use ${schema['x-allowed'] ?? schema.pattern}`);
    case 'minItems':
      return make('CFG-VALUE', 'the list must not be empty');
    case 'minLength':
      return make('CFG-VALUE', 'must not be empty');
  }
}

/** A number or boolean as written, another value as JSON. */
function literalOf(node: ConfigNode): string {
  return node.literal === '' ? show(plain(node)) : node.literal;
}

/** Names the unset variables, which cause most mistakes in a value. In a secret, a name may be part of it. */
function withVariables(schema: ConfigSchema, { unset }: ConfigNode, found: Finding): Finding {
  if (!unset?.length || schema['x-secret']) return found;
  const remedy = `set the environment variable ${unset.join(', ')}`;
  return { ...found, hint: found.hint === '' ? remedy : `${remedy}; ${found.hint}` };
}

function formatFinding(
  { format = '' }: ConfigSchema,
  text: string,
  make: (code: FindingCode, message: string, hint: string) => Finding,
): Finding {
  const problem = FORMATS[format]?.(text) ?? 'is invalid';
  const code = format.startsWith('duration')
    ? 'CFG-DURATION'
    : /address|host-port/.test(format)
      ? 'CFG-ADDRESS'
      : 'CFG-VALUE';
  const message = problem.includes(text) && text !== '' ? problem : `${show(text)}: ${problem}`;
  const meant = meantAddress(format, text);
  const expected = `expected ${FORMAT_NAMES[format] ?? format}`;
  return make(code, message, meant === undefined ? expected : `${expected}; did you mean ${meant}?`);
}

function unknownKey({ schema, path }: Place, key: string, { keyAt }: ConfigNode): Finding {
  const about = { path: within(path, key), at: keyAt };
  const replacement = ownValue(schema['x-former'] ?? {}, key);
  if (replacement !== undefined) {
    const message = `${key} is a key of older releases and has no effect`;
    return finding({ ...about, severity: 'info', code: 'CFG-IGNORED', message, hint: `remove it: ${replacement}` });
  }
  const message = `unknown key ${key}, which is ignored`;
  return finding({
    ...about,
    severity: 'warning',
    code: 'CFG-UNKNOWN-KEY',
    message,
    hint: meantPlace(key, path, schema),
  });
}

function missingKey(place: Place, key: string): Finding {
  const about = { path: within(place.path, key), at: place.node.at };
  if (about.path === 'v') {
    const message = 'the version of the file format is missing';
    return finding({ ...about, code: 'CFG-VERSION', message, hint: 'add `v: 3`' });
  }
  const property = place.schema.properties?.[key];
  const hint = splitEntry(place, key) ?? requiredKeys(key, property) ?? property?.description ?? '';
  return finding({ ...about, code: 'CFG-MISSING', message: `${key} is missing`, hint });
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
function splitEntry({ node, before }: Place, key: string): string | undefined {
  const [first] = node.entries.keys();
  if (first === undefined || !before?.entries.has(key)) return undefined;
  if ([...node.entries.keys()].some((each) => before.entries.has(each))) return undefined;
  return `remove the dash (-) before ${first} if it belongs to the entry before`;
}

/** The discriminator says which kind of entry this is; the walk checks its keys. */
function checkBinding(place: Place, findings: Finding[]): Verdict {
  const { node, schema, path } = place;
  if (branchFor(schema, node)) return 'valid';
  const name = schema.discriminator?.propertyName ?? '';
  const binding = node.entries.get(name);
  const known = schema.oneOf?.map((branch) => String(branch.properties?.[name]?.const)) ?? [];
  const make = (code: FindingCode, message: string, hint = '') =>
    finding({ code, path: within(path, name), at: (binding ?? node).at, message, hint });
  if (binding === undefined)
    findings.push(make('CFG-MISSING', `${name} is missing`, splitEntry(place, name) ?? `one of ${known.join(', ')}`));
  else findings.push(withVariables(schema, binding, unknownBinding(binding, known, schema, make)));
  return 'rejected';
}

function unknownBinding(
  binding: ConfigNode,
  known: readonly string[],
  schema: ConfigSchema,
  make: (code: FindingCode, message: string, hint?: string) => Finding,
): Finding {
  const { kind, scalar, literal } = binding;
  if (kind !== 'scalar' || typeof scalar !== 'string')
    return make('CFG-TYPE', `expected a string, found ${foundInWords(binding, literal)}`);
  const hint = ownValue(schema['x-former-values'] ?? {}, scalar) ?? oneOf(known, scalar);
  return make('CFG-VALUE', `${show(scalar)} is not allowed`, hint);
}

function within(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

// Makes the reference of all limits. schemas/limits.tsv describes each one and names what sets it: a constant in the
// source text of a file, or a key of the router's configuration. The values come from there, so none is written twice.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDuration } from '#lib/time/duration.ts';
import type { ConfigSchema } from '../../schemas/config/schema.ts';

const ROOT = join(import.meta.dirname, '../..');
const TABLE = 'schemas/limits.tsv';
const PAGE = 'docs/reference/limits.md';
const SCHEMA = 'schemas/config/router.schema.json';
/** Cell of a column that does not apply. */
const NONE = '-';
/** Digits behind the point of a shown value. */
const DIGITS = 2;
/** Units in bytes, milliseconds or bits. */
const UNITS: Readonly<Record<string, number>> = {
  [NONE]: 1,
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  ms: 1,
  s: 1_000,
  seconds: 1_000,
  min: 60_000,
  h: 3_600_000,
  bits: 1,
};

export interface Limit {
  readonly section: string;
  readonly limit: string;
  /** The unit of the shown value. */
  readonly unit: string;
  /** `FILE NAME`, `FILE NAME.field`, or a key of the configuration. */
  readonly setIn: string;
  /** The unit of the value in the code. */
  readonly codeUnit: string;
  /** The consequence for whoever exceeds it. */
  readonly beyond: string;
}

/** The code and the configuration keys; tests replace them. */
export interface LimitSources {
  /** The text of a file; undefined if it does not exist. */
  read(file: string): string | undefined;
  readonly schema: ConfigSchema;
}

const NOTES: Readonly<Record<string, string>> = {
  'TLS ports': 'These limits hold for each port of both programs; the web port of a router has its own.',
  'HTTP requests':
    "The first rows apply to the simulator, the last eight to a router's web port. The API's schema (`schemas/api/bodies.json`, `schemas/lab`) bounds the\nlength of single fields.",
};

const HEAD = `# Limits

Generated from \`${TABLE}\` and the code by \`npm run generate\`. _Set in_ names the file and its constant, or the configuration key of the
router, with its default value. _Per source_ limits leave room for other addresses; a source is an IPv4 address or an IPv6 /64 network. "Evicted"
means: the source with the most connections loses its oldest. [security.md](../security.md) tells what the limits are for.
`;

/** Path (relative to the project) → content. @throws Error with each limit whose value cannot be read */
export function generateLimits(): Map<string, string> {
  const sources: LimitSources = { read, schema: JSON.parse(read(SCHEMA) ?? '') as ConfigSchema };
  const sections = Object.groupBy(readLimits(), ({ section }) => section);
  const mistakes: string[] = [];
  const parts = Object.entries(sections).map(([section, limits = []]) => {
    const rows = limits.map((limit) => {
      const value = shownValue(limit, sources);
      if (value.mistake !== undefined) mistakes.push(`${limit.limit}: ${value.mistake}`);
      return `| ${limit.limit} | ${value.text} | ${setInCell(limit)} | ${limit.beyond} |`;
    });
    const note = NOTES[section];
    const table = ['| Limit | Value | Set in | Beyond it |', '|---|---|---|---|', ...rows].join('\n');
    return `## ${section}\n\n${note === undefined ? '' : `${note}\n\n`}${table}\n`;
  });
  if (mistakes.length > 0) throw new Error(`${TABLE}:\n${mistakes.join('\n')}`);
  return new Map([[PAGE, `${HEAD}\n${parts.join('\n')}`]]);
}

/** The rows of the table. */
export function readLimits(): Limit[] {
  const [, ...lines] = (read(TABLE) ?? '').trimEnd().split('\n');
  return lines.map((line) => {
    const [section = '', limit = '', unit = '', setIn = '', codeUnit = '', beyond = ''] = line.split('\t');
    return { section, limit, unit, setIn, codeUnit, beyond };
  });
}

/** The value as a text with its unit, or why it cannot be read. */
export function shownValue(
  { unit, setIn, codeUnit }: Limit,
  sources: LimitSources,
): { text: string; mistake?: undefined } | { text?: undefined; mistake: string } {
  const [shown, written] = [UNITS[unit], UNITS[codeUnit]];
  if (shown === undefined || written === undefined) return { mistake: `unknown unit ${unit} or ${codeUnit}` };
  const [first = '', name] = setIn.split(' ');
  const value = name === undefined ? defaultOf(sources.schema, first) : constantIn(first, name, sources);
  if (typeof value === 'string') return { mistake: value };
  const amount = (value * written) / shown;
  if (Number(amount.toFixed(DIGITS)) !== amount)
    return { mistake: `${amount} ${unit} has many digits: use another unit` };
  return { text: `${amount.toLocaleString('en')}${unit === NONE ? '' : ` ${unit}`}` };
}

function setInCell({ setIn }: Limit): string {
  return setIn
    .split(' ')
    .map((part) => `\`${part}\``)
    .join(' ');
}

/** The value, or why there is none. */
function constantIn(file: string, name: string, { read }: LimitSources): number | string {
  const source = read(file);
  if (source === undefined) return `the file ${file} does not exist`;
  return constantOf(source, name) ?? `${file} does not define ${name} as a number`;
}

/**
 * The value of a constant, or of its field (`NAME.field`), in the source text of a file. Factors may be constants of
 * the same file.
 */
function constantOf(source: string, name: string): number | undefined {
  const [constant = '', field] = name.split('.');
  const definition = new RegExp(`^(?:export )?const ${constant}(?:: [^=]+)? = ([^;]+);`, 'm').exec(source)?.[1];
  const value = field === undefined ? definition : new RegExp(`\\b${field}: ([^,}]+)`).exec(definition ?? '')?.[1];
  return value?.split('*').reduce<number | undefined>((product, factor) => {
    const text = factor.trim();
    const number = /^[A-Z]\w*$/.test(text) ? constantOf(source, text) : Number(text.replaceAll('_', ''));
    return product === undefined || number === undefined || Number.isNaN(number) ? undefined : product * number;
  }, 1);
}

/**
 * The default of a key such as `link.listeners[].options.connectTimeout` or `listeners[]{edge}.options.connectTimeout`;
 * durations in milliseconds. A text tells why there is none.
 */
function defaultOf(schema: ConfigSchema, key: string): number | string {
  let node: ConfigSchema | undefined = schema;
  for (const part of key.split('.')) {
    const [, name = '', isList, binding] = /^(\w+)(\[\])?(?:\{(\w+)\})?$/.exec(part) ?? [];
    node = node?.properties?.[name];
    if (isList) node = node?.items;
    if (binding) node = node?.oneOf?.find((each) => each.properties?.binding?.const === binding);
  }
  const value = node?.default;
  const amount = typeof value === 'string' ? parseDuration(value) : value;
  return typeof amount === 'number' ? amount : `the configuration has no key ${key} with a default number`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return undefined;
  }
}

// Generates the types of a checked configuration and its manual from schemas/config/router.schema.json, the only source
// of keys, defaults and bounds.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bounds, ConfigSchema } from '../../schemas/config/schema.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCHEMA = join(ROOT, 'schemas/config/router.schema.json');

/** Path (relative to the project) → content of every generated file. */
export function generateConfig(): Map<string, string> {
  const root = JSON.parse(readFileSync(SCHEMA, 'utf8')) as ConfigSchema;
  return new Map([
    ['schemas/config/gen/router-config.ts', new TypeWriter(root).source()],
    ['docs/reference/router-config.md', manual(root)],
  ]);
}

/** Writes the types of the resolved form: durations as milliseconds, parsed addresses, defaults filled in. */
class TypeWriter {
  readonly #root: ConfigSchema;
  readonly #named = new Map<string, string>();

  constructor(root: ConfigSchema) {
    this.#root = root;
  }

  source(): string {
    this.#type(this.#root);
    const head = [
      '// Generated from router.schema.json by `npm run generate`. Do not edit.',
      '// A checked configuration: durations are milliseconds, addresses are parsed, defaults are filled in.',
      '',
      "import type { Address } from '#lib/net/address.ts';",
      '',
      'export interface HostPort {',
      '  readonly host: string;',
      '  readonly port: number;',
      '}',
      '',
    ];
    return `${head.join('\n')}\n${[...this.#named].map(([name, body]) => `export interface ${name} ${body}\n`).join('\n')}`;
  }

  #type(schema: ConfigSchema): string {
    if (schema.$ref) return this.#type(this.#deref(schema.$ref));
    if (schema.oneOf) return schema.oneOf.map((each) => this.#type(each)).join(' | ');
    if (schema['x-as-list']) return 'readonly string[]';
    if (schema.type === 'array') return this.#list(schema.items);
    if (schema.type === 'object') return schema.properties ? this.#object(schema) : 'Readonly<Record<string, unknown>>';
    return scalarType(schema);
  }

  #list(items: ConfigSchema | undefined): string {
    const type = items ? this.#type(items) : 'unknown';
    return `readonly ${/[ |{]/.test(type) ? `(${type})` : type}[]`;
  }

  #object(schema: ConfigSchema): string {
    const lines = Object.entries(schema.properties ?? {}).map(([key, property]) => {
      const note = property.description ? `  /** ${property.description} */\n` : '';
      return `${note}  readonly ${key}${this.#isAlwaysThere(schema, key, property) ? '' : '?'}: ${this.#type(property).replaceAll('\n', '\n  ')};`;
    });
    const body = `{\n${lines.join('\n')}\n}`;
    const name = schema['x-type'];
    if (name === undefined) return body;
    const known = this.#named.get(name);
    if (known !== undefined && known !== body) throw new Error(`two different types have the name ${name}`);
    this.#named.set(name, body);
    return name;
  }

  #isAlwaysThere(parent: ConfigSchema, key: string, property: ConfigSchema): boolean {
    return parent.required?.includes(key) || property.default !== undefined || property['x-default-object'] === true;
  }

  #deref(ref: string): ConfigSchema {
    const found = this.#root.$defs?.[ref.replace('#/$defs/', '')];
    if (!found) throw new Error(`${ref} is not in the schema`);
    return found;
  }
}

function scalarType(schema: ConfigSchema): string {
  if (schema.const !== undefined) return quoted(schema.const);
  if (schema.enum) return schema.enum.map(quoted).join(' | ');
  if (schema.format === 'duration' || schema.format === 'duration-or-ms') return 'number';
  if (schema.format === 'address') return 'Address';
  if (schema.format?.startsWith('host-port')) return 'HostPort';
  return schema.type === 'integer' ? 'number' : String(schema.type);
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function manual(root: ConfigSchema): string {
  const lines = [
    '# Router configuration file',
    '',
    'Generated from `schemas/config/router.schema.json`. `npm run -s router -- config explain KEY` prints the same for one key,',
    '`config check FILE` finds mistakes, `config init` writes a new file.',
    '',
    'Durations are strings, for example `250ms`, `5s`, `1m30s`. Addresses are `type:host:port`. Environment variables replace `$NAME` and `${NAME}` in a value.',
    '',
  ];
  for (const [key, section] of Object.entries(root.properties ?? {}))
    lines.push(...describeSection(root, key, section));
  lines.push(
    '## Keys of older releases',
    '',
    'These keys are known and have no effect.',
    '',
    '| Key | Instead |',
    '|---|---|',
  );
  for (const [key, replacement] of collectFormer(root, '', root)) lines.push(`| \`${key}\` | ${replacement} |`);
  return `${lines.join('\n').trimEnd()}\n`;
}

function collectFormer(root: ConfigSchema, path: string, given: ConfigSchema): [key: string, replacement: string][] {
  const schema = deref(root, given);
  const below = (key: string) => (path === '' ? key : `${path}.${key}`);
  return [
    ...Object.entries(schema['x-former'] ?? {}).map(([key, text]): [string, string] => [below(key), text]),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) => collectFormer(root, below(key), property)),
    ...(schema.items ? collectFormer(root, `${path}[]`, schema.items) : []),
    ...(schema.oneOf ?? []).flatMap((branch) =>
      collectFormer(root, `${path}{${branch.properties?.binding?.const}}`, branch),
    ),
  ];
}

function describeSection(root: ConfigSchema, key: string, section: ConfigSchema): string[] {
  const lines = [`## ${key}`, '', section.description ?? deref(root, section).description ?? '', ''];
  const rows = collectRows(root, key, section);
  if (rows.length > 1 || !section.type || section.type === 'object') {
    lines.push(
      '| Key | Type | Default | Bounds | Meaning |',
      '|---|---|---|---|---|',
      ...rows.filter((row) => row.key !== key).map((row) => row.text),
      '',
    );
  }
  return lines;
}

function collectRows(root: ConfigSchema, path: string, given: ConfigSchema): { key: string; text: string }[] {
  const schema = deref(root, given);
  if (schema.oneOf)
    return schema.oneOf.flatMap((branch) => collectRows(root, `${path}{${branch.properties?.binding?.const}}`, branch));
  if (schema.type === 'array' && schema.items && !schema['x-as-list']) {
    return [
      { key: path, text: row(path, schema) },
      ...collectRows(root, `${path}[]`, schema.items).filter(
        (each) => each.key !== `${path}[]` || schema.items?.type !== 'object',
      ),
    ];
  }
  const own = { key: path, text: row(path, schema) };
  if (schema.type !== 'object') return [own];
  return [
    own,
    ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
      collectRows(root, `${path}.${key}`, property),
    ),
  ];
}

function row(path: string, schema: ConfigSchema): string {
  const cells = [
    `\`${path}\``,
    typeName(schema),
    defaultText(schema),
    bounds(schema),
    (schema.description ?? '').replaceAll('|', '\\|'),
  ];
  return `| ${cells.join(' | ')} |`;
}

function typeName(schema: ConfigSchema): string {
  if (schema['x-as-list']) return 'string or list of strings';
  if (schema.format === 'duration') return 'duration';
  if (schema.format === 'address') return 'address';
  return (
    {
      object: 'map',
      array: 'list',
      string: 'text',
      integer: 'whole number',
      number: 'number',
      boolean: 'true or false',
    }[String(schema.type)] ?? ''
  );
}

function defaultText(schema: ConfigSchema): string {
  return schema.default === undefined || (Array.isArray(schema.default) && schema.default.length === 0)
    ? ''
    : `\`${[schema.default].flat().join(', ')}\``;
}

function bounds(schema: ConfigSchema): string {
  const parts: string[] = [];
  if (schema.minimum !== undefined || schema.maximum !== undefined)
    parts.push(`${schema.minimum ?? ''}..${schema.maximum ?? ''}`);
  if (schema.exclusiveMinimum !== undefined) parts.push(`more than ${schema.exclusiveMinimum}`);
  if (schema.exclusiveMaximum !== undefined) parts.push(`less than ${schema.exclusiveMaximum}`);
  if (schema['x-positive']) parts.push('more than 0s');
  if (schema['x-min'] !== undefined || schema['x-max'] !== undefined)
    parts.push(`${schema['x-min'] ?? ''}..${schema['x-max'] ?? ''}`);
  const { 'x-clamp': clamp, 'x-default-outside': outside } = schema;
  if (clamp) parts.push(`${rangeText(clamp)}${schema['x-off'] ? ' or 0' : ''}; else the nearest is used`);
  if (outside) parts.push(`${rangeText(outside)}; else the default is used`);
  if (schema.enum) parts.push(schema.enum.map((value) => `\`${value}\``).join(', '));
  if (schema['x-deprecated']) parts.push(`deprecated: ${schema['x-deprecated']}`);
  return parts.join('; ');
}

function rangeText([min, max]: Bounds): string {
  return `${min ?? ''}..${max ?? ''}`;
}

function deref(root: ConfigSchema, schema: ConfigSchema): ConfigSchema {
  return schema.$ref ? (root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? schema) : schema;
}

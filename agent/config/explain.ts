// Formats the schema of a key as text for people.

import { commandName } from '#lib/commands/name.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { suggest } from '#lib/text/suggestion.ts';
import { boundsText, type ConfigSchema } from '../../schemas/config/schema.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';
import { dereference } from './text/normalize.ts';

export interface Explanation {
  readonly text?: string;
  /** The most similar key if the name is unknown. */
  readonly suggestion?: string;
  /** Without a similar one: the keys of the deepest known map. */
  readonly known?: { readonly path: string; readonly keys: readonly string[] };
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  object: 'map',
  array: 'list',
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
};

/**
 * Explains `link.dialers[].groups` and `listeners[]{edge}.options.mtu`, in the manual's notation; list brackets and the
 * binding in braces are optional.
 */
export function explain(key: string): Explanation {
  let schemas: ConfigSchema[] = [ROUTER_SCHEMA];
  let path = '';
  for (const written of key.replace(/\[\d*\]/g, '').split('.')) {
    const [, part = written, binding] = /^([^{}]*)\{([^{}]*)\}$/.exec(written) ?? [];
    const all = schemas.flatMap((schema) => children(schema, part));
    const former = schemas.flatMap(within).flatMap((schema) => ownValue(schema['x-former'] ?? {}, part) ?? []);
    if (all.length === 0 && former.length > 0)
      return { text: `${key}\n  A key of older releases, without effect: ${former[0]}.` };
    const next = binding === undefined ? all : all.flatMap(within).filter((each) => bindingOf(each) === binding);
    if (next.length === 0) {
      if (binding !== undefined && all.length > 0)
        return { suggestion: bindingMeant(path === '' ? part : `${path}.${part}`, binding, all) };
      const keys = [...new Set(schemas.flatMap(childNames))];
      const meant = suggest(part, keys);
      return meant === undefined ? { known: { path, keys } } : { suggestion: path === '' ? meant : `${path}.${meant}` };
    }
    schemas = next;
    path = path === '' ? part : `${path}.${part}`;
  }
  return {
    text: schemas
      .map((schema) => describe(key, schema))
      .filter((text, index, all) => all.indexOf(text) === index)
      .join('\n'),
  };
}

/** The binding that distinguishes the kinds of a list item. */
function bindingOf(schema: ConfigSchema): string | undefined {
  const binding = schema.properties?.binding?.const;
  return binding === undefined ? undefined : String(binding);
}

function bindingMeant(path: string, given: string, schemas: readonly ConfigSchema[]): string {
  const known = schemas.flatMap(within).flatMap((each) => bindingOf(each) ?? []);
  const meant = suggest(given, known) ?? known[0];
  return meant === undefined ? path : `${path}{${meant}}`;
}

/** One line per section. */
export function explainAll(): string {
  const lines = Object.entries(ROUTER_SCHEMA.properties ?? {}).map(
    ([key, schema]) => `${key.padEnd(20)}${schema.description ?? dereference(ROUTER_SCHEMA, schema).description ?? ''}`,
  );
  return `${lines.join('\n')}\n\n${commandName('router')} config explain KEY describes one of them.`;
}

/** A list is replaced by its items, and items of several kinds by all kinds. */
function within(given: ConfigSchema): ConfigSchema[] {
  const schema = dereference(ROUTER_SCHEMA, given);
  if (schema.type === 'array' && schema.items) return within(schema.items);
  return schema.oneOf ? schema.oneOf.flatMap(within) : [schema];
}

function children(schema: ConfigSchema, key: string): ConfigSchema[] {
  return within(schema).flatMap(({ properties = {} }) => {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return child ? [child] : [];
  });
}

function childNames(schema: ConfigSchema): string[] {
  return within(schema).flatMap((each) => Object.keys(each.properties ?? {}));
}

function describe(key: string, given: ConfigSchema): string {
  const schema = {
    ...dereference(ROUTER_SCHEMA, given),
    ...(given.description !== undefined && { description: given.description }),
  };
  const lines = [key, `  ${schema.description ?? ''}`, `  type: ${typeName(schema)}`];
  if (schema.default !== undefined) lines.push(`  default: ${JSON.stringify(schema.default)}`);
  const bounds = boundsOf(schema);
  if (bounds !== '') lines.push(`  allowed: ${bounds}`);
  if (schema['x-deprecated']) lines.push(`  deprecated: ${schema['x-deprecated']}`);
  if (schema['x-ignored']) lines.push('  has no effect');
  const keys = childNames(schema);
  if (keys.length > 0) lines.push(`  keys: ${[...new Set(keys)].join(', ')}`);
  return lines.join('\n');
}

function typeName(schema: ConfigSchema): string {
  if (schema.format?.startsWith('duration')) return 'duration, for example 250ms, 5s, 1m30s';
  if (schema.format === 'address') return 'address, for example tls:host:6262';
  if (schema['x-as-list']) return 'string or list of strings';
  return [schema.type ?? 'value']
    .flat()
    .map((type) => TYPE_WORDS[type] ?? type)
    .join(' or ');
}

function boundsOf(schema: ConfigSchema): string {
  if (schema.enum) return schema.enum.filter((each) => each !== '').join(', ');
  if (schema['x-allowed']) return schema['x-allowed'];
  const { 'x-clamp': clamp, 'x-default-outside': outside } = schema;
  if (clamp) return `${boundsText(clamp)}${schema['x-off'] ? ', or 0' : ''}; else the nearest is used`;
  if (outside) return `${boundsText(outside)}; else the default is used`;
  const low = schema.minimum ?? schema['x-min'];
  const high = schema.maximum ?? schema['x-max'];
  if (low === undefined && high === undefined) return schema['x-positive'] ? 'more than 0s' : '';
  return `${low ?? '…'} to ${high ?? '…'}`;
}

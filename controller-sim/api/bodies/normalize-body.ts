// Brings a request body into the form that its type declares, in place, before it is validated and read. reference
// fact: the names of fields are read without regard to case (its command line writes `Type` and `Versions` for
// operating systems), and a null in a list of texts is an empty text.

import type { AnySchemaObject } from 'ajv';

type Definitions = Readonly<Record<string, AnySchemaObject>>;

const REFERENCE = '#/$defs/';
/** The names of one schema's fields by their lower case; made when first used. */
const spellings = new WeakMap<Definitions, ReadonlyMap<string, string>>();

/**
 * Renames the fields of a body to the names of its schema, and replaces nulls in lists of texts. A field that is also
 * present under its exact name is unchanged.
 */
export function normalizeBody(definitions: Definitions, schema: AnySchemaObject | undefined, value: unknown): void {
  if (typeof value !== 'object' || value === null || schema === undefined) return;
  const { $ref, properties, items, allOf } = schema;
  if ($ref !== undefined) normalizeBody(definitions, definitions[String($ref).slice(REFERENCE.length)], value);
  for (const part of (allOf ?? []) as AnySchemaObject[]) normalizeBody(definitions, part, value);
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries())
      if (each === null && items?.type === 'string') value[at] = '';
      else normalizeBody(definitions, items, each);
    return;
  }
  if (properties === undefined) return;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    const name = Object.hasOwn(properties, key) ? key : spellingOf(properties).get(key.toLowerCase());
    if (name === undefined) continue;
    if (name !== key && !Object.hasOwn(fields, name)) {
      fields[name] = fields[key];
      delete fields[key];
    }
    normalizeBody(definitions, properties[name], fields[name]);
  }
}

function spellingOf(properties: Definitions): ReadonlyMap<string, string> {
  const known = spellings.get(properties);
  if (known) return known;
  const made = new Map(Object.keys(properties).map((name) => [name.toLowerCase(), name]));
  spellings.set(properties, made);
  return made;
}

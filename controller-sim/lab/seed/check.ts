// Checks a seed against its schema: sections, fields, types. All mistakes are found at once.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { pointerParts } from '#lib/json/json-pointer.ts';
import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import schema from '#schemas/sim/seed.schema.json' with { type: 'json' };
import { hasMoreValues } from './document.ts';
import type { SeedPath } from './mistake.ts';

export interface Finding {
  readonly path: SeedPath;
  /** A field that is missing. */
  readonly missing: string | undefined;
  /** Describing thousands of mistakes takes seconds, and only some are shown. */
  describe(): string;
}

/** Values of an entry of which all mistakes are found; of a larger one it is the first. */
const MAX_VALUES = 10_000;

export const checkSeed = sectionChecker(schema);

type Check = (value: unknown) => Finding[];

/** Checks one entry in each step. Compiles only the sections that a document has: all of them take 0.1 s. */
function sectionChecker({ properties, ...root }: typeof schema): (value: unknown) => Generator<void, Finding[]> {
  const { definitions } = root;
  const names = Object.keys(properties);
  const checkNames = schemaChecker({ ...root, properties: Object.fromEntries(names.map((name) => [name, {}])) });
  const checks = Object.entries(properties).map(([name, { items, ...section }]) => {
    const [checkSection, checkAll] = [schemaChecker(section), schemaChecker({ ...items, definitions })];
    const checkFirst = schemaChecker({ ...items, definitions }, { allErrors: false });
    const checkEntry: Check = (entry) => (hasMoreValues(entry, MAX_VALUES) ? checkFirst : checkAll)(entry);
    return { name, checkSection, checkEntry };
  });
  return function* (value) {
    const found: Finding[] = [];
    const add = (findings: readonly Finding[], place: SeedPath) => {
      for (const { path, ...rest } of findings) found.push({ ...rest, path: [...place, ...path] });
    };
    add(checkNames(value), []);
    for (const { name, checkSection, checkEntry } of checks) {
      const section = (value as Readonly<Record<string, unknown>> | null)?.[name];
      if (section === undefined) continue;
      add(checkSection(section), [name]);
      for (const [index, entry] of Array.isArray(section) ? section.entries() : [])
        yield add(checkEntry(entry), [name, index]);
    }
    return found;
  };
}

/** The check of documents against a schema, which is compiled with the first one. */
export function schemaChecker(definition: object, { allErrors = true } = {}): Check {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= compile(definition, allErrors);
    const validate = compiled;
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
    return errors.map((error) => ({
      path: pathOf(error),
      missing: error.keyword === 'required' ? String(error.params.missingProperty) : undefined,
      describe: () => describe(error),
    }));
  };
}

function compile(definition: object, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv({ allErrors, allowUnionTypes: true, verbose: true, meta: false, validateSchema: false });
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  return ajv.compile(definition);
}

/** An unknown field has the path of its key, a missing one that of its map. */
function pathOf({ instancePath, keyword, params }: ErrorObject): SeedPath {
  const parts = pointerParts(instancePath).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return keyword === 'additionalProperties' ? [...parts, String(params.additionalProperty)] : parts;
}

function describe({ keyword, params, message, parentSchema, data }: ErrorObject): string {
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
      return `unknown field ${shown(name)}; ${meantOrKnown(name, known)}`;
    }
    case 'required':
      return `the field ${String(params.missingProperty)} is missing`;
    case 'type':
      return `this must be ${typeNames(params.type)}, not ${typeName(data)}`;
    case 'enum':
      return `this must be one of ${(params.allowedValues as unknown[]).filter((each) => each !== null).join(', ')}`;
    case 'pattern':
      return String(params.pattern).startsWith('^@')
        ? 'entities are named with @ in front: write @NAME'
        : 'a role is #ATTRIBUTE, @NAME or #all';
    case 'minLength':
      return `this must have at least ${String(params.limit)} characters`;
    case 'maxLength':
      return `this must have at most ${String(params.limit)} characters`;
    case 'format':
      return 'this must be a time such as 2030-01-31T12:00:00Z';
    default:
      return message ?? 'this is not valid';
  }
}

function typeNames(types: unknown): string {
  return [types]
    .flat()
    .filter((type) => type !== 'null')
    .map((type) => NAMES[String(type)] ?? String(type))
    .join(' or ');
}

const NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'a map',
  string: 'a text',
};

/** The type alone: the value may be a password. */
function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return NAMES[typeof value] ?? 'this';
}

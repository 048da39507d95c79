// Checks a seed against its schema: sections, fields, types. All mistakes are found at once.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import schema from '#schemas/sim/seed.schema.json' with { type: 'json' };
import type { SeedPath } from './mistake.ts';

export interface Finding {
  readonly path: SeedPath;
  /** A field that is missing. */
  readonly missing: string | undefined;
  /** Describing thousands of mistakes takes seconds, and only some are shown. */
  describe(): string;
}

export const checkSeed = sectionChecker(schema);

/** Compiles only the sections that a document has: all of them take 0.1 s. */
function sectionChecker({ properties, ...root }: typeof schema): (value: unknown) => Finding[] {
  const { definitions } = root;
  const names = Object.keys(properties);
  const checkNames = schemaChecker({ ...root, properties: Object.fromEntries(names.map((name) => [name, {}])) });
  const checks = Object.entries(properties).map(
    ([name, section]) => [name, schemaChecker({ ...section, definitions })] as const,
  );
  return (value) => [
    ...checkNames(value),
    ...checks.flatMap(([name, check]) => {
      const section = (value as Readonly<Record<string, unknown>> | null)?.[name];
      return section === undefined
        ? []
        : check(section).map(({ path, ...rest }) => ({ ...rest, path: [name, ...path] }));
    }),
  ];
}

/** The check of documents against a schema, which is compiled with the first one. */
export function schemaChecker(definition: object): (value: unknown) => Finding[] {
  let compiled: ValidateFunction | undefined;
  return (value) => {
    compiled ??= compile(definition);
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

function compile(definition: object): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, verbose: true, meta: false, validateSchema: false });
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  return ajv.compile(definition);
}

/** An unknown field has the path of its key, a missing one that of its map. */
function pathOf({ instancePath, keyword, params }: ErrorObject): SeedPath {
  const parts = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
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

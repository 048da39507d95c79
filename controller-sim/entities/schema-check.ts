// Checks data against a JSON Schema (draft 7) that a user wrote. Such a schema is a program: definitions that refer to
// each other twice double the work with each level, and a library that translates it to code needs seconds to do so.
// Here it is interpreted, each step is counted, and the check ends beyond a limit: it takes the same steps on every
// machine.
//
// The first violation is reported, in the words of ajv. Keywords of the wrong form are ignored; `requireSchema` rejects
// them before.

import { isIPv4, isIPv6 } from 'node:net';
import type { ErrorObject } from 'ajv';
import { isMap } from '#lib/json/is-map.ts';
import { LinearPattern } from '#lib/text/linear-pattern.ts';

export type Violation = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message' | 'data'>;
export type Schema = Readonly<Record<string, unknown>>;
type Keyword = (check: SchemaCheck, schema: Schema, data: never) => boolean;

/** Schemas within each other, with those behind references, that a check enters. */
const MAX_DEPTH = 1_000;
/** Characters of texts that are compared or counted in a step. */
const CHARACTERS_OF_STEP = 32;
/** Steps of a name with its value that is listed. */
const STEPS_OF_ENTRY = 2;
/** Steps of a value that is compared with others. */
const STEPS_OF_VALUE = 2;
/** Executed instructions of regular expressions in a step. */
const INSTRUCTIONS_OF_STEP = 4;
/** Steps of the compilation of an expression: for each character, and for each instruction. */
const STEPS_OF_CHARACTER = 100;
const STEPS_OF_INSTRUCTION = 5;
/** Compiled expressions that are kept, the least recently used first. */
const MAX_PATTERNS = 50;

/** Stands for a violation whose place nobody asks for. */
const FORGOTTEN: Violation = { instancePath: '', keyword: '', params: {}, message: '', data: undefined };

/** The check ended before its result was known. */
export class UncheckedError extends Error {}

const patterns = new Map<string, LinearPattern>();

/** The engine is loaded. @throws Error for an invalid expression */
export function patternOf(expression: string): LinearPattern {
  const pattern = patterns.get(expression) ?? new LinearPattern(expression);
  patterns.delete(expression);
  patterns.set(expression, pattern);
  if (patterns.size > MAX_PATTERNS) patterns.delete(patterns.keys().next().value ?? '');
  return pattern;
}

export class SchemaCheck {
  /** Undefined while nothing is wrong. */
  violation: Violation | undefined;
  readonly #resolve: (reference: string) => unknown;
  readonly #path: (string | number)[] = [];
  /** Those of this check: each is compiled once at most, so the steps do not depend on what others have compiled. */
  readonly #patterns = new Map<string, LinearPattern>();
  #steps: number;
  #depth = 0;

  /** `resolve` finds the schema of a reference. */
  constructor(resolve: (reference: string) => unknown, maxSteps: number) {
    this.#resolve = resolve;
    this.#steps = maxSteps;
  }

  /** Whether the data is valid. @throws UncheckedError */
  isValid(schema: unknown, data: unknown): boolean {
    this.spend(1);
    if (schema === false) return this.fail('false schema', {}, 'boolean schema is false', data);
    if (!isMap(schema)) return true;
    if (++this.#depth > MAX_DEPTH)
      throw new UncheckedError(`its schemas refer to each other more than ${MAX_DEPTH} times`);
    const isValid = this.#hasType(schema, data) && this.#fits(schema, data);
    this.#depth -= 1;
    return isValid;
  }

  /** Whether a part of the data is valid. */
  isPartValid(schema: unknown, key: string | number, data: unknown): boolean {
    this.#path.push(key);
    const isValid = this.isValid(schema, data);
    this.#path.pop();
    return isValid;
  }

  /** Whether the data is valid; a violation is forgotten. */
  wouldBeValid(schema: unknown, data: unknown): boolean {
    const before = this.violation;
    this.violation = FORGOTTEN;
    const isValid = this.isValid(schema, data);
    this.violation = before;
    return isValid;
  }

  /** How many of the schemas accept the data, at most `enough`. Without one, the violation is that of the first. */
  count(schemas: readonly unknown[], data: unknown, enough: number): number {
    const before = this.violation;
    let count = 0;
    for (const schema of schemas) if (this.isValid(schema, data) && ++count === enough) break;
    if (count > 0) this.violation = before;
    return count;
  }

  isReferenceValid(reference: string, data: unknown): boolean {
    return this.isValid(this.#resolve(reference), data);
  }

  isMatch(expression: string, text: string): boolean {
    const pattern = this.#patterns.get(expression) ?? this.#compile(expression);
    this.spend(Math.ceil((pattern.instructions * (text.length + 1)) / INSTRUCTIONS_OF_STEP));
    return pattern.matches(text);
  }

  /** A text that is the same for equal values only. */
  canonical(value: unknown): string {
    this.spend(STEPS_OF_VALUE);
    if (typeof value === 'string') this.spendText(value);
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((each) => this.canonical(each)).join(',')}]`;
    const fields = this.entriesOf(value);
    for (const [name] of fields) this.spendText(name);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${this.canonical(each)}`).join(',')}}`;
  }

  /** Each takes its steps, also if the caller needs the first one only: all are listed. */
  entriesOf(value: object): [name: string, value: unknown][] {
    const entries = Object.entries(value);
    this.spend(entries.length * STEPS_OF_ENTRY);
    return entries;
  }

  spendText({ length }: string): void {
    this.spend(Math.ceil(length / CHARACTERS_OF_STEP));
  }

  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new UncheckedError('its schema needs too many steps for it');
  }

  /** Keeps the first violation. Returns false. */
  fail(keyword: string, params: object, message: string, data: unknown): false {
    this.violation ??= { instancePath: this.#pointer(), keyword, params, message, data };
    return false;
  }

  /** A JSON pointer to the data. */
  #pointer(): string {
    this.spend(this.#path.length);
    const parts = this.#path.map((part) => {
      const text = String(part);
      this.spendText(text);
      return `/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    });
    return parts.join('');
  }

  #compile(expression: string): LinearPattern {
    let pattern: LinearPattern;
    try {
      pattern = patternOf(expression);
    } catch (error) {
      throw new UncheckedError(error instanceof Error ? error.message : '');
    }
    this.#patterns.set(expression, pattern);
    this.spend(expression.length * STEPS_OF_CHARACTER + pattern.instructions * STEPS_OF_INSTRUCTION);
    return pattern;
  }

  #hasType({ type }: Schema, data: unknown): boolean {
    if (type === undefined || (typeof type === 'string' && isOfType(type, data))) return true;
    const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
    if (types.length === 0 || types.some((each) => isOfType(each, data))) return true;
    return this.fail('type', { type: types.join(',') }, `must be ${types.join(',')}`, data);
  }

  #fits(schema: Schema, data: unknown): boolean {
    const type = typeOf(data);
    for (const [of, fits] of keywordsOf(schema))
      if ((of === undefined || of === type) && !fits(this, schema, data as never)) return false;
    return true;
  }
}

type DataType = 'number' | 'text' | 'list' | 'map';

function typeOf(data: unknown): DataType | undefined {
  if (typeof data === 'string') return 'text';
  if (typeof data === 'number') return 'number';
  if (Array.isArray(data)) return 'list';
  return isMap(data) ? 'map' : undefined;
}

/** The keywords of a schema, in the order of ajv, which decides what the first violation is. */
function keywordsOf(schema: Schema): readonly (readonly [DataType | undefined, Keyword])[] {
  let found = keywords.get(schema);
  if (found) return found;
  found = KEYWORDS.flatMap(([type, group]) =>
    Object.entries(group).flatMap(([keyword, fits]) => (Object.hasOwn(schema, keyword) ? [[type, fits] as const] : [])),
  );
  keywords.set(schema, found);
  return found;
}

const keywords = new WeakMap<Schema, readonly (readonly [DataType | undefined, Keyword])[]>();

const NUMBER: Readonly<Record<string, Keyword>> = {
  maximum: limit('maximum', '<=', (value, bound) => value <= bound),
  minimum: limit('minimum', '>=', (value, bound) => value >= bound),
  exclusiveMaximum: limit('exclusiveMaximum', '<', (value, bound) => value < bound),
  exclusiveMinimum: limit('exclusiveMinimum', '>', (value, bound) => value > bound),
  multipleOf: (check, { multipleOf }, data: number) =>
    typeof multipleOf !== 'number' ||
    isMultiple(data, multipleOf) ||
    check.fail('multipleOf', { multipleOf }, `must be multiple of ${multipleOf}`, data),
};

/** Whether a number is a multiple of another one, both as they are written: 1.1 is one of 0.1, unlike their doubles. */
function isMultiple(value: number, factor: number): boolean {
  const [[digits, exponent], [ofDigits, ofExponent]] = [decimalOf(value), decimalOf(factor)];
  if (ofDigits === 0n) return false;
  const [by, ofBy] = [Math.max(0, exponent - ofExponent), Math.max(0, ofExponent - exponent)];
  return (digits * 10n ** BigInt(by)) % (ofDigits * 10n ** BigInt(ofBy)) === 0n;
}

/** The shortest decimal of a double: digits, and the power of ten by which they are multiplied. */
function decimalOf(value: number): readonly [digits: bigint, exponent: number] {
  const [digits = '0', exponent = '0'] = value.toExponential().split('e');
  const places = digits.split('.')[1]?.length ?? 0;
  return [BigInt(digits.replace('.', '')), Number(exponent) - places];
}

const TEXT: Readonly<Record<string, Keyword>> = {
  maxLength: size('maxLength', 'characters', charactersOf),
  minLength: size('minLength', 'characters', charactersOf),
  pattern: (check, { pattern }, data: string) =>
    typeof pattern !== 'string' ||
    check.isMatch(pattern, data) ||
    check.fail('pattern', { pattern }, `must match pattern "${pattern}"`, data),
  format: (check, { format }, data: string) => {
    const isFormat = typeof format === 'string' ? FORMATS.get(format) : undefined;
    check.spendText(data);
    return !isFormat || isFormat(data) || check.fail('format', { format }, `must match format "${format}"`, data);
  },
};

/** Formats that are checked; others are ignored. Values of `idn-hostname` may be CIDRs and wildcards, too. */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['ipv4', isIPv4],
  ['ipv6', isIPv6],
]);

const ANY: Readonly<Record<string, Keyword>> = {
  $ref: (check, { $ref }, data) => typeof $ref !== 'string' || check.isReferenceValid($ref, data),
  const: (check, { const: allowedValue }, data) =>
    check.canonical(data) === check.canonical(allowedValue) ||
    check.fail('const', { allowedValue }, 'must be equal to constant', data),
  enum: (check, { enum: allowedValues }, data) => {
    if (!Array.isArray(allowedValues)) return true;
    const value = check.canonical(data);
    return (
      allowedValues.some((each) => check.canonical(each) === value) ||
      check.fail('enum', { allowedValues }, 'must be equal to one of the allowed values', data)
    );
  },
  not: (check, { not }, data) => !check.wouldBeValid(not, data) || check.fail('not', {}, 'must NOT be valid', data),
  anyOf: (check, { anyOf }, data) =>
    !Array.isArray(anyOf) ||
    check.count(anyOf, data, 1) > 0 ||
    check.fail('anyOf', {}, 'must match a schema in anyOf', data),
  oneOf: (check, { oneOf }, data) =>
    !Array.isArray(oneOf) ||
    check.count(oneOf, data, 2) === 1 ||
    check.fail('oneOf', {}, 'must match exactly one schema in oneOf', data),
  allOf: (check, { allOf }, data) => !Array.isArray(allOf) || allOf.every((each) => check.isValid(each, data)),
  // reference fact: the condition is reported, not the violation within.
  if: (check, schema, data) => {
    const failingKeyword = check.wouldBeValid(schema.if, data) ? 'then' : 'else';
    return (
      check.wouldBeValid(schema[failingKeyword], data) ||
      check.fail('if', { failingKeyword }, `must match "${failingKeyword}" schema`, data)
    );
  },
};

const LIST: Readonly<Record<string, Keyword>> = {
  maxItems: size('maxItems', 'items', ({ length }: readonly unknown[]) => length),
  minItems: size('minItems', 'items', ({ length }: readonly unknown[]) => length),
  items: (check, { items, additionalItems }, data: readonly unknown[]) => {
    if (!Array.isArray(items)) return data.every((item, index) => check.isPartValid(items, index, item));
    const { length } = items;
    if (additionalItems === false && data.length > length)
      return check.fail('additionalItems', { limit: length }, `must NOT have more than ${length} items`, data);
    return data.every((item, index) => check.isPartValid(index < length ? items[index] : additionalItems, index, item));
  },
  contains: (check, { contains }, data: readonly unknown[]) => {
    const before = check.violation;
    const isFound = data.some((item, index) => check.isPartValid(contains, index, item));
    if (isFound) check.violation = before;
    return isFound || check.fail('contains', { minContains: 1 }, 'must contain at least 1 valid item(s)', data);
  },
  uniqueItems: (check, { uniqueItems }, data: readonly unknown[]) => {
    const pair = uniqueItems === true ? firstPair(check, data) : undefined;
    // The text of the reference.
    return !pair || check.fail('uniqueItems', {}, `array items[${pair.join(',')}] must be unique`, data);
  },
};

const MAP: Readonly<Record<string, Keyword>> = {
  maxProperties: size('maxProperties', 'properties', namesIn),
  minProperties: size('minProperties', 'properties', namesIn),
  required: (check, { required }, data: Schema) => {
    if (!Array.isArray(required)) return true;
    const missing = firstMissing(check, required, data);
    if (missing === undefined) return true;
    return check.fail('required', { missingProperty: missing }, `must have required property '${missing}'`, data);
  },
  propertyNames: (check, { propertyNames }, data: Schema) =>
    check
      .entriesOf(data)
      .every(
        ([propertyName]) =>
          check.isValid(propertyNames, propertyName) ||
          check.fail('propertyNames', { propertyName }, 'property name must be valid', data),
      ),
  additionalProperties: (check, schema, data: Schema) => {
    const { additionalProperties, properties = {}, patternProperties = {} } = schema;
    const expressions = isMap(patternProperties) ? check.entriesOf(patternProperties).map(([name]) => name) : [];
    return check.entriesOf(data).every(([name, value]) => {
      if (isMap(properties) && Object.hasOwn(properties, name)) return true;
      if (expressions.some((expression) => check.isMatch(expression, name))) return true;
      if (additionalProperties !== false) return check.isPartValid(additionalProperties, name, value);
      const params = { additionalProperty: name };
      return check.fail('additionalProperties', params, 'must NOT have additional properties', data);
    });
  },
  dependencies: (check, { dependencies }, data: Schema) =>
    !isMap(dependencies) ||
    check.entriesOf(dependencies).every(([property, dependency]) => {
      if (!Object.hasOwn(data, property)) return true;
      if (!Array.isArray(dependency)) return check.isValid(dependency, data);
      const missing = firstMissing(check, dependency, data);
      if (missing === undefined) return true;
      const params = { property, missingProperty: missing };
      return check.fail(
        'dependencies',
        params,
        `must have property ${missing} when property ${property} is present`,
        data,
      );
    }),
  properties: (check, { properties }, data: Schema) =>
    !isMap(properties) ||
    check
      .entriesOf(properties)
      .every(([name, schema]) => !Object.hasOwn(data, name) || check.isPartValid(schema, name, data[name])),
  patternProperties: (check, { patternProperties }, data: Schema) => {
    if (!isMap(patternProperties)) return true;
    const entries = check.entriesOf(data);
    return check
      .entriesOf(patternProperties)
      .every(([expression, schema]) =>
        entries.every(([name, value]) => !check.isMatch(expression, name) || check.isPartValid(schema, name, value)),
      );
  },
};

const KEYWORDS: readonly (readonly [DataType | undefined, Readonly<Record<string, Keyword>>])[] = [
  ['number', NUMBER],
  ['text', TEXT],
  [undefined, ANY],
  ['list', LIST],
  ['map', MAP],
];

function limit(keyword: string, comparison: string, isWithin: (value: number, bound: number) => boolean): Keyword {
  return (check, { [keyword]: bound }, data: number) =>
    typeof bound !== 'number' ||
    isWithin(data, bound) ||
    check.fail(keyword, { comparison, limit: bound }, `must be ${comparison} ${bound}`, data);
}

function size<T>(keyword: string, what: string, sizeOf: (data: T, check: SchemaCheck) => number): Keyword {
  const isMost = keyword.startsWith('max');
  return (check, { [keyword]: bound }, data: T) => {
    if (typeof bound !== 'number') return true;
    const given = sizeOf(data, check);
    if (isMost ? given <= bound : given >= bound) return true;
    return check.fail(
      keyword,
      { limit: bound },
      `must NOT have ${isMost ? 'more' : 'fewer'} than ${bound} ${what}`,
      data,
    );
  };
}

function namesIn(data: Schema, check: SchemaCheck): number {
  return check.entriesOf(data).length;
}

/** The first of the names that the data lacks. */
function firstMissing(check: SchemaCheck, names: readonly unknown[], data: Schema): string | undefined {
  check.spend(names.length);
  return names.find((name): name is string => typeof name === 'string' && !Object.hasOwn(data, name));
}

/** Characters of Unicode. */
function charactersOf(text: string, check: SchemaCheck): number {
  check.spendText(text);
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The positions of two equal items; undefined if all differ. */
function firstPair(check: SchemaCheck, items: readonly unknown[]): readonly [number, number] | undefined {
  const positions = new Map<string, number>();
  for (const [position, item] of items.entries()) {
    const text = check.canonical(item);
    const earlier = positions.get(text);
    if (earlier !== undefined) return [earlier, position];
    positions.set(text, position);
  }
  return undefined;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMap(value);
  return typeof value === type && ['string', 'number', 'boolean'].includes(type);
}

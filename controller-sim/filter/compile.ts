// Compiles a Query to functions over entities: predicate, order, page. The symbols of a list define its fields and how
// to read them.

import { ownValue } from '#lib/json/own-value.ts';
import type { Predicate, Query, SortField, Subject, Value } from './ast.ts';
import { FilterError } from './lexer.ts';

export type FieldValue = string | number | boolean | Date | null | undefined;

export type FieldType = 'string' | 'number' | 'bool' | 'datetime' | 'any';

/** A field of a list. A set has several values. */
export interface FilterSymbol<T> {
  /** The type for comparisons; text by default. Dates are detected by their value. */
  readonly type?: FieldType;
  readonly get?: (entity: T) => FieldValue;
  /** The key of the entity whose value `get` returns unchanged. */
  readonly key?: string;
  readonly set?: (entity: T) => readonly FieldValue[];
  /** The list names it, but does not know it. */
  readonly isOnlyNamed?: boolean;
  /** It can be compared, but a list cannot be sorted by it. */
  readonly isUnsortable?: boolean;
  /** For a symbol of ids: finds their entities for `from … where …`. */
  readonly to?: Link;
}

export interface Link {
  find(id: string): object | undefined;
  readonly symbols: Symbols<never>;
}

export type Symbols<T> = Readonly<Record<string, FilterSymbol<T>>>;

const TAGS = 'tags';

/** A sort by a field that does not support it. */
export class SortError extends Error {
  override readonly name = 'SortError';
  /** reference fact: sorting by a symbol that can only be compared, such as a tag, is a server error. */
  readonly isUnsortable: boolean;

  constructor(message: string, isUnsortable = false) {
    super(message);
    this.isUnsortable = isUnsortable;
  }
}

export interface CompiledQuery<T> {
  matches(entity: T): boolean;
  compare(a: T, b: T): number;
  /** Why the entities cannot be sorted, if they cannot. */
  readonly unsortable?: SortError;
}

/** Throws FilterError for unknown fields and type errors, SortError for an invalid sort. */
export function compileQuery<T extends { readonly id: string }>(query: Query, symbols: Symbols<T>): CompiledQuery<T> {
  const matches = query.predicate ? compilePredicate(query.predicate, symbols) : () => true;
  const { sort = [] } = query;
  const all = sort.map((field) => compileSort(field, symbols));
  // reference fact: it ignores what follows the id, and looks at the types of the fields last.
  const count = sort[0]?.field === 'id' ? 1 : sort.length;
  const orders = all.slice(0, count);
  const unsortable = sort.slice(0, count).find(({ field }) => symbolOf(field, symbols)?.isUnsortable);
  return {
    matches,
    ...(unsortable && { unsortable: new SortError(`no such sort field: ${unsortable.field}`, true) }),
    compare: (a, b) => {
      for (const order of orders) {
        const result = order(a, b);
        if (result !== 0) return result;
      }
      return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
    },
  };
}

function compilePredicate<T>(predicate: Predicate, symbols: Symbols<T>): (entity: T) => boolean {
  switch (predicate.kind) {
    case 'constant':
      return () => predicate.value;
    case 'not': {
      const part = compilePredicate(predicate.part, symbols);
      return (entity) => !part(entity);
    }
    case 'and': {
      const parts = predicate.parts.map((part) => compilePredicate(part, symbols));
      return (entity) => parts.every((part) => part(entity));
    }
    case 'or': {
      const parts = predicate.parts.map((part) => compilePredicate(part, symbols));
      return (entity) => parts.some((part) => part(entity));
    }
    case 'flag':
      checkType(predicate.subject, 'is', { type: 'bool', value: true }, symbols);
      return overValues(predicate.subject, symbols, (value) => value === true);
    case 'isEmpty': {
      const values = setOf(predicate.subject, symbols);
      return (entity) => values(entity).length === 0;
    }
    case 'compare': {
      const { subject, operator, value } = predicate;
      const test = negate(predicate.negated, comparisonFor(subject, operator, value, symbols));
      // reference fact: `anyOf(set) not contains` asks for a value without the text, other than `not anyOf(set)
      // contains`.
      return overValues(subject, symbols, test);
    }
    case 'in': {
      const tests = predicate.values.map((value) => comparisonFor(predicate.subject, 'in', value, symbols));
      return negate(
        predicate.negated,
        overValues(predicate.subject, symbols, (value) => tests.some((test) => test(value))),
      );
    }
    case 'between': {
      for (const value of [predicate.low, predicate.high]) checkType(predicate.subject, 'between', value, symbols);
      const low = comparison('>=', predicate.low);
      const high = comparison('<', predicate.high);
      return negate(
        predicate.negated,
        overValues(predicate.subject, symbols, (value) => low(value) && high(value)),
      );
    }
  }
}

/** reference fact: a text field converts a number on the right side to text. */
function comparisonFor<T>(
  subject: Subject,
  operator: string,
  value: Value,
  symbols: Symbols<T>,
): (value: FieldValue) => boolean {
  const isText = value.type === 'number' && typeOf(subject, symbols) === 'string';
  const wanted: Value = isText ? { type: 'string', value: String(value.value) } : value;
  checkType(subject, operator, wanted, symbols);
  return comparison(operator === 'in' ? '=' : operator, wanted);
}

function typeOf<T>(subject: Subject, symbols: Symbols<T>): FieldType | undefined {
  const symbol = symbolOf(subject.field, symbols);
  return symbol && (subject.function === 'count' ? 'number' : (symbol.type ?? 'string'));
}

/** Tags can have any type, and any field can be compared with null. */
function checkType<T>(subject: Subject, operator: string, value: Value, symbols: Symbols<T>): void {
  const type = typeOf(subject, symbols);
  if (type === undefined || type === 'any' || value.type === 'null') return;
  const isText = value.type === 'number' || value.type === 'string';
  const asText = type === 'number' && isText && (operator === 'contains' || operator === 'in');
  if (type === value.type || asText) return;
  const operation = `${subject.field} ${operator} ${String(value.value)}`;
  throw new FilterError(`operation ${operation} is not supported with operands types ${type}, ${value.type}`);
}

/** Finds the symbol of a field, or of a tag if the list has tags. The reference rejects plain `tags`. */
function symbolOf<T>(field: string, symbols: Symbols<T>): FilterSymbol<T> | undefined {
  if (field !== TAGS && Object.hasOwn(symbols, field)) return symbols[field]?.isOnlyNamed ? undefined : symbols[field];
  if (!field.startsWith(`${TAGS}.`) || !Object.hasOwn(symbols, TAGS)) return undefined;
  const tag = field.slice(TAGS.length + 1);
  const get = (entity: T) => ownValue((entity as { tags?: Readonly<Record<string, FieldValue>> }).tags ?? {}, tag);
  return { type: 'any', isUnsortable: true, get };
}

function found(link: Link, id: FieldValue): object | undefined {
  return typeof id === 'string' ? link.find(id) : undefined;
}

function negate<T>(negated: boolean, test: (entity: T) => boolean): (entity: T) => boolean {
  return negated ? (entity) => !test(entity) : test;
}

/** Applies a test to the value of a field, or to the values of a set, as its function demands. */
function overValues<T>(
  subject: Subject,
  symbols: Symbols<T>,
  test: (value: FieldValue) => boolean,
): (entity: T) => boolean {
  if (subject.function === undefined) {
    const get = getterOf(subject.field, symbols);
    return (entity) => test(get(entity));
  }
  const values = setOf(subject, symbols);
  if (subject.function === 'count') return (entity) => test(values(entity).length);
  if (subject.function === 'anyOf') return (entity) => values(entity).some(test);
  return (entity) => values(entity).every(test);
}

function getterOf<T>(field: string, symbols: Symbols<T>): (entity: T) => FieldValue {
  const symbol = symbolOf(field, symbols);
  if (symbol?.get) return symbol.get;
  if (symbol?.set) throw new FilterError(`symbol '${field}' is a set symbol but is used in non-set function context`);
  throw new FilterError(`unknown symbol '${field}'`);
}

function setOf<T>({ field, where }: Subject, symbols: Symbols<T>): (entity: T) => readonly FieldValue[] {
  const symbol = symbolOf(field, symbols);
  const set = symbol?.set;
  if (!set) throw new FilterError(symbol ? `symbol '${field}' is not a set symbol` : `unknown symbol '${field}'`);
  if (!where) return set;
  const { to } = symbol;
  if (!to) throw new FilterError(`attempt to subquery on non-entity symbol ${field}`);
  if (!where.predicate) return set;
  const inner = compilePredicate(where.predicate, to.symbols);
  return (entity) =>
    set(entity).filter((value) => {
      const other = found(to, value);
      return other !== undefined && inner(other as never);
    });
}

function comparison(operator: string, wanted: Value): (value: FieldValue) => boolean {
  if (wanted.type === 'null') return (value) => (value === null || value === undefined) === (operator === '=');
  if (operator === 'contains') {
    const needle = String(wanted.value);
    return (value) => textOf(value)?.includes(needle) === true;
  }
  if (operator === 'icontains') {
    const needle = String(wanted.value).toLowerCase();
    return (value) => textOf(value)?.toLowerCase().includes(needle) === true;
  }
  return (value) => {
    const found = comparable(value, wanted);
    if (found === undefined) return operator === '!=';
    switch (operator) {
      case '=':
        return found === wanted.value;
      case '!=':
        return found !== wanted.value;
      case '<':
        return found < wanted.value;
      case '<=':
        return found <= wanted.value;
      case '>':
        return found > wanted.value;
      default:
        return found >= wanted.value;
    }
  };
}

/**
 * The value converted to the wanted type; undefined if it has another type. reference fact: a missing flag is false;
 * tags compared with texts are texts.
 */
function comparable(
  value: FieldValue,
  wanted: Exclude<Value, { type: 'null' }>,
): string | number | boolean | undefined {
  if (wanted.type === 'datetime') return value instanceof Date ? value.getTime() : undefined;
  if (wanted.type === 'bool') return value === true;
  if (wanted.type === 'string') return textOf(value);
  return typeof value === wanted.type ? (value as string | number) : undefined;
}

function textOf(value: FieldValue): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

function compileSort<T>({ field, descending }: SortField, symbols: Symbols<T>): (a: T, b: T) => number {
  let get: (entity: T) => FieldValue;
  try {
    get = getterOf(field, symbols);
  } catch (error) {
    throw new SortError(error instanceof Error ? error.message : String(error));
  }
  const sign = descending ? -1 : 1;
  return (a, b) => sign * compareValues(get(a), get(b));
}

function compareValues(a: FieldValue, b: FieldValue): number {
  const [left, right] = [a, b].map((value) => (value instanceof Date ? value.getTime() : value));
  if (left === right) return 0;
  if (left === null || left === undefined) return -1;
  if (right === null || right === undefined) return 1;
  return left < right ? -1 : 1;
}

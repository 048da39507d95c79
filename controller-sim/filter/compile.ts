// A Query to functions over entities: predicate, order, page. Which fields there are, and how to get at them, is said by the symbols
// of the list.

import type { Predicate, Query, SortField, Subject, Value } from './ast.ts';
import { FilterError } from './lexer.ts';

export type FieldValue = string | number | boolean | Date | null | undefined;

export type FieldType = 'string' | 'number' | 'bool' | 'datetime';

/** A field of a list. A set has several values; `of` gives the symbols of what a set of entities holds. */
export interface FilterSymbol<T> {
  /** What it may be compared with; texts when left out. Dates are recognised by themselves. */
  readonly type?: FieldType;
  readonly get?: (entity: T) => FieldValue;
  readonly set?: (entity: T) => readonly FieldValue[];
}

export type Symbols<T> = Readonly<Record<string, FilterSymbol<T>>>;

/** A sort by something that cannot be sorted by. */
export class SortError extends Error {
  override readonly name = 'SortError';
}

export interface CompiledQuery<T> {
  matches(entity: T): boolean;
  compare(a: T, b: T): number;
}

const AT = { text: '', line: 1, column: 0 };

/** Throws FilterError for unknown fields and wrong types, SortError for the sort part. */
export function compileQuery<T extends { readonly id: string; readonly tags: Readonly<Record<string, unknown>> }>(
  query: Query,
  symbols: Symbols<T>,
): CompiledQuery<T> {
  const matches = query.predicate ? compilePredicate(query.predicate, symbols) : () => true;
  const orders = (query.sort ?? []).map((field) => compileSort(field, symbols));
  return {
    matches,
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
    case 'compare':
      checkType(predicate.subject, predicate.operator, predicate.value, symbols);
      return negate(
        predicate.negated,
        overValues(predicate.subject, symbols, comparison(predicate.operator, predicate.value)),
      );
    case 'in':
      for (const value of predicate.values) checkType(predicate.subject, 'in', value, symbols);
      return negate(
        predicate.negated,
        overValues(predicate.subject, symbols, (value) =>
          predicate.values.some((each) => comparison('=', each)(value)),
        ),
      );
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

/** Tags can be of any type, and anything can be compared with null. */
function checkType<T>(subject: Subject, operator: string, value: Value, symbols: Symbols<T>): void {
  const symbol = symbols[subject.field];
  if (!symbol || value.type === 'null') return;
  const type = subject.function === 'count' ? 'number' : (symbol.type ?? 'string');
  const partOfText = operator.endsWith('contains') && value.type === 'number';
  if (type === value.type || partOfText) return;
  const operation = `${subject.field} ${operator} ${String(value.value)}`;
  throw new FilterError(`operation ${operation} is not supported with operands types ${type}, ${value.type}`, {
    ...AT,
    text: subject.field,
  });
}

function negate<T>(negated: boolean, test: (entity: T) => boolean): (entity: T) => boolean {
  return negated ? (entity) => !test(entity) : test;
}

/** Applies a test to the value of a field, or to the values of a set as its function says. */
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
  const symbol = symbols[field];
  if (symbol?.get) return symbol.get;
  if (symbol?.set)
    throw new FilterError(`symbol '${field}' is a set symbol but is used in non-set function context`, {
      ...AT,
      text: field,
    });
  if (field.startsWith('tags.')) {
    const tag = field.slice('tags.'.length);
    return (entity) => (entity as { tags?: Readonly<Record<string, FieldValue>> }).tags?.[tag];
  }
  throw new FilterError(`unknown symbol '${field}'`, { ...AT, text: field });
}

function setOf<T>(subject: Subject, symbols: Symbols<T>): (entity: T) => readonly FieldValue[] {
  const symbol = symbols[subject.field];
  if (!symbol?.set)
    throw new FilterError(
      symbol ? `symbol '${subject.field}' is not a set symbol` : `unknown symbol '${subject.field}'`,
      { ...AT, text: subject.field },
    );
  const { set } = symbol;
  if (!subject.where) return set;
  const inner = subject.where.predicate
    ? compilePredicate<{ value: FieldValue }>(subject.where.predicate, { id: { get: ({ value }) => value } })
    : () => true;
  return (entity) => set(entity).filter((value) => inner({ value }));
}

function comparison(operator: string, wanted: Value): (value: FieldValue) => boolean {
  if (wanted.type === 'null') return (value) => (value === null || value === undefined) === (operator === '=');
  if (operator === 'contains') {
    const needle = String(wanted.value);
    return (value) =>
      typeof value === 'string' ? value.includes(needle) : typeof value === 'number' && String(value).includes(needle);
  }
  if (operator === 'icontains') {
    const needle = String(wanted.value).toLowerCase();
    return (value) =>
      (typeof value === 'string' || typeof value === 'number') && String(value).toLowerCase().includes(needle);
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

/** The value in the form of the wanted one; undefined when it has another type. */
function comparable(
  value: FieldValue,
  wanted: Exclude<Value, { type: 'null' }>,
): string | number | boolean | undefined {
  if (wanted.type === 'datetime') return value instanceof Date ? value.getTime() : undefined;
  const type = wanted.type === 'bool' ? 'boolean' : wanted.type;
  return typeof value === type ? (value as string | number | boolean) : undefined;
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

// Lists: filter, sort, limit and offset of a query, and the page with its metadata (reference fact: HTTP behaviour,
// Lists).

import { ApiError, badRequest, invalid } from '../../errors/errors.ts';
import type { Predicate, Query } from '../../filter/ast.ts';
import { compileQuery, type FieldValue, type FilterSymbol, SortError, type Symbols } from '../../filter/compile.ts';
import { FilterError } from '../../filter/lexer.ts';
import { parseQuery, parseSort } from '../../filter/parser.ts';
import type { Entity, Named } from '../../state/entity.ts';
import { isSearchable, type SearchText } from '../../state/ordered.ts';
import { MAX_SELECTED, selectFirst } from '../../state/selection.ts';
import { compareBy, type IndexedSort, SORT_KEYS, Table } from '../../state/table.ts';
import type { ListPage } from './context.ts';

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 500;
/** reference fact: the limit that an unlimited list reports, as precisely as a number can hold it. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Symbols of every list of entities. */
const BASE: Symbols<Entity> = {
  id: { get: ({ id }) => id },
  createdAt: { type: 'datetime', get: ({ createdAt }) => new Date(createdAt) },
  updatedAt: { type: 'datetime', get: ({ updatedAt }) => new Date(updatedAt) },
  tags: { get: () => undefined },
  isSystem: { type: 'bool', get: ({ isSystem }) => isSystem || null }, // reference fact: stored only if true
};

/** A symbol for a plain field of the entity. */
export function field<T>(key: keyof T & string): FilterSymbol<T> {
  return { key, get: (entity) => entity[key] as FieldValue };
}

/** A symbol for a boolean field. */
export function flagField<T>(key: keyof T & string): FilterSymbol<T> {
  return { type: 'bool', ...field<T>(key) };
}

/** A symbol for a numeric field. */
export function numberField<T>(key: keyof T & string): FilterSymbol<T> {
  return { type: 'number', ...field<T>(key) };
}

/** A symbol for a field with several values. */
export function fieldSet<T>(key: keyof T & string): FilterSymbol<T> {
  return { set: (entity) => (entity[key] ?? []) as readonly FieldValue[] };
}

/**
 * A symbol of ids that refer to entities in `table`: `from configs where name = "x"` filters the configs themselves.
 * Their own symbols are built on demand, since few filters need them.
 */
export function linked<T, U extends Entity>(
  symbol: FilterSymbol<T>,
  table: Table<U>,
  own: () => Symbols<U>,
): FilterSymbol<T> {
  const to = {
    find: (id: string) => table.get(id),
    get symbols() {
      return { ...BASE, ...own() } as Symbols<U>;
    },
  };
  return { ...symbol, to };
}

/** The page that a query selects. Throws ApiError for an invalid query, before any entity is read. */
export function listPage<T extends Entity, Item>(
  entities: Source<T>,
  query: URLSearchParams,
  own: Symbols<T>,
  toItem: (entity: T) => Item,
): ListPage<Item> {
  return page(entities, query, { ...BASE, ...own } as Symbols<T>, toItem);
}

/** The entities of a list, or a function that selects them. */
type Source<T> = Iterable<T> | Table<T & Entity> | (() => Iterable<T> | Table<T & Entity>);

/** Listed records. Those with tags can be filtered by them. */
interface Listable {
  readonly id: string;
}

/** A page of records whose only base fields are id and tags. */
export function listRecords<T extends Listable, Item>(
  records: Iterable<T>,
  query: URLSearchParams,
  own: Symbols<T>,
  toItem: (record: T) => Item,
): ListPage<Item> {
  return page(records, query, { id: { get: ({ id }) => id }, ...own } as Symbols<T>, toItem);
}

/** A page of built-in types, which never change. */
export function listFixed<T extends Listable & { readonly name: string; readonly createdAt: string }>(
  types: readonly T[],
  query: URLSearchParams,
): ListPage<T> {
  const date = { type: 'datetime', get: ({ createdAt }: T) => new Date(createdAt) } as const;
  const own = { ...BASE, createdAt: date, updatedAt: date, name: { get: ({ name }: T) => name } };
  return page(types, query, own as Symbols<T>, (type) => type);
}

function page<T extends Listable, Item>(
  select: Source<T>,
  query: URLSearchParams,
  symbols: Symbols<T>,
  toItem: (entity: T) => Item,
): ListPage<Item> {
  const parsed = readQuery(query);
  const { matches, compare, unsortable } = compile(parsed, symbols);
  const { limit, offset } = paging(parsed);
  const all = typeof select === 'function' ? select() : select;
  // reference fact: a kind without entities is not sorted.
  if (unsortable && !(all instanceof Table && all.size === 0)) throw translate(unsortable, parsed.sortError);
  const source = (all instanceof Table && parsed.predicate && lookUp(all, parsed.predicate)) || all;
  const answer = (totalCount: number, entities: readonly T[]) => ({
    items: entities.map(toItem),
    pagination: { limit, offset, totalCount },
    filterableFields: Object.keys(symbols),
  });
  const end = offset + limit;
  const order = indexedSort(parsed.sort);
  if (source instanceof Table && order) {
    if (!parsed.predicate) return answer(source.size, source.ordered(order).slice(offset, end));
    const search = nameSearch(parsed.predicate, symbols);
    if (search) {
      const { total, found } = source.ordered(order).search(search.text, search.needle, offset, end);
      return answer(total, found);
    }
    if (end > MAX_SELECTED) {
      const matching = source.ordered(order).filter(matches);
      return answer(matching.length, matching.slice(offset, end));
    }
    // Creation order is the order in memory: scanning it is many times faster than following an index.
    const { total, first } = selectFirst(source.values(), matches, compareBy(order), end);
    return answer(total, first.slice(offset));
  }
  const { total, first } = selectFirst(source instanceof Table ? source.values() : source, matches, compare, end);
  return answer(total, first.slice(offset));
}

const NAME: SearchText<Partial<Named>> = { of: ({ name }) => name ?? '' };
const FOLDED_NAME: SearchText<Partial<Named>> = { of: ({ name }) => name?.toLowerCase() ?? '' };

/** The text that all names have to contain; undefined for predicates that demand more or other things. */
function nameSearch<T>(predicate: Predicate, symbols: Symbols<T>) {
  if (predicate.kind !== 'compare' || predicate.negated) return undefined;
  const { subject, operator, value } = predicate;
  if (subject.function !== undefined || subject.field !== 'name' || symbols.name?.key !== 'name') return undefined;
  if (value.type !== 'string' || !isSearchable(value.value)) return undefined;
  if (operator === 'contains') return { text: NAME, needle: value.value };
  if (operator === 'icontains') return { text: FOLDED_NAME, needle: value.value.toLowerCase() };
  return undefined;
}

/** The sort, if tables have an index for it. Without a sort, entities are in the order of their ids. */
function indexedSort(sort: Query['sort'] = [{ field: 'id', descending: false }]): IndexedSort | undefined {
  const [first, ...others] = sort;
  const key = SORT_KEYS.find((each) => each === first?.field);
  return first && key && others.length === 0 ? { key, descending: first.descending } : undefined;
}

/**
 * All candidates for a predicate that demands an id or a unique value, such as `name = "x"`; undefined for other
 * predicates. An index finds them without a scan. Symbols of unique fields have the field's name.
 */
function lookUp<T extends Entity>(table: Table<T>, predicate: Predicate): readonly T[] | undefined {
  if (predicate.kind === 'and') {
    for (const part of predicate.parts) {
      const found = lookUp(table, part);
      if (found) return found;
    }
  }
  if (predicate.kind !== 'compare' || predicate.operator !== '=' || predicate.negated) return undefined;
  const { subject, value } = predicate;
  if (subject.function !== undefined || value.type !== 'string') return undefined;
  return table.lookUp(subject.field, value.value);
}

/**
 * A list of texts, such as role attributes, which filters call `id`. reference fact: the parameters sort, limit and
 * offset are ignored (the web console sorts by a name that does not exist). Only sorting and paging inside the filter
 * apply.
 */
export function listTexts<Item>(
  texts: readonly string[],
  query: URLSearchParams,
  toItem: (text: string) => Item,
): ListPage<Item> {
  for (const name of ['limit', 'offset']) integer(query.get(name), name);
  const entities = texts.map((id) => ({ id, tags: {} }));
  const parsed = readQuery(new URLSearchParams({ filter: query.get('filter') ?? '' }));
  const compiled = compile(parsed, { id: { get: ({ id }: { id: string }) => id } });
  const matching = entities.filter(compiled.matches).sort(compiled.compare);
  const limit = typeof parsed.limit === 'number' && parsed.limit >= 0 ? parsed.limit : UNLIMITED;
  const { skip = 0 } = parsed;
  const offset = Math.max(0, skip);
  return {
    items: matching.slice(offset, offset + limit).map(({ id }) => toItem(id)),
    pagination: { limit, offset: skip, totalCount: matching.length },
    filterableFields: ['id'],
  };
}

function compile<T extends Listable>(query: ListQuery, symbols: Symbols<T>) {
  try {
    return compileQuery(query, symbols);
  } catch (error) {
    throw translate(error, error instanceof SortError ? query.sortError : 'INVALID_FILTER');
  }
}

/** reference fact: an invalid `sort by` in the filter makes the filter invalid. */
interface ListQuery extends Query {
  readonly sortError: 'INVALID_FILTER' | 'INVALID_SORT_IDENTIFIER';
}

/** Sorting and paging inside the filter override the other parameters. */
function readQuery(parameters: URLSearchParams): ListQuery {
  const limit = integer(parameters.get('limit'), 'limit');
  const offset = integer(parameters.get('offset'), 'offset');
  const query = orReject(() => parseQuery(parameters.get('filter') ?? ''), 'INVALID_FILTER');
  const given = parameters.get('sort');
  const sort = query.sort ?? (given ? orReject(() => parseSort(given), 'INVALID_SORT_IDENTIFIER') : undefined);
  return {
    sortError: query.sort ? 'INVALID_FILTER' : 'INVALID_SORT_IDENTIFIER',
    ...(query.predicate && { predicate: query.predicate }),
    ...(sort && { sort }),
    ...((query.limit ?? limit) !== undefined && { limit: query.limit ?? (limit as number) }),
    ...((query.skip ?? offset) !== undefined && { skip: query.skip ?? (offset as number) }),
  };
}

function orReject<T>(parse: () => T, rejection: ListQuery['sortError']): T {
  try {
    return parse();
  } catch (error) {
    throw translate(error, rejection);
  }
}

function integer(text: string | null, name: string): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text))
    throw invalid(name, `${name} in query must be of type int64: ${JSON.stringify(text)}`, text);
  return Number(text);
}

/**
 * reference fact: a limit above the maximum is capped; `none` and -1 mean unlimited, other limits below 1 the default.
 */
function paging({ limit = DEFAULT_LIMIT, skip = 0 }: Query): { limit: number; offset: number } {
  const offset = Math.max(0, skip);
  if (limit === 'none' || limit === -1) return { limit: UNLIMITED, offset };
  return { limit: limit < 1 ? DEFAULT_LIMIT : Math.min(MAX_LIMIT, limit), offset };
}

/** reference fact: a cause with the code UNHANDLED describes the error. */
function translate(error: unknown, rejection: ListQuery['sortError']): unknown {
  if (error instanceof SortError)
    return error.isUnsortable
      ? badRequest(error.message)
      : new ApiError(rejection, { code: 'UNHANDLED', message: error.message });
  if (!(error instanceof FilterError)) return error;
  const { message, place } = error;
  const where = place ? `. line: ${place.line}, column: ${place.column}, symbol: ${place.text}` : '';
  return new ApiError(rejection, { code: 'UNHANDLED', message: `${message}${where}` });
}

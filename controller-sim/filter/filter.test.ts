// The filter language: syntax, results and errors.

import fc from 'fast-check';
import t from 'tap';
import { compileQuery, SortError, type Symbols } from './compile.ts';
import { FilterError } from './lexer.ts';
import { parseQuery, parseSort } from './parser.ts';

interface Thing {
  id: string;
  name: string | null;
  size: number;
  open: boolean;
  made: Date;
  roles: readonly string[];
  tags: Readonly<Record<string, unknown>>;
}

const SYMBOLS: Symbols<Thing> = {
  id: { get: ({ id }) => id },
  name: { get: ({ name }) => name },
  size: { type: 'number', get: ({ size }) => size },
  open: { type: 'bool', get: ({ open }) => open },
  made: { type: 'datetime', get: ({ made }) => made },
  roles: { set: ({ roles }) => roles },
  tags: { get: () => undefined },
};
const THINGS: readonly Thing[] = [
  {
    id: 'a',
    name: 'Alpha',
    size: 1,
    open: true,
    made: new Date('2024-01-01T00:00:00Z'),
    roles: ['x', 'y'],
    tags: { k: 'v', n: 5 },
  },
  { id: 'b', name: 'beta', size: 20, open: false, made: new Date('2025-01-01T00:00:00Z'), roles: ['y'], tags: {} },
  { id: 'c', name: null, size: 300, open: true, made: new Date('2026-01-01T00:00:00Z'), roles: [], tags: { k: 'w' } },
  {
    id: 'd',
    name: 'say "hi"',
    size: -4,
    open: false,
    made: new Date('2026-06-01T00:00:00Z'),
    roles: ['x', 'z'],
    tags: {},
  },
];

function select(filter: string): string {
  const query = parseQuery(filter);
  const { matches, compare } = compileQuery(query, SYMBOLS);
  const found = THINGS.filter(matches).toSorted(compare);
  const skip = query.skip ?? 0;
  const end = typeof query.limit === 'number' && query.limit >= 0 ? skip + query.limit : undefined;
  return found
    .slice(skip, end)
    .map(({ id }) => id)
    .join('');
}

t.test('filters select the matching entities', async (t) => {
  const table: [string, string][] = [
    ['', 'abcd'],
    ['true', 'abcd'],
    ['false', ''],
    ['name = "Alpha"', 'a'],
    ['name != "Alpha"', 'bcd'],
    ['name = null', 'c'],
    ['name != null', 'abd'],
    ['name = "say \\"hi\\""', 'd'],
    ['name contains "a"', 'abd'],
    ['name not contains "a"', 'c'],
    ['name icontains "ALPHA"', 'a'],
    ['size > 1', 'bc'],
    ['size >= 1 and size <= 20', 'ab'],
    ['size = -4', 'd'],
    ['size in [1, 300]', 'ac'],
    ['size not in [1, 300]', 'bd'],
    ['size between 1 and 20', 'a'],
    ['name in ["Alpha", "beta"]', 'ab'],
    ['open', 'ac'],
    ['open = true', 'ac'],
    ['not open', 'bd'],
    ['not (open or size = 20)', 'd'],
    ['open or size = 20 and name = "none"', 'ac'],
    ['(open or size = 20) and name = "beta"', 'b'],
    ['made > datetime(2025-06-01T00:00:00Z)', 'cd'],
    ['anyOf(roles) = "x"', 'ad'],
    ['allOf(roles) = "y"', 'bc'],
    // `not` belongs to the comparison of each value: d has z, and c has no value.
    ['anyOf(roles) not contains "x"', 'abd'],
    ['not anyOf(roles) not icontains "X"', 'c'],
    ['allOf(roles) not contains "x"', 'bc'],
    ['not (allOf(roles) not icontains "X")', 'ad'],
    ['count(roles) = 2', 'ad'],
    ['isEmpty(roles)', 'c'],
    ['not isEmpty(roles)', 'abd'],
    ['tags.k = "v"', 'a'],
    ['tags.n = 5', 'a'],
    ['tags.k != null', 'ac'],
    ['true sort by size desc', 'cbad'],
    ['true sort by open, size desc', 'bdca'],
    ['true skip 1 limit 2', 'bc'],
    ['true limit none', 'abcd'],
    ['sort by name', 'cabd'],
    ['NAME = "Alpha"', '!'],
  ];
  for (const [filter, expected] of table) {
    if (expected === '!') t.throws(() => select(filter), FilterError, filter);
    else t.equal(select(filter), expected, filter);
  }
});

t.test('invalid filters are rejected with the position', async (t) => {
  const table = [
    'name',
    'name =',
    '= "x"',
    'name = "x',
    "name = 'x'",
    'name = "x" and',
    '(name = "x"',
    'name = "x")',
    'frob = 1',
    'open = "x"',
    'size = "1"',
    'name in []',
    'name in ["a"',
    'count(name) = 1',
    'roles = "x"',
    'anyOf(size) = 1',
    'true limit x',
    'true extra',
    'name == "x"',
    'datetime(yesterday) = made',
    '\0',
    '('.repeat(5_000),
    `${'not '.repeat(5_000)}true`,
  ];
  for (const filter of table) t.throws(() => select(filter), FilterError, filter.slice(0, 40));
  t.throws(() => select('true sort by frob'), SortError);
});

t.test('comparisons and sort fields are limited, elements of lists are not', async (t) => {
  const repeat = (text: string, count: number, separator: string) => Array(count).fill(text).join(separator);
  t.equal(select(repeat('id = "a"', 1_000, ' or ')), 'a');
  t.throws(() => select(repeat('id = "a"', 1_001, ' or ')), { message: 'the filter has more than 1000 comparisons' });
  const nested = `not isEmpty(from roles where ${repeat('id = "a"', 1_000, ' or ')})`;
  t.throws(() => select(nested), { message: 'the filter has more than 1000 comparisons' });
  t.equal(select(`id in [${repeat('"a"', 5_000, ', ')}]`), 'a');
  t.equal(parseSort(repeat('id', 100, ', ')).length, 100);
  t.throws(() => parseSort(repeat('id', 101, ', ')), { message: 'the sort has more than 100 fields' });
});

t.test('every text either parses or is rejected', async (t) => {
  const word = fc.constantFrom(
    'name',
    '=',
    '!=',
    '"x"',
    '5',
    'and',
    'or',
    'not',
    '(',
    ')',
    'in',
    '[',
    ']',
    ',',
    'true',
    'null',
    'anyOf',
    'count',
    'isEmpty',
    'sort',
    'by',
    'limit',
    'skip',
    'between',
    'contains',
    'roles',
    'datetime',
    'from',
    'where',
    '\\',
    '"',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      ),
      (filter) => {
        try {
          select(filter);
        } catch (error) {
          if (!(error instanceof FilterError) && !(error instanceof SortError)) throw error;
        }
      },
    ),
    { numRuns: 3_000 },
  );
  t.pass('3000 texts');
});

t.test('errors have the line and the column of their text, from 1 and from 0', async (t) => {
  const table: [filter: string, line: number, column: number, text: string][] = [
    ['&', 1, 0, '&'],
    ['name = 1 &', 1, 9, '&'],
    ['name\n  &', 2, 2, '&'],
    ['name = 1 and\n \n   & b', 3, 3, '&'],
    ['name\r\n\n&', 3, 0, '&'],
    ['name =\n  "a"\n sort by )', 3, 9, ')'],
    ['name =\n  ', 2, 2, '<EOF>'],
  ];
  for (const [filter, line, column, text] of table)
    t.same(placeOfError(filter), { line, column, text }, JSON.stringify(filter));
});

function placeOfError(filter: string): FilterError['place'] {
  try {
    parseQuery(filter);
  } catch (error) {
    if (error instanceof FilterError) return error.place;
  }
  return undefined;
}

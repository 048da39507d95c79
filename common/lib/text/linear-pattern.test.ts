// Regular expressions of users.

import t from 'tap';
import { holdings } from '../../../test/support/hostile/leftovers.ts';
import { seededRandom } from '../random.ts';
import { LinearPattern, loadPatterns } from './linear-pattern.ts';

await loadPatterns();

t.test('an expression finds a part of a text, and hostile ones do so in linear time', async (t) => {
  const table: [expression: string, text: string, isMatch: boolean][] = [
    ['b+', 'abc', true],
    ['^b', 'abc', false],
    ['', 'abc', true],
    ['(?i)^ÄB$', 'äb', true],
    ['\\pL+\\z', 'x1', false],
    ['[[:digit:]]', 'x1', true],
    ['(?P<name>a)b', 'ab', true],
    // Backtracking engines take exponential time for these.
    ['^(a+)+$', `${'a'.repeat(10_000)}!`, false],
    ['^(a|a?)+$', `${'a'.repeat(10_000)}!`, false],
    ['(x+x+)+y', 'x'.repeat(10_000), false],
    [`^${'(?:a?)'.repeat(40)}a{40}$`, 'a'.repeat(40), true],
  ];
  for (const [expression, text, isMatch] of table)
    t.equal(new LinearPattern(expression).matches(text), isMatch, expression);
});

t.test("an expression that is not one of Go's is an error with its text", async (t) => {
  const table: [expression: string, message: string | RegExp][] = [
    ['(', 'error parsing regexp: missing closing ): `(`'],
    ['[a', 'error parsing regexp: missing closing ]: `[a`'],
    ['(?=a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    ['(?<!a)b', 'error parsing regexp: invalid named capture: `(?<!a)b`'],
    ['(a)\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
    ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
    ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
    ['(a{1000}){1000}', /^error parsing regexp: /],
    ['('.repeat(512), /^error parsing regexp: missing closing \)/],
  ];
  for (const [expression, message] of table) t.throws(() => new LinearPattern(expression), { message }, expression);
});

t.test('an expression gives the memory for what it has learned back', async (t) => {
  // Each text teaches an automaton of these expressions other states.
  const random = seededRandom(1);
  const text = () => Array.from({ length: 2_000 }, () => (random.next() < 0.5 ? 'a' : 'b')).join('');
  const patterns = Array.from({ length: 20 }, (_, index) => new LinearPattern(`[ab]*a[ab]{${300 + index}}c`));
  const before = holdings().memory;
  for (const { matches } of patterns) matches(`${text()}c`);
  const grown = holdings().memory - before;
  t.ok(grown < 16 * 1024 * 1024, `${grown} bytes`);
});

t.test('the size of an expression is bounded before and after it is compiled', async (t) => {
  t.throws(() => new LinearPattern('a'.repeat(513)), { message: /longer than 512 characters/ });
  t.throws(() => new LinearPattern('a{1000}'.repeat(70)), { message: /the repetitions of .* are too large/ });
  t.throws(() => new LinearPattern('(?:abcdefg){300}'), { message: /has \d+ instructions; at most 1000 are allowed/ });
  t.throws(() => new LinearPattern('[a-c]{50}', 20), { message: /at most 20 are allowed/ });
  t.ok(new LinearPattern('[a-c]{50}').instructions >= 50);
});

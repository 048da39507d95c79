// The nesting limit of JSON.

import fc from 'fast-check';
import t from 'tap';
import { isNestedDeeper, JsonDepthError, parseJson } from './json.ts';

const nested = (depth: number, [open, close] = ['[', ']']) => `${open?.repeat(depth)}${close?.repeat(depth)}`;

t.test('JSON of the allowed depth is parsed, one level deeper is rejected', async (t) => {
  t.ok(parseJson(nested(100)));
  t.throws(() => parseJson(nested(101)), JsonDepthError);
  t.throws(() => parseJson('['.repeat(1_000_000)), JsonDepthError);
  t.throws(() => parseJson(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`), /nested deeper than 100 levels/);
  t.ok(parseJson(nested(3), 3));
  t.throws(() => parseJson(nested(4), 3), JsonDepthError);
});

t.test('brackets in strings are not levels', async (t) => {
  const text = `${'['.repeat(500)}\\"${'{'.repeat(500)}`;
  t.same(parseJson(JSON.stringify({ [text]: [text, `${text}\\`] })), { [text]: [text, `${text}\\`] });
});

t.test('wide and long JSON is not deep', async (t) => {
  const wide = Array.from({ length: 1_000 }, () => [{}]);
  t.same(parseJson(JSON.stringify(wide)), wide);
});

t.test('texts are parsed and rejected like JSON.parse does', async () => {
  const result = (parse: (text: string) => unknown, text: string) => {
    try {
      return JSON.stringify(parse(text));
    } catch (error) {
      return String(error);
    }
  };
  const text = fc.oneof(
    fc.json({ maxDepth: 20 }),
    fc.string(),
    fc.json().map((json) => json.slice(1)),
  );
  fc.assert(fc.property(text, (each) => result(parseJson, each) === result(JSON.parse, each)));
});

t.test('the depth of a parsed value equals the depth of its text', async (t) => {
  for (const depth of [0, 1, 99, 100, 101, 5_000])
    t.equal(isNestedDeeper(JSON.parse(depth === 0 ? '1' : nested(depth))), depth > 100, String(depth));
});

// YAML is the same value for a reader, and obeys nothing at a terminal.

import fc from 'fast-check';
import t from 'tap';
import { parse } from 'yaml';
import { yamlText } from './yaml-text.ts';

t.test('usual text is plain, text with characters that a terminal obeys is quoted and escaped', async (t) => {
  t.equal(yamlText({ name: 'web', list: ['a b'] }), 'name: web\nlist:\n  - a b\n');
  const value = { 'na\u202eme': 'c1 \u009b31m', line: 'a\u2028b', esc: '\u001b[2J', tab: 'a\tb' };
  const text = yamlText(value);
  t.notMatch(text, /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}]/u);
  t.same(parse(text), value);
});

t.test('any text survives', async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (value) => {
      const plain = Object.fromEntries(Object.entries(value).filter(([key]) => key !== '__proto__'));
      const text = yamlText(plain);
      return JSON.stringify(parse(text)) === JSON.stringify(plain) && !/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u.test(text);
    }),
  );
});

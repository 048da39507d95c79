// Text of others cannot control a terminal, forge lines, or hide a message.

import fc from 'fast-check';
import t from 'tap';
import { createLog } from '../log/log.ts';
import { inLines, inOneLine, shown } from './shown-text.ts';

t.test('characters that a terminal or a reader would obey are shown by their number', async (t) => {
  const table: [given: string, expected: string][] = [
    ['plain, ünïcödé, 日本, 🙂', 'plain, ünïcödé, 日本, 🙂'],
    ['a\nb\r\tc', 'a\\u000ab\\u000d\\u0009c'],
    ['\u001b[2Jgone', '\\u001b[2Jgone'],
    ['bell\u0007 csi\u009b31m', 'bell\\u0007 csi\\u009b31m'],
    ['\u202etxt.exe\u2066', '\\u202etxt.exe\\u2066'],
    ['one\u2028two\u2029three', 'one\\u2028two\\u2029three'],
    ['half \ud83d of a pair, and \ude42', 'half \\ud83d of a pair, and \\ude42'],
  ];
  for (const [given, expected] of table) t.equal(inOneLine(given), expected);
  t.equal(inLines('a\n\tb\u001b'), 'a\n\tb\\u001b');
});

t.test('no text has a control character afterwards, and harmless text stays', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const line = inOneLine(text);
      return !/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(line) && line.isWellFormed();
    }),
  );
});

t.test('a long value is cut', async (t) => {
  t.equal(shown('x'.repeat(100)), 'x'.repeat(100));
  t.equal(shown('x'.repeat(900_000)), `${'x'.repeat(100)}… (900000 characters)`);
  t.equal(shown(`${'x'.repeat(99)}🙂`), `${'x'.repeat(99)}\\ud83d… (101 characters)`);
});

t.test('a log in text has one line for each message, whatever strangers send', async (t) => {
  const lines: string[] = [];
  const log = createLog({ format: 'text', write: (line) => void lines.push(line) });
  log.warn({ reason: 'a\n12:00:00.000 INFO forged', service: 'x\u001b[2J', list: ['\u009b31m'] }, 'dial failed');
  t.equal(lines.length, 1);
  t.match(
    lines[0],
    /dial failed reason=a\\u000a12:00:00.000 INFO forged service=x\\u001b\[2J list=\["\\u009b31m"\]\n$/,
  );
  t.equal(lines[0]?.split('\n').length, 2);
});

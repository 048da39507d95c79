// Regular expressions of others.

import t from 'tap';
import { BoundedPattern } from './bounded-pattern.ts';

t.test('an expression matches as any other; one that takes too long matches nothing from then on', async (t) => {
  let slow = 0;
  const pattern = new BoundedPattern('^(a+)+$', () => slow++);
  for (const _again of [1, 2]) t.same(['aa', 'ab', 'a'.repeat(300)].map(pattern.matches), [true, false, true]);
  t.same(pattern.matching(['aaa', 'b', 'aa']), ['aaa', 'aa']);
  const before = process.threadCpuUsage();
  for (const text of ['b', 'c', 'd']) t.notOk(pattern.matches(`${'a'.repeat(60)}${text}`));
  const { user, system } = process.threadCpuUsage(before);
  t.ok((user + system) / 1_000 < 200, `${(user + system) / 1_000} ms`);
  t.equal(slow, 1);
  t.notOk(pattern.matches('aa'));
  t.throws(() => new BoundedPattern('('), SyntaxError);
});

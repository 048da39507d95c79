// Tests wait for conditions: an upper bound for elapsed time fails on a machine that is slow or busy.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../tools/commands.ts';
import { testFilesOf } from '../../tools/testing/test-files.ts';

/** Elapsed time compared with an upper bound, also by way of a variable. */
const BOUND = /(?:performance|Date)\.now\(\) - [\w.]+ <=? /g;
const MEASURED = /const (\w+) = (?:performance|Date)\.now\(\) - /g;
/** Files that compare times, and why no machine is too slow for them. */
const PERMITTED: Readonly<Record<string, string>> = {
  'test/cli/suspended.test.ts': 'a minute, for what takes milliseconds',
};

/** The comparisons in the text of a test. */
function boundsIn(text: string): string[] {
  const names = [...text.matchAll(MEASURED)].map(([, name = '']) => name);
  const found = names.flatMap((name) => text.match(new RegExp(`\\bt\\.ok\\(${name} <=? `, 'g')) ?? []);
  return [...(text.match(BOUND) ?? []), ...found];
}

t.test('comparisons of elapsed time are found', async (t) => {
  t.equal(boundsIn('t.ok(performance.now() - start < 5_000)').length, 1);
  t.equal(boundsIn('const took = performance.now() - start;\nt.ok(took < LIMIT);').length, 1);
  t.same(boundsIn('t.ok(performance.now() - start >= 50)'), [], 'a lower bound holds on each machine');
});

t.test('no test has an upper bound for elapsed time', async (t) => {
  const files = testFilesOf(ROOT);
  t.ok(files.length > 300, `${files.length} files`);
  const bounded = files.filter((file) => boundsIn(readFileSync(join(ROOT, file), 'utf8')).length > 0);
  const own = 'test/house/timing.test.ts';
  t.same(
    bounded.filter((file) => file !== own),
    Object.keys(PERMITTED),
  );
});

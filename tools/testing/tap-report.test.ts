// Parsing a report of tap: failures, progress, counts.

import t from 'tap';
import { countIn, failuresIn, progressOf, skippedIn } from './tap-report.ts';

const REPORT = `TAP version 14
# Subtest: agent/one.test.ts
    # Subtest: a link
        ok 1 - dials
        not ok 2 - has a cost
          ---
          diff: |
            -2
            +1
          source: >
            t.equal(1, 2);

          at:
            lineNumber: 7
          ...
        # Subtest: and its group
            not ok 1 - is named
            1..1
        not ok 3 - and its group # time=2ms
        1..3
    not ok 1 - a link # time=12.5ms
      ---
      at:
        lineNumber: 3
      ...

    # Subtest: a second link
        ok 1 - dials
        1..1
    ok 2 - a second link # time=3ms

    ok 3 - a real router # SKIP the environment variable ZITI_BIN names no binary
    1..3
not ok 1 - agent/one.test.ts # time=1234.5ms

# Subtest: agent/two.test.ts
    1..0
not ok 2 - agent/two.test.ts # time=99ms
  ---
  exitCode: 1
  ...

1..2
`;

t.test('failures have their path and details, without their parents', async (t) => {
  t.same(
    failuresIn(REPORT).map(({ path }) => path.join(' > ')),
    [
      'agent/one.test.ts > a link > has a cost',
      'agent/one.test.ts > a link > and its group > is named',
      'agent/two.test.ts',
    ],
  );
  t.same(failuresIn(REPORT)[0]?.detail, ['diff: |', '  -2', '  +1', 'at:', '  lineNumber: 7']);
  t.same(failuresIn(REPORT)[1]?.detail, []);
  t.same(failuresIn(REPORT)[2]?.detail, ['exitCode: 1']);
});

t.test('long details are cut with a note of their length', async (t) => {
  const detail = Array.from({ length: 500 }, (_, index) => `  line ${index}`).join('\n');
  const [failure] = failuresIn(`not ok 1 - broken\n  ---\n${detail}\n  ...\n`);
  t.equal(failure?.detail.length, 61);
  t.equal(failure?.detail.at(-1), '(500 lines)');
  const [wide] = failuresIn(`not ok 1 - broken\n  ---\n  ${'x'.repeat(9_000)}\n  ...\n`);
  t.match(wide?.detail[0], /^x{400} \(9000 characters\)$/);
});

t.test('a completed file gives a line of progress, with seconds', async (t) => {
  const result = { file: 'agent/one.test.ts', exit: 0, output: '' };
  t.equal(progressOf({ ...result, isOk: true, milliseconds: 99 }), 'ok        0.1 s  agent/one.test.ts');
  t.equal(progressOf({ ...result, isOk: false, milliseconds: 1_234.5 }), 'not ok    1.2 s  agent/one.test.ts');
});

t.test('tests are counted; a file that fails without a test counts as one', async (t) => {
  t.same(countIn(REPORT), { passed: 1, failed: 2, skipped: 1 });
  t.same(countIn('not ok 1 - agent/two.test.ts\n'), { passed: 0, failed: 1, skipped: 0 });
  const crash = '    ok 1 - a # time=1ms\n    not ok 2 - b\nnot ok 1 - x.test.ts\nnot ok 2 - y.test.ts\n';
  t.same(countIn(crash), { passed: 1, failed: 2, skipped: 0 }, 'beside another failure too');
  t.same([...skippedIn(REPORT)], [['the environment variable ZITI_BIN names no binary', 1]]);
  const [bare] = skippedIn('    ok 1 - a # SKIP\n    ok 2 - b # SKIP\n');
  t.same(bare, ['', 2], 'without a reason');
});

t.test('tests excluded by a pattern are neither counted nor reported as skipped', async (t) => {
  const report = `    ok 1 - a # time=1ms\n    ok 2 - b # SKIP filter: /a/\n    1..2\nok 1 - x.test.ts # time=9ms\n`;
  t.same(countIn(report), { passed: 1, failed: 0, skipped: 0 });
  t.equal(skippedIn(report).size, 0);
});

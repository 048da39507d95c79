// The places that a mutation changes, and the tests that are near them.

import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../commands.ts';
import { Coverage } from './coverage.ts';
import { mutantsOf, mutated } from './mutants.ts';
import { ImportGraph, TestWords } from './nearest-tests.ts';

const changes = (text: string) => mutantsOf(text).map(({ line, from, to }) => `${line} ${from} → ${to}`);

t.test('operators, numbers, truth values and whole statements are changed, types are not', async (t) => {
  t.same(changes('const a: Map<string, number> = b < 1_000 && !c;'), [
    '1 < → <=',
    '1 1_000 → 1001',
    '1 && → ||',
    '1 ! → ',
  ]);
  t.same(changes('function f<T>(a: T) {\n  this.#timer?.cancel();\n  return a === true;\n}'), [
    '2 this.#timer?.cancel(); → ;',
    '3 === → !==',
    '3 true → false',
  ]);
});

t.test('a field without its first value is a change, unless that is false or undefined', async (t) => {
  const fields = ['readonly isA = false;', '#isB = false;', '#c: Timer | undefined = undefined;', '#d = d();'];
  const text = `class C {\n${fields.map((each) => `  ${each}\n`).join('')}  e() {\n    this.#isB = false;\n  }\n}`;
  t.same(changes(text), [
    '2 false → true',
    '3 false → true',
    '5 #d = d(); → ;',
    '7 this.#isB = false; → ;',
    '7 false → true',
  ]);
});

t.test('texts, templates, comments and regular expressions are not changed, what is inside templates is', async (t) => {
  t.same(changes("f('a + b', /a+b<c/); // 1 + 2\n/* a < b */ g(`x + ${{ y: a - b }.y} + z ${c} * 2`);"), ['2 - → +']);
  t.same(changes('h((a + b) / c);'), ['1 + → -', '1 / → *']);
  t.same(changes('const a = /=(?:true|1)$/; b /= 2;'), ['1 2 → 3']);
});

t.test('a mutant changes its place only', async (t) => {
  const text = 'const a: number = b + c + 1;';
  t.same(
    mutantsOf(text).map((mutant) => mutated(text, mutant)),
    ['const a: number = b - c + 1;', 'const a: number = b + c - 1;', 'const a: number = b + c + 2;'],
  );
});

t.test('the nearest tests come first, through names of folders too', async (t) => {
  const graph = new ImportGraph(ROOT);
  t.equal(graph.testsOf('tools/mutate/mutants.ts', 3)[0], 'tools/mutate/mutants.test.ts');
  t.ok(graph.testsOf('common/wire/path/loss-watch.ts', 1).includes('common/wire/path/loss-watch.test.ts'));
  const far = graph.testsOf('controller-sim/network/terminator-choice.ts', 12);
  t.equal(far.length, 12);
  t.ok(far.includes('controller-sim/network/circuits.test.ts'));
});

t.test('tests through ports and programs are found by rare words, those of limits by the table', async (t) => {
  const words = new TestWords(ROOT);
  const testsOf = (file: string, part: string) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const line = text.slice(0, text.indexOf(part)).split('\n').length;
    return [...words.scoresOf({ file, text, line }).keys()].slice(0, 6);
  };
  t.equal(testsOf('controller-sim/state/integrity.ts', 'fixingErrors: options.fix')[0], 'test/api/maintenance.test.ts');
  t.ok(
    testsOf('controller-sim/lab/faults/control-rule.ts', '(message ?? direction)').includes(
      'test/api/lab-faults.test.ts',
    ),
  );
  t.same(testsOf('controller-sim/state/store/change-log.ts', 'const MAX_READ'), ['test/house/generated.test.ts']);
});

t.test('what a program and the programs that it starts execute is known, also inside of functions', async (t) => {
  const folder = realpathSync(t.testdir({ reports: {}, other: {} }));
  const parts = ['let used = 0', 'used += 1', 'used += 2', 'used += 3', 'const own = 4', 'const other = 5'] as const;
  const [start, called, inBranch, inUnusedBranch, inNoCall, last] = parts;
  const text =
    `${start};\nfunction f(a: boolean) {\n  ${called};\n  if (a) ${inBranch};\n  else {\n    ${inUnusedBranch};\n  }\n}\n` +
    `function g() {\n  ${inNoCall};\n  return own;\n}\nf(true);\nif (used > 9) g();\n${last};\n`;
  const starting = `import { execFileSync } from 'node:child_process';\nexecFileSync(process.execPath, ['${folder}/started.ts']);\n`;
  for (const [name, content] of Object.entries({ started: text, starting }))
    writeFileSync(join(folder, `${name}.ts`), content);
  const reports = join(folder, 'reports');
  spawnSync(process.execPath, [join(folder, 'starting.ts')], { env: { ...process.env, NODE_V8_COVERAGE: reports } });
  writeFileSync(join(reports, 'of-a-killed-process.json'), '{"result": [');
  const coverage = new Coverage(reports, folder);
  t.same(
    parts.filter((part) => coverage.executes('started.ts', text.indexOf(part))),
    [start, called, inBranch, last],
  );
  t.ok(coverage.executes('starting.ts', starting.indexOf('execFileSync(')));
  t.notOk(coverage.executes('never-loaded.ts', 0));
  t.notOk(new Coverage(reports, join(folder, 'other')).executes('started.ts', 0), 'files elsewhere do not count');
});

t.test('wrong arguments are rejected with the reason before anything is copied', async (t) => {
  for (const [args, reason] of [
    [['--seed', '-1'], /^Option '--seed' argument is ambiguous/],
    [['--seed=-1'], /^--seed -1: use a whole number from 0 to 4294967295\n/],
    [['--seed', '1.5'], /^--seed 1\.5: use a whole number/],
    [['--seed', ''], /^--seed : use a whole number/],
    [['--count', '0'], /^--count 0: use a whole number from 1 to /],
    [['--count', 'x'], /^--count x: use a whole number/],
    [['--count', '1e999'], /^--count 1e999: use a whole number/],
    [['--cuont', '2'], /^Unknown option '--cuont'/],
    [['agent/nowhere'], /^agent\/nowhere has no sources\n/],
    [['agent/link', 'agent/xgress'], /^name one room\n/],
  ] as const) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'tools/mutate/mutate.ts'), ...args], {
      encoding: 'utf8',
    });
    t.equal(status, 2, args.join(' '));
    t.equal(stdout, '');
    t.match(stderr, reason, args.join(' '));
    t.match(stderr, /\nusage: npm run mutate -- /);
  }
});

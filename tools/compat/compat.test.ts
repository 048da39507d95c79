// `npm run compat`: reading results, merging them, wrong files.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type CompatRecord, compatPage, type Trial, withEntry, withTrials } from './compat-report.ts';

const SUITE = {
  Test_A: { verdict: 'PASS', panic: null, passed: 3, failed: [], seconds: 1 },
  Test_B: { verdict: 'FAIL', panic: null, passed: 1, failed: ['Test_B/one'], seconds: 1 },
  Test_C: { verdict: 'PANIC', panic: 'runtime error: nil pointer dereference', passed: 0, failed: [], seconds: 1 },
};
const DIFFERENTIAL = `# Differential test, seed 7

Ours: 0123abc of Sun Nov 22 14:32:47 2026 +0000. 200 exchanges, 195 equal (97.5 %), 2 of these with other wording.
`;
const CLI = { release: 'v2.1.0', compared: 50, equal: 48, known: 2, examples: 10, examplesSkipped: 3 };

const ROW = { program: 'router', release: 'v1.1.20', verdict: 'partly', works: ['links'], fails: ['traffic: a|b'] };

/** A folder with the results, and a function that runs the tool on it. */
function workplace(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'compat.ts'), '--folder', folder, ...args], {
      encoding: 'utf8',
    });
  const record = () => JSON.parse(readFileSync(join(folder, 'compat.json'), 'utf8')) as CompatRecord;
  return { folder, file, run, record };
}

t.test('results become a record and a page, and parts without an option stay', async (t) => {
  const { folder, file, run, record } = workplace(t);
  const suite = file('sim.json', JSON.stringify(SUITE));
  const differential = file('report.md', DIFFERENTIAL);
  const cli = file('cli.json', JSON.stringify(CLI));
  t.equal(run('--suite', suite, '--cli', cli, '--commit', 'abcdef0').status, 0);
  t.match(record().comparisons, [
    {
      release: 'v2.1.0',
      suite: {
        commit: 'abcdef0',
        date: /^\d{4}-\d\d-\d\d$/,
        tests: 3,
        passed: 1,
        inProcess: 1,
        checks: 5,
        checksPassed: 4,
      },
      cli: { compared: 50, equal: 48, known: 2 },
    },
  ]);
  t.equal(run('--differential', differential, '--release', 'v2.1.0').status, 0);
  t.match(record().comparisons, [
    { suite: { passed: 1 }, differential: { commit: '0123abc', seed: 7, exchanges: 200, equal: 195 } },
  ]);
  const page = readFileSync(join(folder, 'compat.md'), 'utf8');
  t.equal(page, compatPage(record()));
  t.match(page, /## v2\.1\.0/);
  t.match(page, /\| its own tests \| 1 \| 3 \| 33\.3 % \|/);
  t.match(page, /\| random requests \| 195 \| 200 \| 97\.5 % \|.* seed 7 \|/);
  t.match(page, /\| commands \| 48 \| 50 \| 96\.0 % \|/);
  t.notMatch(page, folder, 'no file of this machine is named');
});

t.test('each release has its own entry, the newest first', async (t) => {
  const entries = withEntry(withEntry([], { release: 'v2.9.0' }), { release: 'v2.10.0' });
  t.same(entries, [{ release: 'v2.10.0' }, { release: 'v2.9.0' }]);
  t.equal(withEntry(entries, { release: 'v2.9.0' }).length, 2);
});

t.test('rows of tried releases are added with date and commit, and replace those of the same program', async (t) => {
  const { folder, file, run, record } = workplace(t);
  t.equal(run('--trials', file('rows.json', JSON.stringify([ROW])), '--commit', 'abcdef0').status, 0);
  t.match(record(), { comparisons: [], trials: [{ ...ROW, commit: 'abcdef0', date: /^\d{4}-\d\d-\d\d$/ }] });
  const page = readFileSync(join(folder, 'compat.md'), 'utf8');
  t.match(page, /\| router \| v1\.1\.20 \| partly \| links \| traffic: a\\\|b \| [-\d]{10} \| abcdef0 \|\n$/);
  const later = file('rows.json', JSON.stringify([{ ...ROW, verdict: 'works', fails: [] }]));
  t.equal(run('--trials', later, '--commit', 'abcdef1').status, 0);
  t.match(record().trials, [{ verdict: 'works', commit: 'abcdef1' }]);
  t.equal(record().trials.length, 1);
});

t.test('rows of trials by hand stay; the newest release of each program comes first', async (t) => {
  const trial = (program: string, release: string, commit?: string): Trial => ({
    program,
    release,
    verdict: 'works',
    works: [],
    fails: [],
    date: '2026-11-24',
    ...(commit !== undefined && { commit }),
  });
  const hand = [trial('JVM SDK', '0.22.8'), trial('another', 'v1'), trial('router', 'v1.6.9')];
  const all = withTrials(hand, [trial('router', 'v1.6.9', 'abc'), trial('router', 'v1.6.20', 'abc')]);
  t.same(
    all.map(({ program, release, commit }) => [program, release, commit]),
    [
      ['router', 'v1.6.20', 'abc'],
      ['router', 'v1.6.9', undefined],
      ['router', 'v1.6.9', 'abc'],
      ['JVM SDK', '0.22.8', undefined],
      ['another', 'v1', undefined],
    ],
  );
});

t.test('wrong files and options are rejected with their remedy, and change nothing', async (t) => {
  const { folder, file, run } = workplace(t);
  const wrong = file('wrong.json', '{"a": 1}');
  const unnamed = file('unnamed.json', JSON.stringify({ ...CLI, release: 'v0.0.0' }));
  const table: [args: string[], message: RegExp][] = [
    [['--suite', wrong, '--release', 'v2'], /wrong\.json cannot be read: .* use sim\.json/],
    [['--suite', file('text', 'none'), '--release', 'v2'], /not a JSON object/],
    [['--differential', wrong, '--release', 'v2'], /use the Markdown report/],
    [['--cli', wrong], /run test\/interop\/cli-examples\.test\.ts/],
    [['--cli', join(folder, 'missing.json')], /missing\.json cannot be read: ENOENT/],
    [['--cli', unnamed], /name it with --release/],
    [['--trials', wrong], /use the output of test\/interop\/try-release\.ts/],
    [['--trials', file('good.json', JSON.stringify([{ ...ROW, verdict: 'good' }]))], /not a list of rows/],
    [
      ['--trials', file('zero.json', JSON.stringify([{ ...ROW, release: 'v0.0.0' }]))],
      /run it again with ZITI_RELEASE/,
    ],
    [
      ['--cli', file('cli.json', JSON.stringify(CLI)), '--release', 'v2.0.0'],
      /is about release v2\.1\.0, not v2\.0\.0/,
    ],
    [['--suit', wrong], /Unknown option '--suit'/],
  ];
  for (const [args, message] of table) {
    const { status, stderr } = run(...args);
    t.equal(status, 2, args.join(' '));
    t.match(stderr, message);
  }
  t.throws(() => readFileSync(join(folder, 'compat.md')), { code: 'ENOENT' });
});

// Selection of files by `npm test`, and its messages for unknown names.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { chooseTests, groupsOf, NAMESPACED, SLOWEST, testFilesOf } from './test-files.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  'agent/link/link.test.ts',
  'agent/trace/trace.test.ts',
  'test/network/links.test.ts',
  'test/network/sdk.test.ts',
];
const choose = (...args: string[]) => chooseTests(args, FILES, ROOT);

t.test('files and folders are selected, each once', async (t) => {
  t.same(choose(), { files: FILES, problems: [] });
  t.same(choose('agent/link/link.test.ts').files, ['agent/link/link.test.ts']);
  t.same(
    choose('./test/network/sdk.test.ts', join(ROOT, 'test/network/links.test.ts'), 'test/network/sdk.test.ts').files,
    ['test/network/sdk.test.ts', 'test/network/links.test.ts'],
  );
  t.same(choose('agent').files, ['agent/link/link.test.ts', 'agent/trace/trace.test.ts']);
  t.same(choose('agent/link/').files, ['agent/link/link.test.ts']);
  t.same(choose('test/network/{links,sdk}.test.ts').files, ['test/network/links.test.ts', 'test/network/sdk.test.ts']);
});

t.test('the slowest files start first, each in its own process', async (t) => {
  for (const file of SLOWEST) t.ok(existsSync(join(ROOT, file)), file);
  const [slow = '', slower = ''] = SLOWEST.toReversed();
  t.same(groupsOf(['test/attack/a.test.ts', slow, 'test/cli/b.test.ts', slower]), [
    [slower],
    [slow],
    ['test/attack/a.test.ts'],
    ['test/cli/b.test.ts'],
  ]);
});

t.test('files share processes by folder, and each file runs once', async (t) => {
  t.same(groupsOf(FILES), [
    ['test/network/sdk.test.ts'], // one of the slowest
    ['agent/link/link.test.ts', 'agent/trace/trace.test.ts'],
    ['test/network/links.test.ts'],
  ]);
  const many = Array.from({ length: 30 }, (_, index) => `test/api/${index}.test.ts`);
  t.same(
    groupsOf(many).map(({ length }) => length),
    [10, 10, 10],
  );
  const all = testFilesOf(ROOT);
  t.same(groupsOf(all).flat().toSorted(), all);
});

t.test('files with a network namespace run alone', async (t) => {
  const isNamespaced = (file: string) => /^if \(await inOwnNamespace\(/m.test(readFileSync(join(ROOT, file), 'utf8'));
  for (const file of NAMESPACED) t.ok(isNamespaced(file), file);
  const together = groupsOf(testFilesOf(ROOT)).filter(({ length }) => length > 1);
  t.same(together.flat().filter(isNamespaced), [], 'add them to NAMESPACED');
  const [namespaced = ''] = NAMESPACED;
  const shared = ['agent/link/link.test.ts', 'agent/trace/trace.test.ts'];
  t.same(groupsOf([namespaced, ...shared]), [shared, [namespaced]]);
});

t.test('a name without a test gets a sentence with similar names', async (t) => {
  const table: [arg: string, expected: RegExp][] = [
    ['link.test.ts', /unknown test file link\.test\.ts; did you mean agent\/link\/link\.test\.ts\?/],
    [
      'agent/link/link.ts',
      /agent\/link\/link\.ts is not a test file.*did you mean agent\/link\/link\.test\.ts\?|unknown test file/,
    ],
    ['tets/network/sdk.test.ts', /did you mean test\/network\/sdk\.test\.ts\?/],
    ['test/network/sdk.tset.ts', /did you mean test\/network\/sdk\.test\.ts\?/],
    ['test/network/lniks.test.ts', /did you mean test\/network\/links\.test\.ts\?/],
    ['nosuch.test.ts', /unknown test file nosuch\.test\.ts; `npm test -- --help` explains the selection/],
    ['package.json', /package\.json is not a test file \(NAME\.test\.ts\)/],
    ['docs', /the folder docs contains no tests/],
    ['nowhere/*.test.ts', /unknown test file nowhere/],
  ];
  for (const [arg, expected] of table) {
    const { problems } = choose(arg, 'test/network/sdk.test.ts');
    t.equal(problems.length, 1, arg);
    t.match(problems[0], expected);
  }
});

t.test('the files are those of the project', async (t) => {
  const files = testFilesOf(ROOT);
  t.ok(files.includes('tools/testing/test-files.test.ts') && files.includes('test/house/architecture.test.ts'));
  t.notOk(files.some((file) => file.includes('node_modules')));
});

t.test('npm test rejects unknown files and options with exit code 2 and runs no test', async (t) => {
  const table: [args: string[], expected: RegExp][] = [
    [['nosuch.test.ts'], /^test: unknown test file nosuch\.test\.ts; .*\n$/],
    [['--bial'], /^test: Unknown option '--bial'/],
    [['--jobs', 'many'], /^test: --jobs must be a number of at least 1, not "many"\n$/],
  ];
  for (const [args, expected] of table) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/testing/test.ts', ...args], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    t.same([status, stdout], [2, '']);
    t.match(stderr, expected);
  }
});

t.test('npm test -- --help works before the installation', async (t) => {
  const bare = t.testdir({});
  mkdirSync(join(bare, 'tools/testing'), { recursive: true });
  for (const file of ['run.mjs', 'testing/test-help.mjs']) cpSync(join(ROOT, 'tools', file), join(bare, 'tools', file));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/run.mjs', 'test', '--help'], {
    cwd: bare,
    encoding: 'utf8',
  });
  t.same([status, stderr], [0, '']);
  for (const subject of ['one file', 'several files', '--grep', 'what a test prints', 'npx node'])
    t.match(stdout, subject);
  t.notOk(existsSync(join(bare, 'node_modules')));
  for (const [, file = ''] of stdout.matchAll(/ ((?:agent|bench|tools)\/\S+\.test\.ts)/g))
    t.ok(existsSync(join(ROOT, file)), `${file} exists`);
});

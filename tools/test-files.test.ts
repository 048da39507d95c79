// Which files `npm test` runs, and what it says to names that lead nowhere.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { chooseTests, testFilesOf } from './test-files.ts';

const ROOT = dirname(import.meta.dirname);
const FILES = ['agent/link/link.test.ts', 'agent/trace/trace.test.ts', 'test/links.test.ts', 'test/sdk.test.ts'];
const choose = (...args: string[]) => chooseTests(args, FILES, ROOT);

t.test('files and folders are chosen, options of the runner stay as they are', async (t) => {
  t.same(choose(), { args: [], problems: [] });
  t.same(choose('agent/link/link.test.ts').args, ['agent/link/link.test.ts']);
  t.same(choose('./test/sdk.test.ts', join(ROOT, 'test/links.test.ts')).args, [
    'test/sdk.test.ts',
    'test/links.test.ts',
  ]);
  t.same(choose('agent').args, ['agent/link/link.test.ts', 'agent/trace/trace.test.ts']);
  t.same(choose('agent/link/').args, ['agent/link/link.test.ts']);
  t.same(choose('test/{links,sdk}.test.ts').args, ['test/links.test.ts', 'test/sdk.test.ts']);
  t.same(choose('test/sdk.test.ts', '--bail', '--grep', 'a name').args, [
    'test/sdk.test.ts',
    '--bail',
    '--grep',
    'a name',
  ]);
});

t.test('a name that leads to no test gets a sentence with the near names', async (t) => {
  const table: [arg: string, expected: RegExp][] = [
    ['link.test.ts', /no test file link\.test\.ts; did you mean agent\/link\/link\.test\.ts\?/],
    [
      'agent/link/link.ts',
      /agent\/link\/link\.ts is not a test file.*did you mean agent\/link\/link\.test\.ts\?|no test file/,
    ],
    ['tets/sdk.test.ts', /did you mean test\/sdk\.test\.ts\?/],
    ['test/sdk.tset.ts', /did you mean test\/sdk\.test\.ts\?/],
    ['test/lniks.test.ts', /did you mean test\/links\.test\.ts\?/],
    ['nosuch.test.ts', /no test file nosuch\.test\.ts; `npm test -- --help` shows how to choose/],
    ['package.json', /package\.json is not a test file \(NAME\.test\.ts\)/],
    ['docs', /no tests in the folder docs/],
    ['nowhere/*.test.ts', /no test file nowhere/],
  ];
  for (const [arg, expected] of table) {
    const { problems } = choose(arg, 'test/sdk.test.ts');
    t.equal(problems.length, 1, arg);
    t.match(problems[0], expected);
  }
});

t.test('the files are those that the configuration of tap includes', async (t) => {
  const files = testFilesOf(ROOT);
  t.ok(files.includes('tools/test-files.test.ts') && files.includes('test/architecture.test.ts'));
  t.notOk(files.some((file) => file.includes('node_modules')));
  const included = readFileSync(join(ROOT, '.taprc'), 'utf8');
  for (const folder of new Set(files.map((file) => file.split('/')[0] ?? ''))) t.match(included, folder);
});

t.test('npm test refuses unknown files with exit code 2 and runs nothing', async (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/test.ts', 'nosuch.test.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  t.same([status, stdout], [2, '']);
  t.match(stderr, /^test: there is no test file nosuch\.test\.ts; .*\n$/);
});

t.test('npm test -- --help explains itself before anything is installed', async (t) => {
  const bare = t.testdir({});
  mkdirSync(join(bare, 'tools'));
  for (const file of ['run.mjs', 'test-help.mjs']) cpSync(join(ROOT, 'tools', file), join(bare, 'tools', file));
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

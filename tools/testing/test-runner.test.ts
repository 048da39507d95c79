// The runner reports test files that pass, fail, crash and time out.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ROOT } from '../commands.ts';
import { countIn, failuresIn } from './tap-report.ts';
import { type FileResult, reportOf, runTestFiles, type TestRun } from './test-runner.ts';

const TAP = JSON.stringify(import.meta.resolve('tap'));
const PASSES = `import t from ${TAP}; t.test('one', async (t) => t.pass()); t.test('two', async (t) => t.pass());`;
const FAILS = `import t from ${TAP}; t.test('one', async (t) => t.equal(1, 2, 'are equal')); t.test('two', async (t) => t.pass());`;
const CRASHES = 'process.exit(7);';

/** Files run in a process each, or all in one. */
async function run(
  files: Record<string, string>,
  { isShared = false, ...options }: Partial<TestRun> & { isShared?: boolean } = {},
): Promise<FileResult[]> {
  const folder = t.testdir(files);
  const results: FileResult[] = [];
  const paths = Object.keys(files).map((name) => join(folder, name));
  const defaults = { jobs: 1, timeout: 60, grep: [], bail: false, thorough: false, release: false };
  await runTestFiles({ ...defaults, ...options, groups: isShared ? [paths] : paths.map((path) => [path]) }, (result) =>
    results.push(result),
  );
  return results.map((result) => ({ ...result, file: result.file.slice(folder.length + 1) }));
}

t.test('each file is a point of the report; failures have a place, crashes an exit code', async (t) => {
  const results = await run({ 'a.mjs': PASSES, 'b.mjs': FAILS, 'c.mjs': CRASHES });
  t.same(
    results.map(({ file, isOk, exit }) => [file, isOk, exit]),
    [
      ['a.mjs', true, 0],
      ['b.mjs', false, 1],
      ['c.mjs', false, 7],
    ],
  );
  const report = reportOf(results);
  t.same(countIn(report), { passed: 3, failed: 2, skipped: 0 });
  const [equal, crash] = failuresIn(report);
  t.same(equal?.path, ['b.mjs', 'one', 'are equal']);
  t.ok(
    equal?.detail.some((line) => line.includes('diff')),
    'the difference is printed',
  );
  t.same(crash, { path: ['c.mjs'], detail: ['exit: 7'] });
});

t.test('files that share a process have results like files that run alone', async (t) => {
  const files = { 'a.mjs': PASSES, 'b.mjs': FAILS, 'c.mjs': PASSES, 'd.mjs': 'export const broken = ;' };
  const results = await run(files, { isShared: true });
  t.same(
    results.map(({ file, isOk }) => [file, isOk]),
    [
      ['a.mjs', true],
      ['b.mjs', false],
      ['c.mjs', true],
      ['d.mjs', false],
    ],
  );
  for (const { output } of results.slice(0, 3)) t.match(output, /^ok 2 - two/m);
  const report = reportOf(results);
  t.same(countIn(report), { passed: 5, failed: 2, skipped: 0 });
  const [equal, load] = failuresIn(report);
  t.same(equal?.path, ['b.mjs', 'one', 'are equal']);
  t.match(load?.path, ['d.mjs', 'the file can be loaded', /Unexpected token/]);
});

t.test('a crash fails the file whose tests were running and those after it', async (t) => {
  const crashes = `import t from ${TAP}; t.test('one', async () => process.exit(7));`;
  const results = await run({ 'a.mjs': PASSES, 'b.mjs': crashes, 'c.mjs': PASSES }, { isShared: true });
  t.same(
    results.map(({ file, isOk, exit }) => [file, isOk, exit]),
    [
      ['a.mjs', true, 0],
      ['b.mjs', false, 1],
      ['c.mjs', false, 1],
    ],
  );
  t.same(countIn(reportOf(results)), { passed: 2, failed: 2, skipped: 0 });
});

t.test('what a failed test leaves open does not fail other files', async (t) => {
  const leaves = `import { createServer } from 'node:net'; import t from ${TAP};
    t.test('one', async () => { createServer().listen(0, '127.0.0.1'); throw new Error('fails'); });`;
  const results = await run({ 'a.mjs': leaves, 'b.mjs': PASSES }, { isShared: true, timeout: 30 });
  t.same(
    results.map(({ file, isOk }) => [file, isOk]),
    [
      ['a.mjs', false],
      ['b.mjs', true],
    ],
  );
});

t.test('only tests with a matching name run, and a failure can end the run', async (t) => {
  const chosen = reportOf(await run({ 'a.mjs': PASSES, 'b.mjs': FAILS }, { grep: ['two'] }));
  t.same(countIn(chosen), { passed: 2, failed: 0, skipped: 0 });
  const ended = await run({ 'a.mjs': CRASHES, 'b.mjs': PASSES }, { bail: true });
  t.equal(ended.length, 1);
});

t.test('a test can read whether the run is thorough, or for a release', async (t) => {
  const asks = `import t from ${TAP}; t.equal(process.env.TEST_THOROUGH, '1');`;
  t.equal((await run({ 'a.mjs': asks }, { thorough: true }))[0]?.isOk, true);
  t.equal((await run({ 'a.mjs': asks }))[0]?.isOk, process.env.TEST_THOROUGH === '1');
  const asksForRelease = asks.replace('TEST_THOROUGH', 'TEST_RELEASE');
  t.equal((await run({ 'a.mjs': asksForRelease }, { release: true }))[0]?.isOk, true);
  t.equal((await run({ 'a.mjs': asksForRelease }))[0]?.isOk, process.env.TEST_RELEASE === '1');
});

t.test('a file that times out fails, and its remaining processes are not waited for', async (t) => {
  const waits = `import t from ${TAP}; t.test('for ever', () => new Promise((resolve) => setTimeout(resolve, 3_000)));`;
  const leaves = `import { spawn } from 'node:child_process';
    const left = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120_000)'], { stdio: 'inherit', detached: true });
    console.log('# left', left.pid);
    left.unref();`;
  const [slow, parent] = await run({ 'a.mjs': waits, 'b.mjs': leaves }, { timeout: 1 });
  const left = Number(/# left (\d+)/.exec(parent?.output ?? '')?.[1]);
  t.teardown(() => process.kill(left, 'SIGKILL'));
  t.ok(isRunning(left), 'its output is still open');
  t.equal(slow?.isOk, false);
  t.equal(parent?.isOk, true);
  t.ok(failuresIn(reportOf([slow as FileResult])).length > 0);
});

t.test('a process that does not end after its report is killed; the report is its result', async (t) => {
  const hangs = "process.on('exit', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));";
  const results = await run({ 'a.mjs': `${PASSES}${hangs}`, 'b.mjs': `${FAILS}${hangs}` }, { jobs: 2 });
  t.same(results.map(({ file, isOk, exit }) => [file, isOk, exit]).toSorted(), [
    ['a.mjs', true, 0],
    ['b.mjs', false, 1],
  ]);
  t.same(countIn(reportOf(results)), { passed: 3, failed: 1, skipped: 0 });
});

t.test('the time limit of a shared process counts from the end of the last test', async (t) => {
  const half = `import t from ${TAP}; for (const name of ['one', 'two', 'three'])
    t.test(name, () => new Promise((resolve) => setTimeout(resolve, 2_000)));`;
  const endless = `import t from ${TAP}; t.test('for ever', () => new Promise((resolve) => setTimeout(resolve, 20_000)));`;
  const results = await run({ 'a.mjs': half, 'b.mjs': endless }, { timeout: 5, isShared: true });
  t.same(
    results.map(({ isOk }) => isOk),
    [true, false],
  );
});

t.test('tests run in the project folder', async (t) => {
  const [result] = await run({ 'a.mjs': `console.log('1..1\\nok 1 -', process.cwd())` });
  t.match(result?.output, ROOT);
});

t.test(
  'a killed runner leaves no test and no program of a test behind',
  { skip: process.platform === 'win32' },
  async (t) => {
    const program = join(ROOT, 'entry', 'sim-cli.ts');
    const folder = t.testdir({
      'starts.mjs': `
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      import t from ${TAP};
      t.test('waits', async () => {
        const child = spawn(process.execPath, [${JSON.stringify(program)}, 'start'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
        await new Promise((resolve) => child.stdout.once('data', resolve));
        writeFileSync(new URL('pids', import.meta.url), process.pid + ' ' + child.pid);
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      });`,
      'runner.mjs': `
      import { runTestFiles } from ${JSON.stringify(join(ROOT, 'tools/testing', 'test-runner.ts'))};
      const groups = [[new URL('starts.mjs', import.meta.url).pathname]];
      await runTestFiles({ groups, jobs: 1, timeout: 120, grep: [], bail: false, thorough: false, release: false }, () => undefined);`,
    });
    const env = { ...process.env, EDGEWEAVE_EXIT_WITH_PARENT: '' };
    const runner = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, join(folder, 'runner.mjs')], {
      env,
      stdio: 'ignore',
    });
    const pids = await eventually(() => readFileSync(join(folder, 'pids'), 'utf8').split(' ').map(Number));
    t.equal(pids.length, 2);
    t.teardown(() => {
      for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
    });
    t.ok(pids.every(isRunning));
    runner.kill('SIGKILL');
    await eventually(() => {
      if (pids.some(isRunning)) throw new Error('still running');
    });
    t.same(pids.filter(isRunning), []);
  },
);

/** Repeats until it does not throw, for at most 60 s. */
async function eventually<Result>(task: () => Result): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return task();
    } catch (error) {
      if (tries === 600) throw error;
      await sleep(100);
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

// An interrupted run resumes suspended programs, and prints a summary.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { until } from '../../test/support/until.ts';
import { resumeStopped } from './stopped-programs.ts';

const onlyLinux = { skip: process.platform !== 'linux' && 'only Linux lists processes in /proc' };

t.test('suspended programs of a run are resumed, and no others', onlyLinux, async (t) => {
  const run = 999_999_991;
  const started = [run, run + 1].map((id) =>
    spawn('sleep', ['60'], { stdio: 'ignore', env: { ...process.env, EDGEWEAVE_EXIT_WITH_PARENT: String(id) } }),
  );
  t.teardown(() => started.map((child) => child.kill('SIGKILL')));
  const states = () => started.map(({ pid }) => /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
  await until('both programs', () => states().every((state) => state === 'S'));
  for (const child of started) child.kill('SIGSTOP');
  await until('their suspension', () => states().every((state) => state === 'T'));
  resumeStopped(run);
  await until('the resumption', () => states()[0] === 'S');
  t.equal(states()[1], 'T');
});

t.test('an interrupted run ends with a summary', onlyLinux, async (t) => {
  const file = join('test', 'cli', 'suspended.test.ts');
  const runner = spawn(process.execPath, [join(import.meta.dirname, 'test.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => runner.kill('SIGKILL'));
  const output = text(runner.stdout);
  const children = `/proc/${runner.pid}/task/${runner.pid}/children`;
  await until('the test', () => readFileSync(children, 'latin1').trim() !== '');
  runner.kill('SIGINT');
  t.same(await once(runner, 'exit'), [1, null]);
  t.match(await output, /^interrupted by SIGINT: 1 of 1 files have no result\n0 passed, 0 failed\n$/);
});

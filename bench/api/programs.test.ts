// The programs of the API benchmark: they end with the benchmark, also if one crashes or does not
// answer.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { endChild } from '../end-child.ts';

const FOREVER = 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1_000); console.log("ready")';

t.test('a program that crashed before its end is not asked again', async (t) => {
  const child = spawn(process.execPath, ['-e', 'process.exit(3)'], { stdio: 'ignore' });
  await once(child, 'exit');
  await endChild(child, () => t.fail('asked'));
  t.equal(child.exitCode, 3);
});

t.test('a program that does not end is killed', async (t) => {
  const child = spawn(process.execPath, ['-e', FOREVER], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  await endChild(child, () => child.kill('SIGTERM'), { milliseconds: 1 });
  t.equal(child.signalCode, 'SIGKILL');
});

t.test('the simulator ends with a benchmark that ends before it is ready', async (t) => {
  const child = fork(join(import.meta.dirname, 'sim-server.ts'), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  child.send({}, () => child.disconnect());
  t.same(await ended, [0, null]);
});

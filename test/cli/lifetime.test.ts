// Nothing is left behind: a simulator, a recorder or a replay ends with the process that started it, also after
// `kill -9`, with its standard input, and after its time to live.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { headLine } from '../../controller-sim/lab/journal/recording.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const CLI = 'entry/sim-cli.ts';
const ROOT = join(import.meta.dirname, '../..');
const POSIX = process.platform === 'win32' && 'needs a shell';

/** One that has ended may keep its id until somebody asks for its exit code. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** The commands that serve until they are stopped, with the arguments that they need. */
function serving(directory: string): Readonly<Record<string, readonly string[]>> {
  const [ca, recording] = [join(directory, 'ca.pem'), join(directory, 'empty.jsonl')];
  writeFileSync(ca, 'no certificate is needed before the first request');
  writeFileSync(recording, `${headLine('https://127.0.0.1:1')}\n`);
  const output = join(directory, 'out.jsonl');
  return {
    start: ['start', '--json'],
    record: ['record', '--url', 'https://127.0.0.1:1', '--ca', ca, '--output', output],
    replay: ['replay', recording],
  };
}

for (const name of ['start', 'record', 'replay'])
  t.test(
    `${name} --exit-with-parent: it ends after kill -9 of the process that started it`,
    { skip: POSIX },
    async (t) => {
      const script = '"$0" "$@" & echo "pid $!"; wait';
      const command = serving(t.testdir())[name] ?? [];
      const args = ['-c', script, process.execPath, join(ROOT, CLI), ...command, '--exit-with-parent'];
      const parent = spawn('sh', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] });
      let pid = 0;
      t.teardown(() => {
        if (pid > 0 && runs(pid)) process.kill(pid, 'SIGKILL');
      });
      for await (const line of createInterface({ input: parent.stdout })) {
        if (line.startsWith('pid ')) pid = Number(line.slice('pid '.length));
        else if (line.includes('"event":"ready"')) break;
      }
      t.ok(runs(pid), `the program is the process ${pid}`);
      parent.kill('SIGKILL');
      await until('the end of the program', () => !runs(pid));
    },
  );

for (const name of ['start', 'record', 'replay'])
  t.test(`${name}: --exit-with-stdin and --ttl end it with exit code 0`, async (t) => {
    const command = serving(t.testdir())[name] ?? [];
    const child = spawn(process.execPath, [join(ROOT, CLI), ...command, '--exit-with-stdin'], { cwd: ROOT });
    t.teardown(() => child.kill('SIGKILL'));
    await once(createInterface({ input: child.stdout }), 'line');
    const ended = once(child, 'exit');
    child.stdin.end();
    t.same(await ended, [0, null]);
    t.match(await runProgram([CLI, ...command, '--ttl', '1ms']), { code: 0, stdout: /"event":"ready"/ });
  });

// Programs of the operating system: their output, and the ends of programs that misbehave.

import t from 'tap';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { withoutDescriptors } from '../../../../test/support/programs/no-descriptors.ts';
import { until } from '../../../../test/support/until.ts';
import { runCommand } from './command.ts';

const shell = (script: string) => ({ program: 'sh', args: ['-c', script] });

t.test('a command resolves with its output, or rejects with its message', async (t) => {
  const clock = new SystemClock();
  t.equal(await runCommand({ ...shell('cat; echo more >&2'), input: 'text' }, clock), 'text');
  await t.rejects(runCommand(shell('echo out; echo reason >&2; exit 3'), clock), {
    code: 'SYSTEM_COMMAND',
    message: /failed \(3\): reason$/,
  });
  await t.rejects(runCommand({ program: '/no/such/program', args: [] }, clock), /not found/);
  t.same(clock.timers(), []);
});

t.test('output above the limit is an error, not a part of the output', async (t) => {
  const clock = new SystemClock();
  t.equal(await runCommand({ ...shell('printf 12345'), maxOutput: 5 }, clock), '12345');
  await t.rejects(runCommand({ ...shell('printf 123456'), maxOutput: 5 }, clock), {
    code: 'SYSTEM_COMMAND',
    message: /wrote more than 5 bytes/,
  });
});

t.test('a command does not wait for a daemon that keeps its output open', async (t) => {
  const clock = new VirtualClock();
  const running = runCommand(shell('sleep 60 & echo $!'), clock);
  await until('the end of the program', () => clock.timers().includes('output of a system command'));
  await clock.advance(1_000);
  process.kill(Number(await running));
  t.same(clock.timers(), []);
});

t.test('a command ends at its timeout, even if a child keeps its output open', async (t) => {
  const clock = new VirtualClock();
  const running = runCommand(shell('sleep 2; true'), clock);
  const rejected = t.rejects(running, { code: 'SYSTEM_COMMAND', message: /did not end within 10 s/ });
  await clock.advance(10_000);
  await rejected;
  await until('the end of all timers', () => clock.timers().length === 0);
});

t.test('without free file descriptors, a command is rejected', async (t) => {
  const rejected = withoutDescriptors({
    before: `
      import { SystemClock } from '${new URL('../../../../common/lib/time/clock.ts', import.meta.url).href}';
      import { runCommand } from '${new URL('./command.ts', import.meta.url).href}';`,
    during:
      "const rejected = await runCommand({ program: 'true', args: [] }, new SystemClock()).catch((error) => error);",
    result: '[rejected.code, rejected.message]',
  });
  t.same(rejected, ['SYSTEM_COMMAND', 'true cannot be run: spawn true EMFILE']);
});

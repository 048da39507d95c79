// When a program stops without a signal.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { SystemClock, VirtualClock } from '../time/clock.ts';
import { endOfLifetime, type Lifetime, type ProcessView } from './lifetime.ts';

const PARENT = 1_000;
const OTHER = 2_000;

/** A process with a parent and another process. */
function room() {
  const clock = new VirtualClock();
  const state = { ppid: PARENT, stdin: new PassThrough(), started: '77' as string | undefined };
  const view: ProcessView = {
    get ppid() {
      return state.ppid;
    },
    stdin: state.stdin,
    identify: (pid) => (pid === OTHER ? state.started : undefined),
  };
  let reason: string | undefined;
  const begin = (lifetime: Lifetime) =>
    void endOfLifetime(lifetime, clock, view).then((text) => {
      reason = text;
    });
  const after = async (milliseconds: number) => {
    await clock.advance(milliseconds);
    await new Promise(setImmediate);
    return reason;
  };
  return { clock, state, begin, after };
}

t.test('without conditions a program runs on', async (t) => {
  const { clock, state, begin, after } = room();
  begin({});
  state.ppid = 1;
  state.stdin.end();
  t.equal(await after(1e9), undefined);
  t.same(clock.timers(), []);
});

t.test('it stops when its parent ends', async (t) => {
  const { clock, state, begin, after } = room();
  begin({ exitWithParent: true });
  t.equal(await after(60_000), undefined);
  state.ppid = 1;
  t.equal(await after(500), 'the process that started it has ended');
  t.same(clock.timers(), []);
});

t.test('it stops when a named process ends, also if another one gets its id', async (t) => {
  for (const next of [undefined, '99']) {
    const { state, begin, after } = room();
    begin({ exitWithParent: OTHER });
    t.equal(await after(60_000), undefined);
    state.started = next;
    t.equal(await after(500), `process ${OTHER} has ended`);
  }
  const { begin, after } = room();
  begin({ exitWithParent: 3_000 });
  t.equal(await after(0), 'process 3000 has ended', 'it had ended before');
});

t.test('it stops when standard input ends, and reads over its content', async (t) => {
  const { state, begin, after } = room();
  begin({ exitWithStdin: true });
  state.stdin.write('no command');
  t.equal(await after(60_000), undefined);
  state.stdin.end();
  t.equal(await after(0), 'standard input has ended');
});

t.test('it stops when its time is over', async (t) => {
  const { begin, after } = room();
  begin({ ttl: 600_000, exitWithParent: true });
  t.equal(await after(599_000), undefined);
  t.equal(await after(1_000), 'its time to live is over');
});

t.test('the end of a real process is seen', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { env: {} });
  const ended = endOfLifetime({ exitWithParent: child.pid }, new SystemClock());
  const timer = setTimeout(() => undefined, 60_000); // the watch does not keep this process
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(await ended, `process ${child.pid} has ended`);
  clearTimeout(timer);
});

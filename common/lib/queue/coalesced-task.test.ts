// Requests that share a run.

import t from 'tap';
import { silentLog } from '../log/log.ts';
import { nextTurn } from '../slices.ts';
import { settle, VirtualClock } from '../time/clock.ts';
import { CoalescedTask } from './coalesced-task.ts';

t.test('requests during a run share the next one, also after a failure; none follows the end', async (t) => {
  const runs: PromiseWithResolvers<void>[] = [];
  const task = new CoalescedTask(silentLog, 'test', () => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  t.notOk(task.isRunning);
  for (let count = 0; count < 3; count++) task.request();
  t.ok(task.isRunning);
  t.equal(runs.length, 1);
  runs[0]?.reject(new Error('failed'));
  await settle();
  t.equal(runs.length, 2);
  runs[1]?.resolve();
  await task.settled();
  t.notOk(task.isRunning);
  t.equal(runs.length, 2);
  task.request();
  task.request();
  const closed = task.close();
  runs[2]?.resolve();
  await closed;
  task.request();
  t.equal(runs.length, 3);
});

t.test('requests of a turn share a run in the next one; a closed task has none', async (t) => {
  let runs = 0;
  const task = new CoalescedTask(silentLog, 'test', () => void runs++, { inNextTurn: true });
  for (let count = 0; count < 3; count++) task.request();
  t.equal(runs, 0);
  await task.settled();
  t.equal(runs, 1);
  task.request();
  await task.close();
  await nextTurn();
  t.equal(runs, 1);
});

t.test('an error of a task that runs at once is logged, and later requests run it', async (t) => {
  const lines: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => lines.push(fields) };
  let runs = 0;
  const task = new CoalescedTask(log, 'test', () => {
    if (runs++ === 0) throw new Error('failed');
  });
  task.request();
  task.request();
  t.same([runs, lines], [2, [{ task: 'test', error: 'failed' }]]);
});

t.test('a task runs at once, then at its pace; the last request is never lost', async (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  const pace = { clock, burst: 3, perSecond: 2 };
  const task = new CoalescedTask(silentLog, 'task', () => void runs++, { pace });
  for (let request = 0; request < 50; request++) task.request();
  t.equal(runs, 3);
  await clock.advance(499);
  t.equal(runs, 3);
  await clock.advance(1);
  t.equal(runs, 4, 'one run serves all of them');
  t.same(clock.timers(), []);
  await clock.advance(60_000);
  task.request();
  t.equal(runs, 5, 'at once again after a pause');
});

t.test('a run that waits for its pace does not follow the end of the task', async (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  const task = new CoalescedTask(silentLog, 'task', () => void runs++, { pace: { clock, burst: 1, perSecond: 1 } });
  for (let request = 0; request < 2; request++) task.request();
  await task.close();
  task.request();
  await clock.advance(10_000);
  t.equal(runs, 1);
  t.same(clock.timers(), []);
});

/** Timers of Node end up to a millisecond early. */
class HastyClock extends VirtualClock {
  override after(name: string, milliseconds: number, task: () => void) {
    return super.after(name, milliseconds - 0.5, task);
  }
}

t.test('a timer that ends early does not lift the pace', async (t) => {
  const clock = new HastyClock();
  let runs = 0;
  const task = new CoalescedTask(silentLog, 'test', () => void runs++, { pace: { clock, burst: 1, perSecond: 1 } });
  const requests = () => {
    for (let count = 0; count < 100; count++) task.request();
  };
  requests();
  await clock.advance(999.5);
  t.equal(runs, 2);
  requests();
  t.equal(runs, 2);
  await clock.advance(1_000);
  t.equal(runs, 3);
  await task.close();
});

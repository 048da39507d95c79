// Requests that share a run.

import t from 'tap';
import { silentLog } from '../log/log.ts';
import { settle } from '../time/clock.ts';
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

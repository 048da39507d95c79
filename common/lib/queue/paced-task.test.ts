// Tasks that others request too often.

import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { PacedTask } from './paced-task.ts';

t.test('a task runs at once, then at its pace; the last request is never lost', async (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  const task = new PacedTask(clock, 'task', { burst: 3, perSecond: 2 }, () => void runs++);
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

t.test('a closed task does not run', async (t) => {
  const clock = new VirtualClock();
  let runs = 0;
  const task = new PacedTask(clock, 'task', { burst: 1, perSecond: 1 }, () => void runs++);
  for (let request = 0; request < 2; request++) task.request();
  task.close();
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

t.test('a timer that ends early does not lift the limit', async (t) => {
  const clock = new HastyClock();
  let runs = 0;
  const task = new PacedTask(clock, 'test', { burst: 1, perSecond: 1 }, () => void runs++);
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
  task.close();
});

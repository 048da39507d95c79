// The order of work.

import t from 'tap';
import { Turns } from './turns.ts';

t.test('work runs in the order of its calls, one after the other, also after a failure', async (t) => {
  const turns = new Turns();
  const steps: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = turns.run(async () => {
    steps.push('first begins');
    await first.promise;
    steps.push('first ends');
    throw new Error('broken');
  });
  const second = turns.run(async () => steps.push('second'));
  const settled = turns.settled();
  first.resolve();
  await t.rejects(failing, /broken/);
  t.equal(await second, 3);
  await settled;
  t.same(steps, ['first begins', 'first ends', 'second']);
});

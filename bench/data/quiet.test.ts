// The benchmark waits for routers that still work, and reports those that never stop.

import t from 'tap';
import { Quiet } from './quiet.ts';

/** A subject whose router works for this many looks at its usage. */
function subject(name: string, looks: number) {
  let [cpu, left] = [0, looks];
  return { name, usage: () => [{ cpu: left-- > 0 ? ++cpu : cpu, main: 0, resident: 0 }], left: () => left };
}

t.test('waits until the last router is idle', async (t) => {
  const [first, second] = [subject('first', 0), subject('second', 9)];
  const quiet = new Quiet(1, 1_000);
  await quiet.reached([first, second]);
  t.ok(second.left() <= 0, 'the busy one has ended its work');
  t.same(quiet.notes, []);
});

t.test('reports routers that do not become idle', async (t) => {
  const quiet = new Quiet(1, 10);
  const subjects = [subject('idle', 0), subject('busy', Number.POSITIVE_INFINITY)];
  await quiet.reached(subjects);
  await quiet.reached(subjects);
  t.same(quiet.notes, ['', 'busy: its routers did not become idle within 0.01 s, 2 times']);
});

// When a problem is new.

import t from 'tap';
import { LastingProblem } from './lasting-problem.ts';

t.test('a problem is new when it begins, changes, or begins again', async (t) => {
  const problem = new LastingProblem();
  const noted = [undefined, 'a', 'a', 'b', '', 'b', false, true, true].map((each) => problem.note(each));
  t.same(noted, [false, true, false, true, false, true, false, true, false]);
});

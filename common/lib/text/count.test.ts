// Numbers of things in messages.

import t from 'tap';
import { count } from './count.ts';

t.test('one thing is singular', async (t) => {
  t.same(
    [0, 1, 2].map((number) => count(number, 'circuit')),
    ['0 circuits', '1 circuit', '2 circuits'],
  );
});

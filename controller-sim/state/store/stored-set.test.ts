// Sets of other controllers, as they are read from the log.

import t from 'tap';
import { readSet } from './stored-set.ts';

t.test('a set with an entity of another form than its kind is rejected', async (t) => {
  const time = '2026-01-01T00:00:00.000Z';
  const after = {
    ...{ id: 'p', createdAt: time, updatedAt: time, tags: {}, isSystem: false, name: 'p', semantic: 'AnyOf' },
    ...{ edgeRouterRoles: ['#all'], identityRoles: [] },
  };
  const read = (changed: object) =>
    readSet({
      index: 7n,
      body: JSON.stringify({
        time: 0,
        changes: [{ kind: 'edgeRouterPolicy', id: 'p', after: { ...after, ...changed } }],
      }),
    });
  t.equal(read({}).changes.length, 1);
  t.throws(() => read({ semantic: 7 }), {
    code: 'STORE_DAMAGED',
    message: /row 7: .*edgeRouterPolicy p: semantic is not/,
  });
  t.throws(() => read({ castle: 1 }), { code: 'STORE_DAMAGED', message: /castle is unknown/ });
});

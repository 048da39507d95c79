// The history of the data model after a failure to build a set.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { IdSource } from '#lib/ids.ts';
import { Access } from '../../access/access.ts';
import { Body } from '../../entities/body.ts';
import { createServicePolicy } from '../../entities/policy.ts';
import type { Authority } from '../../pki/authority.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import { type ModelSet, ModelSets } from './model-sets.ts';

t.test('a change that cannot become a set resets the history, and receivers get the full state', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
  const access = new Access(state);
  const sets = new ModelSets(state, access, {} as Authority);
  const received: ModelSet[] = [];
  let resets = 0;
  sets.subscribe((set) => received.push(set));
  sets.onReset(() => {
    resets++;
  });
  const add = (id: string) =>
    state.change((transaction) => {
      const fields = { name: id, type: 'Dial', semantic: 'AnyOf', postureCheckRoles: ['#all'] };
      createServicePolicy(transaction, id, new Body(fields, 'create'));
    });
  await add('first');
  const { checksOf } = access;
  let failures = 1;
  access.checksOf = (policy) => {
    if (failures-- > 0) throw new Error('broken rule');
    return checksOf.call(access, policy);
  };
  await add('second');
  t.equal(resets, 1);
  t.equal(sets.index, state.index, 'the history continues from the change');
  t.equal(sets.since(1n), undefined, 'a router that is behind gets the full state');
  await add('third');
  t.match(received.at(-1), { index: 3n, previousIndex: 2n });
});

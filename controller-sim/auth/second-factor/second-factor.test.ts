// A second factor whose identity is deleted while its secret is made.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { systemRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { deleteIdentity, plainIdentity } from '../../entities/identity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import { enrollTotp } from './second-factor.ts';

t.test('no second factor is stored for an identity that was deleted meanwhile', async (t) => {
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids: new IdSource() });
  await state.change((transaction) => transaction.put('identity', plainIdentity(transaction, 'anna', 'anna')));
  const anna = state.tables.identity.get('anna') as Identity;
  await state.change((transaction) => deleteIdentity(transaction, anna));
  await t.rejects(enrollTotp({ state, random: systemRandom }, anna), { code: 'NOT_FOUND' });
  t.equal(state.tables.mfa.size, 0);
});

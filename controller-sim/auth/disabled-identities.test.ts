// The end of a lock, when the change that enables the identity fails at first.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { plainIdentity } from '../entities/identity.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { DisabledIdentities } from './disabled-identities.ts';

const LOCK = 600_000;

t.test('an identity is enabled after its lock, even if the first change fails', async (t) => {
  const clock = new VirtualClock();
  const store = new MemoryStore();
  const state = await State.open({ store, clock, ids: new IdSource(seededRandom(1)) });
  const disabled = new DisabledIdentities({ state, clock, log: silentLog });
  const disabledUntil = new Date(clock.now() + LOCK).toISOString();
  await state.change((transaction) =>
    transaction.put('identity', { ...plainIdentity(transaction, 'anna', 'anna'), disabled: true, disabledUntil }),
  );
  const isDisabled = () => state.tables.identity.get('anna')?.disabled;
  const { append } = store;
  store.append = () => Promise.reject(new Error('the disk is full'));
  await clock.advance(LOCK + 1_000);
  t.equal(isDisabled(), true);
  store.append = append;
  await clock.advance(60_000);
  t.equal(isDisabled(), false);
  disabled.close();
  t.same(clock.timers(), []);
  await state.close();
});

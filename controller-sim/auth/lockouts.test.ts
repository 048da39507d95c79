// The time between the last wrong password and the committed lock.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { addAuthenticator, passwordProof } from '../entities/authenticator.ts';
import { defaultAuthPolicy } from '../entities/built-in.ts';
import { baseFields } from '../entities/common.ts';
import { plainIdentity } from '../entities/identity.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { Lockouts } from './lockouts.ts';

t.test('a correct password that is checked before the lock is committed is rejected', async (t) => {
  const ids = new IdSource(seededRandom(1));
  const state = await State.open({ store: new MemoryStore(), clock: new VirtualClock(), ids });
  const policy = await state.change((transaction) => {
    transaction.put('identity', plainIdentity(transaction, 'somebody', 'somebody'));
    const policy = defaultAuthPolicy(baseFields(transaction, 'policy'));
    const { primary } = policy;
    return { ...policy, primary: { ...primary, updb: { ...primary.updb, maxAttempts: 2 } } };
  });
  await state.change((transaction) =>
    addAuthenticator(transaction, { id: 'updb', identityId: 'somebody', proof: passwordProof('somebody', 'hash') }),
  );
  const authenticator = state.tables.authenticator.get('updb');
  if (!authenticator) throw new Error('the authenticator is missing');
  const lockouts = new Lockouts(state);
  t.equal(lockouts.passed(authenticator), true);
  const failures = [lockouts.failed(authenticator, policy), lockouts.failed(authenticator, policy)];
  t.equal(state.tables.identity.get('somebody')?.disabled, false, 'not committed yet');
  t.equal(lockouts.passed(authenticator), false);
  await Promise.all(failures);
  t.equal(state.tables.identity.get('somebody')?.disabled, true);
  t.equal(lockouts.passed(authenticator), true, 'from then on the identity is disabled');
  lockouts.close();
  await state.close();
});

// The time between the last wrong password and the committed lock.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { addAuthenticator, passwordProof } from '../entities/authenticator.ts';
import { defaultAuthPolicy } from '../entities/built-in.ts';
import { baseFields } from '../entities/common.ts';
import { plainIdentity } from '../entities/identity.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { StoreWriteError } from '../state/store/store.ts';
import { Lockouts } from './lockouts.ts';

t.test('many locks that were not stored share a timer, and are stored together later', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const names = Array.from({ length: 250 }, (_, index) => `n${index}`);
  const policy = await state.change((transaction) => {
    for (const name of names) {
      transaction.put('identity', plainIdentity(transaction, name, name));
      addAuthenticator(transaction, { id: `of ${name}`, identityId: name, proof: passwordProof(name, 'hash') });
    }
    const { primary, ...rest } = defaultAuthPolicy(baseFields(transaction, 'policy'));
    return { ...rest, primary: { ...primary, updb: { ...primary.updb, maxAttempts: 1 } } };
  });
  let isFailing = true;
  let changes = 0;
  state.guard(() => {
    changes++;
    return isFailing ? Promise.resolve(new StoreWriteError('away')) : undefined;
  });
  const lockouts = new Lockouts(state);
  const authenticators = names.flatMap((name) => state.tables.authenticator.get(`of ${name}`) ?? []);
  for (const each of authenticators) await lockouts.failed(each, policy);
  const isLocked = (each: Authenticator) => !lockouts.passed(each);
  t.ok(authenticators.every(isLocked));
  t.equal(clock.timers().filter((name) => name === 'locks of identities').length, 1);
  changes = 0;
  await clock.advance(60_000);
  t.ok(changes > 0 && changes <= 31, `${changes} changes in a minute`);
  isFailing = false;
  while ([...state.tables.identity.values()].some(({ disabled }) => !disabled)) await clock.advance(1_000);
  t.notOk(authenticators.some(isLocked), 'the store has them');
  lockouts.close();
  t.same(clock.timers(), []);
  await state.close();
});

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

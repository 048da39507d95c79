// Logins while the data changes.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { addAuthenticator, passwordProof } from '../entities/authenticator.ts';
import { defaultAuthPolicy } from '../entities/built-in.ts';
import { baseFields } from '../entities/common.ts';
import { DEFAULT_AUTH_POLICY, plainIdentity } from '../entities/identity.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { prove } from './authenticate.ts';
import { Lockouts } from './lockouts.ts';

t.test('a user who becomes known while the password is checked can log in', async (t) => {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  await state.change((transaction) =>
    transaction.put('authPolicy', defaultAuthPolicy(baseFields(transaction, DEFAULT_AUTH_POLICY))),
  );
  const addAnna = () =>
    state.change((transaction) => {
      transaction.put('identity', plainIdentity(transaction, 'anna', 'anna'));
      addAuthenticator(transaction, { id: 'updb', identityId: 'anna', proof: passwordProof('anna', 'hash of secret') });
    });
  const checked: (string | undefined)[] = [];
  const verify = async (password: string, hash: string | undefined) => {
    checked.push(hash);
    if (checked.length === 1) await addAnna(); // as another controller does, whose change arrives meanwhile
    return hash === `hash of ${password}`;
  };
  const lockouts = new Lockouts(state);
  const services = { state, clock, lockouts, passwords: { verify }, logins: { call: () => undefined } };
  const loginWith = (password: string) =>
    prove(
      { services, remoteAddress: '', body: { username: 'anna', password } } as unknown as Parameters<typeof prove>[0],
      'password',
    );
  t.match(await loginWith('secret'), { identity: { id: 'anna' } });
  t.same(checked, [undefined, 'hash of secret']);
  await t.rejects(loginWith('wrong'), { code: 'INVALID_AUTH' });
  t.equal(checked.length, 3, 'a wrong password is checked once');
  lockouts.close();
  await state.close();
});

// The administrator of a simulator: created at the first start, changed by later ones.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Passwords, TEST_COST } from '../auth/passwords.ts';
import { addAuthenticator, passwordProof } from '../entities/authenticator.ts';
import { disableIdentity, plainIdentity } from '../entities/identity.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { adminUsername, setAdmin as change, hasAdmin, seedBuiltIns } from './seed.ts';

async function seeded(): Promise<{ state: State; passwords: Passwords } & AsyncDisposable> {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
  const passwords = new Passwords({ clock, cost: TEST_COST });
  await seedBuiltIns(state);
  const close = async () => {
    await passwords.close();
    await state.close();
  };
  return { state, passwords, [Symbol.asyncDispose]: close };
}

async function setAdmin(state: State, passwords: Passwords, username: string, password: string | undefined) {
  const hash = password === undefined ? undefined : await passwords.hash(password);
  await state.change((transaction) => change(transaction, username, hash));
}

function hashOf(state: State, username: string): string | undefined {
  return state.tables.authenticator.findBy('username', username)?.passwordHash ?? undefined;
}

t.test('the administrator is created once; a new password keeps the name, a new name keeps the password', async (t) => {
  await using data = await seeded();
  const { state, passwords } = data;
  t.equal(hasAdmin(state), false);
  t.equal(adminUsername(state), undefined);
  await setAdmin(state, passwords, 'root', 'first secret');
  t.equal(adminUsername(state), 'root');
  await setAdmin(state, passwords, 'root', 'second secret');
  const hash = hashOf(state, 'root');
  t.ok(await passwords.verify('second secret', hash));
  t.notOk(await passwords.verify('first secret', hash));
  await setAdmin(state, passwords, 'chief', undefined);
  t.equal(adminUsername(state), 'chief');
  t.equal(hashOf(state, 'chief'), hash);
  t.equal([...state.tables.identity.values()].length, 1);
});

t.test('a new password enables an administrator who is locked out', async (t) => {
  await using data = await seeded();
  const { state, passwords } = data;
  await setAdmin(state, passwords, 'root', 'first secret');
  const admin = () => [...state.tables.identity.values()][0];
  await state.change((transaction) => {
    const identity = admin();
    if (identity) disableIdentity(transaction, identity, undefined);
  });
  t.match(admin(), { disabled: true });
  await setAdmin(state, passwords, 'chief', undefined);
  t.match(admin(), { disabled: true }, 'a new name alone does not');
  await setAdmin(state, passwords, 'chief', 'second secret');
  t.match(admin(), { disabled: false, disabledUntil: null });
});

t.test('the name of another identity is rejected', async (t) => {
  await using data = await seeded();
  const { state, passwords } = data;
  await setAdmin(state, passwords, 'root', 'first secret');
  const proof = passwordProof('anna', await passwords.hash('another secret'));
  await state.change((transaction) => {
    transaction.put('identity', plainIdentity(transaction, 'anna', 'Anna'));
  });
  await state.change((transaction) => addAuthenticator(transaction, { id: 'a', identityId: 'anna', proof }));
  await t.rejects(setAdmin(state, passwords, 'anna', 'second secret'), {
    code: 'BAD_OPTION',
    message: /anna belongs to another/,
  });
  t.equal(adminUsername(state), 'root');
});

// What a fresh controller holds before anybody has said anything: config types, the default auth policy, the administrator.

import type { Passwords } from './auth/passwords.ts';
import { addAuthenticator, passwordProof } from './entities/authenticator.ts';
import { builtInConfigTypes, defaultAuthPolicy } from './entities/built-in.ts';
import { baseFields } from './entities/common.ts';
import { DEFAULT_AUTH_POLICY, plainIdentity } from './entities/identity.ts';
import type { State } from './state/state.ts';
import type { Transaction } from './state/transaction.ts';
import type { Identity } from './state/types.ts';

/** Adds what is missing. Safe on data that is there already. */
export async function seedBuiltIns(state: State): Promise<void> {
  await state.change((transaction) => {
    const base = (id: string) => baseFields(transaction, id);
    for (const type of builtInConfigTypes(base))
      if (!transaction.get('configType', type.id)) transaction.put('configType', type);
    if (!transaction.get('authPolicy', DEFAULT_AUTH_POLICY)) {
      transaction.put('authPolicy', defaultAuthPolicy(base(DEFAULT_AUTH_POLICY)));
    }
  });
}

/** Whether the data has an administrator. */
export function hasAdmin(state: State): boolean {
  return [...state.tables.identity.values()].some(({ isDefaultAdmin }) => isDefaultAdmin);
}

/** Makes the administrator, or gives the one that is there this name and password. */
export async function setAdmin(state: State, passwords: Passwords, username: string, password: string): Promise<void> {
  const passwordHash = await passwords.hash(password);
  await state.change((transaction) => {
    const known = [...transaction.tables.identity.values()].find(({ isDefaultAdmin }) => isDefaultAdmin);
    const id = known?.id ?? transaction.ids.short();
    if (!known) transaction.put('identity', adminIdentity(transaction, id));
    const updb = transaction.tables.authenticator.referring('identityId', id).find(({ method }) => method === 'updb');
    if (updb) transaction.patch('authenticator', updb.id, { username, passwordHash });
    else
      addAuthenticator(transaction, {
        id: transaction.ids.short(),
        identityId: id,
        proof: passwordProof(username, passwordHash),
      });
  });
}

function adminIdentity(transaction: Transaction, id: string): Identity {
  return { ...plainIdentity(transaction, id, 'Default Admin'), isAdmin: true, isDefaultAdmin: true };
}

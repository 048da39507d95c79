// The initial data of a controller: config types, the default auth policy, the administrator.

import { OptionError } from '#lib/options.ts';
import { addAuthenticator, passwordProof } from '../entities/authenticator.ts';
import { builtInConfigTypes, defaultAuthPolicy } from '../entities/built-in.ts';
import { baseFields } from '../entities/common.ts';
import { DEFAULT_AUTH_POLICY, enableIdentity, plainIdentity } from '../entities/identity.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { State } from '../state/state.ts';
import type { Tables } from '../state/tables.ts';
import type { Transaction } from '../state/transaction.ts';

/** Adds missing entities and keeps existing ones. */
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
  return adminOf(state.tables) !== undefined;
}

/** The administrator's user name; undefined without an administrator or without a password. */
export function adminUsername(state: State): string | undefined {
  const admin = adminOf(state.tables);
  return (admin && passwordOf(state.tables, admin.id)?.username) ?? undefined;
}

/** The hash of the administrator's password, unless the administrator is disabled. */
export function validAdminHash({ tables }: State): string | undefined {
  const admin = adminOf(tables);
  return (admin && !admin.disabled && passwordOf(tables, admin.id)?.passwordHash) || undefined;
}

/**
 * Creates the administrator, or sets name and password of the existing one and enables it: the operator of the
 * simulator may be locked out. Without a password the old one remains. Throws OptionError if the name belongs to
 * another identity.
 */
export function setAdmin(transaction: Transaction, username: string, passwordHash: string | undefined): void {
  const { tables } = transaction;
  const known = adminOf(tables);
  const id = known?.id ?? transaction.ids.short();
  const updb = passwordOf(tables, id);
  const owner = tables.authenticator.findBy('username', username);
  if (owner && owner.id !== updb?.id)
    throw new OptionError(`the username ${username} belongs to another identity of this data; choose another one`);
  if (!known) transaction.put('identity', adminIdentity(transaction, id));
  else if (passwordHash !== undefined && known.disabled) enableIdentity(transaction, known);
  if (updb) transaction.patch('authenticator', updb.id, { username, ...(passwordHash && { passwordHash }) });
  else if (passwordHash !== undefined)
    addAuthenticator(transaction, {
      id: transaction.ids.short(),
      identityId: id,
      proof: passwordProof(username, passwordHash),
    });
}

/** A known password is for a login: the administrator's auth policy must exist and permit it. */
export function permitPassword(transaction: Transaction): void {
  const admin = adminOf(transaction.tables);
  const policy = admin && transaction.get('authPolicy', admin.authPolicyId);
  if (admin && !policy) transaction.patch('identity', admin.id, { authPolicyId: DEFAULT_AUTH_POLICY });
  const used = policy ?? transaction.get('authPolicy', DEFAULT_AUTH_POLICY);
  if (!used || used.primary.updb.allowed) return;
  const { primary } = used;
  transaction.patch('authPolicy', used.id, { primary: { ...primary, updb: { ...primary.updb, allowed: true } } });
}

function adminOf(tables: Tables): Identity | undefined {
  return [...tables.identity.values()].find(({ isDefaultAdmin }) => isDefaultAdmin);
}

function passwordOf(tables: Tables, identityId: string): Authenticator | undefined {
  return tables.authenticator.referring('identityId', identityId).find(({ method }) => method === 'updb');
}

function adminIdentity(transaction: Transaction, id: string): Identity {
  return { ...plainIdentity(transaction, id, 'Default Admin'), isAdmin: true, isDefaultAdmin: true };
}

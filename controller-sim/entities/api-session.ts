// Ends API sessions with everything that depends on them.

import type { Transaction } from '../state/transaction.ts';
import { deleteEntity } from './cascade.ts';

export function endApiSession(transaction: Transaction, id: string): void {
  deleteEntity(transaction, 'apiSession', id);
}

/** The sessions of an identity, or those opened with an authenticator. */
export function endApiSessions(transaction: Transaction, key: 'identityId' | 'authenticatorId', id: string): void {
  for (const session of transaction.tables.apiSession.referring(key, id)) endApiSession(transaction, session.id);
}

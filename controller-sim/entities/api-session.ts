// Ends API sessions with everything that depends on them.

import type { Transaction } from '../state/transaction.ts';

export function endApiSession(transaction: Transaction, id: string): void {
  const { tables } = transaction;
  for (const session of tables.session.referring('apiSessionId', id)) transaction.delete('session', session.id);
  for (const each of tables.apiSessionCertificate.referring('apiSessionId', id))
    transaction.delete('apiSessionCertificate', each.id);
  transaction.delete('apiSession', id);
}

/** The sessions of an identity, or those opened with an authenticator. */
export function endApiSessions(transaction: Transaction, key: 'identityId' | 'authenticatorId', id: string): void {
  for (const session of transaction.tables.apiSession.referring(key, id)) endApiSession(transaction, session.id);
}

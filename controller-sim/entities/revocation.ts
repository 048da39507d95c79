// Rules of revocations.

import type { Revocation } from '../state/kinds/revocation.ts';
import type { Transaction } from '../state/transaction.ts';

/** Milliseconds; longer than the lifetime of any token. */
export const REVOCATION_LIFETIME = 86_400_000;

/** `id` is that of the token, the API session or the identity. */
export function revocationOf(
  { now }: Pick<Transaction, 'now'>,
  id: string,
  type: Revocation['type'],
  tags: Revocation['tags'] = {},
): Revocation {
  const expiresAt = new Date(Date.parse(now) + REVOCATION_LIFETIME).toISOString();
  return { id, createdAt: now, updatedAt: now, tags, isSystem: false, type, expiresAt };
}

// Making enrollments: the one-time secret and the token that carries it. Signing waits, so it is done before the transaction.

import type { ApiServices } from '../api/context.ts';
import { baseFields } from '../entities/common.ts';
import type { SignedEnrollment } from '../entities/edge-router.ts';
import type { Enrollment } from '../entities/types.ts';
import type { Transaction } from '../state/transaction.ts';

/** Signs a token for a subject; valid for `lifetime` milliseconds, else as configured. */
export async function signEnrollment(
  services: ApiServices,
  method: 'ott' | 'erott',
  subject: string,
  expires?: Date,
): Promise<SignedEnrollment> {
  const { state, tokens, clock, enrollmentLifetime } = services;
  const token = state.ids.uuid();
  const expiresAt = (expires ?? new Date(clock.now() + enrollmentLifetime)).toISOString();
  const jwt = await tokens.enrollment({ method, subject, token, expiresAt });
  return { id: state.ids.short(), token, jwt, expiresAt };
}

export function addOttEnrollment(transaction: Transaction, identityId: string, signed: SignedEnrollment): void {
  const enrollment: Enrollment = {
    ...baseFields(transaction, signed.id),
    ...signed,
    method: 'ott',
    identityId,
    edgeRouterId: null,
    username: null,
  };
  transaction.put('enrollment', enrollment);
}

export function removeEnrollment(transaction: Transaction, { id }: Enrollment): void {
  transaction.delete('enrollment', id);
}

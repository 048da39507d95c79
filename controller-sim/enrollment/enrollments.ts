// Making enrollments: the one-time secret and the token that carries it. Signing waits, so it is done before the transaction.

import { baseFields } from '../entities/common.ts';
import type { SignedEnrollment } from '../entities/edge-router.ts';
import type { ApiServices } from '../request/context.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Enrollment } from '../state/types.ts';

/** Signs a token for a subject; valid for `lifetime` milliseconds, else as configured. */
export async function signEnrollment(
  services: ApiServices,
  method: Enrollment['method'],
  subject: string,
  expires?: Date,
): Promise<SignedEnrollment> {
  const { state, tokens, clock, enrollmentLifetime } = services;
  const token = state.ids.uuid();
  const expiresAt = (expires ?? new Date(clock.now() + enrollmentLifetime)).toISOString();
  const jwt = await tokens.enrollment({ method, subject, token, expiresAt });
  return { id: state.ids.short(), token, jwt, expiresAt };
}

/** What an identity is to enroll with: a certificate (ott), or a password under a name (updb). */
export interface IdentityEnrollment {
  readonly signed: SignedEnrollment;
  readonly method: 'ott' | 'updb';
  readonly username: string | null;
}

export function addEnrollment(transaction: Transaction, identityId: string, wanted: IdentityEnrollment): void {
  const { signed, method, username } = wanted;
  transaction.put('enrollment', {
    ...baseFields(transaction, signed.id),
    ...signed,
    method,
    identityId,
    edgeRouterId: null,
    username,
  });
}

export function removeEnrollment(transaction: Transaction, { id }: Enrollment): void {
  transaction.delete('enrollment', id);
}

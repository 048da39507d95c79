// Creates enrollments: the one-time secret and the token that carries it. Signing is asynchronous, so it precedes the
// transaction.

import type { Clock } from '#lib/time/clock.ts';
import { ApiError } from '../errors/errors.ts';
import type { Enrollment } from '../state/kinds/enrollment.ts';
import type { State } from '../state/state.ts';
import type { Transaction } from '../state/transaction.ts';
import { baseFields, existing } from './common.ts';
import type { SignedEnrollment } from './router.ts';

/** Signs one-time tokens with the authority's key. `expiresAt` in RFC 3339. */
export interface EnrollmentSigner {
  enrollment(token: { method: string; subject: string; token: string; expiresAt: string }): Promise<string>;
}

export interface EnrollmentComponents {
  readonly state: State;
  readonly tokens: EnrollmentSigner;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly enrollmentLifetime: number;
}

/** Signs a token for a subject; valid until `expires`, by default for the configured lifetime. */
export async function signEnrollment(
  components: EnrollmentComponents,
  method: Enrollment['method'],
  subject: string,
  expires?: Date,
): Promise<SignedEnrollment> {
  const { state, tokens, clock, enrollmentLifetime } = components;
  const token = state.ids.uuid();
  const expiresAt = (expires ?? new Date(clock.now() + enrollmentLifetime)).toISOString();
  const jwt = await tokens.enrollment({ method, subject, token, expiresAt });
  return { id: state.ids.short(), token, jwt, expiresAt };
}

/**
 * How an identity is to enroll: with a certificate of this network (ott), a certificate of another authority (ottca),
 * or a password for a user name (updb).
 */
export interface WantedEnrollment {
  readonly identityId: string;
  readonly method: 'ott' | 'ottca' | 'updb';
  readonly expires?: Date;
  readonly caId?: string;
  readonly username?: string;
}

export interface IdentityEnrollment extends WantedEnrollment {
  readonly signed: SignedEnrollment;
}

export async function prepareEnrollment(
  components: EnrollmentComponents,
  wanted: WantedEnrollment,
): Promise<IdentityEnrollment> {
  return { ...wanted, signed: await signEnrollment(components, wanted.method, wanted.identityId, wanted.expires) };
}

/** Throws ApiError if the authority was deleted since the token was signed. */
export function addEnrollment(transaction: Transaction, enrollment: IdentityEnrollment): void {
  const { signed, method, identityId, caId = null, username = null } = enrollment;
  if (caId !== null) existing(transaction, 'ca', caId);
  transaction.put('enrollment', {
    ...baseFields(transaction, signed.id),
    ...signed,
    method,
    identityId,
    routerId: null,
    caId,
    username,
  });
}

/** 409 if the identity has an open enrollment of this method. */
export function rejectOpenEnrollment(transaction: Transaction, identityId: string, method: string): void {
  const open = transaction.tables.enrollment.referring('identityId', identityId);
  if (open.some((each) => each.method === method)) {
    throw new ApiError('ENROLLMENT_EXISTS', {
      field: 'method',
      reason: 'enrollment of same method exists',
      value: method,
    });
  }
}

/** Keeps the enrollment and invalidates its old token. */
export function replaceToken(transaction: Transaction, { id }: Enrollment, signed: SignedEnrollment): void {
  const { token, jwt, expiresAt } = signed;
  transaction.patch('enrollment', id, { token, jwt, expiresAt });
}

/**
 * Only the first of several callers with the same token succeeds. A token that was replaced meanwhile is invalid as
 * well.
 */
export function useUp(transaction: Transaction, { id, token }: Enrollment): void {
  if (transaction.get('enrollment', id)?.token !== token) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  transaction.delete('enrollment', id);
}

export function removeEnrollment(transaction: Transaction, { id }: Enrollment): void {
  transaction.delete('enrollment', id);
}

// Rules of auth policies: permitted ways to log in, and additional demands.

import type { AuthPolicyCreate, AuthPolicyPatch, AuthPolicyUpdate } from '#schemas/api/gen/bodies.ts';
import { ApiError } from '../errors/errors.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { uniqueName } from './common.ts';
import { rulesOfFields } from './rules.ts';

export type AuthPolicyBody = AuthPolicyCreate | AuthPolicyUpdate | AuthPolicyPatch;

/** reference fact: the minimum password length that an auth policy can require. */
const MIN_PASSWORD_LENGTH = 5;

export const authPolicyRules = rulesOfFields('authPolicy', fields);

/** Merges field by field: a patch keeps missing fields. */
function fields(transaction: Transaction, body: Body<AuthPolicyBody>, current: AuthPolicy | undefined) {
  const keep = body.kept(current);
  const { primary, secondary } = body.given;
  const { cert, extJwt, updb } = primary ?? {};
  const was = keep?.primary;
  const allowedSigners = extJwt?.allowedSigners ?? was?.extJwt.allowedSigners ?? [];
  // An empty value removes the requirement.
  const requireExtJwtSigner = (secondary?.requireExtJwtSigner ?? keep?.secondary.requireExtJwtSigner) || null;
  for (const [index, signer] of allowedSigners.entries())
    requireSigner(transaction, signer, `primary.extJwt.allowedExtJwtSigners[${index}]`);
  if (requireExtJwtSigner !== null) requireSigner(transaction, requireExtJwtSigner, 'secondary.requiredExtJwtSigner');
  return {
    name: uniqueName(transaction, 'authPolicy', body, current),
    primary: {
      cert: {
        allowed: cert?.allowed ?? was?.cert.allowed ?? false,
        allowExpiredCerts: cert?.allowExpiredCerts ?? was?.cert.allowExpiredCerts ?? false,
      },
      extJwt: { allowed: extJwt?.allowed ?? was?.extJwt.allowed ?? false, allowedSigners },
      updb: {
        allowed: updb?.allowed ?? was?.updb.allowed ?? false,
        minPasswordLength: min(MIN_PASSWORD_LENGTH, updb?.minPasswordLength ?? was?.updb.minPasswordLength),
        maxAttempts: min(0, updb?.maxAttempts ?? was?.updb.maxAttempts),
        lockoutDurationMinutes: min(0, updb?.lockoutDurationMinutes ?? was?.updb.lockoutDurationMinutes),
        requireMixedCase: updb?.requireMixedCase ?? was?.updb.requireMixedCase ?? false,
        requireNumberChar: updb?.requireNumberChar ?? was?.updb.requireNumberChar ?? false,
        requireSpecialChar: updb?.requireSpecialChar ?? was?.updb.requireSpecialChar ?? false,
      },
    },
    secondary: {
      requireTotp: secondary?.requireTotp ?? keep?.secondary.requireTotp ?? false,
      requireExtJwtSigner,
    },
  };
}

/** reference fact: lower values are raised, not rejected. 0 means unlimited attempts and a permanent lock. */
function min(lowest: number, given: number | null | undefined): number {
  return Math.max(lowest, given ?? lowest);
}

function requireSigner(transaction: Transaction, id: string, field: string): void {
  if (!transaction.get('externalJwtSigner', id))
    throw new ApiError('NOT_FOUND', { field, reason: 'not found', value: id });
}

// Rules of auth policies: permitted ways to log in, and additional demands.

import { ApiError } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { AuthPolicy } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, referenced, uniqueName } from './common.ts';

/** reference fact: the minimum password length that an auth policy can require. */
const SHORTEST_PASSWORD = 5;

export function createAuthPolicy(transaction: Transaction, id: string, body: Body): void {
  transaction.put('authPolicy', { ...baseFields(transaction, id, body), ...fields(transaction, body, undefined) });
}

export function updateAuthPolicy(transaction: Transaction, policy: AuthPolicy, body: Body): void {
  transaction.put('authPolicy', { ...changedBase(transaction, policy, body), ...fields(transaction, body, policy) });
}

export function deleteAuthPolicy(transaction: Transaction, { id }: AuthPolicy): void {
  const { identity, externalJwtSigner } = transaction.tables;
  const signers = externalJwtSigner.referring('enrollAuthPolicyId', id).map((each) => each.id);
  if (signers.length > 0) throw referenced('authPolicy', 'enrollAuthPolicyId', signers, 'externalJwtSigner');
  const identities = identity.referring('authPolicyId', id).map((each) => each.id);
  if (identities.length > 0) throw referenced('authPolicy', 'authPolicyId', identities, 'identity');
  transaction.delete('authPolicy', id);
}

/** Merges field by field: a patch keeps missing fields. */
function fields(transaction: Transaction, body: Body, current: AuthPolicy | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const primary = body.part('primary');
  const [cert, extJwt, updb] = [primary.part('cert'), primary.part('extJwt'), primary.part('updb')];
  const secondary = body.part('secondary');
  const was = keep?.primary;
  const allowedSigners = extJwt.texts('allowedSigners') ?? was?.extJwt.allowedSigners ?? [];
  // An empty value removes the requirement.
  const requireExtJwtSigner = (secondary.text('requireExtJwtSigner') ?? keep?.secondary.requireExtJwtSigner) || null;
  for (const [index, signer] of allowedSigners.entries())
    demandSigner(transaction, signer, `primary.extJwt.allowedExtJwtSigners[${index}]`);
  if (requireExtJwtSigner !== null) demandSigner(transaction, requireExtJwtSigner, 'secondary.requiredExtJwtSigner');
  return {
    name: uniqueName(transaction, 'authPolicy', body, current),
    primary: {
      cert: {
        allowed: cert.flag('allowed') ?? was?.cert.allowed ?? false,
        allowExpiredCerts: cert.flag('allowExpiredCerts') ?? was?.cert.allowExpiredCerts ?? false,
      },
      extJwt: { allowed: extJwt.flag('allowed') ?? was?.extJwt.allowed ?? false, allowedSigners },
      updb: {
        allowed: updb.flag('allowed') ?? was?.updb.allowed ?? false,
        minPasswordLength: least(SHORTEST_PASSWORD, updb.whole('minPasswordLength') ?? was?.updb.minPasswordLength),
        maxAttempts: least(0, updb.whole('maxAttempts') ?? was?.updb.maxAttempts),
        lockoutDurationMinutes: least(0, updb.whole('lockoutDurationMinutes') ?? was?.updb.lockoutDurationMinutes),
        requireMixedCase: updb.flag('requireMixedCase') ?? was?.updb.requireMixedCase ?? false,
        requireNumberChar: updb.flag('requireNumberChar') ?? was?.updb.requireNumberChar ?? false,
        requireSpecialChar: updb.flag('requireSpecialChar') ?? was?.updb.requireSpecialChar ?? false,
      },
    },
    secondary: {
      requireTotp: secondary.flag('requireTotp') ?? keep?.secondary.requireTotp ?? false,
      requireExtJwtSigner,
    },
  };
}

/** reference fact: lower values are raised, not rejected. 0 means unlimited attempts and a permanent lock. */
function least(lowest: number, given = lowest): number {
  return Math.max(lowest, given);
}

function demandSigner(transaction: Transaction, id: string, field: string): void {
  if (!transaction.get('externalJwtSigner', id))
    throw new ApiError('NOT_FOUND', { field, reason: 'not found', value: id });
}

// Represents a session in token form, of the OIDC API or of another issuer, like a stored session.

import { createHash } from 'node:crypto';
import type { AccessClaims } from '../../pki/tokens.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { Identity } from '../../state/kinds/identity.ts';

/** `policy` is the identity's current one: it may demand more than the login proved. */
export function sessionFromClaims(token: string, claims: AccessClaims, policy: AuthPolicy | undefined): ApiSession {
  const createdAt = new Date(claims.auth_time * 1000).toISOString();
  const hasTotp = claims.amr.includes('totp');
  const { requireTotp = false, requireExtJwtSigner = null } = policy?.secondary ?? {};
  return {
    id: claims.z_asid,
    createdAt,
    updatedAt: createdAt,
    tags: {},
    isSystem: false,
    token,
    identityId: claims.sub,
    authenticatorId: claims.z_authid,
    configTypes: claims.z_ct,
    ipAddress: claims.z_ra,
    lastActivityAt: new Date(claims.iat * 1000).toISOString(),
    fingerprints: claims.z_cfs,
    isMfaRequired: hasTotp || requireTotp,
    isMfaComplete: hasTotp,
    requiredSignerId: claims.amr.includes(`ejs:${requireExtJwtSigner}`) ? null : requireExtJwtSigner,
    isCertExtendable: claims.z_ice,
    improperClientCertChain: claims.z_iccc,
  };
}

const ID_LENGTH = 24;

/** The same id for every request with the same token. */
export function sessionIdOf(token: string): string {
  return `c${createHash('sha256').update(token).digest('hex').slice(0, ID_LENGTH)}`;
}

export function sessionFromExternalToken(
  token: string,
  facts: {
    identity: Identity;
    policy: AuthPolicy;
    remoteAddress: string;
    isMfaRequired: boolean;
    isMfaComplete: boolean;
    /** Milliseconds since the epoch. */
    now: number;
  },
): ApiSession {
  const { identity, policy, remoteAddress, isMfaRequired, isMfaComplete } = facts;
  const now = new Date(facts.now).toISOString();
  return {
    id: sessionIdOf(token),
    createdAt: now,
    updatedAt: now,
    tags: {},
    isSystem: false,
    token,
    identityId: identity.id,
    authenticatorId: '',
    configTypes: [],
    ipAddress: remoteAddress,
    lastActivityAt: now,
    fingerprints: [],
    isMfaRequired,
    isMfaComplete,
    requiredSignerId: policy.secondary.requireExtJwtSigner,
    isCertExtendable: false,
    improperClientCertChain: false,
  };
}

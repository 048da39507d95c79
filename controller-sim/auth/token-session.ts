// A session that is a token of the OIDC API, in the form in which sessions are kept.

import type { AccessClaims } from '../jwt/tokens.ts';
import type { ApiSession } from '../state/types.ts';

export function sessionFromClaims(token: string, claims: AccessClaims): ApiSession {
  const createdAt = new Date(claims.auth_time * 1000).toISOString();
  const hasTotp = claims.amr.includes('totp');
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
    // No token is handed out before everything that was owed has been given.
    isMfaRequired: hasTotp,
    isMfaComplete: hasTotp,
    requiredSignerId: null,
    isCertExtendable: claims.z_ice,
    improperClientCertChain: claims.z_iccc,
  };
}

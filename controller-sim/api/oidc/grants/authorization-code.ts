// The grant `authorization_code` (RFC 6749, section 4.1.3): tokens for the code of a login.

import { createHash, timingSafeEqual } from 'node:crypto';
import { isStillProven } from '../../../auth/authenticate.ts';
import type { Proven } from '../../../auth/login-attempt.ts';
import type { Identity } from '../../../state/kinds/identity.ts';
import type { ApiServices } from '../../operations/context.ts';
import { type AuthRequest, isComplete } from '../auth-requests.ts';
import { type GrantRequest, OAuthError, type OidcAnswer, text } from '../context.ts';
import { publishSession, type SessionClaims, tokens } from '../issued-tokens.ts';
import { bind, requireIdentity } from '../live-session.ts';
import { clientIdOf, required } from '../parameters.ts';

/** Uses the code after all checks (reference fact: it deletes the login with the answer). */
export async function byCode(request: GrantRequest): Promise<OidcAnswer> {
  const code = required(request, 'code');
  const redirectUri = required(request, 'redirect_uri');
  const found = request.requests.peek(code);
  if (!found?.proven || !isComplete(found)) throw new OAuthError('invalid_grant', 'invalid code');
  if (found.clientId !== clientIdOf(request) || found.redirectUri !== redirectUri)
    throw new OAuthError('invalid_grant', 'the code was given to another client');
  if (!isChallenge(found.codeChallenge, text(request, 'code_verifier')))
    throw new OAuthError('invalid_grant', 'invalid code_verifier');
  const { proven } = found;
  const identity = requireIdentity(request.services, proven.identity.id);
  const bound = await bind(request.services, identity, found.apiSessionId, found.csrPem, found.fingerprints);
  requireLogin(request.services, found, proven);
  if (!request.requests.consume(code)) throw new OAuthError('invalid_grant', 'invalid code');
  const claims: SessionClaims = { ...claimsOf(found, identity), z_cfs: bound.fingerprints };
  publishSession(request, claims, 'created');
  if (found.amr.has('totp'))
    await request.services.posture.passedMfaAt(identity.id, found.apiSessionId, found.authTime);
  return tokens(request, claims, { nonce: found.nonce, sessionCert: bound.certificate });
}

/**
 * A login may take minutes: meanwhile its proof may be replaced, or the sessions of its identity be revoked. Another
 * user may log in with the same request.
 */
function requireLogin(
  { state, clock, revocations }: Pick<ApiServices, 'state' | 'clock' | 'revocations'>,
  found: AuthRequest,
  proven: Proven,
): void {
  const login = {
    jti: '',
    z_asid: found.apiSessionId,
    z_authid: proven.authenticator?.id ?? '',
    sub: proven.identity.id,
    iat: found.authTime / 1000,
  };
  if (found.proven !== proven || !isStillProven(state.tables, proven, clock.now()) || revocations.isRevoked(login))
    throw new OAuthError('invalid_grant', 'the login was revoked');
}

function claimsOf(found: AuthRequest, identity: Identity): SessionClaims {
  const { proven, apiSessionId, clientId, scope, amr, configTypes, fingerprints, remoteAddress } = found;
  const isByCert = amr.has('cert');
  return {
    sub: identity.id,
    aud: [clientId],
    auth_time: Math.floor(found.authTime / 1000),
    client_id: clientId,
    amr: [...amr],
    scope,
    scopes: scope.split(' '),
    z_asid: apiSessionId,
    z_eid: identity.externalId ?? '',
    z_ia: identity.isAdmin,
    z_ct: configTypes,
    z_aid: clientId,
    z_cfs: fingerprints,
    ...(isByCert && fingerprints[0] !== undefined && { z_acf: fingerprints[0] }),
    z_sdk: found.sdkInfo ?? null,
    z_env: found.envInfo ?? null,
    z_ra: remoteAddress,
    z_ice: proven?.isCertExtendable ?? false,
    ...(isByCert && { z_cae: proven?.policy.primary.cert.allowExpiredCerts ?? false }),
    z_authid: proven?.authenticator?.id ?? '',
    z_cer: proven?.authenticator?.isExtendRequested ?? false,
    z_ckrr: proven?.authenticator?.isKeyRollRequested ?? false,
    z_iccc: proven?.improperClientCertChain ?? false,
  };
}

function isChallenge(challenge: string, verifier: string): boolean {
  const given = createHash('sha256').update(verifier).digest();
  const wanted = Buffer.from(challenge, 'base64url');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

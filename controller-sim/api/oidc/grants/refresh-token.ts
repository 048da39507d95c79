// The grant `refresh_token` (RFC 6749, section 6): the next tokens of a session.

import { TokenKind } from '../../../pki/tokens.ts';
import { type GrantRequest, OAuthError, type OidcAnswer, text } from '../context.ts';
import { publishSession, sessionClaims, tokens } from '../issued-tokens.ts';
import { rebind, requireCertificate, requireSession, verified } from '../live-session.ts';
import { clientIdOf, required } from '../parameters.ts';

/**
 * Uses the refresh token after all checks, and answers with the next one. A client may repeat that for a short time,
 * and may reduce the scope.
 */
export async function byRefreshToken(request: GrantRequest): Promise<OidcAnswer> {
  const { services } = request;
  const old = await verified(services, required(request, 'refresh_token'), TokenKind.Refresh);
  if (!old) throw new OAuthError('invalid_grant', 'failed to parse refresh token');
  if (old.client_id !== clientIdOf(request)) throw new OAuthError('invalid_grant', 'client_id does not match');
  requireCertificate(request, old);
  const wanted = text(request, 'scope').split(' ').filter(Boolean);
  if (!wanted.every((each) => old.scope.split(' ').includes(each)))
    throw new OAuthError('invalid_scope', 'the scope exceeds that of the token');
  const revoked = 'refresh token revoked';
  const identity = requireSession(services, old, revoked);
  const scope = wanted.length > 0 && { scope: wanted.join(' '), scopes: wanted };
  const session = { ...sessionClaims(old, identity), ...scope };
  const bound = await rebind(request, identity, old);
  if (!(await services.revocations.use(old.jti))) throw new OAuthError('invalid_grant', revoked);
  requireSession(services, old, revoked); // it may have ended meanwhile
  publishSession(request, session, 'refreshed');
  const claims = { ...session, z_cfs: bound.fingerprints };
  return tokens(request, claims, { sessionCert: bound.certificate, isRefreshed: true });
}

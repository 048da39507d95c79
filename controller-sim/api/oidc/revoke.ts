// The revocation endpoint (RFC 7009).

import type { OidcAnswer, OidcRequest } from './context.ts';
import { required } from './parameters.ts';

/**
 * Revokes a token. Unknown and invalid tokens are ignored silently (RFC 7009, section 2.2), and so are tokens of the
 * other APIs: anyone can request new ones of the network, and each would be stored and sent to every router.
 */
export async function revoke(request: OidcRequest<'tokens' | 'revocations'>): Promise<OidcAnswer> {
  const { services } = request;
  const claims = await services.tokens.verify(required(request, 'token'));
  if (claims?.jti !== undefined && services.tokens.isOidcIssuer(claims.iss))
    await services.revocations.revoke(claims.jti, 'JTI');
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '' };
}

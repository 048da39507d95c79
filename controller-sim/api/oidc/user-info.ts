// The endpoints that describe a token: user info (OpenID Connect Core, section 5.3) and introspection (RFC 7662).

import { bearerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { OAuthError, type OidcAnswer, type OidcRequest } from './context.ts';
import { ok } from './issued-tokens.ts';

/** All clients are public, so none can prove that it may inspect tokens. */
export function introspect(): OidcAnswer {
  throw new OAuthError('invalid_client', 'client must be authenticated');
}

/** Scopes about a person are not stored, so there is nothing to return. */
export async function userInfo(request: OidcRequest<'tokens' | 'revocations'>): Promise<OidcAnswer> {
  const { tokens: signed, revocations } = request.services;
  for (const bearer of bearerTokens(request)) {
    const claims = await signed.verifyAccess(bearer);
    if (claims && !revocations.isRevoked(claims)) return ok({});
  }
  throw new OAuthError('access_denied', 'access token invalid', 401);
}

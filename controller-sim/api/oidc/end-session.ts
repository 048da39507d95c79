// The logout endpoint (OpenID Connect RP-Initiated Logout).

import { isAllowed, withParameters } from './authorize.ts';
import { BASE, OAuthError, type OidcAnswer, type OidcRequest, redirect, text } from './context.ts';

/** Ends the session of an ID token, even of an expired one. Throws OAuthError for a token that is not one. */
export async function endSession(request: OidcRequest<'baseUrl' | 'tokens' | 'revocations'>): Promise<OidcAnswer> {
  const { services, query } = request;
  const parameter = (name: string) => text(request, name) || (query.get(name) ?? '');
  const hint = parameter('id_token_hint');
  const claims = await services.tokens.verify(hint, { ignoreExpiry: true });
  if (hint !== '' && !claims) throw new OAuthError('invalid_request', 'the id_token_hint is not valid');
  if (claims && typeof claims.z_asid === 'string') await services.revocations.revoke(claims.z_asid, 'API_SESSION');
  const target = parameter('post_logout_redirect_uri');
  if (target === '') return redirect(`${BASE}/logged-out`);
  if (!isAllowed(request, target))
    throw new OAuthError('invalid_request', 'the post_logout_redirect_uri is not allowed');
  return redirect(withParameters(target, { state: parameter('state') || undefined }));
}

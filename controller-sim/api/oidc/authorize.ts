// Begins and completes a login: the code flow with PKCE (RFC 6749, section 4.1; RFC 7636).

import { ownValue } from '#lib/json/own-value.ts';
import { ownText } from '#lib/text/own-text.ts';
import { MAX_CONFIG_TYPES, typeIds } from '../../auth/authenticate.ts';
import { bearerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { type AuthRequest, isComplete } from './auth-requests.ts';
import { BASE, OAuthError, type OidcAnswer, type OidcRequest, redirect } from './context.ts';

export const CLIENTS: ReadonlySet<string> = new Set(['openziti', 'native']);
const METHODS = ['password', 'cert', 'ext-jwt'];
const PAGES: Readonly<Record<string, string>> = { password: 'username', cert: 'cert', 'ext-jwt': 'ext-jwt' };
/** Limits for stored parameters, in characters; longer values are rejected. */
const MAX_LENGTHS: Readonly<Record<string, number>> = {
  redirect_uri: 2_048,
  state: 4_096,
  nonce: 1_024,
  scope: 1_024,
  configTypes: 256,
};
const CHALLENGE = /^[\w.~-]{43,128}$/;

export function authorize(request: OidcRequest<'baseUrl' | 'state'>): OidcAnswer {
  const { requests } = request;
  const values = (name: string) => shortValuesOf(request, name);
  const parameter = (name: string) => values(name)[0] ?? '';
  const clientId = parameter('client_id');
  if (clientId === '') throw new OAuthError('invalid_request', 'client_id is missing');
  if (!CLIENTS.has(clientId)) throw new OAuthError('invalid_client', 'the client is unknown');
  const redirectUri = parameter('redirect_uri');
  if (!isAllowed(request, redirectUri))
    throw new OAuthError('invalid_request', 'the redirect_uri is not allowed: it must point to this machine');
  const [state] = values('state');
  const wrong = complaint(parameter);
  if (wrong) return redirect(withParameters(redirectUri, { ...wrong, state }));
  const added = requests.add({
    clientId,
    redirectUri,
    scope: parameter('scope'),
    state,
    nonce: values('nonce')[0],
    codeChallenge: parameter('code_challenge'),
    remoteAddress: request.remoteAddress,
    configTypes: typeIds(request, values('configTypes')),
  });
  return redirect(`${BASE}/login/${loginPage(request)}?authRequestID=${added.id}`);
}

/** The values of a parameter in the query, or in the body of a POST (OpenID Connect Core, section 3.1.2.1). */
function valuesOf({ query, body }: OidcRequest<never>, name: string): string[] {
  if (query.has(name)) return query.getAll(name);
  return [ownValue(body, name) ?? []].flat().filter((value) => typeof value === 'string');
}

/** Values short enough to store. Throws OAuthError for longer ones. */
function shortValuesOf(request: OidcRequest<never>, name: string): string[] {
  const values = valuesOf(request, name);
  const longest = MAX_LENGTHS[name] ?? Number.POSITIVE_INFINITY;
  if (values.some((value) => value.length > longest))
    throw new OAuthError('invalid_request', `the parameter ${name} has more than ${longest} characters`);
  if (values.length > MAX_CONFIG_TYPES)
    throw new OAuthError('invalid_request', `the parameter ${name} has more than ${MAX_CONFIG_TYPES} values`);
  return values.map(ownText);
}

/** The first error in the request's parameters, for the client. */
function complaint(parameter: (name: string) => string): { error: string; error_description: string } | undefined {
  const reject = (error: string, error_description: string) => ({ error, error_description });
  if (parameter('response_type') !== 'code')
    return reject('unsupported_response_type', 'only the response_type code is supported');
  if (!parameter('scope').split(' ').includes('openid')) return reject('invalid_scope', 'the scope openid is missing');
  if (parameter('code_challenge_method') !== 'S256' || !CHALLENGE.test(parameter('code_challenge')))
    return reject('invalid_request', 'a code_challenge of the method S256 is required');
  // Nobody stays logged in between two logins (OpenID Connect Core, section 3.1.2.1).
  if (parameter('prompt').split(' ').includes('none')) return reject('login_required', 'the user must log in');
  return undefined;
}

/** The login page for the requested method, else for the credentials that the client presented. */
function loginPage(request: OidcRequest<never>): string {
  const wanted = valuesOf(request, 'method')[0] ?? '';
  if (METHODS.includes(wanted)) return ownValue(PAGES, wanted) ?? 'username';
  if (bearerTokens(request).length > 0) return 'ext-jwt';
  return request.certificates.length > 0 ? 'cert' : 'username';
}

/** Allows programs on the user's own machine, on any port, and pages of this controller. */
export function isAllowed({ services }: OidcRequest<'baseUrl'>, uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname, origin, hash } = new URL(uri);
  if (hash !== '' || !/^https?:$/.test(protocol)) return false;
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || origin === new URL(services.baseUrl).origin;
}

/** Redirects to the client with a code, or with an error if proofs are missing. */
export function callback({ query, requests }: OidcRequest<never>): OidcAnswer {
  const found = requests.get(query.get('id') ?? '');
  if (!found) throw new OAuthError('invalid_request', 'the login is unknown or expired');
  const { redirectUri, state } = found;
  if (!isComplete(found)) {
    const error_description = 'Unfortunately, the user may be not logged in and/or additional interaction is required.';
    return redirect(withParameters(redirectUri, { error: 'interaction_required', error_description, state }));
  }
  return redirect(withParameters(redirectUri, { code: requests.codeFor(found), state }));
}

export function callbackUrl({ services }: OidcRequest<'baseUrl'>, { id }: AuthRequest): string {
  return `${services.baseUrl}${BASE}/authorize/callback?id=${id}`;
}

export function withParameters(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}

// Parameters of requests to the token endpoint and its neighbors.

import { OAuthError, type OidcRequest, text } from './context.ts';

/** The text of a parameter. Throws OAuthError if it is missing. */
export function required(request: OidcRequest<never>, name: string): string {
  const value = text(request, name);
  if (value === '') throw missing(name);
  return value;
}

export function missing(name: string): OAuthError {
  return new OAuthError('invalid_request', `${name} is missing`);
}

/**
 * Clients send their id in the body. SDKs that exchange a token send it as the user of basic authorization (RFC 6749,
 * section 2.3.1). All clients are public, so no secret is required.
 */
export function clientIdOf(request: OidcRequest<never>): string {
  const inBody = text(request, 'client_id');
  const [, credentials] = /^basic +([\w+/=-]+)$/i.exec(String(request.headers.authorization ?? '')) ?? [];
  if (inBody !== '' || credentials === undefined) return inBody;
  const [user = ''] = Buffer.from(credentials, 'base64').toString().split(':', 1);
  return new URLSearchParams(`user=${user}`).get('user') ?? '';
}

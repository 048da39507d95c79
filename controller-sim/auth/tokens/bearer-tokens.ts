// Tokens in the headers of requests.

import type { AuthRequest } from '../request.ts';

/** Tokens of a request that are tried: real clients send one or two. */
const MAX_TOKENS = 10;

/** All tokens of the headers: of an opaque session, and bearer tokens. */
export function headerTokens({ headers }: Pick<AuthRequest<unknown>, 'headers'>): string[] {
  const session = headers['zt-session'];
  return [...(typeof session === 'string' ? [session] : []), ...bearerTokens({ headers })];
}

/** Tokens from the Authorization header, which may contain several. */
export function bearerTokens({ headers }: Pick<AuthRequest<unknown>, 'headers'>): string[] {
  const { authorization } = headers;
  const values = Array.isArray(authorization) ? authorization : [authorization ?? ''];
  return values
    .flatMap((value) => value.split(',', MAX_TOKENS))
    .slice(0, MAX_TOKENS)
    .flatMap((value) => /^\s*Bearer\s+(\S+)\s*$/i.exec(value)?.[1] ?? []);
}

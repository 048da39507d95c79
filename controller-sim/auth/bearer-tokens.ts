// Bearer tokens in requests.

import type { AuthRequest } from './request.ts';

/** Tokens from the Authorization header, which may contain several. */
export function bearerTokens({ headers }: Pick<AuthRequest, 'headers'>): string[] {
  const { authorization } = headers;
  const values = Array.isArray(authorization) ? authorization : [authorization ?? ''];
  return values
    .flatMap((value) => value.split(','))
    .flatMap((value) => /^\s*Bearer\s+(\S+)\s*$/i.exec(value)?.[1] ?? []);
}

// The bearer tokens of a request.

import type { AuthRequest } from './request.ts';

/** Those of the Authorization header, which may hold several. */
export function bearerTokens({ headers }: Pick<AuthRequest, 'headers'>): string[] {
  const { authorization } = headers;
  const values = Array.isArray(authorization) ? authorization : [authorization ?? ''];
  return values
    .flatMap((value) => value.split(','))
    .flatMap((value) => /^\s*Bearer\s+(\S+)\s*$/i.exec(value)?.[1] ?? []);
}

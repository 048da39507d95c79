// The code flow of OIDC with PKCE, as SDKs use it: what a client sends first, and what it sends with the code.

import { createHash, randomBytes } from 'node:crypto';

const CLIENT = { client_id: 'native', redirect_uri: 'http://localhost:8080/auth/callback' };

export interface CodeFlow {
  /** For `/authorize`. */
  readonly parameters: URLSearchParams;
  /** The fields for the token endpoint. */
  redemption(code: string): Record<string, string>;
}

export function codeFlow(): CodeFlow {
  const verifier = randomBytes(32).toString('base64url');
  const parameters = new URLSearchParams({
    ...CLIENT,
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const redemption = (code: string) => ({
    ...CLIENT,
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
  });
  return { parameters, redemption };
}

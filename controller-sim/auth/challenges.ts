// The header `www-authenticate`: names the token that a request lacks, so that the client fetches one instead of
// logging in again. Rejections carry it, and answers to sessions that still lack the token of another issuer. It names
// only issuers, which are public.

import type { ExternalJwtSigner } from '../state/kinds/external-jwt-signer.ts';
import type { RequestHeaders } from './request.ts';
import { bearerTokens } from './tokens/bearer-tokens.ts';

export type TokenProblem = 'missing' | 'expired' | 'invalid';

/** reference fact: realms and texts, which SDKs compare. */
const DESCRIPTIONS: Readonly<Record<TokenProblem, string>> = {
  missing: 'no matching token was provided',
  expired: 'token expired',
  invalid: 'token is invalid',
};
const REALMS = {
  session: ['zt-session', 'zt-session'],
  oidc: ['Bearer', 'openziti-oidc'],
  primary: ['Bearer', 'openziti-primary-ext-jwt'],
  secondary: ['Bearer', 'openziti-secondary-ext-jwt'],
} as const;
/** Limit in characters on ids and issuers in one challenge: clients limit the headers that they read. */
const MAX_SIGNERS_LENGTH = 4_096;

/** `signers` issue acceptable tokens. */
export function challenge(
  realm: keyof typeof REALMS,
  problem: TokenProblem,
  signers?: Iterable<ExternalJwtSigner>,
): string {
  const [scheme, name] = REALMS[realm];
  const parts = [`realm="${name}"`, `error="${problem}"`, `error_description="${DESCRIPTIONS[problem]}"`];
  if (signers) {
    const named = bounded(signers);
    parts.push(`id="${named.map(({ id }) => id).join('|')}"`);
    parts.push(`issuer="${named.map(({ issuer }) => quotable(issuer)).join('|')}"`);
  }
  return `${scheme} ${parts.join(' ')}`;
}

interface TokenVerifier {
  /** Undefined for an invalid token. */
  verify(token: string, options?: { readonly ignoreExpiry?: boolean }): Promise<unknown>;
}

/** For requests without a valid session. */
export async function sessionChallenge({
  headers,
  services,
}: {
  readonly headers: RequestHeaders;
  readonly services: { readonly tokens: TokenVerifier };
}): Promise<string> {
  if (headers['zt-session']) return challenge('session', 'invalid');
  const bearers = bearerTokens({ headers });
  for (const token of bearers)
    if (await services.tokens.verify(token, { ignoreExpiry: true }))
      return challenge('oidc', (await services.tokens.verify(token)) ? 'invalid' : 'expired');
  const isMalformed = bearers.some((token) => token.split('.').length !== 3);
  if (isMalformed) return challenge('oidc', 'invalid');
  return `${challenge('session', 'missing')},${challenge('oidc', 'missing')}`;
}

function bounded(signers: Iterable<ExternalJwtSigner>): ExternalJwtSigner[] {
  const named: ExternalJwtSigner[] = [];
  let length = 0;
  for (const signer of signers) {
    length += signer.id.length + (signer.issuer?.length ?? 0);
    if (length > MAX_SIGNERS_LENGTH) break;
    named.push(signer);
  }
  return named;
}

/** Removes quotes, which would end the value, and characters that headers must not contain. */
function quotable(text: string | null): string {
  return (text ?? '').replace(/[^\x20-\x7e]|["\\]/g, '');
}

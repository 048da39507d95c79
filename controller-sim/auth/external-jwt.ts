// Verifies tokens of other issuers: signed by a key of an enabled signer, for this network's audience, valid now.

import { createPublicKey } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { DEEPEST_JSON, isNestedDeeper, JsonDepthError } from '#lib/json.ts';
import { valueAt } from '#lib/json-pointer.ts';
import { ownValue } from '#lib/own-value.ts';
import { wellFormed } from '#lib/well-formed.ts';
import type { AuthPolicy, ExternalJwtSigner, Identity } from '../state/types.ts';
import type { TokenProblem } from './challenges.ts';
import type { AuthServices } from './request.ts';
import { mayVouchFor, NOT_FOR_ADMINS } from './vouching.ts';

type Components = Pick<AuthServices, 'state' | 'clock' | 'jwks' | 'log'>;

export interface VerifiedToken {
  readonly signer: ExternalJwtSigner;
  readonly claims: JWTPayload;
  /** The claim with which the signer identifies identities. */
  readonly subject: string;
  /** The identity of the token; undefined if it is unknown. */
  readonly identity: Identity | undefined;
}

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];

/** The verdict on a token of an enabled signer: verified, or with a problem. */
export interface TokenVerdict {
  readonly signer: ExternalJwtSigner;
  readonly verified?: VerifiedToken;
  readonly problem?: Exclude<TokenProblem, 'missing'>;
}

/** Undefined for an invalid token. */
export async function verifyExternalToken(services: Components, token: string): Promise<VerifiedToken | undefined> {
  return (await judgeExternalToken(services, token))?.verified;
}

/** Undefined for a token that no enabled signer can have issued. */
export async function judgeExternalToken(services: Components, token: string): Promise<TokenVerdict | undefined> {
  const { decodeJwt } = await import('jose');
  let signer: ExternalJwtSigner | undefined;
  try {
    const given = decodeJwt(token);
    if (isNestedDeeper(given)) throw new JsonDepthError(DEEPEST_JSON);
    signer = services.state.tables.externalJwtSigner.findBy('issuer', given.iss ?? '');
    if (!signer?.enabled) return undefined;
    const verified = await verifyAgainst(services, signer, token);
    return verified ? { signer, verified } : { signer, problem: 'invalid' };
  } catch (error) {
    services.log.debug({ error: String(error) }, 'rejected a token of another issuer');
    if (!signer) return undefined;
    return { signer, problem: (error as { code?: unknown }).code === 'ERR_JWT_EXPIRED' ? 'expired' : 'invalid' };
  }
}

/** Throws for a token that the signer did not sign, or that is not valid now. */
async function verifyAgainst(
  services: Components,
  signer: ExternalJwtSigner,
  token: string,
): Promise<VerifiedToken | undefined> {
  const { state, clock, jwks } = services;
  const { decodeProtectedHeader, jwtVerify } = await import('jose');
  const { kid } = decodeProtectedHeader(token);
  const key =
    signer.certPem === null
      ? await jwks.key(signer.jwksEndpoint ?? '', kid)
      : signer.kid === null || kid === undefined || signer.kid === kid
        ? createPublicKey(signer.certPem)
        : undefined;
  if (!key) return undefined;
  const { payload } = await jwtVerify(token, key, {
    algorithms: ALGORITHMS,
    ...(signer.issuer !== null && { issuer: signer.issuer }),
    ...(signer.audience !== '' && { audience: signer.audience }),
    currentDate: new Date(clock.now()),
    requiredClaims: ['exp'],
  });
  // Fetching a key takes seconds. Meanwhile the signer may have been changed, disabled or deleted.
  if (state.tables.externalJwtSigner.get(signer.id) !== signer) return undefined;
  const claims = wellFormed(payload) as JWTPayload;
  const subject = claimAt(claims, signer.claimsProperty);
  if (typeof subject !== 'string' || subject === '') return undefined;
  const { identity } = state.tables;
  const named = signer.useExternalId ? identity.findBy('externalId', subject) : identity.get(subject);
  if (named && !mayVouchFor(signer, named)) {
    services.log.info({ signerId: signer.id, identityId: named.id }, NOT_FOR_ADMINS);
    return undefined;
  }
  return { signer, claims, subject, identity: named };
}

/** The auth policy of the token's identity, if it permits logins with tokens of this signer. */
export function policyForToken(
  { state }: Pick<AuthServices, 'state'>,
  { identity, signer }: VerifiedToken,
): AuthPolicy | undefined {
  const policy = identity && state.tables.authPolicy.get(identity.authPolicyId);
  if (!policy?.primary.extJwt.allowed) return undefined;
  const { allowedSigners } = policy.primary.extJwt;
  return allowedSigners.length === 0 || allowedSigners.includes(signer.id) ? policy : undefined;
}

/** A claim by its name, or by a JSON pointer (RFC 6901). */
export function claimAt(claims: JWTPayload, selector: string): unknown {
  return selector.startsWith('/') ? valueAt(claims, selector) : ownValue(claims, selector);
}

// Verifies tokens of other issuers: signed by a key of an enabled signer, for this network's audience, valid now.

import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { isNestedDeeper, JsonDepthError, MAX_JSON_DEPTH } from '#lib/json/json.ts';
import { valueAt } from '#lib/json/json-pointer.ts';
import { wellFormed } from '#lib/text/well-formed.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { ExternalJwtSigner } from '../../state/kinds/external-jwt-signer.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { TokenProblem } from '../challenges.ts';
import type { AuthServices } from '../request.ts';
import { mayVouchFor, NOT_FOR_ADMINS } from '../vouching.ts';

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

const EXPIRED = 'ERR_JWT_EXPIRED';
/** Codes of errors in tokens whose signature is right. */
const ABOUT_CLAIMS: ReadonlySet<unknown> = new Set([EXPIRED, 'ERR_JWT_CLAIM_VALIDATION_FAILED']);

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
    if (isNestedDeeper(given)) throw new JsonDepthError(MAX_JSON_DEPTH);
    signer = services.state.tables.externalJwtSigner.findBy('issuer', given.iss ?? '');
    if (!signer?.enabled) return undefined;
    const verified = await verifyAgainst(services, signer, token);
    return verified ? { signer, verified } : { signer, problem: 'invalid' };
  } catch (error) {
    services.log.debug({ error: String(error) }, 'rejected a token of another issuer');
    if (!signer) return undefined;
    return { signer, problem: codeOf(error) === EXPIRED ? 'expired' : 'invalid' };
  }
}

/** Throws for a token that the signer did not sign, or that is not valid now. */
async function verifyAgainst(
  services: Components,
  signer: ExternalJwtSigner,
  token: string,
): Promise<VerifiedToken | undefined> {
  const { state } = services;
  const payload = await payloadOf(services, signer, token);
  // Fetching a key takes seconds. Meanwhile the signer may have been changed, disabled or deleted.
  if (!payload || state.tables.externalJwtSigner.get(signer.id) !== signer) return undefined;
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

/** Undefined if the signer has no key of the token's id. Throws for a token that is not signed, or not valid now. */
async function payloadOf(
  { clock, jwks }: Components,
  signer: ExternalJwtSigner,
  token: string,
): Promise<JWTPayload | undefined> {
  const { decodeProtectedHeader, jwtVerify } = await import('jose');
  const { kid } = decodeProtectedHeader(token);
  const verify = async (key: KeyObject): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ALGORITHMS,
      ...(signer.issuer !== null && { issuer: signer.issuer }),
      ...(signer.audience !== '' && { audience: signer.audience }),
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp'],
    });
    return payload;
  };
  if (signer.certPem !== null) {
    const isNamed = signer.kid === null || kid === undefined || signer.kid === kid;
    return isNamed ? verify(createPublicKey(signer.certPem)) : undefined;
  }
  const endpoint = signer.jwksEndpoint ?? '';
  const key = await jwks.key(endpoint, kid);
  if (!key) return undefined;
  try {
    return await verify(key);
  } catch (error) {
    // A restarted issuer may have replaced the key and kept its id.
    const newer = ABOUT_CLAIMS.has(codeOf(error)) ? undefined : await jwks.newerKey(endpoint, kid, key);
    if (!newer) throw error;
    return verify(newer);
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** The auth policy of the token's identity, if it permits logins with tokens of this signer. */
export function policyForToken(
  { state }: Pick<AuthServices, 'state'>,
  { identity, signer }: VerifiedToken,
): AuthPolicy | undefined {
  const policy = identity && state.tables.authPolicy.get(identity.authPolicyId);
  return policy && permitsSigner(policy.primary, signer.id) ? policy : undefined;
}

/** Whether identities with an auth policy log in with the tokens of a signer. */
export function permitsSigner({ extJwt: { allowed, allowedSigners } }: AuthPolicy['primary'], id: string): boolean {
  return allowed && (allowedSigners.length === 0 || allowedSigners.includes(id));
}

/** A claim by a JSON pointer (RFC 6901). reference fact: the first slash may be missing, so that a name is one, too. */
export function claimAt(claims: JWTPayload, selector: string): unknown {
  return valueAt(claims, selector.startsWith('/') ? selector : `/${selector}`);
}

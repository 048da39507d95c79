// Whose session a request shows: by the token of an API session, or by a signed token in its place, of the OIDC API or of another issuer.

import { isDisabled } from '../entities/identity.ts';
import type { ApiSession, Identity } from '../state/types.ts';
import { bearerTokens } from './bearer-tokens.ts';
import { challenge, type TokenProblem } from './challenges.ts';
import { judgeExternalToken, policyForToken, verifyExternalToken } from './external-jwt.ts';
import { holdsCertificate } from './proof-of-possession.ts';
import type { AuthRequest, AuthServices } from './request.ts';
import { owesTotp } from './second-factor/second-factor.ts';
import { sessionFromClaims, sessionFromExternalToken, sessionIdOf } from './token-session.ts';

type Asking = Pick<AuthRequest, 'services' | 'headers' | 'remoteAddress' | 'certificates'>;

interface SessionAndChallenge {
  readonly session: ApiSession;
  /** Names the token that the session still owes. */
  readonly challenge?: string;
}

export interface FoundSession extends SessionAndChallenge {
  readonly identity: Identity;
}

/** Undefined when there is none that counts now. */
export async function sessionOf(request: Asking): Promise<FoundSession | undefined> {
  const { state, activity, clock, sessionLifetime } = request.services;
  const token = request.headers['zt-session'];
  if (typeof token !== 'string' || token === '') return sessionOfToken(request);
  const session = state.tables.apiSession.findBy('token', token);
  const identity = session && state.tables.identity.get(session.identityId);
  if (!session || !identity || isDisabled(identity, clock.now())) return undefined;
  if (clock.now() - activity.lastOf(session) > sessionLifetime) return undefined;
  return { ...(await withSecondToken(request, session, identity)), identity };
}

async function sessionOfToken(request: Asking): Promise<FoundSession | undefined> {
  const bearers = bearerTokens(request);
  return (await sessionOfOwnToken(request, bearers)) ?? sessionOfOtherToken(request, bearers);
}

/** Of a token that the OIDC API handed out: the session is what the token says, and ends when it is revoked. */
async function sessionOfOwnToken(request: Asking, bearers: readonly string[]): Promise<FoundSession | undefined> {
  const { state, clock, tokens, revocations } = request.services;
  for (const token of bearers) {
    const claims = await tokens.verifyAccess(token);
    const identity = claims && state.tables.identity.get(claims.sub);
    if (!identity || isDisabled(identity, clock.now()) || revocations.isRevoked(claims)) continue;
    if (!holdsCertificate(request, claims)) continue;
    const policy = state.tables.authPolicy.get(identity.authPolicyId);
    const session = sessionFromClaims(token, claims, policy);
    return { ...(await withSecondToken(request, session, identity)), identity };
  }
  return undefined;
}

/** A token that one could log in with, shown without having done so. The second factors are owed all the same. */
async function sessionOfOtherToken(request: Asking, bearers: readonly string[]): Promise<FoundSession | undefined> {
  const { services, remoteAddress } = request;
  for (const token of bearers) {
    const verified = await verifyExternalToken(services, token);
    const policy = verified && policyForToken(services, verified);
    if (!verified?.identity || !policy || isDisabled(verified.identity, services.clock.now())) continue;
    const { identity } = verified;
    const id = sessionIdOf(token);
    const session = sessionFromExternalToken(token, {
      identity,
      policy,
      remoteAddress,
      isMfaRequired: owesTotp(services, identity, policy),
      isMfaComplete: services.posture.stateOf(identity.id, id).passedMfaAt !== undefined,
      now: services.clock.now(),
    });
    return { ...(await withSecondToken(request, session, identity)), identity };
  }
  return undefined;
}

/**
 * The token of another issuer that the auth policy wants beside the session is shown with every request.
 *
 * @returns the session without the debt, or with a challenge for the token
 */
export async function withSecondToken(
  {
    services,
    headers,
  }: Pick<AuthRequest<Pick<AuthServices, 'state' | 'clock' | 'jwks' | 'log'>>, 'services' | 'headers'>,
  session: ApiSession,
  identity: Identity,
): Promise<SessionAndChallenge> {
  const { requiredSignerId } = session;
  if (requiredSignerId === null) return { session };
  const verdicts = await Promise.all(bearerTokens({ headers }).map((bearer) => judgeExternalToken(services, bearer)));
  const verdict = verdicts.find((each) => each?.signer.id === requiredSignerId);
  if (verdict?.verified?.identity?.id === identity.id) return { session: { ...session, requiredSignerId: null } };
  const signer = services.state.tables.externalJwtSigner.get(requiredSignerId);
  const problem: TokenProblem = verdict ? (verdict.problem ?? 'invalid') : 'missing';
  return { session, challenge: challenge('secondary', problem, signer ? [signer] : []) };
}

// Finds the session of a request: by an API session token, or a signed token of the OIDC API or another issuer.

import { isDisabled } from '../entities/identity.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { Identity } from '../state/kinds/identity.ts';
import { challenge, type TokenProblem } from './challenges.ts';
import { holdsCertificate } from './proof-of-possession.ts';
import type { AuthRequest, AuthServices } from './request.ts';
import { owesTotp } from './second-factor/second-factor.ts';
import { bearerTokens } from './tokens/bearer-tokens.ts';
import { judgeExternalToken, policyForToken, verifyExternalToken } from './tokens/external-jwt.ts';
import { sessionFromClaims, sessionFromExternalToken, sessionIdOf } from './tokens/token-session.ts';

export type SessionComponents = Pick<
  AuthServices,
  | 'state'
  | 'activity'
  | 'unstored'
  | 'tokens'
  | 'revocations'
  | 'jwks'
  | 'posture'
  | 'clock'
  | 'sessionLifetime'
  | 'log'
>;

type Asking = Pick<AuthRequest<SessionComponents>, 'services' | 'headers' | 'remoteAddress' | 'certificates'>;

interface SessionAndChallenge {
  readonly session: ApiSession;
  /** Names the token that the session still lacks. */
  readonly challenge?: string;
}

export interface FoundSession extends SessionAndChallenge {
  readonly identity: Identity;
  /**
   * Whether the session was deleted or revoked, or lost its signer, since it was found. Ignores how long it is unused
   * and when its token expires.
   */
  readonly hasEnded: () => boolean;
}

/** Undefined without a valid session. */
export async function sessionOf(request: Asking): Promise<FoundSession | undefined> {
  const { state, activity, clock, sessionLifetime, unstored } = request.services;
  const token = request.headers['zt-session'];
  if (typeof token !== 'string' || token === '') return sessionOfToken(request);
  const session = state.tables.apiSession.findBy('token', token) ?? unstored.find(token);
  const identity = session && state.tables.identity.get(session.identityId);
  if (!session || !identity || isDisabled(identity, clock.now())) return undefined;
  if (clock.now() - activity.lastOf(session) > sessionLifetime) return undefined;
  return found(request, session, () => !state.tables.apiSession.has(session.id) && !unstored.find(token));
}

/**
 * The key of a second token may take seconds. Meanwhile the session may end, and its identity change: returns undefined
 * if the session ended, or if its identity was disabled or deleted.
 */
async function found(request: Asking, session: ApiSession, hasEnded: () => boolean): Promise<FoundSession | undefined> {
  const { state, clock } = request.services;
  const known = state.tables.identity.get(session.identityId);
  const withToken = known && (await withSecondToken(request, session, known));
  const identity = state.tables.identity.get(session.identityId);
  if (!withToken || !identity || isDisabled(identity, clock.now()) || hasEnded()) return undefined;
  return { ...withToken, identity, hasEnded };
}

async function sessionOfToken(request: Asking): Promise<FoundSession | undefined> {
  const bearers = bearerTokens(request);
  return (await sessionOfOwnToken(request, bearers)) ?? sessionOfOtherToken(request, bearers);
}

/** For an OIDC access token: its claims describe the session, which ends with the token's revocation. */
async function sessionOfOwnToken(request: Asking, bearers: readonly string[]): Promise<FoundSession | undefined> {
  const { state, clock, tokens, revocations } = request.services;
  for (const token of bearers) {
    const claims = await tokens.verifyAccess(token);
    const identity = claims && state.tables.identity.get(claims.sub);
    if (!identity || isDisabled(identity, clock.now()) || revocations.isRevoked(claims)) continue;
    if (!holdsCertificate(request, claims)) continue;
    const policy = state.tables.authPolicy.get(identity.authPolicyId);
    return found(request, sessionFromClaims(token, claims, policy), () => revocations.isRevoked(claims));
  }
  return undefined;
}

/** For a token of another issuer, which is valid for a login but is used directly. Second factors remain required. */
async function sessionOfOtherToken(request: Asking, bearers: readonly string[]): Promise<FoundSession | undefined> {
  const { services, remoteAddress } = request;
  for (const token of bearers) {
    const verified = await verifyExternalToken(services, token);
    const policy = verified && policyForToken(services, verified);
    if (!verified?.identity || !policy || isDisabled(verified.identity, services.clock.now())) continue;
    const { identity, signer } = verified;
    const hasEnded = () => !services.state.tables.externalJwtSigner.get(signer.id)?.enabled;
    const id = sessionIdOf(token);
    const session = sessionFromExternalToken(token, {
      identity,
      policy,
      remoteAddress,
      isMfaRequired: owesTotp(services, identity, policy),
      isMfaComplete: services.posture.stateOf(identity.id, id).passedMfaAt !== undefined,
      now: services.clock.now(),
    });
    return found(request, session, hasEnded);
  }
  return undefined;
}

/**
 * If the auth policy requires a second token of another issuer, clients send it with every request.
 *
 * @returns the session without this requirement, or with a challenge for the token
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

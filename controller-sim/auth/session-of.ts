// Whose session a request shows: by the token of an API session, or by a signed token in its place, of the OIDC API or of another issuer.

import { isDisabled } from '../entities/identity.ts';
import { owesTotp } from '../mfa/enrollment.ts';
import type { ApiRequest } from '../request/context.ts';
import type { ApiSession, Identity } from '../state/types.ts';
import { policyForToken, verifyExternalToken } from './external-jwt.ts';
import { sessionFromClaims, sessionFromExternalToken, sessionIdOf } from './token-session.ts';

type Asking = Pick<ApiRequest, 'services' | 'headers' | 'remoteAddress'>;

export interface FoundSession {
  readonly session: ApiSession;
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
  return { session: await withSecondToken(request, session, identity), identity };
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
    return { session: sessionFromClaims(token, claims), identity };
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
    return { session: await withSecondToken(request, session, identity), identity };
  }
  return undefined;
}

/** The token of another issuer that the auth policy wants beside the session is shown with every request. */
async function withSecondToken(request: Asking, session: ApiSession, identity: Identity): Promise<ApiSession> {
  if (session.requiredSignerId === null) return session;
  const bearers = bearerTokens(request);
  const verified = await Promise.all(bearers.map((bearer) => verifyExternalToken(request.services, bearer)));
  const isShown = verified.some(
    (each) => each?.signer.id === session.requiredSignerId && each.identity?.id === identity.id,
  );
  return isShown ? { ...session, requiredSignerId: null } : session;
}

/** Those of the Authorization header, which may hold several. */
export function bearerTokens({ headers }: Pick<ApiRequest, 'headers'>): string[] {
  const { authorization } = headers;
  const values = Array.isArray(authorization) ? authorization : [authorization ?? ''];
  return values
    .flatMap((value) => value.split(','))
    .flatMap((value) => /^\s*Bearer\s+(\S+)\s*$/i.exec(value)?.[1] ?? []);
}

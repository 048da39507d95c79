// Signs the tokens of a session: access, refresh and ID tokens (RFC 6749, OpenID Connect Core).

import { realTime } from '#lib/time/advancing-clock.ts';
import { birthClaims } from '../../auth/birth.ts';
import { type ApiSessionFacts, apiSessionEvent } from '../../events/api-session.ts';
import { type AccessClaims, TokenKind } from '../../pki/tokens.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { ApiServices } from '../operations/context.ts';
import { issuerOf, type OidcAnswer, type OidcRequest } from './context.ts';

/** Seconds. */
export const ACCESS_LIFETIME = 1_800;
export const REFRESH_LIFETIME = 86_400;

type Signing = Pick<ApiServices, 'state' | 'tokens' | 'clock' | 'baseUrl'>;

/** Claims that all tokens of a session share. */
export interface SessionClaims
  extends Pick<AccessClaims, 'sub' | 'auth_time' | 'client_id' | 'amr' | 'scope' | 'z_asid' | 'z_cfs'> {
  readonly aud?: string | string[];
  readonly [claim: string]: unknown;
}

export async function tokens(
  { services }: OidcRequest<'baseUrl' | 'state' | 'tokens' | 'clock'>,
  claims: SessionClaims,
  options: { nonce?: string | undefined; sessionCert?: string | undefined; isRefreshed?: boolean },
): Promise<OidcAnswer> {
  const { nonce, sessionCert, isRefreshed = false } = options;
  const hasRefresh = isRefreshed || claims.scope.split(' ').includes('offline_access');
  const [access_token, refresh_token, id_token] = await Promise.all([
    sign(services, claims, TokenKind.Access, ACCESS_LIFETIME),
    hasRefresh ? sign(services, claims, TokenKind.Refresh, REFRESH_LIFETIME) : undefined,
    signId(services, claims, nonce),
  ]);
  return ok({
    access_token,
    token_type: 'Bearer',
    ...(refresh_token !== undefined && { refresh_token }),
    expires_in: ACCESS_LIFETIME - 1,
    id_token,
    scope: claims.scope,
    ...(sessionCert !== undefined && { session_cert: sessionCert }),
  });
}

export function ok(body: Readonly<Record<string, unknown>>): OidcAnswer {
  return { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body };
}

export function publishSession(
  { services, remoteAddress: ipAddress }: OidcRequest<'events' | 'controllerId' | 'clock'>,
  { z_asid: id, sub: identityId }: SessionClaims,
  what: ApiSessionFacts['what'],
): void {
  services.events.emit(apiSessionEvent(services, { what, type: 'jwt', id, identityId, ipAddress }));
}

/** Claims that a later token copies from an earlier one. The current state of the identity wins. */
export function sessionClaims(claims: AccessClaims, identity: Identity): SessionClaims {
  const { iss: _iss, exp: _exp, iat: _iat, nbf: _nbf, jti: _jti, z_t: _kind, ...session } = claims;
  return { ...session, z_ia: identity.isAdmin, z_eid: identity.externalId ?? '' };
}

export function sign(services: Signing, claims: SessionClaims, kind: string, lifetime: number): Promise<string> {
  const { clock } = services;
  const now = Math.floor(clock.now() / 1000);
  return services.tokens.oidc({
    ...claims,
    ...birthClaims(services.state),
    iss: issuerOf(services),
    iat: now,
    // Routers compare it with the real time, which is earlier if a test has advanced the clock.
    nbf: Math.min(now, Math.floor(realTime(clock) / 1000)),
    exp: now + lifetime,
    jti: services.state.ids.uuid(),
    z_t: kind,
  });
}

export function signId(services: Signing, claims: SessionClaims, nonce: string | undefined): Promise<string> {
  const { sub, aud, auth_time, amr, client_id, z_asid, z_eid, z_ia } = claims;
  const now = Math.floor(services.clock.now() / 1000);
  return services.tokens.oidc({
    iss: issuerOf(services),
    sub,
    aud: aud ?? client_id,
    azp: client_id,
    client_id,
    iat: now,
    exp: now + ACCESS_LIFETIME,
    jti: services.state.ids.uuid(),
    auth_time,
    amr,
    z_asid,
    // SDKs read the name of their identity from this claim.
    name: services.state.tables.identity.get(sub)?.name ?? '',
    ...(z_eid !== '' && { z_eid }),
    z_ia,
    ...(nonce !== undefined && { nonce }),
  });
}

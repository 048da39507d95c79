// Issues tokens for codes, refresh tokens and other tokens (RFC 6749, sections 4.1.3 and 6; RFC 8693), and revokes
// them.

import { createHash, timingSafeEqual } from 'node:crypto';
import { realTime } from '#lib/advancing-clock.ts';
import { ownValue } from '#lib/own-value.ts';
import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import { isStillProven } from '../../auth/authenticate.ts';
import { bearerTokens } from '../../auth/bearer-tokens.ts';
import { birthClaims } from '../../auth/birth.ts';
import type { Proven } from '../../auth/login-attempt.ts';
import { holdsCertificate } from '../../auth/proof-of-possession.ts';
import { isDisabled } from '../../entities/identity.ts';
import { ApiError } from '../../errors/errors.ts';
import { type ApiSessionFacts, apiSessionEvent } from '../../events/api-session.ts';
import { readCsr } from '../../pki/csr.ts';
import { type AccessClaims, TokenKind } from '../../pki/tokens.ts';
import type { Identity } from '../../state/types.ts';
import type { ApiServices } from '../http/context.ts';
import { type AuthRequest, isComplete } from './auth-requests.ts';
import { CLIENTS, isAllowed, withParameters } from './authorize.ts';
import { BASE, issuerOf, OAuthError, type OidcAnswer, type OidcRequest, redirect, text } from './context.ts';

/** Seconds. */
const ACCESS_LIFETIME = 1_800;
const REFRESH_LIFETIME = 86_400;
const TYPE = 'urn:ietf:params:oauth:token-type:';
const EXCHANGED: ReadonlySet<string> = new Set(
  ['access_token', 'refresh_token', 'id_token'].map((type) => TYPE + type),
);
const GRANTS: Readonly<Record<string, (request: OidcRequest) => Promise<OidcAnswer>>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  'urn:ietf:params:oauth:grant-type:token-exchange': byExchange,
};

/** Claims that all tokens of a session share. */
interface SessionClaims
  extends Pick<AccessClaims, 'sub' | 'auth_time' | 'client_id' | 'amr' | 'scope' | 'z_asid' | 'z_cfs'> {
  readonly aud?: string | string[];
  readonly [claim: string]: unknown;
}

export async function token(request: OidcRequest): Promise<OidcAnswer> {
  const grant = ownValue(GRANTS, required(request, 'grant_type'));
  if (!grant) throw new OAuthError('unsupported_grant_type', 'the grant_type is not supported');
  const clientId = clientIdOf(request);
  if (clientId === '') throw missing('client_id');
  if (!CLIENTS.has(clientId)) throw new OAuthError('invalid_client', 'the client is unknown');
  return grant(request);
}

/** The text of a parameter. Throws OAuthError if it is missing. */
function required(request: OidcRequest, name: string): string {
  const value = text(request, name);
  if (value === '') throw missing(name);
  return value;
}

function missing(name: string): OAuthError {
  return new OAuthError('invalid_request', `${name} is missing`);
}

/**
 * Clients send their id in the body. SDKs that exchange a token send it as the user of basic authorization (RFC 6749,
 * section 2.3.1). All clients are public, so no secret is required.
 */
function clientIdOf(request: OidcRequest): string {
  const inBody = text(request, 'client_id');
  const [, credentials] = /^basic +([\w+/=-]+)$/i.exec(String(request.headers.authorization ?? '')) ?? [];
  if (inBody !== '' || credentials === undefined) return inBody;
  const [user = ''] = Buffer.from(credentials, 'base64').toString().split(':', 1);
  return new URLSearchParams(`user=${user}`).get('user') ?? '';
}

/** Uses the code after all checks (reference fact: it deletes the login with the answer). */
async function byCode(request: OidcRequest): Promise<OidcAnswer> {
  const code = required(request, 'code');
  const redirectUri = required(request, 'redirect_uri');
  const found = request.requests.peek(code);
  if (!found?.proven || !isComplete(found)) throw new OAuthError('invalid_grant', 'invalid code');
  if (found.clientId !== clientIdOf(request) || found.redirectUri !== redirectUri)
    throw new OAuthError('invalid_grant', 'the code was given to another client');
  if (!isChallenge(found.codeChallenge, text(request, 'code_verifier')))
    throw new OAuthError('invalid_grant', 'invalid code_verifier');
  const { proven } = found;
  const identity = demandIdentity(request.services, proven.identity.id);
  const bound = await bind(request.services, identity, found.apiSessionId, found.csrPem, found.fingerprints);
  demandLogin(request.services, found, proven);
  if (!request.requests.consume(code)) throw new OAuthError('invalid_grant', 'invalid code');
  const claims: SessionClaims = { ...claimsOf(found, identity), z_cfs: bound.fingerprints };
  publishSession(request, claims, 'created');
  if (found.amr.has('totp')) request.services.posture.passedMfaAt(identity.id, found.apiSessionId, found.authTime);
  return tokens(request, claims, { nonce: found.nonce, sessionCert: bound.certificate });
}

/**
 * A login may take minutes: meanwhile its proof may be replaced, or the sessions of its identity be revoked. Another
 * user may log in with the same request.
 */
function demandLogin({ state, clock, revocations }: ApiServices, found: AuthRequest, proven: Proven): void {
  const login = {
    jti: '',
    z_asid: found.apiSessionId,
    z_authid: proven.authenticator?.id ?? '',
    sub: proven.identity.id,
    iat: found.authTime / 1000,
  };
  if (found.proven !== proven || !isStillProven(state.tables, proven, clock.now()) || revocations.isRevoked(login))
    throw new OAuthError('invalid_grant', 'the login was revoked');
}

/**
 * Uses the refresh token after all checks, and answers with the next one. A client may repeat that for a short time, and
 * may reduce the scope.
 */
async function byRefreshToken(request: OidcRequest): Promise<OidcAnswer> {
  const { services } = request;
  const old = await verified(services, required(request, 'refresh_token'), TokenKind.Refresh);
  if (!old) throw new OAuthError('invalid_grant', 'failed to parse refresh token');
  if (old.client_id !== clientIdOf(request)) throw new OAuthError('invalid_grant', 'client_id does not match');
  demandCertificate(request, old);
  const wanted = text(request, 'scope').split(' ').filter(Boolean);
  if (!wanted.every((each) => old.scope.split(' ').includes(each)))
    throw new OAuthError('invalid_scope', 'the scope exceeds that of the token');
  const revoked = 'refresh token revoked';
  const identity = demandSession(services, old, revoked);
  const scope = wanted.length > 0 && { scope: wanted.join(' '), scopes: wanted };
  const session = { ...sessionClaims(old, identity), ...scope };
  const bound = await rebind(request, identity, old);
  if (!(await services.revocations.use(old.jti))) throw new OAuthError('invalid_grant', revoked);
  demandSession(services, old, revoked); // it may have ended meanwhile
  publishSession(request, session, 'refreshed');
  const claims = { ...session, z_cfs: bound.fingerprints };
  return tokens(request, claims, { sessionCert: bound.certificate, isRefreshed: true });
}

async function byExchange(request: OidcRequest): Promise<OidcAnswer> {
  const { services } = request;
  const subjectType = text(request, 'subject_token_type');
  const kind = subjectType === `${TYPE}refresh_token` ? TokenKind.Refresh : TokenKind.Access;
  if (subjectType !== `${TYPE}access_token` && subjectType !== `${TYPE}refresh_token`)
    throw new OAuthError('invalid_request', 'the subject_token_type is not supported');
  const subject = await verified(services, required(request, 'subject_token'), kind);
  const invalid = 'the subject_token is not valid';
  if (!subject) throw new OAuthError('invalid_grant', invalid);
  const identity = demandSession(services, subject, invalid);
  demandCertificate(request, subject);
  const wanted = text(request, 'requested_token_type') || `${TYPE}refresh_token`; // reference fact: this default
  if (!EXCHANGED.has(wanted)) throw new OAuthError('invalid_request', 'the requested_token_type is not supported');
  const bound = await rebind(request, identity, subject);
  demandSession(services, subject, invalid); // it may have ended meanwhile
  const claims = { ...sessionClaims(subject, identity), z_cfs: bound.fingerprints };
  publishSession(request, claims, 'exchanged');
  const sessionCert = bound.certificate && { session_cert: bound.certificate };
  const common = { issued_token_type: wanted, token_type: 'Bearer', ...sessionCert };
  switch (wanted) {
    case `${TYPE}access_token`: {
      const access_token = await sign(services, claims, TokenKind.Access, ACCESS_LIFETIME);
      return ok({ access_token, ...common, expires_in: ACCESS_LIFETIME - 1 });
    }
    case `${TYPE}refresh_token`: {
      const refresh = await sign(services, claims, TokenKind.Refresh, REFRESH_LIFETIME);
      const access_token = await sign(services, claims, TokenKind.Access, ACCESS_LIFETIME);
      return ok({ access_token, refresh_token: refresh, ...common, expires_in: ACCESS_LIFETIME - 1 });
    }
    default: {
      const access_token = await signId(services, claims, undefined);
      return ok({ access_token, ...common, token_type: 'N_A', expires_in: ACCESS_LIFETIME - 1 });
    }
  }
}

/**
 * Revokes a token. Unknown and invalid tokens are ignored silently (RFC 7009, section 2.2), and so are tokens of the
 * other APIs: anyone can request new ones of the network, and each would be stored and sent to every router.
 */
export async function revoke(request: OidcRequest): Promise<OidcAnswer> {
  const { services } = request;
  const claims = await services.tokens.verify(required(request, 'token'));
  if (claims?.jti !== undefined && services.tokens.isOidcIssuer(claims.iss))
    await services.revocations.revoke(claims.jti, 'JTI');
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '' };
}

/** All clients are public, so none can prove that it may inspect tokens. */
export function introspect(): OidcAnswer {
  throw new OAuthError('invalid_client', 'client must be authenticated');
}

/** Scopes about a person are not stored, so there is nothing to return. */
export async function userInfo(request: OidcRequest): Promise<OidcAnswer> {
  const { tokens: signed, revocations } = request.services;
  for (const bearer of bearerTokens(request)) {
    const claims = await signed.verifyAccess(bearer);
    if (claims && !revocations.isRevoked(claims)) return ok({});
  }
  throw new OAuthError('access_denied', 'access token invalid', 401);
}

/** Ends the session of an ID token, even of an expired one. Throws OAuthError for a token that is not one. */
export async function endSession(request: OidcRequest): Promise<OidcAnswer> {
  const { services, query } = request;
  const parameter = (name: string) => text(request, name) || (query.get(name) ?? '');
  const hint = parameter('id_token_hint');
  const claims = await services.tokens.verify(hint, { ignoreExpiry: true });
  if (hint !== '' && !claims) throw new OAuthError('invalid_request', 'the id_token_hint is not valid');
  if (claims && typeof claims.z_asid === 'string') await services.revocations.revoke(claims.z_asid, 'API_SESSION');
  const target = parameter('post_logout_redirect_uri');
  if (target === '') return redirect(`${BASE}/logged-out`);
  if (!isAllowed(request, target))
    throw new OAuthError('invalid_request', 'the post_logout_redirect_uri is not allowed');
  return redirect(withParameters(target, { state: parameter('state') || undefined }));
}

async function tokens(
  { services }: OidcRequest,
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

function ok(body: Readonly<Record<string, unknown>>): OidcAnswer {
  return { status: 200, headers: { 'cache-control': 'no-store', pragma: 'no-cache' }, body };
}

function claimsOf(found: AuthRequest, identity: Identity): SessionClaims {
  const { proven, apiSessionId, clientId, scope, amr, configTypes, fingerprints, remoteAddress } = found;
  const isByCert = amr.has('cert');
  return {
    sub: identity.id,
    aud: [clientId],
    auth_time: Math.floor(found.authTime / 1000),
    client_id: clientId,
    amr: [...amr],
    scope,
    scopes: scope.split(' '),
    z_asid: apiSessionId,
    z_eid: identity.externalId ?? '',
    z_ia: identity.isAdmin,
    z_ct: configTypes,
    z_aid: clientId,
    z_cfs: fingerprints,
    ...(isByCert && fingerprints[0] !== undefined && { z_acf: fingerprints[0] }),
    z_sdk: found.sdkInfo ?? null,
    z_env: found.envInfo ?? null,
    z_ra: remoteAddress,
    z_ice: proven?.isCertExtendable ?? false,
    ...(isByCert && { z_cae: proven?.policy.primary.cert.allowExpiredCerts ?? false }),
    z_authid: proven?.authenticator?.id ?? '',
    z_cer: proven?.authenticator?.isExtendRequested ?? false,
    z_ckrr: proven?.authenticator?.isKeyRollRequested ?? false,
    z_iccc: proven?.improperClientCertChain ?? false,
  };
}

function publishSession(
  { services, remoteAddress: ipAddress }: OidcRequest,
  { z_asid: id, sub: identityId }: SessionClaims,
  what: ApiSessionFacts['what'],
): void {
  services.events.emit(apiSessionEvent(services, { what, type: 'jwt', id, identityId, ipAddress }));
}

/** Claims that a later token copies from an earlier one. The current state of the identity wins. */
function sessionClaims(claims: AccessClaims, identity: Identity): SessionClaims {
  const { iss: _iss, exp: _exp, iat: _iat, nbf: _nbf, jti: _jti, z_t: _kind, ...session } = claims;
  return { ...session, z_ia: identity.isAdmin, z_eid: identity.externalId ?? '' };
}

function sign(services: ApiServices, claims: SessionClaims, kind: string, lifetime: number): Promise<string> {
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

function signId(services: ApiServices, claims: SessionClaims, nonce: string | undefined): Promise<string> {
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

async function verified(services: ApiServices, given: string, kind: string): Promise<AccessClaims | undefined> {
  const claims = await services.tokens.verify(given);
  return claims?.z_t === kind && services.tokens.isOidcIssuer(claims.iss) ? (claims as AccessClaims) : undefined;
}

/** The active identity of a session that was not revoked; `why` is the error if it was. */
function demandSession(services: ApiServices, claims: AccessClaims, why: string): Identity {
  if (services.revocations.isRevoked(claims)) throw new OAuthError('invalid_grant', why);
  return demandIdentity(services, claims.sub);
}

function demandIdentity({ state, clock }: ApiServices, id: string): Identity {
  const identity = state.tables.identity.get(id);
  if (!identity || isDisabled(identity, clock.now()))
    throw new OAuthError('invalid_grant', 'the identity is not active');
  return identity;
}

/** Issues a certificate for the time of the session if the client sent a CSR: the tokens are bound to it. */
async function bind(
  { authority, state }: ApiServices,
  { id }: Identity,
  apiSessionId: string,
  csrPem: string | undefined,
  fingerprints: readonly string[],
): Promise<{ fingerprints: readonly string[]; certificate: string | undefined }> {
  if (csrPem === undefined) return { fingerprints, certificate: undefined };
  try {
    const csr = await readCsr(csrPem);
    const certificate = authority.signIdentity(csr, id, { apiSessionId, id: state.ids.long() });
    return { fingerprints: [...fingerprints, sha1Fingerprint(leafOf(certificate))], certificate };
  } catch (error) {
    if (error instanceof ApiError) throw new OAuthError('invalid_request', `invalid CSR: ${error.message}`);
    throw error;
  }
}

/**
 * A session that is bound to certificates may replace its session certificate. A bearer session is never bound later,
 * because a thief could do it.
 */
function rebind({ body, services }: OidcRequest, identity: Identity, old: AccessClaims) {
  const csrPem = old.z_cfs.length > 0 ? text({ body }, 'csr_pem') || undefined : undefined;
  const kept = csrPem === undefined ? old.z_cfs : old.z_acf === undefined ? [] : [old.z_acf];
  return bind(services, identity, old.z_asid, csrPem, kept);
}

function demandCertificate(request: OidcRequest, claims: AccessClaims): void {
  if (!holdsCertificate(request, claims))
    throw new OAuthError('invalid_grant', 'the token is bound to a certificate that the client does not present');
}

function isChallenge(challenge: string, verifier: string): boolean {
  const given = createHash('sha256').update(verifier).digest();
  const wanted = Buffer.from(challenge, 'base64url');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

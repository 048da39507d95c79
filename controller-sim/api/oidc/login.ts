// The steps of a login: the first proof, one-time passwords, tokens of another issuer. Each answers with the missing
// proofs, or redirects to the client.

import { mediaType } from '#http/content-negotiation.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { Authenticate } from '#schemas/api/gen/bodies.ts';
import { describedBy, MAX_CONFIG_TYPES, noteClient, type ProofUse, prove, typeIds } from '../../auth/authenticate.ts';
import { abandonTotp, enrollTotp, owesTotp, ownMfa, redeemCode } from '../../auth/second-factor/second-factor.ts';
import { LOGIN, provisioningUrl } from '../../auth/second-factor/totp.ts';
import { bearerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { verifyExternalToken } from '../../auth/tokens/external-jwt.ts';
import { ApiError, invalid, LoginError } from '../../errors/errors.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Mfa } from '../../state/kinds/mfa.ts';
import { StoreWriteError } from '../../state/store/store.ts';
import { validateBody } from '../bodies/validate.ts';
import { type AuthRequest, isComplete } from './auth-requests.ts';
import { callbackUrl } from './authorize.ts';
import { type OidcAnswer, type OidcRequest, redirect, text } from './context.ts';
import { loginPage, totpPage } from './pages.ts';

const FORMS = ['application/x-www-form-urlencoded', 'application/json'];

export function showLogin({ query }: OidcRequest<never>): OidcAnswer {
  return loginPage(query.get('authRequestID') ?? '');
}

/** For methods without fields on a page. */
export function askForPost({ query }: OidcRequest<never>): OidcAnswer {
  const id = (query.get('authRequestID') ?? '').replace(/[^\w.-]/g, '');
  return {
    status: 200,
    headers: { 'auth-request-id': id, 'content-type': 'text/plain; charset=utf-8' },
    body: 'please POST to this URL',
  };
}

/** The first proof, by the method that the path names. */
export function login(method: 'password' | 'cert' | 'ext-jwt') {
  return async (request: OidcRequest<ProofUse | 'baseUrl'>): Promise<OidcAnswer> => {
    // Certificates and tokens are not sent in the body, which may be missing.
    if (method === 'password' || request.contentType !== '') requireForm(request);
    const found = foundRequest(request);
    try {
      await provePrimary(request, found, method);
    } catch (error) {
      if (!(error instanceof ApiError) || !wantsPage(request) || method !== 'password') throw error;
      const page = loginPage(found.id, error.message, error.status);
      return error instanceof LoginError ? { ...page, problem: error } : page;
    }
    return next(request, found);
  };
}

async function provePrimary(request: OidcRequest<ProofUse>, found: AuthRequest, method: string): Promise<void> {
  const { services, certificates } = request;
  const proven = await prove(request, method);
  if (found.proven?.identity.id !== proven.identity.id) forget(found);
  found.proven = proven;
  found.amr.add(method);
  found.authTime = services.clock.now();
  found.needsTotp = owesTotp(services, proven.identity, proven.policy);
  const { requireExtJwtSigner } = proven.policy.secondary;
  found.requiredSigner =
    requireExtJwtSigner === null ? undefined : services.state.tables.externalJwtSigner.get(requireExtJwtSigner);
  if (method === 'cert') found.fingerprints = certificates.slice(0, 1).map(sha1Fingerprint);
  const facts = clientFacts(request.body);
  await validateBody('authenticate', facts);
  const types = new Set([...found.configTypes, ...typeIds(request, facts.configTypes ?? [])]);
  if (types.size > MAX_CONFIG_TYPES)
    throw invalid('configTypes', `a login names at most ${MAX_CONFIG_TYPES} config types`, types.size);
  found.configTypes = [...types];
  found.envInfo = facts.envInfo;
  found.sdkInfo = facts.sdkInfo;
  found.csrPem = text(request, 'csrPem') || undefined;
  request.requests.changed(found);
  await proveSecondToken(request, found);
  // Clients describe themselves with each login: one that says nothing new does not wait for the store.
  const { state } = services;
  if (describedBy(state.tables.identity.get(proven.identity.id), facts))
    await state.change((transaction) => noteClient(transaction, proven.identity, facts)).catch(ignoreUnstored);
}

/** The login needs no change; the next one stores what the client says of itself. */
function ignoreUnstored(error: unknown): void {
  if (!(error instanceof StoreWriteError)) throw error;
}

/** Clears the facts of an earlier attempt, which may belong to another identity. */
function forget(found: AuthRequest): void {
  found.amr.clear();
  found.fingerprints = [];
}

/** The client's description of itself. */
interface ClientFacts extends Pick<Authenticate, 'configTypes'> {
  readonly envInfo: Record<string, string> | undefined;
  readonly sdkInfo: Record<string, string> | undefined;
}

/**
 * The fields of a login that describe the client. Forms have no maps, so they name them `envOs`, `sdkType`. Other
 * fields are dropped. The config types are to be validated.
 */
function clientFacts(body: Readonly<Record<string, unknown>>): ClientFacts {
  const named = (prefix: string) =>
    Object.fromEntries(
      Object.entries(body).flatMap(([key, value]) =>
        key.startsWith(prefix) && typeof value === 'string' && /^[A-Z]/.test(key.slice(prefix.length))
          ? [[`${key.charAt(prefix.length).toLowerCase()}${key.slice(prefix.length + 1)}`, value]]
          : [],
      ),
    );
  const { envInfo = named('env'), sdkInfo = named('sdk'), configTypes } = body;
  return {
    envInfo: textsOf(envInfo),
    sdkInfo: textsOf(sdkInfo),
    configTypes: configTypes === undefined ? undefined : ([configTypes].flat() as string[]),
  };
}

/** The texts of a map, undefined if it has none. Other values are dropped. */
function textsOf(map: unknown): Record<string, string> | undefined {
  const texts = Object.entries(map ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return texts.length === 0 || typeof map === 'string' ? undefined : Object.fromEntries(texts);
}

async function proveSecondToken(
  request: OidcRequest<'state' | 'jwks' | 'clock' | 'log'>,
  found: AuthRequest,
): Promise<void> {
  if (!found.requiredSigner) return;
  for (const bearer of bearerTokens(request)) {
    const verified = await verifyExternalToken(request.services, bearer);
    if (verified?.signer.id === found.requiredSigner.id && verified.identity?.id === found.proven?.identity.id)
      found.amr.add(`ejs:${found.requiredSigner.id}`);
  }
}

export async function checkTotp(
  request: OidcRequest<'baseUrl' | 'state' | 'codeGuesses' | 'clock'>,
): Promise<OidcAnswer> {
  requireForm(request);
  const found = foundRequest(request);
  const mfa = mfaOf(request, found);
  if (!mfa?.isVerified || !(await redeemCode(request.services, mfa, text(request, 'code').trim(), { by: LOGIN }))) {
    if (wantsPage(request)) return totpPage(found.id, 'an invalid one-time password was supplied', 400);
    return { status: 400, body: { code: 'INVALID TOTP CODE', message: 'an invalid TOTP code was supplied' } };
  }
  return passedTotp(request, found, mfa);
}

export async function startTotpEnrollment(request: OidcRequest<'state' | 'random'>): Promise<OidcAnswer> {
  requireForm(request);
  const found = foundRequest(request);
  const identity = requireIdentity(found);
  const mfa = await enrollTotp(request.services, identity);
  const { id, createdAt, updatedAt, recoveryCodes } = mfa;
  return {
    status: 201,
    body: {
      _links: null,
      id,
      createdAt,
      updatedAt,
      isVerified: false,
      provisioningUrl: provisioningUrl(mfa, identity.name),
      recoveryCodes,
    },
  };
}

export async function verifyTotpEnrollment(
  request: OidcRequest<'baseUrl' | 'state' | 'codeGuesses' | 'clock'>,
): Promise<OidcAnswer> {
  requireForm(request);
  const found = foundRequest(request);
  const mfa = mfaOf(request, found);
  if (!mfa) throw new ApiError('MFA_ENROLLMENT_NOT_STARTED');
  const isRight = await redeemCode(request.services, mfa, text(request, 'code').trim(), {
    passwordOnly: true,
    act: (transaction) => transaction.patch('mfa', mfa.id, { isVerified: true }),
    // Verifying again completes the login.
    ...(mfa.isVerified && { by: LOGIN }),
  });
  if (!isRight) throw new ApiError('MFA_INVALID_TOKEN');
  return passedTotp(request, found, mfa);
}

export async function deleteTotpEnrollment(
  request: OidcRequest<'state' | 'codeGuesses' | 'clock'>,
): Promise<OidcAnswer> {
  requireForm(request);
  const found = foundRequest(request);
  const mfa = mfaOf(request, found);
  if (!mfa) throw new ApiError('NOT_FOUND');
  const isDeleted = mfa.isVerified
    ? await redeemCode(request.services, mfa, text(request, 'code').trim(), {
        act: (transaction) => transaction.delete('mfa', mfa.id),
      })
    : await abandonTotp(request.services, mfa);
  if (!isDeleted) throw new ApiError('MFA_INVALID_TOKEN');
  return { status: 200, body: {} };
}

export function listAuthQueries({ query, requests, services }: OidcRequest<'state'>): OidcAnswer {
  const found = requests.get(query.get('id') ?? '');
  if (!found) throw new LoginError('the login is unknown or has expired; begin again with GET /oidc/authorize');
  return showQueries(found, services.state.tables.mfa.referring('identityId', found.proven?.identity.id ?? '')[0]);
}

/** Redirects to the client, or answers with the missing proofs. */
function next(request: OidcRequest<'baseUrl' | 'state'>, found: AuthRequest): OidcAnswer {
  if (isComplete(found)) return redirect(callbackUrl(request, found));
  return wantsPage(request) ? totpPage(found.id) : showQueries(found, mfaOf(request, found));
}

/** Another login may have replaced the identity in the meantime. */
function passedTotp(request: OidcRequest<'baseUrl' | 'state'>, found: AuthRequest, { identityId }: Mfa): OidcAnswer {
  if (found.proven?.identity.id !== identityId) throw new ApiError('UNAUTHORIZED');
  found.amr.add('totp');
  return next(request, found);
}

/** reference fact: the format of the recorded logins. */
function showQueries({ needsTotp, requiredSigner, amr }: AuthRequest, mfa: Mfa | undefined): OidcAnswer {
  const owesTotp = needsTotp && !amr.has('totp');
  const totp = {
    typeId: 'TOTP',
    provider: 'ziti',
    httpMethod: 'POST',
    httpUrl: './oidc/login/totp',
    minLength: 6,
    maxLength: 8,
    format: 'numeric',
    scopes: null,
    ...(mfa?.isVerified && { isTotpEnrolled: true }),
  };
  const { id, scopes, clientId, externalAuthUrl } = requiredSigner ?? {};
  const external = { typeId: 'EXT-JWT', provider: 'url', id, scopes, clientId, httpUrl: externalAuthUrl };
  const owesToken = requiredSigner !== undefined && !amr.has(`ejs:${id}`);
  return {
    status: 200,
    headers: owesTotp ? { 'totp-required': 'true' } : {},
    body: { authQueries: [...(owesTotp ? [totp] : []), ...(owesToken ? [external] : [])] },
  };
}

function foundRequest(request: OidcRequest<never>): AuthRequest {
  const given = (name: string) => text(request, name) || (request.query.get(name) ?? '');
  const found = request.requests.get(given('id') || given('authRequestID'));
  if (!found) throw new ApiError('UNAUTHORIZED');
  return found;
}

function requireIdentity({ proven }: AuthRequest): Identity {
  if (!proven) throw new ApiError('UNAUTHORIZED');
  return proven.identity;
}

function mfaOf({ services }: OidcRequest<'state'>, found: AuthRequest): Mfa | undefined {
  return ownMfa(services, requireIdentity(found));
}

function requireForm({ contentType }: OidcRequest<never>): void {
  const type = contentType.split(';')[0]?.trim() ?? '';
  if (FORMS.includes(type)) return;
  const message = `the content type: ${type}, is not supported (supported: ${FORMS.join(', ')})`;
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', { code: 'UNHANDLED', message });
}

/** Browsers prefer HTML in their `accept` header. */
function wantsPage({ headers }: OidcRequest<never>): boolean {
  return mediaType(headers.accept, ['application/json', 'text/html']) === 'text/html';
}

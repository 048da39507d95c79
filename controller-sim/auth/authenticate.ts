// Logins by password, by certificate and by the token of another issuer. Every failed login gets the same answer and
// takes the same time.

import { ownValue } from '#lib/json/own-value.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { Authenticate } from '#schemas/api/gen/bodies.ts';
import { baseFields } from '../entities/common.ts';
import { isDisabled } from '../entities/identity.ts';
import { configTypeIds } from '../entities/service-configs.ts';
import { ApiError, invalid, LoginError } from '../errors/errors.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { Identity } from '../state/kinds/identity.ts';
import { StoreWriteError } from '../state/store/store.ts';
import type { Tables } from '../state/tables.ts';
import { Transaction } from '../state/transaction.ts';
import { newSessionToken } from './birth.ts';
import { challenge } from './challenges.ts';
import { requireCurrent } from './current-data.ts';
import { disabledProblem, type Judged, judgeCertificate, judgePassword } from './judge-login.ts';
import type { Proven } from './login-attempt.ts';
import { isAdmin } from './permissions.ts';
import type { AuthRequest, AuthServices } from './request.ts';
import { owesTotp } from './second-factor/second-factor.ts';
import { bearerTokens } from './tokens/bearer-tokens.ts';
import { judgeExternalToken, policyForToken } from './tokens/external-jwt.ts';

/** specification: envInfo and sdkInfo. */
const ENV_FIELDS = ['arch', 'domain', 'hostname', 'os', 'osRelease', 'osVersion'] as const;
const SDK_FIELDS = ['appId', 'appVersion', 'branch', 'revision', 'type', 'version'] as const;
/** A client's description of itself at a login. */
type ClientFacts = Pick<Authenticate, 'envInfo' | 'sdkInfo'>;

/** The components that prove an identity, and those that a login uses. */
export type ProofUse = 'state' | 'authority' | 'clock' | 'lockouts' | 'passwords' | 'jwks' | 'log' | 'logins';
export type LoginUse = ProofUse | 'unstored';
type Proving = AuthRequest<Pick<AuthServices, ProofUse>>;

/** Limit on config types of a session. */
export const MAX_CONFIG_TYPES = 100;

const METHODS: Readonly<Record<string, (request: Proving) => Promise<Proven> | Proven>> = {
  password: byPassword,
  cert: byCertificate,
  'ext-jwt': byToken,
};

/**
 * Proves the caller's identity by a method and creates an API session. An administrator who logs in at the lab gets one
 * even if the store takes no changes. Throws ApiError.
 */
export async function authenticate(
  request: AuthRequest<Pick<AuthServices, LoginUse>, Authenticate | undefined>,
  method: string,
  { isAtLab = false }: { isAtLab?: boolean } = {},
): Promise<ApiSession> {
  const proven = await prove(request, method);
  const { state } = request.services;
  const { configTypes: names, ...client } = request.body ?? {};
  if (names && names.length > MAX_CONFIG_TYPES)
    throw invalid('configTypes', `a session names at most ${MAX_CONFIG_TYPES} config types`, names.length);
  const configTypes = typeIds(request, names ?? []);
  const newSession = (transaction: Transaction): ApiSession => ({
    ...baseFields(transaction, state.ids.cuid()),
    token: newSessionToken({ state }, transaction),
    configTypes,
    ipAddress: request.remoteAddress,
    lastActivityAt: transaction.now,
    fingerprints: request.certificates.slice(0, 1).map(sha1Fingerprint),
    ...sessionFacts(request, proven),
  });
  try {
    return await state.change((transaction) => {
      requireUnchanged(transaction, proven);
      noteClient(transaction, proven.identity, client);
      noteCertificate(transaction, proven.authenticator);
      const session = newSession(transaction);
      transaction.put('apiSession', session);
      return session;
    });
  } catch (error) {
    if (!(error instanceof StoreWriteError) || !isAtLab || !isAdmin(proven.identity)) throw error;
    const session = newSession(new Transaction(state, state.index));
    request.services.unstored.add(session);
    return session;
  }
}

/** Throws ApiError if a proof was revoked during its check: checking a password takes as long as changing it. */
function requireUnchanged({ tables, clock }: Transaction, proven: Proven): void {
  if (!isStillProven(tables, proven, clock.now()))
    throw new LoginError(`the proof of ${proven.identity.name} was changed during the login`);
}

/** Returns false if the proof of a login was revoked or replaced since. `now`: milliseconds since the epoch. */
export function isStillProven(tables: Tables, { identity, authenticator, signerId }: Proven, now: number): boolean {
  const current = tables.identity.get(identity.id);
  const proof = authenticator && tables.authenticator.get(authenticator.id);
  const isSame =
    proof?.passwordHash === authenticator?.passwordHash && proof?.fingerprint === authenticator?.fingerprint;
  const isSignerGone = signerId !== undefined && !tables.externalJwtSigner.get(signerId)?.enabled;
  return current !== undefined && !isDisabled(current, now) && isSame && !isSignerGone;
}

/** Records the first login with a certificate that leads to a trusted root. */
function noteCertificate(transaction: Transaction, authenticator: Authenticator | undefined): void {
  if (authenticator?.method !== 'cert' || authenticator.lastAuthResolvedToRoot) return;
  if (transaction.get('authenticator', authenticator.id))
    transaction.patch('authenticator', authenticator.id, { lastAuthResolvedToRoot: true });
}

/** Proves the caller's identity by one of the methods. Throws ApiError. */
export async function prove(request: Proving, method: string): Promise<Proven> {
  const { services, remoteAddress } = request;
  const check = ownValue(METHODS, method);
  if (!check) throw invalid('method', `method in query should be one of [${Object.keys(METHODS).join(' ')}]`, method);
  try {
    const proven = await check(request);
    await requireCurrent(services.state);
    const disabled = disabledProblem(proven.identity, services.clock.now());
    if (disabled !== undefined) throw new LoginError(disabled);
    services.logins.call({ method, remoteAddress, proven });
    return proven;
  } catch (error) {
    if (error instanceof ApiError) services.logins.call({ method, remoteAddress, failure: error.code });
    throw error;
  }
}

/** Facts of a session from its login: the proofs, and the proofs that it still lacks. */
export function sessionFacts({ services }: AuthRequest<Pick<AuthServices, 'state'>>, proven: Proven) {
  const { identity, policy, authenticator, isCertExtendable = false, improperClientCertChain = false } = proven;
  return {
    identityId: identity.id,
    authenticatorId: authenticator?.id ?? '',
    isMfaRequired: owesTotp(services, identity, policy),
    isMfaComplete: false,
    requiredSignerId: policy.secondary.requireExtJwtSigner,
    isCertExtendable,
    improperClientCertChain,
  };
}

/** Stores the client's description of itself with its identity, if it has changed. */
export function noteClient(transaction: Transaction, { id }: Identity, client: ClientFacts): void {
  const described = describedBy(transaction.get('identity', id), client);
  if (described) transaction.put('identity', described);
}

/** The identity with the client's description of itself; undefined if that is the known one. */
export function describedBy(identity: Identity | undefined, client: ClientFacts): Identity | undefined {
  const envInfo = client.envInfo && textsOf(client.envInfo, ENV_FIELDS);
  const sdkInfo = client.sdkInfo && textsOf(client.sdkInfo, SDK_FIELDS);
  if (!identity || (!envInfo && !sdkInfo)) return undefined;
  const given = { envInfo: envInfo ?? identity.envInfo, sdkInfo: sdkInfo ?? identity.sdkInfo };
  const known = { envInfo: identity.envInfo, sdkInfo: identity.sdkInfo };
  return JSON.stringify(given) === JSON.stringify(known) ? undefined : { ...identity, ...given };
}

/** The texts of known fields. Unknown fields are dropped. */
function textsOf<Name extends string>(
  given: { readonly [N in Name]?: string | null | undefined },
  names: readonly Name[],
): Record<string, string> {
  const texts = names.map((name) => [name, given[name]] as const);
  return Object.fromEntries(texts.filter((entry): entry is [Name, string] => typeof entry[1] === 'string'));
}

/** The fields of a validated body, or of a form of the OIDC API. */
function credentialsIn(body: unknown): { readonly username: string; readonly password: string } {
  const { username, password } = (body ?? {}) as Readonly<Partial<Record<'username' | 'password', unknown>>>;
  return {
    username: typeof username === 'string' ? username : '',
    password: typeof password === 'string' ? password : '',
  };
}

async function byPassword(request: Proving): Promise<Proven> {
  const { lockouts } = request.services;
  const { username, password } = credentialsIn(request.body);
  if (username === '' || password === '') {
    throw new ApiError('COULD_NOT_VALIDATE', {
      code: 'UNHANDLED',
      message: 'username and password fields are required',
    });
  }
  const { authenticator, valid } = await checkPassword(request, username, password);
  // Wrong passwords of a disabled identity are not counted: they would end a longer lock, or prolong it.
  const proven = provenBy(judgePassword(request.services, authenticator));
  if (!authenticator) throw new LoginError('no identity has this username');
  if (!valid) {
    await lockouts.failed(authenticator, proven.policy);
    throw new LoginError(`the password of ${proven.identity.name} is wrong`);
  }
  if (!lockouts.passed(authenticator)) throw new LoginError(`${proven.identity.name} is locked after wrong passwords`);
  return proven;
}

/** @throws LoginError */
function provenBy(judged: Judged): Proven {
  if ('problem' in judged) throw new LoginError(judged.problem);
  return judged.proven;
}

/**
 * Before a password counts as wrong, the changes of other controllers are read: it may be new, as its user may be. So
 * no other code tries this request again, which would count twice.
 */
async function checkPassword(
  request: Pick<Proving, 'services' | 'remoteAddress' | 'caughtUp'>,
  username: string,
  password: string,
): Promise<{ authenticator: Authenticator | undefined; valid: boolean }> {
  const { state, passwords } = request.services;
  const known = () => state.tables.authenticator.findBy('username', username);
  const check = async () => {
    const authenticator = known();
    const hash = authenticator?.passwordHash ?? undefined;
    return { authenticator, hash, valid: await passwords.verify(password, hash, request.remoteAddress) };
  };
  const checked = await check();
  if (checked.valid) return checked;
  request.caughtUp = await state.others?.catchUp();
  const isSame = (known()?.passwordHash ?? undefined) === checked.hash;
  return isSame ? checked : check(); // the change may have arrived during the check, too
}

function byCertificate({ services, certificates, viaRouter }: Proving): Proven {
  return provenBy(judgeCertificate(services, { certificates, viaRouter }));
}

async function byToken(request: Proving): Promise<Proven> {
  const { services } = request;
  const verdicts = await Promise.all(bearerTokens(request).map((each) => judgeExternalToken(services, each)));
  for (const token of verdicts.map((each) => each?.verified)) {
    const policy = token && policyForToken(services, token);
    if (token?.identity && policy) return { identity: token.identity, policy, signerId: token.signer.id };
  }
  const problems = verdicts.map((each) => each?.problem);
  const problem = problems.includes('expired') ? 'expired' : problems.includes('invalid') ? 'invalid' : 'missing';
  const signers = [...services.state.tables.externalJwtSigner.values()].filter(({ enabled }) => enabled);
  throw new ApiError('UNAUTHORIZED', undefined, challenge('primary', problem, signers));
}

/** Converts names to ids. Unknown names stay as they are and match nothing. */
export function typeIds(request: AuthRequest<Pick<AuthServices, 'state'>>, names: readonly string[]): string[] {
  return configTypeIds(request.services.state.tables, names);
}

// Logging in: by password and by certificate. Whatever is wrong with a password login, the answer is the same.

import { sha1Fingerprint, verifyChain } from '#lib/certificates.ts';
import { baseFields } from '../entities/common.ts';
import { Body } from '../request/body.ts';
import type { ApiRequest } from '../request/context.ts';
import { ApiError, invalid } from '../request/errors.ts';
import type { ApiSession, Authenticator, Identity } from '../state/types.ts';
import { SHORTEST_PASSWORD } from './passwords.ts';

const METHODS = ['password', 'cert', 'ext-jwt'];

/** Checks who asks and makes an API session. Throws ApiError. */
export async function authenticate(request: ApiRequest): Promise<ApiSession> {
  const method = request.query.get('method');
  const { authenticator, identity, fingerprints } =
    method === 'password'
      ? await byPassword(request)
      : method === 'cert'
        ? byCertificate(request)
        : refuseMethod(method);
  if (identity.disabled) throw new ApiError('INVALID_AUTH');
  const { state } = request.services;
  const body = typeof request.body === 'object' && request.body !== null ? new Body(request.body, 'patch') : undefined;
  const configTypes = typeIds(request, body?.texts('configTypes') ?? []);
  return state.change((transaction) => {
    const session: ApiSession = {
      ...baseFields(transaction, state.ids.cuid()),
      token: state.ids.uuid(),
      identityId: identity.id,
      authenticatorId: authenticator.id,
      configTypes,
      ipAddress: request.remoteAddress,
      lastActivityAt: transaction.now,
      fingerprints,
    };
    transaction.put('apiSession', session);
    return session;
  });
}

interface Proven {
  readonly authenticator: Authenticator;
  readonly identity: Identity;
  readonly fingerprints: readonly string[];
}

/** Tokens of other issuers are known as a method, and none of them is trusted. */
function refuseMethod(method: string | null): never {
  if (method === 'ext-jwt') throw new ApiError('UNAUTHORIZED');
  if (method === null) throw invalid('method', 'method in query is required', '[]');
  throw invalid('method', `method in query should be one of [${METHODS.join(' ')}]`, method);
}

async function byPassword(request: ApiRequest): Promise<Proven> {
  const { state, passwords } = request.services;
  const body = new Body(request.body, 'create');
  const username = body.text('username', { required: true }) ?? '';
  const password = body.text('password', { required: true, atLeast: SHORTEST_PASSWORD }) ?? '';
  const authenticator = state.tables.authenticator.findBy('username', username);
  const valid = await passwords.verify(password, authenticator?.passwordHash ?? undefined);
  const identity = authenticator && state.tables.identity.get(authenticator.identityId);
  if (!valid || !authenticator || !identity || !policyOf(request, identity)?.primary.updb.allowed)
    throw new ApiError('INVALID_AUTH');
  return { authenticator, identity, fingerprints: request.certificates.slice(0, 1).map(sha1Fingerprint) };
}

/** The certificate must be one that an authenticator holds, and one of this network; expired ones count when the policy says so. */
function byCertificate(request: ApiRequest): Proven {
  const { state, authority, clock } = request.services;
  const [leaf] = request.certificates;
  if (!leaf) throw new ApiError('INVALID_AUTH');
  const authenticator = state.tables.authenticator.findBy('fingerprint', sha1Fingerprint(leaf));
  const identity = authenticator && state.tables.identity.get(authenticator.identityId);
  const policy = identity && policyOf(request, identity);
  if (!authenticator || !identity || !policy?.primary.cert.allowed) throw new ApiError('INVALID_AUTH');
  const dates = policy.primary.cert.allowExpiredCerts ? {} : { now: clock.now() };
  if (!verifyChain(request.certificates, authority.roots, dates).ok) throw new ApiError('INVALID_AUTH');
  return { authenticator, identity, fingerprints: [sha1Fingerprint(leaf)] };
}

function policyOf(request: ApiRequest, identity: Identity) {
  return request.services.state.tables.authPolicy.get(identity.authPolicyId);
}

/** Names become ids; what is unknown stays as it is and fits nothing. */
function typeIds(request: ApiRequest, names: readonly string[]): string[] {
  const { configType } = request.services.state.tables;
  return names.map((name) => (name === 'all' ? name : (configType.findBy('name', name)?.id ?? name)));
}

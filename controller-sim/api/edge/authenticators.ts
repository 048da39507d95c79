// Authenticators. Password hashes are never part of an answer.

import { createHash } from 'node:crypto';
import { parsePemCertificates } from '#pki/certificates.ts';
import type { AuthenticatorDetail, CreateLocation } from '#schemas/api/gen/answers.ts';
import type { ReEnroll, RequestExtendAuthenticator } from '#schemas/api/gen/bodies.ts';
import { readClientCertificate } from '../../auth/certificates.ts';
import {
  type AuthenticatorBody,
  addAuthenticator,
  certificateProof,
  deleteAuthenticator,
  passwordProof,
  rejectRouterIdentity,
  requestExtension,
  updateAuthenticator,
} from '../../entities/authenticator.ts';
import type { Body } from '../../entities/body.ts';
import { isCertificateOf } from '../../entities/ca.ts';
import { existing } from '../../entities/common.ts';
import { addEnrollment, prepareEnrollment, rejectOpenEnrollment } from '../../entities/enrollment.ts';
import { invalid, notFound } from '../../errors/errors.ts';
import type { FilterSymbol, Symbols } from '../../filter/compile.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import { base, created, reference } from '../answers/references.ts';
import type { ApiRequest, ApiServices, Data, Done, EnrollmentUse, Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { create, detail, find, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { newExpiry } from './enrollments.ts';

const AUTHENTICATOR_SYMBOLS: Symbols<Authenticator> = {
  method: field('method'),
  identity: field('identityId'),
  certFingerprint: field('fingerprint'),
  certPem: field('certPem'),
  publicKeyPrint: { get: publicKeyPrint },
  updbUsername: field('username'),
  isIssuedByNetwork: certificateFlag('isIssuedByNetwork'),
  isExtendRequested: certificateFlag('isExtendRequested'),
  isKeyRollRequested: certificateFlag('isKeyRollRequested'),
  extendRequestedAt: {
    type: 'datetime',
    get: ({ extendRequestedAt }) => (extendRequestedAt === null ? null : new Date(extendRequestedAt)),
  },
  lastExtendRolledKeys: certificateFlag('lastExtendRolledKeys'),
  lastAuthResolvedToRoot: certificateFlag('lastAuthResolvedToRoot'),
};

/** Passwords have no certificate and answer null. */
function certificateFlag(key: keyof Authenticator & string): FilterSymbol<Authenticator> {
  return { type: 'bool', get: (each) => (each.method === 'cert' ? (each[key] as boolean) : null) };
}

/** Filters and sorts read the print of each authenticator many times; parsing a certificate takes about 0.1 ms. */
const PRINTS = new WeakMap<Authenticator, string | null>();

/** Hex SHA-1 of the public key, null for a password. */
export function publicKeyPrint(authenticator: Authenticator): string | null {
  const known = PRINTS.get(authenticator);
  if (known !== undefined) return known;
  const key = parsePemCertificates(authenticator.certPem ?? '')[0]?.publicKey.export({ type: 'spki', format: 'der' });
  const print = key ? createHash('sha1').update(key).digest('hex') : null;
  PRINTS.set(authenticator, print);
  return print;
}

type Proof = ReturnType<typeof passwordProof>;

export const authenticators: Resource<
  'authenticator',
  AuthenticatorDetail,
  AuthenticatorBody,
  'state' | 'authority' | 'passwords',
  Proof | string | undefined
> = {
  kind: 'authenticator',
  symbols: AUTHENTICATOR_SYMBOLS,
  newId: ({ state }) => state.ids.short(),
  prepare: (request, _id, body) => (body.mode === 'create' ? newProof(request, body) : newPassword(request, body)),
  create: (transaction, id, body, proof) =>
    addAuthenticator(transaction, { id, identityId: body.given.identityId ?? '', proof: proof as Proof, body }),
  update: (transaction, authenticator, body, _request, passwordHash) =>
    updateAuthenticator(transaction, authenticator, body, passwordHash as string | undefined),
  remove: deleteAuthenticator,
  show: showAuthenticator,
};

async function newProof(
  request: ApiRequest<'state' | 'authority' | 'passwords'>,
  { given }: Body<AuthenticatorBody>,
): Promise<Proof> {
  const { state, passwords } = request.services;
  const identityId = given.identityId ?? '';
  const identity = state.tables.identity.get(identityId);
  if (!identity) throw notFound('identity', identityId);
  rejectRouterIdentity(identity);
  const method = given.method ?? '';
  if (method === 'cert') {
    const certPem = given.certPem ?? '';
    if (certPem === '') throw invalid('certPem', 'certPem is required', '');
    const { certificate, caId } = readClientCertificate(request.services, certPem);
    return certificateProof(certificate, caId);
  }
  if (method !== 'updb') throw invalid('method', 'method must be updb or cert', method);
  const username = given.username ?? '';
  const password = given.password ?? '';
  if (username === '') throw invalid('username', 'username is required', '');
  if (password === '') throw invalid('password', 'password is required', '');
  return passwordProof(username, await passwords.hash(password));
}

async function newPassword(
  { services }: ApiRequest<'passwords'>,
  { given: { password } }: Body<AuthenticatorBody>,
): Promise<string | undefined> {
  return typeof password === 'string' ? services.passwords.hash(password) : undefined;
}

export function showAuthenticator(
  authenticator: Authenticator,
  { state }: Pick<ApiServices, 'state'>,
): AuthenticatorDetail {
  const { method, identityId, username } = authenticator;
  const { _links, ...fields } = base('authenticator', authenticator);
  return {
    _links: { ..._links, identities: { href: `./identities/${identityId}` } },
    ...fields,
    method,
    identityId,
    identity: reference('identity', state.tables.identity.get(identityId)),
    ...(method === 'updb' ? { username } : certificateFields(authenticator)),
  };
}

function certificateFields(authenticator: Authenticator): Partial<AuthenticatorDetail> {
  const { certPem, fingerprint, isIssuedByNetwork, isExtendRequested, isKeyRollRequested, extendRequestedAt } =
    authenticator;
  return {
    certPem,
    fingerprint,
    isIssuedByNetwork,
    ...(isExtendRequested && { isExtendRequested }),
    ...(isKeyRollRequested && { isKeyRollRequested }),
    ...(extendRequestedAt !== null && { extendRequestedAt }),
    ...(authenticator.lastExtendRolledKeys && { lastExtendRolledKeys: true }),
    ...(authenticator.lastAuthResolvedToRoot && { lastAuthResolvedToRoot: true }),
  };
}

export const authenticatorHandlers = {
  listAuthenticators: list(authenticators),
  createAuthenticator: create(authenticators),
  detailAuthenticator: detail(authenticators),
  updateAuthenticator: update(authenticators),
  patchAuthenticator: patch(authenticators),
  deleteAuthenticator: remove(authenticators),
  reEnrollAuthenticator: reEnroll,
  requestExtendAuthenticator: requestExtend,
} satisfies Partial<Handlers<'management'>>;

/** Replaces the authenticator with an enrollment of its kind, which keeps the user name. */
async function reEnroll(request: ApiRequest<EnrollmentUse, ReEnroll>): Promise<Data<CreateLocation>> {
  const { state } = request.services;
  const authenticator = find(request, 'authenticator');
  const { identityId } = authenticator;
  const expires = newExpiry(request);
  const ca = [...state.tables.ca.values()].find((each) => isCertificateOf(authenticator, each));
  const method = authenticator.method === 'updb' ? 'updb' : ca ? 'ottca' : 'ott';
  const enrollment = await prepareEnrollment(request.services, {
    identityId,
    method,
    expires,
    ...(ca && { caId: ca.id }),
    ...(authenticator.username !== null && { username: authenticator.username }),
  });
  await state.change((transaction) => {
    const current = existing(transaction, 'authenticator', authenticator.id);
    rejectOpenEnrollment(transaction, identityId, method);
    deleteAuthenticator(transaction, current);
    addEnrollment(transaction, enrollment);
  });
  return { data: created('enrollments', enrollment.signed.id) };
}

async function requestExtend(request: ApiRequest<'state', RequestExtendAuthenticator>): Promise<Done> {
  const { id } = find(request, 'authenticator');
  const rollKeys = request.body.rollKeys ?? false;
  await request.services.state.change((transaction) => requestExtension(transaction, id, rollKeys));
  return { data: {} };
}

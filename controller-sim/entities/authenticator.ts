// Rules of authenticators: at most one password and one certificate for each identity.

import type { X509Certificate } from 'node:crypto';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { AuthenticatorCreate, AuthenticatorPatch, AuthenticatorUpdate } from '#schemas/api/gen/bodies.ts';
import { ApiError, badRequest, invalid } from '../errors/errors.ts';
import type { Entity } from '../state/entity.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { Transaction } from '../state/transaction.ts';
import { endApiSessions } from './api-session.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, existing, requireUnique } from './common.ts';

export type AuthenticatorBody = AuthenticatorCreate | AuthenticatorUpdate | AuthenticatorPatch;

type Own = Required<Omit<Authenticator, keyof Entity | 'identityId'>>;

const NO_CREDENTIALS: Omit<Own, 'method'> = {
  username: null,
  passwordHash: null,
  certPem: null,
  fingerprint: null,
  isIssuedByNetwork: false,
  caId: null,
  isExtendRequested: false,
  isKeyRollRequested: false,
  extendRequestedAt: null,
  lastExtendRolledKeys: false,
  lastAuthResolvedToRoot: false,
  unverifiedCertPem: null,
};

/** The proof of a password. `passwordHash` is in text form. */
export function passwordProof(username: string, passwordHash: string): Own {
  return { ...NO_CREDENTIALS, method: 'updb', username, passwordHash };
}

/** `caId` names the authority that vouches for the certificate; this network by default. */
export function certificateProof(certificate: X509Certificate, caId?: string): Own {
  return {
    ...NO_CREDENTIALS,
    method: 'cert',
    certPem: certificate.toString(),
    fingerprint: sha1Fingerprint(certificate),
    isIssuedByNetwork: caId === undefined,
    caId: caId ?? null,
  };
}

/**
 * Throws ApiError if the identity has an authenticator of this method, or is that of a router, if the user name or
 * certificate is in use, or if the authority of the certificate was deleted.
 */
export function addAuthenticator(
  transaction: Transaction,
  wanted: { id: string; identityId: string; proof: Own; body?: Body },
): void {
  const { id, identityId, proof, body } = wanted;
  const { method, username, fingerprint, caId } = proof;
  rejectRouterIdentity(existing(transaction, 'identity', identityId));
  if (caId !== null) existing(transaction, 'ca', caId);
  const others = transaction.tables.authenticator.referring('identityId', identityId);
  if (others.some((each) => each.method === method && transaction.get('authenticator', each.id)))
    throw new ApiError('MAX_AUTHENTICATOR_METHODS_REACHED');
  if (username !== null) requireUniqueUsername(transaction, username, undefined);
  if (fingerprint !== null) requireUnique(transaction, 'authenticator', 'fingerprint', fingerprint, undefined);
  transaction.put('authenticator', { ...baseFields(transaction, id, body), ...proof, identityId });
}

/** reference fact: the identity of a router can have an enrollment, but not the authenticator at its end. */
export function rejectRouterIdentity({ id, type }: Identity): void {
  if (type === 'Router') throw invalid('identityId', 'may not create authenticators for router identities', id);
}

/** `passwordHash` is the hash of the body's password, if there is one. */
export function updateAuthenticator(
  transaction: Transaction,
  authenticator: Authenticator,
  body: Body<AuthenticatorBody>,
  passwordHash: string | undefined,
): void {
  const username = body.given.username ?? authenticator.username;
  const changed = { ...authenticator, ...changedBase(transaction, authenticator, body) };
  if (authenticator.method === 'cert') {
    transaction.put('authenticator', changed);
    return;
  }
  if (username !== null) requireUniqueUsername(transaction, username, authenticator);
  transaction.put('authenticator', {
    ...changed,
    username,
    passwordHash: passwordHash ?? authenticator.passwordHash,
  });
}

/** Ends the sessions that it opened. */
export function deleteAuthenticator(transaction: Transaction, { id }: Authenticator): void {
  endApiSessions(transaction, 'authenticatorId', id);
  transaction.delete('authenticator', id);
}

/**
 * Requests that the owner of a certificate of this network renews it. Other certificates cannot be renewed, so nothing
 * is requested. Throws ApiError for a password, with the status of the reference.
 */
export function requestExtension(transaction: Transaction, id: string, rollKeys: boolean): void {
  const { isIssuedByNetwork, method } = existing(transaction, 'authenticator', id);
  if (method !== 'cert')
    throw new ApiError('UNAUTHORIZED', {
      code: 'UNHANDLED',
      message: 'authenticator is not a certificate authenticator',
    });
  if (!isIssuedByNetwork) return;
  transaction.patch('authenticator', id, {
    isExtendRequested: true,
    isKeyRollRequested: rollKeys,
    extendRequestedAt: transaction.now,
  });
}

function requireUniqueUsername(transaction: Transaction, username: string, current: Authenticator | undefined): void {
  const other = transaction.tables.authenticator.findBy('username', username);
  if (other && other.id !== current?.id) {
    const reason = `duplicate value '${username}' in unique index on authenticators store`;
    // reference fact: a change names no field.
    throw current ? badRequest(reason) : invalid('updbUsername', reason, username);
  }
}

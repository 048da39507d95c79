// Renews the certificate of an identity. The new certificate is valid for logins once its owner has presented it.

import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import type { IdentityExtendCerts } from '#schemas/api/gen/answers.ts';
import type {
  IdentityExtendEnrollmentRequest,
  IdentityExtendValidateEnrollmentRequest,
} from '#schemas/api/gen/bodies.ts';
import { existing } from '../../entities/common.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import type { ApiRequest, Data, Done } from '../operations/context.ts';

/**
 * Requires a connection that presents the certificate to be renewed. An API proxy that forwards it could otherwise keep
 * the rights of its clients for itself.
 */
export async function extendCertificate(
  request: ApiRequest<'state' | 'authority', IdentityExtendEnrollmentRequest>,
  authenticator: Authenticator,
): Promise<Data<IdentityExtendCerts>> {
  const { authority, state } = request.services;
  if (authenticator.method !== 'cert' || !authenticator.isIssuedByNetwork)
    throw new ApiError('CAN_NOT_UPDATE_AUTHENTICATOR');
  const [leaf] = request.certificates;
  if (!leaf || request.viaRouter !== undefined || sha1Fingerprint(leaf) !== authenticator.fingerprint)
    throw new ApiError('UNAUTHORIZED');
  const csr = await readCsr(request.body.clientCertCsr);
  const clientCert = authority.signIdentity(csr, authenticator.identityId);
  await state.change((transaction) => {
    const { fingerprint } = existing(transaction, 'authenticator', authenticator.id);
    if (fingerprint !== authenticator.fingerprint) throw new ApiError('UNAUTHORIZED');
    transaction.patch('authenticator', authenticator.id, { unverifiedCertPem: clientCert });
  });
  return { data: { ca: authority.bundle, clientCert } };
}

/** The new certificate replaces the old one. */
export async function verifyExtension(
  request: ApiRequest<'state', IdentityExtendValidateEnrollmentRequest>,
  authenticator: Authenticator,
): Promise<Done> {
  const expected = authenticator.unverifiedCertPem;
  // reference fact: an authenticator that is not being extended, a password among them, cannot be updated in this way.
  if (authenticator.method !== 'cert' || expected === null) throw new ApiError('CAN_NOT_UPDATE_AUTHENTICATOR');
  const fingerprint = fingerprintOf(request.body.clientCert);
  if (fingerprint === undefined || fingerprint !== fingerprintOf(expected)) throw new ApiError('INVALID_CLIENT_CERT');
  const rolledKeys = publicKeyOf(expected) !== publicKeyOf(authenticator.certPem ?? '');
  await request.services.state.change((transaction) => {
    if (transaction.get('authenticator', authenticator.id)?.unverifiedCertPem !== expected)
      throw new ApiError('INVALID_CLIENT_CERT');
    transaction.patch('authenticator', authenticator.id, {
      certPem: expected,
      fingerprint,
      unverifiedCertPem: null,
      isExtendRequested: false,
      isKeyRollRequested: false,
      extendRequestedAt: null,
      lastExtendRolledKeys: rolledKeys,
    });
  });
  return { data: {} };
}

function fingerprintOf(pem: string): string | undefined {
  try {
    return sha1Fingerprint(leafOf(pem));
  } catch {
    return undefined; // not a certificate, so not the issued one
  }
}

function publicKeyOf(pem: string): string {
  return leafOf(pem).publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

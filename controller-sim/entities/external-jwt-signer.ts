// Rules of external JWT signers: issuers whose tokens are accepted for logins.

import type { X509Certificate } from 'node:crypto';
import { commonName, parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import type {
  ExternalJwtSignerCreate,
  ExternalJwtSignerPatch,
  ExternalJwtSignerUpdate,
} from '#schemas/api/gen/bodies.ts';
import { ApiError, invalid, invalidField, notFound } from '../errors/errors.ts';
import type { ExternalJwtSigner } from '../state/kinds/external-jwt-signer.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { deleteEntity } from './cascade.ts';
import { baseFields, changedBase, requireUnique, uniqueName } from './common.ts';
import { DEFAULT_AUTH_POLICY } from './identity.ts';
import { endpointProblem } from './jwks-endpoint.ts';

export type SignerBody = ExternalJwtSignerCreate | ExternalJwtSignerUpdate | ExternalJwtSignerPatch;

/** The reference's value for a missing time. */
const NEVER = '0001-01-01T00:00:00.000Z';

/** `isByAdmin`: an administrator creates it, so it may vouch for administrators. */
export function createSigner(transaction: Transaction, id: string, body: Body<SignerBody>, isByAdmin: boolean): void {
  transaction.put('externalJwtSigner', {
    ...baseFields(transaction, id, body),
    ...fields(transaction, body, undefined),
    vouchesForAdmins: isByAdmin,
  });
}

/** `isByAdmin`: an administrator changes it; otherwise it no longer vouches for administrators. */
export function updateSigner(
  transaction: Transaction,
  signer: ExternalJwtSigner,
  body: Body<SignerBody>,
  isByAdmin: boolean,
): void {
  transaction.put('externalJwtSigner', {
    ...changedBase(transaction, signer, body),
    ...fields(transaction, body, signer),
    vouchesForAdmins: isByAdmin,
  });
}

export function deleteSigner(transaction: Transaction, { id }: ExternalJwtSigner): void {
  deleteEntity(transaction, 'externalJwtSigner', id);
}

function fields(transaction: Transaction, body: Body<SignerBody>, current: ExternalJwtSigner | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  const fields = {
    name: uniqueName(transaction, 'externalJwtSigner', body, current),
    issuer: given.issuer ?? keep?.issuer ?? '',
    audience: given.audience ?? keep?.audience ?? '',
    enabled: given.enabled ?? keep?.enabled ?? false,
    kid: given.kid || (keep?.kid ?? null),
    claimsProperty: given.claimsProperty || (keep?.claimsProperty ?? '/sub'),
    useExternalId: given.useExternalId ?? keep?.useExternalId ?? false,
    externalAuthUrl: given.externalAuthUrl ?? keep?.externalAuthUrl ?? null,
    clientId: given.clientId ?? keep?.clientId ?? null,
    scopes: [...new Set(given.scopes ?? keep?.scopes)].sort(),
    targetToken: given.targetToken ?? keep?.targetToken ?? 'ACCESS',
    enrollNameClaimsSelector: given.enrollNameClaimsSelector || (keep?.enrollNameClaimsSelector ?? '/sub'),
    enrollAttributeClaimsSelector: given.enrollAttributeClaimsSelector ?? keep?.enrollAttributeClaimsSelector ?? '',
    ...keys(body, current),
    ...enrollment(transaction, body, keep),
  };
  if (fields.issuer === '') throw invalid('issuer', 'issuer is required', '');
  requireUnique(transaction, 'externalJwtSigner', 'issuer', fields.issuer, current, 'issuer must be unique');
  if (fields.kid !== null)
    requireUnique(transaction, 'externalJwtSigner', 'kid', fields.kid, current, 'kid must be unique');
  if (fields.fingerprint !== null) {
    const reason = 'fingerprint must be unique';
    requireUnique(transaction, 'externalJwtSigner', 'fingerprint', fields.fingerprint, current, reason);
  }
  return fields;
}

/** Keys come from an address or a certificate. A patch that changes the source sets the other one to null. */
function keys(body: Body<SignerBody>, current: ExternalJwtSigner | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  const source = (name: 'jwksEndpoint' | 'certPem') =>
    (keep && given[name] === undefined ? keep[name] : given[name]) || null;
  const [givenEndpoint, givenPem] = [source('jwksEndpoint'), source('certPem')];
  // reference fact: a patch with an invalid certificate is rejected for it, whatever else is wrong.
  const patchedPem = keep && given.certPem;
  if (patchedPem) readCertificate(patchedPem);
  if (givenEndpoint !== null && givenPem !== null)
    throw invalidField('jwksEndpoint', 'only one of jwksEndpoint or certPem may be defined', givenEndpoint);
  if (givenEndpoint === null && givenPem === null)
    throw invalidField('certPem', 'jwksEndpoint or certPem is required', '');
  const problem = givenEndpoint === null ? undefined : endpointProblem(givenEndpoint);
  if (problem !== undefined) throw invalidField('jwksEndpoint', problem, givenEndpoint);
  const certificate = givenPem === null ? undefined : readCertificate(givenPem);
  return {
    jwksEndpoint: givenEndpoint,
    certPem: givenPem,
    fingerprint: certificate ? sha1Fingerprint(certificate) : null,
    commonName: (certificate && commonName(certificate)) ?? '',
    notBefore: certificate?.validFromDate.toISOString() ?? NEVER,
    notAfter: certificate?.validToDate.toISOString() ?? NEVER,
  };
}

function readCertificate(pem: string): X509Certificate {
  try {
    const [certificate] = parsePemCertificates(pem);
    if (certificate) return certificate;
  } catch {
    // reported below, as text that is not PEM
  }
  throw new ApiError('INVALID_CERT_PEM');
}

/** The auth policy of enrolled identities must permit their later logins. */
function enrollment(transaction: Transaction, { given }: Body<SignerBody>, current: ExternalJwtSigner | undefined) {
  const enrollToCertEnabled = given.enrollToCertEnabled ?? current?.enrollToCertEnabled ?? false;
  const enrollToTokenEnabled = given.enrollToTokenEnabled ?? current?.enrollToTokenEnabled ?? false;
  const id = (given.enrollAuthPolicyId ?? current?.enrollAuthPolicyId) || DEFAULT_AUTH_POLICY;
  const primary = transaction.get('authPolicy', id)?.primary;
  const reject = (reason: string) => invalid('enrollAuthPolicyId', reason, id);
  if (enrollToTokenEnabled && !primary) throw reject('the auth policy must be specified if enroll to token is enabled');
  if (enrollToTokenEnabled && !primary?.extJwt.allowed)
    throw reject('primary external jwt authentication on auth policy is disabled');
  if (enrollToCertEnabled && !primary) throw reject('the auth policy must be specified if enroll to cert is enabled');
  if (enrollToCertEnabled && !primary?.cert.allowed)
    throw reject('primary certificate authentication on auth policy is disabled');
  if (!primary) throw notFound('authPolicy', id);
  return { enrollToCertEnabled, enrollToTokenEnabled, enrollAuthPolicyId: id };
}

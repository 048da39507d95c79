// Rules of third-party authorities, with whose certificates identities may enroll and log in.

import type { X509Certificate } from 'node:crypto';
import { describeError } from '#lib/errors.ts';
import { commonName, leafOf, parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import type { CaCreate, CaPatch, CaUpdate } from '#schemas/api/gen/bodies.ts';
import { ApiError, badRequest, invalid } from '../errors/errors.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { CertificateAuthority, ExternalIdClaim } from '../state/kinds/ca.ts';
import type { Transaction } from '../state/transaction.ts';
import { deleteAuthenticator } from './authenticator.ts';
import type { Body } from './body.ts';
import { deleteEntity } from './cascade.ts';
import { attributesOf, baseFields, changedBase, uniqueName } from './common.ts';
import { validateClaim } from './external-id.ts';

export type CaBody = CaCreate | CaUpdate | CaPatch;

export const DEFAULT_NAME_FORMAT = '[caName]-[commonName]';

/** `isByAdmin`: an administrator creates it, so it may vouch for administrators. */
export function createCa(transaction: Transaction, id: string, body: Body<CaBody>, isByAdmin: boolean): void {
  const externalIdClaim = claim(body, undefined); // reference fact: looked at before the certificate
  const certPem = body.given.certPem ?? '';
  const certificate = readAuthority(certPem);
  const fingerprint = sha1Fingerprint(certificate);
  const other = transaction.tables.ca.findBy('fingerprint', fingerprint);
  if (other) throw invalid('certPem', `certificate already used as CA ${other.id}`, certPem);
  transaction.put('ca', {
    ...baseFields(transaction, id, body),
    ...fields(transaction, body, undefined),
    externalIdClaim,
    certPem,
    fingerprint,
    isVerified: false,
    verificationToken: transaction.ids.uuid(),
    vouchesForAdmins: isByAdmin,
  });
}

/** `isByAdmin`: an administrator changes it; otherwise it no longer vouches for administrators. */
export function updateCa(
  transaction: Transaction,
  ca: CertificateAuthority,
  body: Body<CaBody>,
  isByAdmin: boolean,
): void {
  transaction.put('ca', {
    ...ca,
    ...fields(transaction, body, ca),
    externalIdClaim: claim(body, body.kept(ca)),
    ...changedBase(transaction, ca, body),
    vouchesForAdmins: isByAdmin,
  });
}

/** Deletes its enrollments and, as the specification requires, the authenticators of its certificates. */
export function deleteCa(transaction: Transaction, ca: CertificateAuthority): void {
  for (const each of transaction.tables.authenticator.values())
    if (isCertificateOf(each, ca)) deleteAuthenticator(transaction, each);
  deleteEntity(transaction, 'ca', ca.id);
}

export function isCertificateOf(
  { certPem, isIssuedByNetwork, caId }: Authenticator,
  ca: CertificateAuthority,
): boolean {
  if (certPem === null || isIssuedByNetwork) return false;
  return caId === undefined ? isIssuedBy(certPem, leafOf(ca.certPem)) : caId === ca.id;
}

/**
 * A certificate of the authority with the verification token as its common name proves possession of the key. `pem` is
 * the body.
 */
export function verifyCa(transaction: Transaction, ca: CertificateAuthority, pem: string): void {
  if (ca.isVerified) throw new ApiError('CA_ALREADY_VERIFIED');
  const [certificate] = certificatesOf(pem);
  const [authority] = parsePemCertificates(ca.certPem);
  if (!certificate || !authority) throw new ApiError('COULD_NOT_PARSE_BODY');
  if (commonName(certificate) !== ca.verificationToken) throw new ApiError('INVALID_COMMON_NAME');
  if (!isIssuedBy(pem, authority))
    throw new ApiError('CERTIFICATE_FAILED_VALIDATION', {
      code: 'UNHANDLED',
      message: 'the certificate is not signed by the authority that is to be verified',
    });
  transaction.patch('ca', ca.id, { isVerified: true });
}

function isIssuedBy(pem: string, authority: X509Certificate): boolean {
  const [certificate] = certificatesOf(pem);
  return certificate?.checkIssued(authority) === true && certificate.verify(authority.publicKey);
}

function certificatesOf(pem: string): X509Certificate[] {
  try {
    return parsePemCertificates(pem);
  } catch {
    return []; // unreadable text is rejected below
  }
}

function readAuthority(pem: string): X509Certificate {
  let certificate: X509Certificate | undefined;
  try {
    [certificate] = parsePemCertificates(pem);
  } catch (error) {
    throw invalid('certPem', `could not parse block #1: ${describeError(error)}`, pem);
  }
  if (!certificate) throw invalid('certPem', 'could not parse block #1', pem);
  if (!certificate.ca) throw badRequest('certificate is not a CA');
  return certificate;
}

function fields(transaction: Transaction, body: Body<CaBody>, current: CertificateAuthority | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  return {
    name: uniqueName(transaction, 'ca', body, current),
    isAuthEnabled: given.isAuthEnabled ?? keep?.isAuthEnabled ?? false,
    isAutoCaEnrollmentEnabled: given.isAutoCaEnrollmentEnabled ?? keep?.isAutoCaEnrollmentEnabled ?? false,
    isOttCaEnrollmentEnabled: given.isOttCaEnrollmentEnabled ?? keep?.isOttCaEnrollmentEnabled ?? false,
    // The attributes of its identities: with the prefix of a selector, nothing would ever select them.
    identityRoles: given.identityRoles
      ? attributesOf('identityRoles', given.identityRoles)
      : (keep?.identityRoles ?? []),
    identityNameFormat: (given.identityNameFormat ?? keep?.identityNameFormat) || DEFAULT_NAME_FORMAT,
  };
}

/**
 * Merged field by field in a patch. reference fact: a patch without the claim removes it, because its command line
 * relies on that. A patch of other fields sends an empty claim.
 */
function claim(body: Body<CaBody>, current: CertificateAuthority | undefined): ExternalIdClaim | null {
  const given = body.given.externalIdClaim;
  if (!given) return null;
  const was = current?.externalIdClaim;
  if (body.mode === 'patch' && Object.keys(given).length === 0) return was ?? null;
  const merged: ExternalIdClaim = {
    location: given.location ?? was?.location ?? 'COMMON_NAME',
    matcher: given.matcher ?? was?.matcher ?? 'ALL',
    matcherCriteria: given.matcherCriteria ?? was?.matcherCriteria ?? '',
    parser: given.parser ?? was?.parser ?? 'NONE',
    parserCriteria: given.parserCriteria ?? was?.parserCriteria ?? '',
    index: given.index ?? was?.index ?? 0,
  };
  validateClaim(merged);
  return merged;
}

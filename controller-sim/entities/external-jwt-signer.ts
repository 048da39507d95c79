// Rules of external JWT signers: issuers whose tokens are accepted for logins.

import type { X509Certificate } from 'node:crypto';
import { commonName, parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import { ApiError, invalid, invalidField, notFound } from '../errors/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { ExternalJwtSigner } from '../state/types.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, referenced, requireUnique, uniqueName } from './common.ts';
import { DEFAULT_AUTH_POLICY } from './identity.ts';
import { endpointProblem } from './jwks-endpoint.ts';

/** The reference's value for a missing time. */
const NEVER = '0001-01-01T00:00:00.000Z';

/** `isByAdmin`: an administrator creates it, so it may vouch for administrators. */
export function createSigner(transaction: Transaction, id: string, body: Body, isByAdmin: boolean): void {
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
  body: Body,
  isByAdmin: boolean,
): void {
  transaction.put('externalJwtSigner', {
    ...changedBase(transaction, signer, body),
    ...fields(transaction, body, signer),
    vouchesForAdmins: isByAdmin,
  });
}

export function deleteSigner(transaction: Transaction, { id }: ExternalJwtSigner): void {
  const policies = transaction.tables.authPolicy.referring('signers', id);
  const allowing = policies.filter(({ primary }) => primary.extJwt.allowedSigners.includes(id));
  const [field, referring] =
    allowing.length > 0 ? ['primary.extJwt.allowedSigners', allowing] : ['secondary.requireExtJwtSigner', policies];
  const ids = referring.map((policy) => policy.id);
  if (ids.length > 0) throw referenced('externalJwtSigner', String(field), ids, 'authPolicy');
  transaction.delete('externalJwtSigner', id);
}

function fields(transaction: Transaction, body: Body, current: ExternalJwtSigner | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const fields = {
    name: uniqueName(transaction, 'externalJwtSigner', body, current),
    issuer: body.text('issuer') ?? keep?.issuer ?? '',
    audience: body.text('audience') ?? keep?.audience ?? '',
    enabled: body.flag('enabled') ?? keep?.enabled ?? false,
    kid: body.text('kid') || (keep?.kid ?? null),
    claimsProperty: body.text('claimsProperty') || (keep?.claimsProperty ?? '/sub'),
    useExternalId: body.flag('useExternalId') ?? keep?.useExternalId ?? false,
    externalAuthUrl: body.text('externalAuthUrl') ?? keep?.externalAuthUrl ?? null,
    clientId: body.text('clientId') ?? keep?.clientId ?? null,
    scopes: [...new Set(body.texts('scopes') ?? keep?.scopes)].sort(),
    targetToken: (body.text('targetToken') as ExternalJwtSigner['targetToken']) ?? keep?.targetToken ?? 'ACCESS',
    enrollNameClaimsSelector: body.text('enrollNameClaimsSelector') || (keep?.enrollNameClaimsSelector ?? '/sub'),
    enrollAttributeClaimsSelector:
      body.text('enrollAttributeClaimsSelector') ?? keep?.enrollAttributeClaimsSelector ?? '',
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
function keys(body: Body, current: ExternalJwtSigner | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  const source = (name: 'jwksEndpoint' | 'certPem') =>
    (keep && body.raw(name) === undefined ? keep[name] : body.text(name)) || null;
  const [givenEndpoint, givenPem] = [source('jwksEndpoint'), source('certPem')];
  // reference fact: a patch with an invalid certificate is rejected for it, whatever else is wrong.
  const patchedPem = keep && body.text('certPem');
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
function enrollment(transaction: Transaction, body: Body, current: ExternalJwtSigner | undefined) {
  const enrollToCertEnabled = body.flag('enrollToCertEnabled') ?? current?.enrollToCertEnabled ?? false;
  const enrollToTokenEnabled = body.flag('enrollToTokenEnabled') ?? current?.enrollToTokenEnabled ?? false;
  const id = (body.text('enrollAuthPolicyId') ?? current?.enrollAuthPolicyId) || DEFAULT_AUTH_POLICY;
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

// Enrolls identities in one of three ways. A one-time token gives a certificate of this network, accepts one of another
// authority, or sets a password. A certificate alone or the token of another issuer also suffices (reference fact: HTTP
// behaviour, Enrollment).

import type { X509Certificate } from 'node:crypto';
import { ownValue } from '#lib/json/own-value.ts';
import { commonName, leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import type { Enrolled } from '#schemas/api/gen/answers.ts';
import { isForClients, vouch } from '../../auth/certificates.ts';
import { addAuthenticator, certificateProof, passwordProof } from '../../entities/authenticator.ts';
import { requireUnique } from '../../entities/common.ts';
import { useUp } from '../../entities/enrollment.ts';
import { externalIdOf } from '../../entities/external-id.ts';
import { freeName, plainIdentity } from '../../entities/identity.ts';
import { ApiError, type ApiErrorCode, badRequest, type ErrorCause } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import { validityTimes } from '../../pki/validity-times.ts';
import type { CertificateAuthority, ExternalIdClaim } from '../../state/kinds/ca.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { Transaction } from '../../state/transaction.ts';
import { showController } from '../information/controllers.ts';
import type { ApiRequest, Data, Done } from '../operations/context.ts';
import { type EnrollmentBody, fieldsOf } from './enrollment-body.ts';
import { enrollWithToken } from './external-token.ts';
import { enrollRouter } from './router.ts';

export type EnrollRequest = ApiRequest<
  'cluster' | 'state' | 'authority' | 'passwords' | 'jwks' | 'clock' | 'log',
  EnrollmentBody
>;

/** `method` is from the path or the query; undefined if neither names one. */
export async function enroll(request: EnrollRequest, method: string | undefined): Promise<Data<Enrolled>> {
  if (method === 'ca') return enrollByCertificate(request);
  if (method === 'token') return enrollWithToken(request);
  const enrollment = findEnrollment(request);
  if (method !== undefined && method !== '' && method !== enrollment.method && method !== anyRouter(enrollment))
    throw new ApiError('INVALID_ENROLL_METHOD');
  // The enrollment expires at this very millisecond, as its token does.
  if (Date.parse(enrollment.expiresAt) <= request.services.clock.now()) throw new ApiError('ENROLLMENT_EXPIRED');
  switch (enrollment.method) {
    case 'erott':
    case 'trott':
      return enrollRouter(request, enrollment);
    case 'ott':
      return enrollWithRequest(request, enrollment);
    case 'ottca':
      return enrollWithCertificate(request, enrollment);
    case 'updb':
      return enrollWithPassword(request, enrollment);
  }
}

function findEnrollment({ query, body, services }: ApiRequest<'state', EnrollmentBody>): Enrollment {
  const token = query.get('token') ?? fieldsOf(body).token ?? '';
  const enrollment = services.state.tables.enrollment.findBy('token', token);
  if (!enrollment) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  return enrollment;
}

/** Transit routers enroll on the same path as edge routers. */
function anyRouter({ method }: Enrollment): string | undefined {
  return method === 'trott' ? 'erott' : undefined;
}

async function enrollWithRequest(
  request: ApiRequest<'cluster' | 'state' | 'authority', EnrollmentBody>,
  enrollment: Enrollment,
): Promise<Data<Enrolled>> {
  const { body, services } = request;
  const { authority, state } = services;
  const identityId = enrollment.identityId ?? '';
  const csr = await readCsr(typeof body === 'string' ? body : fieldsOf(body).clientCsr);
  const cert = authority.signIdentity(csr, identityId);
  await state.change((transaction) => {
    useUp(transaction, enrollment);
    const proof = certificateProof(leafOf(cert));
    addAuthenticator(transaction, { id: state.ids.short(), identityId, proof: { ...proof, certPem: cert } });
  });
  return { data: { controllers: [showController(services.cluster.self, request)], cert, ca: authority.bundle } };
}

/**
 * The client's TLS certificate becomes its authenticator. The authority that the enrollment names must have issued it.
 */
async function enrollWithCertificate(
  request: ApiRequest<'cluster' | 'state' | 'authority' | 'clock'>,
  enrollment: Enrollment,
): Promise<Data<Enrolled>> {
  const { state } = request.services;
  const { leaf, ca } = presentedCertificate(request, 'CERTIFICATE_FAILED_VALIDATION');
  if (ca.id !== enrollment.caId) throw new ApiError('CERTIFICATE_FAILED_VALIDATION');
  if (!ca.isOttCaEnrollmentEnabled) throw new ApiError('ENROLLMENT_CA_NOT_VALID');
  await state.change((transaction) => {
    useUp(transaction, enrollment);
    requireUnusedCertificate(transaction, leaf, { data: { fingerprint: sha1Fingerprint(leaf) } });
    const identityId = enrollment.identityId ?? '';
    addAuthenticator(transaction, { id: state.ids.short(), identityId, proof: certificateProof(leaf, ca.id) });
  });
  return { data: { controllers: [showController(request.services.cluster.self, request)] } };
}

/** The identity chooses its password. reference fact: not its user name, which the enrollment holds. */
async function enrollWithPassword(
  request: ApiRequest<'cluster' | 'state' | 'passwords', EnrollmentBody>,
  enrollment: Enrollment,
): Promise<Data<Enrolled>> {
  const { state, passwords } = request.services;
  const given = fieldsOf(request.body);
  const password = given.password ?? '';
  const username = enrollment.username || given.username || '';
  if (password === '') throw badRequest('password expected for updb enrollment');
  if (username === '') throw badRequest('username expected for updb enrollment');
  const passwordHash = await passwords.hash(password);
  await state.change((transaction) => {
    useUp(transaction, enrollment);
    const identityId = enrollment.identityId ?? '';
    addAuthenticator(transaction, { id: state.ids.short(), identityId, proof: passwordProof(username, passwordHash) });
  });
  return { data: { controllers: [showController(request.services.cluster.self, request)], username } };
}

/** Any client with a certificate of an authority that permits it becomes an identity. */
export async function enrollByCertificate(
  request: ApiRequest<'state' | 'authority' | 'clock', EnrollmentBody>,
): Promise<Done> {
  const { state } = request.services;
  const { leaf, ca } = presentedCertificate(request, 'CERT_FAILED_VALIDATION');
  if (!ca.isAutoCaEnrollmentEnabled) throw new ApiError('CERT_FAILED_VALIDATION');
  // The path for this method alone declares no body, so nothing has checked it.
  const { name } = fieldsOf(request.body);
  const requestedName = typeof name === 'string' ? name : undefined;
  const id = state.ids.short();
  await state.change((transaction) => {
    requireUnusedCertificate(transaction, leaf);
    const externalId = ca.externalIdClaim && claimedBy(leaf, ca.externalIdClaim);
    if (externalId !== null) requireUnique(transaction, 'identity', 'externalId', externalId, undefined);
    const wanted = nameByFormat(ca, { identityId: id, requestedName, commonName: commonName(leaf) });
    transaction.put('identity', {
      ...plainIdentity(transaction, id, freeName(transaction, wanted)),
      roleAttributes: [...new Set(ca.identityRoles)].sort(),
      externalId,
    });
    // An external id identifies the client even if it later presents another certificate.
    if (externalId === null)
      addAuthenticator(transaction, { id: state.ids.short(), identityId: id, proof: certificateProof(leaf, ca.id) });
  });
  return { data: {} };
}

/** Throws ApiError for a certificate without the claim: its identity could never log in. */
function claimedBy(leaf: X509Certificate, claim: ExternalIdClaim): string {
  const externalId = externalIdOf(leaf, claim);
  if (externalId === undefined) throw new ApiError('MISSING_CERT_CLAIM');
  return externalId;
}

/** The client's TLS certificate: valid now, for client authentication, and issued by a verified authority. */
function presentedCertificate(
  { services, certificates }: ApiRequest<'state' | 'authority' | 'clock'>,
  rejection: ApiErrorCode,
): { leaf: X509Certificate; ca: CertificateAuthority } {
  const [leaf] = certificates;
  const voucher = vouch(services, certificates, validityTimes(services.clock));
  if (!leaf || !isForClients(leaf) || voucher?.kind !== 'ca') throw new ApiError(rejection);
  return { leaf, ca: voucher.ca };
}

function nameByFormat(
  ca: CertificateAuthority,
  known: { identityId: string; requestedName: string | undefined; commonName: string | undefined },
): string {
  const symbols: Readonly<Record<string, string>> = {
    caName: ca.name,
    caId: ca.id,
    commonName: known.commonName ?? '',
    requestedName: known.requestedName ?? '',
    identityId: known.identityId,
  };
  const name = ca.identityNameFormat.replace(
    /\[(\w+)\]/g,
    (whole, symbol: string) => ownValue(symbols, symbol) ?? whole,
  );
  return name.trim() === '' ? known.identityId : name;
}

function requireUnusedCertificate(transaction: Transaction, certificate: X509Certificate, cause?: ErrorCause): void {
  if (transaction.tables.authenticator.findBy('fingerprint', sha1Fingerprint(certificate)))
    throw new ApiError('CERT_IN_USE', cause);
}

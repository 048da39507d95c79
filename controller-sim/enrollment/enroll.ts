// Enrolling with a one-time token: routers (erott) and identities (ott) get certificates for their requests; the token is used up
// (reference facts: config, section 6; HTTP behaviour, Enrollment).

import { parsePemCertificates, sha1Fingerprint } from '#lib/certificates.ts';
import { showControllers } from '../api/controllers.ts';
import { SHORTEST_PASSWORD } from '../auth/passwords.ts';
import { baseFields } from '../entities/common.ts';
import { type CertificateRequest, CsrError, readRequest } from '../pki/authority.ts';
import { Body } from '../request/body.ts';
import type { Answer, ApiRequest } from '../request/context.ts';
import { ApiError, invalid } from '../request/errors.ts';
import type { Enrollment } from '../state/types.ts';

export async function enroll(request: ApiRequest, method: string | null): Promise<Answer> {
  const token =
    request.query.get('token') ??
    (typeof request.body === 'object' ? String((request.body as { token?: unknown } | null)?.token ?? '') : '');
  const enrollment = request.services.state.tables.enrollment.findBy('token', token);
  if (!enrollment) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  if (method !== null && method !== '' && method !== enrollment.method) throw new ApiError('INVALID_ENROLL_METHOD');
  if (new Date(enrollment.expiresAt).getTime() < request.services.clock.now()) throw new ApiError('ENROLLMENT_EXPIRED');
  if (enrollment.method === 'erott') return enrollRouter(request, enrollment);
  if (enrollment.method === 'ott') return enrollIdentity(request, enrollment);
  if (enrollment.method === 'updb') return enrollByPassword(request, enrollment);
  throw new ApiError('INVALID_ENROLL_METHOD');
}

async function enrollRouter(request: ApiRequest, enrollment: Enrollment): Promise<Answer> {
  const { authority, state } = request.services;
  const id = enrollment.edgeRouterId ?? '';
  const body = (request.body ?? {}) as { certCsr?: unknown; serverCertCsr?: unknown };
  const [client, server] = await Promise.all([readCsr(body.certCsr), readCsr(body.serverCertCsr)]);
  if (client.commonName !== id) throw new ApiError('EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID');
  const cert = await authority.sign(client, { commonName: id, spiffe: `router/${id}`, purposes: ['client', 'server'] });
  const serverCert = await authority.sign(server, {
    commonName: id,
    spiffe: `router/${id}`,
    purposes: ['server', 'client'],
  });
  await state.change((transaction) => {
    useUp(transaction.get('enrollment', enrollment.id));
    transaction.delete('enrollment', enrollment.id);
    transaction.patch('router', id, { fingerprint: fingerprintOf(cert), certPem: cert, isVerified: true });
  });
  return { data: { ca: authority.bundle, cert, serverCert } };
}

async function enrollIdentity(request: ApiRequest, enrollment: Enrollment): Promise<Answer> {
  const { authority, state } = request.services;
  const identityId = enrollment.identityId ?? '';
  const given =
    typeof request.body === 'string' ? request.body : (request.body as { clientCsr?: unknown } | null)?.clientCsr;
  const csr = await readCsr(given);
  const cert = await authority.sign(csr, {
    commonName: csr.commonName ?? identityId,
    spiffe: `identity/${identityId}`,
    purposes: ['client'],
  });
  await state.change((transaction) => {
    useUp(transaction.get('enrollment', enrollment.id));
    transaction.delete('enrollment', enrollment.id);
    transaction.put('authenticator', {
      ...baseFields(transaction, state.ids.short()),
      method: 'cert',
      identityId,
      username: null,
      passwordHash: null,
      certPem: cert,
      fingerprint: fingerprintOf(cert),
      isIssuedByNetwork: true,
    });
  });
  const wantsJson =
    String(request.headers.accept ?? '').includes('application/json') || typeof request.body === 'object';
  return wantsJson
    ? { data: { controllers: showControllers(request.services), cert } }
    : { raw: cert, contentType: 'application/x-pem-file' };
}

/** The identity chooses its password; the name was chosen when the enrollment was made. */
async function enrollByPassword(request: ApiRequest, enrollment: Enrollment): Promise<Answer> {
  const { state, passwords } = request.services;
  const body = new Body(request.body, 'create');
  const password = body.text('password', { required: true, atLeast: SHORTEST_PASSWORD }) ?? '';
  const username = body.text('username') || enrollment.username || '';
  const passwordHash = await passwords.hash(password);
  await state.change((transaction) => {
    useUp(transaction.get('enrollment', enrollment.id));
    if (transaction.tables.authenticator.findBy('username', username)) {
      const reason = `duplicate value '${username}' in unique index on authenticators store`;
      throw invalid('updbUsername', reason, username);
    }
    transaction.delete('enrollment', enrollment.id);
    transaction.put('authenticator', {
      ...baseFields(transaction, state.ids.short()),
      method: 'updb',
      identityId: enrollment.identityId ?? '',
      username,
      passwordHash,
      certPem: null,
      fingerprint: null,
      isIssuedByNetwork: false,
    });
  });
  return { data: { controllers: showControllers(request.services), username } };
}

/** Of two who bring the same token at once, one comes too late. */
function useUp(enrollment: Enrollment | undefined): void {
  if (!enrollment) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
}

async function readCsr(pem: unknown): Promise<CertificateRequest> {
  if (typeof pem !== 'string' || pem === '') throw new ApiError('MISSING_OR_INVALID_CSR');
  try {
    return await readRequest(pem);
  } catch (error) {
    if (error instanceof CsrError)
      throw new ApiError('COULD_NOT_PROCESS_CSR', { code: 'UNHANDLED', message: error.message });
    throw error;
  }
}

function fingerprintOf(pem: string): string {
  const [leaf] = parsePemCertificates(pem);
  return leaf ? sha1Fingerprint(leaf) : '';
}

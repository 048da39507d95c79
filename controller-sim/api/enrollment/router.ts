// Enrolls routers and renews their certificates over HTTP.

import { validity } from '#pki/certificate-chain.ts';
import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import type { EnrollmentCerts } from '#schemas/api/gen/answers.ts';
import type { RouterExtendEnrollmentRequest } from '#schemas/api/gen/bodies.ts';
import { useUp } from '../../entities/enrollment.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import { validityTimes } from '../../pki/validity-times.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { ApiRequest, ApiServices, Data } from '../operations/context.ts';
import { type EnrollmentBody, fieldsOf } from './enrollment-body.ts';

export async function enrollRouter(
  { services, body }: ApiRequest<'state' | 'authority', EnrollmentBody>,
  enrollment: Enrollment,
): Promise<Data<EnrollmentCerts>> {
  const id = enrollment.routerId ?? '';
  const signed = await signRouter(services, id, fieldsOf(body));
  await services.state.change((transaction) => {
    useUp(transaction, enrollment);
    transaction.patch('router', id, {
      fingerprint: sha1Fingerprint(leafOf(signed.cert)),
      certPem: signed.cert,
      isVerified: true,
    });
  });
  return { data: signed };
}

/**
 * Renews with the router's current certificate, which is invalid afterwards. The router presents it itself: an API
 * proxy that forwards it could otherwise take the place of every router.
 */
export async function extendRouter({
  services,
  body,
  certificates,
  viaRouter,
}: ApiRequest<'state' | 'authority' | 'clock', RouterExtendEnrollmentRequest>): Promise<Data<EnrollmentCerts>> {
  const { state, clock } = services;
  if (viaRouter !== undefined) throw new ApiError('UNAUTHORIZED');
  const [leaf] = certificates;
  const { now, latest } = validityTimes(clock);
  const router = leaf && state.tables.router.findBy('fingerprint', sha1Fingerprint(leaf));
  if (!router || validity(leaf, now, latest) !== undefined) throw new ApiError('UNAUTHORIZED');
  const signed = await signRouter(services, router.id, body);
  const fingerprint = sha1Fingerprint(leafOf(signed.cert));
  await state.change((transaction) => {
    if (transaction.get('router', router.id)?.fingerprint !== router.fingerprint) throw new ApiError('UNAUTHORIZED');
    transaction.patch('router', router.id, { fingerprint, certPem: signed.cert });
  });
  return { data: signed };
}

async function signRouter(
  { authority }: Pick<ApiServices, 'authority'>,
  id: string,
  given: ReturnType<typeof fieldsOf>,
) {
  const [client, server] = await Promise.all([
    readCsr(given.certCsr ?? given.clientCsr),
    readCsr(given.serverCertCsr ?? given.serverCsr, 'server'),
  ]);
  if (client.commonName !== id) throw new ApiError('EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID');
  const cert = authority.signRouter(client, id, 'client');
  const serverCert = authority.signRouter(server, id, 'server');
  return { ca: authority.bundle, cert, serverCert };
}

// Enrolls routers and renews their certificates over HTTP.

import { validity } from '#pki/certificate-chain.ts';
import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import { Body } from '../../entities/body.ts';
import { useUp } from '../../entities/enrollment.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { Enrollment } from '../../state/types.ts';
import type { Answer, ApiRequest, ApiServices } from '../http/context.ts';

export async function enrollRouter({ services, body }: ApiRequest, enrollment: Enrollment): Promise<Answer> {
  const id = enrollment.routerId ?? '';
  const signed = await signRouter(services, id, new Body(body, 'create'));
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
 * Renews with the router's current certificate, which is invalid afterwards. The router presents it itself: an API proxy
 * that forwards it could otherwise take the place of every router.
 */
export async function extendRouter({ services, body, certificates, viaRouter }: ApiRequest): Promise<Answer> {
  const { state, clock } = services;
  if (viaRouter !== undefined) throw new ApiError('UNAUTHORIZED');
  const [leaf] = certificates;
  const router = leaf && state.tables.router.findBy('fingerprint', sha1Fingerprint(leaf));
  if (!router || validity(leaf, clock.now()) !== undefined) throw new ApiError('UNAUTHORIZED');
  const signed = await signRouter(services, router.id, new Body(body, 'create'));
  const fingerprint = sha1Fingerprint(leafOf(signed.cert));
  await state.change((transaction) => {
    if (transaction.get('router', router.id)?.fingerprint !== router.fingerprint) throw new ApiError('UNAUTHORIZED');
    transaction.patch('router', router.id, { fingerprint, certPem: signed.cert });
  });
  return { data: signed };
}

async function signRouter({ authority }: ApiServices, id: string, body: Body) {
  const [client, server] = await Promise.all([
    readCsr(body.text('certCsr') ?? body.text('clientCsr')),
    readCsr(body.text('serverCertCsr') ?? body.text('serverCsr'), 'server'),
  ]);
  if (client.commonName !== id) throw new ApiError('EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID');
  const cert = authority.signRouter(client, id, 'client');
  const serverCert = authority.signRouter(server, id, 'server');
  return { ca: authority.bundle, cert, serverCert };
}

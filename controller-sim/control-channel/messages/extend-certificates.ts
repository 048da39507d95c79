// Renews a router's certificates from its requests. The new client certificate is valid once the router has confirmed
// it, or at once if the router does not confirm (reference fact: control channel, sections 2.2 and 7.1).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import {
  EnrollmentCertsResponseSchema,
  EnrollmentExtendRouterRequestSchema,
  EnrollmentExtendRouterVerifyRequestSchema,
  ErrorSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { CsrError, readRequest } from '../../pki/authority.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { edgeErrorMessage } from './edge-error.ts';

/** The answer is a separate message, as in the reference. */
export const onExtendCertificates: ControlHandler = async (context, router, message) => {
  const { authority } = context;
  const { clientCertCsr, serverCertCsr, requireVerification } = message.decode(EnrollmentExtendRouterRequestSchema);
  const old = fingerprintOfRouter(context, router.id);
  try {
    const [client, server] = await Promise.all([readRequest(clientCertCsr), readRequest(serverCertCsr)]);
    const clientCertPem = authority.signRouter(client, router.id, 'client');
    const serverCertPem = authority.signRouter(server, router.id, 'server');
    if (requireVerification) context.unverified.set(router.id, clientCertPem);
    else await install(context, router.id, { old, pem: clientCertPem });
    const response = create(EnrollmentCertsResponseSchema, {
      clientCertPem,
      serverCertPem,
      caCertsPem: authority.bundle,
    });
    router.channel.trySend(
      new Message(EdgeControlType.EnrollmentCertsResponse, [], toBinary(EnrollmentCertsResponseSchema, response)),
    );
  } catch (error) {
    context.log.warn(
      { routerId: router.id, error: describeError(error) },
      'could not renew the certificates of a router',
    );
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/** The answer is always an Error message; without a code it means success. */
export const onExtendVerify: ControlHandler = async (context, router, message) => {
  const { clientCertPem } = message.decode(EnrollmentExtendRouterVerifyRequestSchema);
  const waiting = context.unverified.get(router.id);
  const valid = waiting !== undefined && fingerprintOf(waiting) === fingerprintOf(clientCertPem);
  if (valid) {
    await install(context, router.id, { old: fingerprintOfRouter(context, router.id), pem: waiting });
    context.unverified.delete(router.id);
  }
  const verdict = valid
    ? {}
    : { code: 'INVALID_CERTIFICATE', message: 'the certificate is not the one that was issued' };
  router.channel.reply(
    message,
    new Message(EdgeControlType.Error, [], toBinary(ErrorSchema, create(ErrorSchema, verdict))),
  );
};

function fingerprintOfRouter({ state }: ControlContext, routerId: string): string | null | undefined {
  return state.tables.router.get(routerId)?.fingerprint;
}

/**
 * Replaces the certificate of a router that has the fingerprint `old`. Rejects if it has another or none: an
 * administrator who lets a router enroll again invalidates all its certificates.
 */
async function install(
  { state }: ControlContext,
  routerId: string,
  { old, pem }: { old: string | null | undefined; pem: string },
): Promise<void> {
  const fingerprint = fingerprintOf(pem);
  await state.change((transaction) => {
    if (!old || transaction.get('router', routerId)?.fingerprint !== old)
      throw new CsrError('the certificate of the router was replaced or invalidated meanwhile');
    transaction.patch('router', routerId, { fingerprint, certPem: pem });
  });
}

function fingerprintOf(pem: string): string {
  const [leaf] = parsePemCertificates(pem);
  return leaf ? sha1Fingerprint(leaf) : '';
}

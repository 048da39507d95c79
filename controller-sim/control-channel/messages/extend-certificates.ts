// Renewal of a router's certificates: new ones for its requests; the new client certificate counts once the router has said that it has
// it, or at once when it does not want to (reference fact: control channel, sections 2.2 and 7.1).

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
import { readRequest } from '../../pki/authority.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { edgeErrorMessage } from './edge-error.ts';

/** The answer is a message of its own, as the reference sends it. */
export const onExtendCertificates: ControlHandler = async (context, router, message) => {
  const { authority } = context;
  const { clientCertCsr, serverCertCsr, requireVerification } = message.decode(EnrollmentExtendRouterRequestSchema);
  try {
    const [client, server] = await Promise.all([readRequest(clientCertCsr), readRequest(serverCertCsr)]);
    const clientCertPem = authority.signRouter(client, router.id, 'client');
    const serverCertPem = authority.signRouter(server, router.id, 'server');
    if (requireVerification) context.unverified.set(router.id, clientCertPem);
    else await install(context, router.id, clientCertPem);
    const response = create(EnrollmentCertsResponseSchema, {
      clientCertPem,
      serverCertPem,
      caCertsPem: authority.bundle,
    });
    router.channel.trySend(
      new Message(EdgeControlType.EnrollmentCertsResponse, [], toBinary(EnrollmentCertsResponseSchema, response)),
    );
  } catch (error) {
    context.log.warn({ routerId: router.id, error: describeError(error) }, 'certificates could not be renewed');
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/** The answer is an Error message in any case; one without a code means that all is well. */
export const onExtendVerify: ControlHandler = async (context, router, message) => {
  const { clientCertPem } = message.decode(EnrollmentExtendRouterVerifyRequestSchema);
  const waiting = context.unverified.get(router.id);
  const valid = waiting !== undefined && fingerprintOf(waiting) === fingerprintOf(clientCertPem);
  if (valid) {
    await install(context, router.id, waiting);
    context.unverified.delete(router.id);
  }
  const verdict = valid ? {} : { code: 'INVALID_CERTIFICATE', message: 'this is not the certificate that was sent' };
  router.channel.reply(
    message,
    new Message(EdgeControlType.Error, [], toBinary(ErrorSchema, create(ErrorSchema, verdict))),
  );
};

async function install({ state }: ControlContext, routerId: string, pem: string): Promise<void> {
  const fingerprint = fingerprintOf(pem);
  await state.change((transaction) => transaction.patch('router', routerId, { fingerprint, certPem: pem }));
}

function fingerprintOf(pem: string): string {
  const [leaf] = parsePemCertificates(pem);
  return leaf ? sha1Fingerprint(leaf) : '';
}

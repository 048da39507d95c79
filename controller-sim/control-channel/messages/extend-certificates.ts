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
import type { Transaction } from '../../state/transaction.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { edgeErrorMessage } from './edge-error.ts';

/** Answers to a confirmation. The codes are those of the reference, checked in this order. */
const VERDICTS = {
  missing: { code: 'MISSING_CLIENT_PEM', message: 'the request has no certificate' },
  unexpected: { code: 'INVALID_ROUTER_STATE', message: 'the router has no certificate to confirm' },
  invalid: { code: 'INVALID_CLIENT_PEM', message: 'the certificate is not the one that was issued' },
  valid: {},
} as const;

/** The answer is a separate message, as in the reference. */
export const onExtendCertificates: ControlHandler<'state' | 'authority' | 'log'> = async (context, router, message) => {
  const { state, authority } = context;
  const { clientCertCsr, serverCertCsr, requireVerification } = message.decode(EnrollmentExtendRouterRequestSchema);
  const old = fingerprintOfRouter(context, router.id);
  try {
    const [client, server] = await Promise.all([readRequest(clientCertCsr), readRequest(serverCertCsr)]);
    const clientCertPem = authority.signRouter(client, router.id, 'client');
    const serverCertPem = authority.signRouter(server, router.id, 'server');
    await state.change((transaction) => {
      requireUnchanged(transaction, router.id, old);
      if (requireVerification) transaction.patch('router', router.id, { unverifiedCertPem: clientCertPem });
      else install(transaction, router.id, clientCertPem);
    });
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
export const onExtendVerify: ControlHandler<'state'> = async ({ state }, router, message) => {
  const { clientCertPem } = message.decode(EnrollmentExtendRouterVerifyRequestSchema);
  const confirmed = readFingerprint(clientCertPem);
  const verdict = await state.change((transaction) => {
    const waiting = transaction.get('router', router.id)?.unverifiedCertPem;
    if (clientCertPem === '') return VERDICTS.missing;
    if (!waiting) return VERDICTS.unexpected;
    if (fingerprintOf(waiting) !== confirmed) return VERDICTS.invalid;
    install(transaction, router.id, waiting);
    return VERDICTS.valid;
  });
  router.channel.reply(
    message,
    new Message(EdgeControlType.Error, [], toBinary(ErrorSchema, create(ErrorSchema, verdict))),
  );
};

function fingerprintOfRouter({ state }: Pick<ControlContext, 'state'>, routerId: string): string | null | undefined {
  return state.tables.router.get(routerId)?.fingerprint;
}

/**
 * Throws if the router has another certificate than the one with the fingerprint `old`, or none: an administrator who
 * lets a router enroll again invalidates all its certificates, also those that are being signed.
 */
function requireUnchanged(transaction: Transaction, routerId: string, old: string | null | undefined): void {
  if (!old || transaction.get('router', routerId)?.fingerprint !== old)
    throw new CsrError('the certificate of the router was replaced or invalidated meanwhile');
}

function install(transaction: Transaction, routerId: string, certPem: string): void {
  const fingerprint = fingerprintOf(certPem);
  transaction.patch('router', routerId, { fingerprint, certPem, unverifiedCertPem: null });
}

/** Undefined for a certificate that cannot be read: the router waits for an answer, not for its time limit. */
function readFingerprint(pem: string): string | undefined {
  try {
    return fingerprintOf(pem);
  } catch {
    return undefined;
  }
}

function fingerprintOf(pem: string): string {
  const [leaf] = parsePemCertificates(pem);
  return leaf ? sha1Fingerprint(leaf) : '';
}

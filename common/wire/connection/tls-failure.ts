// Explains why a TLS handshake with a dialed server failed: the reason with the data of its certificate, and a remedy.
// OpenSSL's texts name neither the certificate, nor the authorities, nor what to change.

import type { X509Certificate } from 'node:crypto';
import { errorCode } from '#lib/errors.ts';
import { compressedIps } from '#lib/text/ip-text.ts';
import { validity } from '#pki/certificate-chain.ts';
import { commonName } from '#pki/certificates.ts';

export interface TlsFailure {
  readonly reason: string;
  readonly remedy: string;
}

export interface TlsFailureContext {
  /** The dialed address. */
  readonly where: string;
  /** Host name or IP address that the certificate must contain. */
  readonly host: string;
  /** The certificate of the server, if it was received. */
  readonly leaf: X509Certificate | undefined;
  /** The source of the trusted authorities, such as `identity.ca (/etc/router.cas)`. */
  readonly authorities: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Explain = (context: TlsFailureContext) => TlsFailure;

/** Characters of a name in a certificate that appear in an error. */
const MAX_TEXT_LENGTH = 200;

const FOREIGN: readonly string[] = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
];
const NO_TLS: readonly string[] = [
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_RECORD_LAYER_FAILURE',
];
/** The server does not accept the router's certificate. */
const REJECTED: readonly string[] = [
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED',
  'ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE',
];

const EXPLANATIONS: ReadonlyMap<string, Explain> = new Map([
  ...FOREIGN.map((code) => [code, explainForeign] as const),
  ...NO_TLS.map((code) => [code, explainNoTls] as const),
  ...REJECTED.map((code) => [code, explainRejected] as const),
  ['CERT_HAS_EXPIRED', explainDates] as const,
  ['CERT_NOT_YET_VALID', explainDates] as const,
  ['ERR_TLS_CERT_ALTNAME_INVALID', explainName] as const,
  ['INVALID_PURPOSE', explainPurpose] as const,
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', explainProtocol] as const,
]);

/** Undefined if the error is not one of a handshake. */
export function explainTlsFailure(error: unknown, context: TlsFailureContext): TlsFailure | undefined {
  return EXPLANATIONS.get(errorCode(error) ?? '')?.(context);
}

function explainForeign({ where, leaf, authorities }: TlsFailureContext): TlsFailure {
  const issuer = leaf && ` (${subjectOf(leaf)}, issued by ${nameIn(leaf.issuer)})`;
  return {
    reason: `the certificate of the server${issuer ?? ''} does not lead to an authority of ${authorities}`,
    remedy:
      `check that a server of this network listens at ${where}; if its authorities were replaced, ` +
      `add the new ones to ${authorities}, or enroll this router again`,
  };
}

/** The dates of the leaf, or of an authority above it. */
function explainDates({ where, leaf, now }: TlsFailureContext): TlsFailure {
  const clock = `the clock of this machine says ${new Date(now).toISOString()}: if it is wrong, correct it`;
  return {
    reason:
      (leaf && validity(leaf, now)) ?? 'the dates of an authority above the certificate of the server are not valid',
    remedy: `${clock}; if it is right, renew the certificate of the server at ${where}, or correct the clock there`,
  };
}

function explainName({ where, host, leaf }: TlsFailureContext): TlsFailure {
  const names =
    leaf?.subjectAltName === undefined ? 'no names' : compressedIps(leaf.subjectAltName).slice(0, MAX_TEXT_LENGTH);
  return {
    reason: `the certificate of the server does not contain ${host}; it contains ${names}`,
    remedy:
      `use one of its names in the address ${where}, or add ${host} to the certificate of the server ` +
      '(csr.sans of a router, then run it with --extend)',
  };
}

function explainPurpose({ where, leaf }: TlsFailureContext): TlsFailure {
  const subject = leaf ? ` (${subjectOf(leaf)})` : '';
  return {
    reason: `the certificate of the server${subject} may not be used by servers`,
    remedy: `install a certificate for servers at ${where}: a router needs identity.server_cert`,
  };
}

function explainRejected({ where }: TlsFailureContext): TlsFailure {
  return {
    reason: 'the server rejects the certificate of this router',
    remedy: `check that a server of this network listens at ${where}; run "config check", and enroll this router again`,
  };
}

function explainNoTls({ where }: TlsFailureContext): TlsFailure {
  return {
    reason: 'the server does not answer with TLS',
    remedy: `check host and port of ${where}: another program listens there`,
  };
}

function explainProtocol({ where }: TlsFailureContext): TlsFailure {
  return {
    reason: 'the server does not offer the protocol of this connection',
    remedy: `check host and port of ${where}: another program, or another listener of a router, listens there`,
  };
}

function subjectOf(certificate: X509Certificate): string {
  return commonName(certificate)?.slice(0, MAX_TEXT_LENGTH) ?? nameIn(certificate.subject);
}

/** The name of a subject or issuer in one line. Node separates its parts by newlines. */
export function nameIn(distinguished: string | undefined): string {
  return (distinguished || 'an unnamed subject').replaceAll('\n', ', ').slice(0, MAX_TEXT_LENGTH);
}

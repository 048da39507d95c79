// X.509 for both ends: reads PEM, formats fingerprints as the network does, and returns the certificates of a TLS peer.
// `certificate-chain.ts` verifies chains. Other files create certificates and CSRs.

import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { describeError, ProjectError } from '#lib/errors.ts';
import { compressedIps } from '#lib/text/ip-text.ts';

const PEM_BEGIN = '-----BEGIN CERTIFICATE-----';
const PEM_END = '-----END CERTIFICATE-----';
const COMMON_NAME = 'CN=';
/** Matches one name in Node's text form. Node quotes a value with a comma, so that it cannot pass for two names. */
const ALT_NAME = /([^:,]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?:, |$)/g;
/** Certificates read from a TLS peer: one more than `verifyChain` accepts, so that it detects too many. */
const MAX_PRESENTED = 11;

export class CertificateError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BAD_CERTIFICATE', message, options);
  }
}

/** All certificates of a PEM text in order; other text is skipped. @throws CertificateError for an invalid block */
export function parsePemCertificates(pem: string): X509Certificate[] {
  const { certificates, problems } = readablePemCertificates(pem);
  const [problem] = problems;
  if (problem !== undefined) throw new CertificateError(problem);
  return [...certificates];
}

interface ReadableCertificates {
  readonly certificates: readonly X509Certificate[];
  /** A message about each invalid block. */
  readonly problems: readonly string[];
}

/** The certificates of a PEM text in order, without the invalid blocks. */
export function readablePemCertificates(pem: string): ReadableCertificates {
  const certificates: X509Certificate[] = [];
  const problems: string[] = [];
  for (const [index, block] of pemBlocks(pem).entries()) {
    try {
      certificates.push(new X509Certificate(block));
    } catch (error) {
      problems.push(`certificate ${index + 1} cannot be read: ${describeError(error)}`);
    }
  }
  return { certificates, problems };
}

/** Whether a PEM text ends within a certificate, for example because another program is writing the file. */
export function isUnfinishedPem(pem: string): boolean {
  return pem.lastIndexOf(PEM_BEGIN) > pem.lastIndexOf(PEM_END);
}

/** Uses a search instead of a pattern: a pattern takes quadratic time for many beginnings without an end. */
function pemBlocks(pem: string): string[] {
  const blocks: string[] = [];
  for (let start = pem.indexOf(PEM_BEGIN); start >= 0; ) {
    const end = pem.indexOf(PEM_END, start);
    if (end < 0) break;
    const next = end + PEM_END.length;
    blocks.push(pem.slice(start, next));
    start = pem.indexOf(PEM_BEGIN, next);
  }
  return blocks;
}

/**
 * The first certificate of a PEM text, which is the leaf of a chain. @throws CertificateError if it is missing or
 * unreadable
 */
export function leafOf(pem: string): X509Certificate {
  const [leaf] = parsePemCertificates(pem);
  if (!leaf) throw new CertificateError('the text contains no certificate');
  return leaf;
}

/** Lower-case hex SHA-1 of the DER form, without separators: the network's name of a certificate. */
export function sha1Fingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint.replaceAll(':', '').toLowerCase();
}

/** Whether the certificate of a server has this name; its common name does not count. */
export function hasHostName(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { subject: 'never' }) !== undefined;
}

/** The common name of the subject, or undefined. The last of several counts, as in the reference. */
export function commonName(certificate: X509Certificate): string | undefined {
  // In Node's text form, ` + ` joins attributes of one relative name; a plus in a value is escaped.
  const attributes = (certificate.subject ?? '').split(/\n| \+ /);
  const escaped = attributes.findLast((each) => each.startsWith(COMMON_NAME))?.slice(COMMON_NAME.length);
  // The text form of a name escapes special characters with a backslash (RFC 2253).
  return (escaped || undefined)?.replace(
    /\\([0-9A-F]{2})|\\(.)/g,
    (_whole, hex: string | undefined, character: string) =>
      hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Subject alternative names by kind, in the order of the certificate. */
export function subjectAltNames(certificate: X509Certificate): {
  dns: string[];
  ip: string[];
  uri: string[];
  email: string[];
} {
  const names = { dns: [] as string[], ip: [] as string[], uri: [] as string[], email: [] as string[] };
  for (const [, kind, quoted, plain = ''] of (certificate.subjectAltName ?? '').matchAll(ALT_NAME)) {
    const value = quoted === undefined ? plain : (JSON.parse(quoted) as string);
    if (kind === 'DNS') names.dns.push(value);
    else if (kind === 'IP Address') names.ip.push(compressedIps(value));
    else if (kind === 'URI') names.uri.push(value);
    else if (kind === 'email') names.email.push(value);
  }
  return names;
}

/** A TLS connection, or what is known of one that another thread carries. */
export type PresentingSocket =
  | Pick<TLSSocket, 'getPeerX509Certificate'>
  | { readonly presented: readonly X509Certificate[] };

/** The certificates that the peer of a TLS connection presented, leaf first; empty if it presented none. */
export function peerCertificates(socket: PresentingSocket): readonly X509Certificate[] {
  if ('presented' in socket) return socket.presented;
  const chain: X509Certificate[] = [];
  let certificate = socket.getPeerX509Certificate();
  while (certificate && chain.length < MAX_PRESENTED) {
    chain.push(certificate);
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

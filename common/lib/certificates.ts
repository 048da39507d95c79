// X.509 for both ends: reading PEM, fingerprints as the network writes them, what a TLS peer presented, and the
// verification of a presented chain against a pool of roots. Making certificates and CSRs is not done here.

import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { describeError, ProjectError } from './errors.ts';

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/** One name of the text that Node makes of them: a value with a comma in it is quoted, so that it cannot pass for two names. */
const ALT_NAME = /([^:,]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))(?:, |$)/g;
/** No real chain is longer; a longer one is an attack or a loop. */
const LONGEST_CHAIN = 10;

export class CertificateError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BAD_CERTIFICATE', message, options);
  }
}

/** All certificates of a PEM text in their order; text around them is skipped. Throws CertificateError for a bad block. */
export function parsePemCertificates(pem: string): X509Certificate[] {
  return (pem.match(PEM_BLOCK) ?? []).map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new CertificateError(`certificate ${index + 1} cannot be read: ${describeError(error)}`, { cause: error });
    }
  });
}

/** The first certificate of a PEM text, of a chain the one that it is about. Throws CertificateError when there is none that can be read. */
export function leafOf(pem: string): X509Certificate {
  const [leaf] = parsePemCertificates(pem);
  if (!leaf) throw new CertificateError('there is no certificate in the text');
  return leaf;
}

/** Lower case hex SHA-1 of the DER form, without separators: how the network names a certificate. */
export function sha1Fingerprint(certificate: X509Certificate): string {
  return certificate.fingerprint.replaceAll(':', '').toLowerCase();
}

/** The common name of the subject, or undefined. */
export function commonName(certificate: X509Certificate): string | undefined {
  const shown = /^CN=(.+)$/m.exec(certificate.subject ?? '')?.[1];
  // Characters that have a meaning in the text form of a name stand behind a backslash there (RFC 2253).
  return shown?.replace(/\\([0-9A-F]{2})|\\(.)/g, (_whole, hex: string | undefined, character: string) =>
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
    else if (kind === 'IP Address') names.ip.push(value);
    else if (kind === 'URI') names.uri.push(value);
    else if (kind === 'email') names.email.push(value);
  }
  return names;
}

/** What the peer of a TLS connection presented, leaf first; empty when it presented nothing. */
export function peerCertificates(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let current = socket.getPeerCertificate(true) as ReturnType<TLSSocket['getPeerCertificate']> | undefined;
  while (current?.raw && chain.length < LONGEST_CHAIN) {
    const certificate = new X509Certificate(current.raw);
    if (chain.at(-1)?.fingerprint256 === certificate.fingerprint256) break;
    chain.push(certificate);
    const issuer = (current as { issuerCertificate?: typeof current }).issuerCertificate;
    current = issuer === current ? undefined : issuer;
  }
  return chain;
}

export interface ChainOptions {
  /** Milliseconds since the epoch at which the certificates must be valid; left out, dates are not looked at. */
  now?: number;
  /** Those that were valid once are taken too. */
  allowExpired?: boolean;
}

export type ChainVerdict = { ok: true; chain: X509Certificate[] } | { ok: false; reason: string };

/**
 * Looks for a chain of signatures from `presented[0]` over the other presented certificates to one of `roots`.
 * A root is trusted by being in the pool, whether it signed itself or not.
 */
export function verifyChain(
  presented: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  options: ChainOptions = {},
): ChainVerdict {
  const leaf = presented[0];
  if (!leaf) return { ok: false, reason: 'no certificate was presented' };
  const chain = findChain([leaf], presented.slice(1), roots);
  if (!chain)
    return { ok: false, reason: `the certificate of ${shown(leaf)} does not lead to a trusted certificate authority` };
  if (options.now !== undefined) {
    for (const certificate of chain) {
      const at = options.allowExpired ? Math.min(options.now, certificate.validToDate.getTime()) : options.now;
      const expiry = validity(certificate, at);
      if (expiry) return { ok: false, reason: expiry };
    }
  }
  return { ok: true, chain };
}

/** Why a certificate is not valid at `now` (milliseconds), or undefined. */
export function validity(certificate: X509Certificate, now: number): string | undefined {
  if (now < certificate.validFromDate.getTime())
    return `the certificate of ${shown(certificate)} is not valid before ${certificate.validFrom}`;
  if (now > certificate.validToDate.getTime())
    return `the certificate of ${shown(certificate)} expired on ${certificate.validTo}`;
  return undefined;
}

function findChain(
  chain: X509Certificate[],
  between: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): X509Certificate[] | undefined {
  const last = chain.at(-1) as X509Certificate;
  if (roots.some((root) => root.fingerprint256 === last.fingerprint256)) return chain;
  for (const root of roots) if (signed(root, last)) return [...chain, root];
  if (chain.length >= LONGEST_CHAIN) return undefined;
  for (const candidate of between) {
    if (chain.includes(candidate) || !signed(candidate, last)) continue;
    const longer = findChain([...chain, candidate], between, roots);
    if (longer) return longer;
  }
  return undefined;
}

function signed(issuer: X509Certificate, subject: X509Certificate): boolean {
  return issuer.ca && subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
}

function shown(certificate: X509Certificate): string {
  return commonName(certificate) ?? (certificate.subject || 'an unnamed subject').replaceAll('\n', ', ');
}

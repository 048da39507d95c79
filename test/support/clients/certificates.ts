// Certificates and authorities outside of the simulator's network, for clients of third-party authorities.

import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { x509 } from '../../../controller-sim/pki/x509.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 86_400_000;
const PURPOSES = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;

export interface Issued {
  /** A certificate with its intermediates. */
  readonly pem: string;
  readonly key: KeyObject;
}

export interface Authority {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

export interface IssueOptions {
  /** Milliseconds since the epoch. */
  readonly from?: number;
  readonly to?: number;
  /** By default the certificate has no extended key usage. */
  readonly purposes?: readonly (keyof typeof PURPOSES)[];
  readonly uris?: readonly string[];
  readonly emails?: readonly string[];
  readonly ips?: readonly string[];
  readonly hosts?: readonly string[];
  /** The key of another certificate instead of a new one. */
  readonly key?: KeyObject;
}

export interface AuthorityOptions {
  /** Limit on authorities below it. */
  readonly pathLength?: number;
  /** The keys of another authority instead of new ones. */
  readonly keys?: webcrypto.CryptoKeyPair;
  /** Milliseconds since the epoch. */
  readonly to?: number;
  /** In addition to the basic constraints. */
  readonly extensions?: readonly x509.Extension[];
}

/** A claim of an authority: the external id is the whole common name. */
export const BY_COMMON_NAME = {
  location: 'COMMON_NAME',
  matcher: 'ALL',
  matcherCriteria: '',
  parser: 'NONE',
  parserCriteria: '',
  index: 0,
};

/** A self-signed authority, or one below another. */
export async function makeAuthority(
  name: string,
  above?: Authority,
  { pathLength, to = Date.now() + DAY, extensions = [], ...options }: AuthorityOptions = {},
): Promise<Authority> {
  const keys = options.keys ?? (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']));
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${name}`,
    issuer: above?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(Date.now() - 2 * DAY),
    notAfter: new Date(to),
    publicKey: keys.publicKey,
    signingKey: (above ?? { keys }).keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, pathLength, true), ...extensions],
  });
  return { certificate, keys };
}

/** `subject` is a common name. */
export async function issue(authority: Authority, subject: string, options: IssueOptions = {}): Promise<Issued> {
  const {
    from = Date.now() - DAY,
    to = Date.now() + DAY,
    purposes,
    uris = [],
    emails = [],
    ips = [],
    hosts = [],
  } = options;
  const privateKey = options.key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const names = [
    ...uris.map((value) => ({ type: 'url' as const, value })),
    ...emails.map((value) => ({ type: 'email' as const, value })),
    ...ips.map((value) => ({ type: 'ip' as const, value })),
    ...hosts.map((value) => ({ type: 'dns' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: [{ CN: [subject] }],
    issuer: authority.certificate.subject,
    notBefore: new Date(from),
    notAfter: new Date(to),
    publicKey: await importPublic(privateKey),
    signingKey: authority.keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
      ...(purposes ? [new x509.ExtendedKeyUsageExtension(purposes.map((purpose) => PURPOSES[purpose]))] : []),
    ],
  });
  return { pem: `${certificate.toString('pem')}\n`, key: privateKey };
}

function importPublic(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', new Uint8Array(spki), ALGORITHM, true, ['verify']);
}

function serial(): string {
  return `01${randomBytes(8).toString('hex')}`;
}

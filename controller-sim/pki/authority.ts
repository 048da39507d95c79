// The simulator's certificate authority: a root, an intermediate that signs, and the certificate of its own listeners. Made once
// per data file and kept there.

import { createHash, createPrivateKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { sha1Fingerprint, subjectAltNames } from '#lib/certificates.ts';
import type { Clock } from '#lib/clock.ts';
import { ProjectError } from '#lib/errors.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import type { State } from '../state/state.ts';
import { x509 } from './x509.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Peers with clocks that are a little behind must not refuse what was just made. */
const BACKDATED = 10 * 60_000;
const YEAR = 365 * 86_400_000;
const META = { root: 'pki.root', intermediate: 'pki.intermediate', server: 'pki.server' } as const;
/** A server certificate is made anew when less than this is left of it. */
const RENEW_SERVER = 30 * 86_400_000;
const PURPOSES = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

interface Names {
  readonly dns: readonly string[];
  readonly ip: readonly string[];
  readonly uri: readonly string[];
  readonly email: readonly string[];
}

export class CsrError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CSR', message, options);
  }
}

export interface CertificateRequest {
  readonly commonName: string | undefined;
  readonly names: Names;
  readonly publicKey: webcrypto.CryptoKey;
}

export interface AuthorityComponents {
  state: State;
  clock: Clock;
  random?: Random;
}

export class Authority {
  readonly trustDomain: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #root: Pair;
  readonly #intermediate: Pair;
  readonly #server: Pair;

  private constructor(components: AuthorityComponents, root: Pair, intermediate: Pair, server: Pair) {
    this.#clock = components.clock;
    this.#random = components.random ?? systemRandom;
    this.#root = root;
    this.#intermediate = intermediate;
    this.#server = server;
    this.trustDomain = createHash('sha1').update(new X509Certificate(root.certificate).raw).digest('hex');
  }

  /** Takes the authority out of the state, or makes it. `names` are the hosts that the listener is reached by. */
  static async open(components: AuthorityComponents, names: readonly string[]): Promise<Authority> {
    const { state, clock } = components;
    const random = components.random ?? systemRandom;
    const root =
      readPair(state.meta(META.root)) ?? (await makeAuthority(clock, random, 'Edgeweave Simulator Root', undefined));
    const intermediate =
      readPair(state.meta(META.intermediate)) ??
      (await makeAuthority(clock, random, 'Edgeweave Simulator Signer', root));
    const stored = readPair(state.meta(META.server));
    const server =
      stored && covers(stored, names, clock.now())
        ? stored
        : await makeServer(clock, random, intermediate, names, stored);
    const meta = { [META.root]: root, [META.intermediate]: intermediate, [META.server]: server };
    await state.putMeta(new Map(Object.entries(meta).map(([key, pair]) => [key, JSON.stringify(pair)])));
    return new Authority(components, root, intermediate, server);
  }

  /** What routers and SDKs are to trust. */
  get bundle(): string {
    return this.#root.certificate + this.#intermediate.certificate;
  }

  /** Against these, client certificates are verified. */
  get roots(): X509Certificate[] {
    return [new X509Certificate(this.#root.certificate), new X509Certificate(this.#intermediate.certificate)];
  }

  /** For the listener. */
  serverContext(): SecureContextOptions {
    return { cert: this.#server.certificate + this.#intermediate.certificate, key: this.#server.key, ca: this.bundle };
  }

  /** The leaf of the listener; its key also signs tokens. */
  get serverCertificate(): X509Certificate {
    return new X509Certificate(this.#server.certificate);
  }

  get signingKey(): KeyObject {
    return createPrivateKey(this.#server.key);
  }

  /** Names the signing key in tokens. */
  get keyId(): string {
    return sha1Fingerprint(this.serverCertificate);
  }

  /**
   * Signs a request for one year. The common name and the names are those of the request; `spiffe` is the path of the SPIFFE id, such as
   * `router/ID`. Answers the chain, leaf first.
   */
  async sign(
    request: CertificateRequest,
    options: { commonName: string; spiffe: string; purposes: readonly (keyof typeof PURPOSES)[] },
  ): Promise<string> {
    const names = { ...request.names, uri: [...request.names.uri, `spiffe://${this.trustDomain}/${options.spiffe}`] };
    const certificate = await issue(this.#clock, this.#random, this.#intermediate, {
      subject: options.commonName,
      publicKey: request.publicKey,
      names,
      purposes: options.purposes,
      lifetime: YEAR,
    });
    return certificate + this.#intermediate.certificate;
  }
}

/** Reads and verifies a PEM request. Throws CsrError. */
export async function readRequest(pem: string): Promise<CertificateRequest> {
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    if (!(await request.verify())) throw new CsrError('the request is not signed by its own key');
    const extension = request.extensions.find((each) => each instanceof x509.SubjectAlternativeNameExtension);
    const of = (type: string) =>
      extension?.names.items.filter((name) => name.type === type).map((name) => name.value) ?? [];
    return {
      commonName: request.subjectName.getField('CN')[0],
      names: { dns: of('dns'), ip: of('ip'), uri: of('url'), email: of('email') },
      publicKey: await request.publicKey.export(),
    };
  } catch (error) {
    if (error instanceof CsrError) throw error;
    throw new CsrError('this is no certificate request that can be read', { cause: error });
  }
}

function readPair(text: string | undefined): Pair | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Pair);
}

function covers(pair: Pair, names: readonly string[], now: number): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const { dns, ip } = subjectAltNames(certificate);
  const covered = new Set([...dns, ...ip]);
  return (
    names.every((name) => covered.has(name) || isIpv6(name)) && certificate.validToDate.getTime() - now > RENEW_SERVER
  );
}

function isIpv6(name: string): boolean {
  return name.includes(':'); // certificates write it in another form; it is always among the names
}

async function makeAuthority(clock: Clock, random: Random, name: string, issuer: Pair | undefined): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const subject = `CN=${name}`;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(random),
    subject,
    issuer: issuer ? new x509.X509Certificate(issuer.certificate).subject : subject,
    ...period(clock, 10 * YEAR),
    publicKey: keys.publicKey,
    signingKey: issuer ? await importKey(issuer.key) : keys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, issuer ? 0 : undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, key: await exportKey(keys.privateKey) };
}

/** Keeps the key of an older certificate: tokens that it signed stay valid. */
async function makeServer(
  clock: Clock,
  random: Random,
  issuer: Pair,
  hosts: readonly string[],
  previous: Pair | undefined,
): Promise<Pair> {
  const keys = previous ? undefined : await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const key = previous?.key ?? (await exportKey((keys as webcrypto.CryptoKeyPair).privateKey));
  const publicKey = keys?.publicKey ?? (await publicKeyOf(new X509Certificate((previous as Pair).certificate)));
  const isIp = (host: string) => /^[\d.]+$/.test(host) || host.includes(':');
  const names: Names = { dns: hosts.filter((host) => !isIp(host)), ip: hosts.filter(isIp), uri: [], email: [] };
  const certificate = await issue(clock, random, issuer, {
    subject: 'Edgeweave Simulator',
    publicKey,
    names,
    purposes: ['server', 'client'],
    lifetime: YEAR,
  });
  return { certificate, key };
}

async function issue(
  clock: Clock,
  random: Random,
  issuer: Pair,
  leaf: {
    subject: string;
    publicKey: webcrypto.CryptoKey;
    names: Names;
    purposes: readonly (keyof typeof PURPOSES)[];
    lifetime: number;
  },
): Promise<string> {
  const names = [
    ...leaf.names.dns.map((value) => ({ type: 'dns' as const, value })),
    ...leaf.names.ip.map((value) => ({ type: 'ip' as const, value })),
    ...leaf.names.uri.map((value) => ({ type: 'url' as const, value })),
    ...leaf.names.email.map((value) => ({ type: 'email' as const, value })),
  ];
  const parent = new x509.X509Certificate(issuer.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(random),
    subject: [{ CN: [leaf.subject] }],
    issuer: parent.subject,
    ...period(clock, leaf.lifetime),
    publicKey: leaf.publicKey,
    signingKey: await importKey(issuer.key),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension(leaf.purposes.map((purpose) => PURPOSES[purpose])),
      await x509.AuthorityKeyIdentifierExtension.create(parent),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

function period(clock: Clock, lifetime: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(clock.now() - BACKDATED), notAfter: new Date(clock.now() + lifetime) };
}

/** Positive, as the standard demands. */
function serial(random: Random): string {
  const bytes = random.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x01, 0);
  return bytes.toString('hex');
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return `-----BEGIN PRIVATE KEY-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END PRIVATE KEY-----\n`;
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', new Uint8Array(der), ALGORITHM, false, ['sign']);
}

function publicKeyOf(certificate: X509Certificate): Promise<webcrypto.CryptoKey> {
  const der = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', new Uint8Array(der), ALGORITHM, true, ['verify']);
}

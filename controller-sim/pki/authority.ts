// The simulator's certificate authority: a root, a signing intermediate, and the server certificate of its listener.
// Created once per data file and stored there.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { promisify } from 'node:util';
import { describeError, ProjectError } from '#lib/errors.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { realTime } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import { sha1Fingerprint, subjectAltNames } from '#pki/certificates.ts';
import type { GeneralNames } from '#pki/general-names.ts';
import type { Jwk } from '#schemas/api/gen/answers.ts';
import type { State } from '../state/state.ts';
import { memberKey } from '../state/store/shared-store.ts';
import { DamagedError } from '../state/store/store.ts';
import { issueAuthority, issueLeaf, type LeafFields, newSerial, type Pair, type Purpose } from './certificate.ts';

/**
 * For the listener's key, which also signs tokens: SDKs of 2022 cannot verify tokens with elliptic curve signatures,
 * and fail to enroll (reference fact: recording 390).
 */
const SERVER_KEY_BITS = 2_048;
const generateKey = promisify(generateKeyPair);
/** Peers with slightly slow clocks must accept new certificates. */
const BACKDATED = 10 * 60_000;
const YEAR = 365 * 86_400_000;
/**
 * Lifetime of authorities: longer than the lab's clock goes ahead, also for data that are years old. A network without
 * authorities cannot be repaired.
 */
const TWENTY_YEARS = 20 * YEAR;
const META = {
  root: 'pki.root',
  intermediate: 'pki.intermediate',
  server: 'pki.server',
} as const;
/** A server certificate is renewed if less than this remains of it. */
const RENEW_SERVER = 30 * 86_400_000;
/** In bits. Shorter keys have been broken, or soon will be. */
const MIN_RSA_KEY_BITS = 2_048;
const ASCII = /^[\0-\x7f]*$/;
const NO_NAMES: GeneralNames = { dns: [], ip: [], uri: [], email: [] };

export class CsrError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CSR', message, options);
  }
}

/** The used parts of a request. Other extensions (key usage, basic constraints, …) never reach a certificate. */
export interface CertificateRequest {
  /** Compared with the client's permitted name, never copied. */
  readonly commonName: string | undefined;
  /** Copied for routers only. */
  readonly names: GeneralNames;
  /** DER. */
  readonly publicKey: Buffer;
}

interface Pairs {
  readonly root: Pair;
  readonly intermediate: Pair;
  readonly server: Pair;
  readonly listener: Pair;
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
  readonly #listener: Pair;
  /**
   * The certificate of the key that signs tokens: that of the listener, or a common one of all members of a cluster.
   */
  readonly serverCertificate: X509Certificate;
  readonly signingKey: KeyObject;
  /** The id of the signing key in tokens. */
  readonly keyId: string;

  private constructor(components: AuthorityComponents, { root, intermediate, server, listener }: Pairs) {
    this.#clock = components.clock;
    this.#random = components.random ?? systemRandom;
    this.#root = root;
    this.#intermediate = intermediate;
    this.#listener = listener;
    this.serverCertificate = new X509Certificate(server.certificate);
    this.signingKey = createPrivateKey(server.key);
    this.keyId = sha1Fingerprint(this.serverCertificate);
    this.trustDomain = createHash('sha1').update(new X509Certificate(root.certificate).raw).digest('hex');
  }

  /**
   * Loads the authority from the state, or creates it. `names` are the host names of the listener. The members of a
   * cluster have one key, and certificates with their own names: enrolling clients verify their token with the key of
   * the server that they reach.
   */
  static async open(components: AuthorityComponents, names: readonly string[], memberId?: string): Promise<Authority> {
    const { state, clock } = components;
    const random = components.random ?? systemRandom;
    const root = readPair(state, META.root) ?? makeAuthority(clock, random, 'Edgeweave Simulator Root', undefined);
    const intermediate =
      readPair(state, META.intermediate) ?? makeAuthority(clock, random, 'Edgeweave Simulator Signer', root);
    const stored = readPair(state, META.server);
    const server =
      stored && covers(stored, memberId === undefined ? names : [], clock.now())
        ? stored
        : await makeServer(clock, random, intermediate, names, stored);
    const pairs: Record<string, Pair> = { [META.root]: root, [META.intermediate]: intermediate, [META.server]: server };
    let listener = server;
    if (memberId !== undefined) {
      const key = memberKey('pki.listener', memberId);
      const own = readPair(state, key);
      const isUsable = own && own.key === server.key && covers(own, names, clock.now());
      listener = isUsable ? own : await makeServer(clock, random, intermediate, names, server);
      pairs[key] = listener;
    }
    await state.putMeta(new Map(Object.entries(pairs).map(([key, pair]) => [key, JSON.stringify(pair)])));
    return new Authority(components, { root, intermediate, server, listener });
  }

  /** The trust anchors for routers and SDKs. */
  get bundle(): string {
    return this.#root.certificate + this.#intermediate.certificate;
  }

  /** Trust anchors for client certificates. */
  get roots(): X509Certificate[] {
    return [new X509Certificate(this.#root.certificate), new X509Certificate(this.#intermediate.certificate)];
  }

  /**
   * For the listener. It announces no authorities: clients of authorities that are added later must present
   * certificates, too. A Go client presents none if its authority is not announced.
   */
  serverContext(): SecureContextOptions {
    return { cert: this.#listener.certificate + this.#intermediate.certificate, key: this.#listener.key, ca: [] };
  }

  /** The server certificate of the listener, in PEM. */
  get listenerCertificate(): string {
    return this.#listener.certificate;
  }

  /** The name of a controller in its certificate for dialing. */
  controllerUri(controllerId: string): string {
    return `spiffe://${this.trustDomain}/controller/${controllerId}`;
  }

  /** For dialing routers and other controllers: a certificate with the controller's id and a key that is not stored. */
  controllerContext(controllerId: string): SecureContextOptions {
    const { key, publicKey } = newKey();
    const names = { dns: [], ip: [], uri: [], email: [] };
    const spiffe = `controller/${controllerId}`;
    const cert = this.#sign({ commonName: controllerId, publicKey, names, spiffe, purposes: ['client'] });
    return { cert, key, ca: this.bundle };
  }

  /** The algorithm of tokens. Data files of older releases have an elliptic curve key, and keep it. */
  get tokenAlgorithm(): 'RS256' | 'ES256' {
    return this.signingKey.asymmetricKeyType === 'rsa' ? 'RS256' : 'ES256';
  }

  /** The public half of the signing key. */
  get publicJwk(): Jwk {
    const key = this.serverCertificate.publicKey.export({ format: 'jwk' });
    return { ...key, kty: String(key.kty), use: 'sig', alg: this.tokenAlgorithm, kid: this.keyId };
  }

  /**
   * A certificate of an identity, or of one of its API sessions, which then has its own id. Copies only the key from
   * the request (reference fact: its test of forged requests), so that no client can choose the names in its
   * certificate.
   *
   * @returns the chain, leaf first, valid for one year, or for the lifetime in milliseconds
   */
  signIdentity(
    { publicKey }: CertificateRequest,
    identityId: string,
    ofSession?: { readonly apiSessionId: string; readonly id: string; readonly lifetime?: number },
  ): string {
    const session = ofSession ? `/apiSession/${ofSession.apiSessionId}/apiSessionCertificate/${ofSession.id}` : '';
    const spiffe = `identity/${identityId}${session}`;
    const fields = { commonName: identityId, publicKey, names: NO_NAMES, spiffe, purposes: ['client'] as const };
    return this.#sign(fields, ofSession?.lifetime);
  }

  /**
   * A certificate of a router. Copies the alternative names of the request, since the network does not know the host
   * names of a router. Does not copy SPIFFE ids: only the authority assigns router ids.
   *
   * @returns the chain, leaf first, valid for one year
   */
  signRouter({ publicKey, names }: CertificateRequest, routerId: string, use: Purpose): string {
    const uri = names.uri.filter((each) => !/^\s*spiffe:/i.test(each));
    // Routers may use one certificate for both purposes: its main purpose comes first.
    const purposes = use === 'client' ? (['client', 'server'] as const) : (['server', 'client'] as const);
    const own = { ...names, uri };
    return this.#sign({ commonName: routerId, publicKey, names: own, spiffe: `router/${routerId}`, purposes });
  }

  #sign(
    options: Pick<LeafFields, 'commonName' | 'publicKey' | 'names' | 'purposes'> & { spiffe: string },
    lifetime = YEAR,
  ): string {
    const { commonName, publicKey, purposes, spiffe } = options;
    const names = { ...options.names, uri: [...options.names.uri, `spiffe://${this.trustDomain}/${spiffe}`] };
    const common = { commonName, publicKey, serial: newSerial(this.#random), ...period(this.#clock, lifetime) };
    return issueLeaf({ ...common, names, purposes }, this.#intermediate) + this.#intermediate.certificate;
  }
}

/** Reads and verifies a PEM request. Throws CsrError. */
export async function readRequest(pem: string): Promise<CertificateRequest> {
  // Loaded with the first request, so that the simulator starts faster.
  const { x509 } = await import('./x509.ts');
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    if (!(await request.verify())) throw new CsrError('the request is not signed with its own key');
    const publicKey = Buffer.from(request.publicKey.rawData);
    rejectWeakKey(publicKey);
    const extension = request.extensions.find((each) => each instanceof x509.SubjectAlternativeNameExtension);
    const of = (type: string) =>
      extension?.names.items.filter((name) => name.type === type).map((name) => name.value) ?? [];
    const names = { dns: of('dns'), ip: of('ip'), uri: of('url'), email: of('email') };
    rejectMalformed(names);
    return { commonName: request.subjectName.getField('CN')[0], names, publicKey };
  } catch (error) {
    if (error instanceof CsrError) throw error;
    throw new CsrError('the certificate request is unreadable', { cause: error });
  }
}

/** The library accepts names that would be other ones in a certificate. */
function rejectMalformed({ dns, ip, uri, email }: GeneralNames): void {
  if (!ip.every((each) => isIP(each) !== 0))
    throw new CsrError('an IP address among the alternative names has neither 4 nor 16 bytes');
  const malformed = [...dns, ...uri, ...email].find((each) => !ASCII.test(each));
  if (malformed !== undefined) throw new CsrError(`the alternative name ${JSON.stringify(malformed)} is not ASCII`);
}

function rejectWeakKey(spki: Buffer): void {
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < MIN_RSA_KEY_BITS)
    throw new CsrError(`the RSA key has ${modulusLength} bits; at least ${MIN_RSA_KEY_BITS} are required`);
}

/** Throws DamagedError for a row without a certificate and its key. */
function readPair(state: State, key: string): Pair | undefined {
  const text = state.meta(key);
  if (text === undefined) return undefined;
  try {
    const pair = JSON.parse(text) as Pair;
    if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error('the key does not match the certificate');
    return pair;
  } catch (error) {
    // The parser's message quotes parts of the value, which contains a private key.
    const why = error instanceof SyntaxError ? 'the value is not JSON' : describeError(error);
    throw new DamagedError('meta', key, `it does not contain a certificate with its key: ${why}`);
  }
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
  return name.includes(':'); // certificates encode such addresses in another form; this one is always among the names
}

function makeAuthority(clock: Clock, random: Random, commonName: string, issuer: Pair | undefined): Pair {
  const { key, publicKey } = newKey();
  const common = { commonName, publicKey, serial: newSerial(random), ...period(clock, TWENTY_YEARS) };
  return { certificate: issueAuthority(issuer ? { ...common, pathLength: 0 } : common, key, issuer), key };
}

/** Keeps the key of an older certificate: tokens that it signed remain valid. */
async function makeServer(
  clock: Clock,
  random: Random,
  issuer: Pair,
  hosts: readonly string[],
  previous: Pair | undefined,
): Promise<Pair> {
  // Drawn before the wait, so that the sequence of random values does not depend on timing.
  const ownSerial = newSerial(random);
  const { key, publicKey } = previous
    ? { key: previous.key, publicKey: publicKeyOf(previous.key) }
    : exported((await generateKey('rsa', { modulusLength: SERVER_KEY_BITS })).privateKey);
  const isIp = (host: string) => /^[\d.]+$/.test(host) || host.includes(':');
  const names: GeneralNames = { dns: hosts.filter((host) => !isIp(host)), ip: hosts.filter(isIp), uri: [], email: [] };
  const common = { commonName: 'Edgeweave Simulator', publicKey, serial: ownSerial, ...period(clock, YEAR) };
  return { certificate: issueLeaf({ ...common, names, purposes: ['server', 'client'] }, issuer), key };
}

/** Valid now both by the clock of the simulator, which tests advance, and by that of its peers. */
function period(clock: Clock, lifetime: number): { notBefore: Date; notAfter: Date } {
  const times = [clock.now(), realTime(clock)];
  return { notBefore: new Date(Math.min(...times) - BACKDATED), notAfter: new Date(Math.max(...times) + lifetime) };
}

function newKey(): { key: string; publicKey: Buffer } {
  return exported(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
}

function exported(privateKey: KeyObject): { key: string; publicKey: Buffer } {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, publicKey: publicKeyOf(key) };
}

function publicKeyOf(key: string): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

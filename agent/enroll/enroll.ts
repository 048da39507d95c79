// Enrolls a router: exchanges a one-time token for certificates and the endpoints file (reference fact: config, section
// 6). If any step fails, the previous files stay valid.
//
//   writable targets ─► token ─► controller's certificate ─► signature ─► authorities ─► keys, two requests
//        ─► POST enroll ─► all files

import { createPrivateKey, generateKeyPair, type KeyObject, type X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { HttpClient } from '#http/http-client.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { readTextFile, readTextFileSync } from '#lib/files/text-file.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import { formatAddress } from '#lib/net/address.ts';
import type { Clock } from '#lib/time/clock.ts';
import { parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import { keyWeakness } from '#pki/key-strength.ts';
import type { Environment } from '#wire/connection/environment-proxy.ts';
import { parsePemSource } from '../config/pem-source.ts';
import type { CsrConfig, RouterConfig } from '../config/router-config.ts';
import {
  type EndpointsPlace,
  endpointsContent,
  endpointsPlace,
  isDialable,
  type KnownController,
} from '../control/endpoints-file.ts';
import { createCsr } from '../identity/csr.ts';
import { type NewFile, replaceFiles } from '../identity/file-set.ts';
import { type ControllerSocketOptions, openThroughProxy } from './controller-socket.ts';
import { isTooOld, MIN_CONTROLLER_VERSION } from './controller-version.ts';
import { EnrollmentError } from './errors.ts';
import { readCertificateBag } from './pkcs7.ts';
import { proveTargets, type TargetFiles, targetFiles } from './targets.ts';
import { type EnrollmentToken, verifyToken } from './token.ts';

export type KeyAlgorithm = 'RSA' | 'EC';

export interface EnrollInit {
  config: RouterConfig;
  /** The text of the token. */
  jwt: string;
  keyAlgorithm: KeyAlgorithm;
  clock: Clock;
  log: Log;
  /** Called before the token is sent to the controller: from now on it is lost unless the files are written. */
  onUse?(): void;
  /** Variables such as HTTPS_PROXY; default: those of the process. */
  environment?: Environment;
}

export interface EnrollmentResult {
  readonly routerId: string;
  readonly controllers: readonly string[];
  readonly files: readonly string[];
}

interface PrivateKey {
  readonly object: KeyObject;
  readonly pem: string;
  /** The key has no file yet. */
  readonly isNew: boolean;
}

interface Keys {
  readonly client: PrivateKey;
  /** Equal to `client` unless `server_key` is set. */
  readonly server: PrivateKey;
}

interface Answer {
  readonly cert: string;
  readonly serverCert: string;
  readonly ca: string;
}

/** For each step of a request: to connect, the head of the answer, and the next part of its body. */
const TIMEOUT = 15_000;
/** For a whole request: a server that sends its answer byte by byte stays within the limit for each step. */
const REQUEST_TIMEOUT = 60_000;
/** Three certificate chains need a few kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const RSA_BITS = 4096;
/** Characters of the controller's version in the log. */
const MAX_VERSION_LENGTH = 64;
const generate = promisify(generateKeyPair);

/** @throws EnrollmentError with a message of one line */
export async function enrollRouter(init: EnrollInit): Promise<EnrollmentResult> {
  const { config, clock } = init;
  const csr = config.csr ?? config.edge?.csr;
  if (!csr)
    throw new EnrollmentError(
      'NO_CSR',
      'the configuration has no csr section to request certificates; add csr with sans',
    );
  const paths = targetFiles(config);
  await proveTargets(paths);
  const sockets = { clock, timeout: TIMEOUT, environment: init.environment ?? process.env };
  const { token, serverCertificate } = await verifyToken(init.jwt, sockets);
  const controllers = controllerAddresses(config, token);
  const authorities = await fetchAuthorities(token.issuer, serverCertificate, sockets);
  await warnOfOldController(token.issuer, authorities, sockets, init.log);
  const client = await clientKey(paths.key, init.keyAlgorithm);
  const keys = { client, server: await serverKey(config, paths, client, init.keyAlgorithm) };
  init.onUse?.();
  const answer = await enroll(token, { ca: authorities, csr, keys, sockets });
  // Before the certificates: an enrollment may be killed at any time, and data of another network must not survive it.
  await rm(paths.data, { force: true });
  const place = endpointsPlace(config, token.routerId);
  const files = await writeFiles(paths, { answer, keys, place, controllers });
  init.log.info({ routerId: token.routerId, files }, 'router enrolled');
  return { routerId: token.routerId, controllers, files };
}

/** Only the leaf is trusted at this point: the token vouches for it. */
async function fetchAuthorities(issuer: URL, leaf: X509Certificate, sockets: ControllerSocketOptions): Promise<string> {
  const url = new URL('/edge/client/v1/.well-known/est/cacerts', issuer);
  const { status, body } = await call(url, {
    ca: leaf.toString(),
    sockets,
    method: 'GET',
    headers: { accept: 'application/pkcs7-mime' },
  });
  if (status !== 200)
    throw new EnrollmentError(
      'NO_AUTHORITIES',
      `the controller at ${issuer.origin} did not send its certificate authorities (status ${status})`,
    );
  try {
    const authorities = readCertificateBag(Buffer.from(body, 'base64'));
    if (authorities.length === 0) throw new RangeError('the list is empty');
    return authorities.map((each) => each.toString()).join('');
  } catch (error) {
    throw new EnrollmentError(
      'NO_AUTHORITIES',
      `the certificate authorities of the controller at ${issuer.origin} cannot be read: ${describeError(error)}`,
      { cause: error },
    );
  }
}

/**
 * The router works with controllers from 2.0. The router is enrolled all the same: the controller may be updated next.
 */
async function warnOfOldController(issuer: URL, ca: string, sockets: ControllerSocketOptions, log: Log): Promise<void> {
  const url = new URL('/edge/client/v1/version', issuer);
  const headers = { accept: 'application/json' };
  // The enrollment itself reports an unreachable controller.
  const answer = await call(url, { ca, sockets, method: 'GET', headers }).catch(() => undefined);
  const version = (readJson(answer?.body ?? '') as { data?: { version?: unknown } } | undefined)?.data?.version;
  if (typeof version !== 'string' || !isTooOld(version)) return;
  log.warn(
    {
      controller: issuer.origin,
      version: version.slice(0, MAX_VERSION_LENGTH),
      remedy: `update the controller to ${MIN_CONTROLLER_VERSION} or later before the router starts`,
    },
    'the controller is too old: this router will not connect to it',
  );
}

/** Reuses an existing key of the requested type; it is not written then. */
async function clientKey(path: string, algorithm: KeyAlgorithm): Promise<PrivateKey> {
  if (!existsSync(path)) return newKey(algorithm);
  const key = await existingKey(path);
  const found = key.object.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC';
  if (found !== algorithm)
    throw new EnrollmentError(
      'KEY',
      `${path} contains an ${found} key, but an ${algorithm} key was requested; use --key-alg ${found} or remove the file`,
    );
  return key;
}

/**
 * `server_key` is the key of the server certificate. The reference uses the client's key instead, and the router does
 * not start with the result.
 */
async function serverKey(
  { identity }: RouterConfig,
  { serverKey: path }: TargetFiles,
  client: PrivateKey,
  algorithm: KeyAlgorithm,
): Promise<PrivateKey> {
  if (path !== undefined) return existsSync(path) ? existingKey(path) : newKey(algorithm);
  const source = identity.server_key === undefined ? undefined : parsePemSource(identity.server_key);
  if (source?.kind !== 'inline') return client;
  const object = readKey('identity.server_key', source.pem);
  requireSuitable(object, 'identity.server_key', 'replace the text, or set it to a file that does not exist yet');
  return { object, pem: source.pem, isNew: false };
}

async function existingKey(path: string): Promise<PrivateKey> {
  const pem = await readTextFile(path);
  const object = readKey(path, pem);
  requireSuitable(object, path, 'remove the file to create a new key');
  return { object, pem, isNew: false };
}

/** The controller would reject the request, or TLS the key. @throws EnrollmentError */
function requireSuitable(key: KeyObject, place: string, remedy: string): void {
  const type = key.asymmetricKeyType ?? 'unknown';
  const isSupported = type === 'rsa' || type === 'ec';
  const weakness = isSupported ? keyWeakness(key) : `a key of the type ${type}; RSA and EC are supported`;
  if (weakness !== undefined) throw new EnrollmentError('KEY', `${place} contains ${weakness}; ${remedy}`);
}

/** The algorithm of an existing key; without one EC, whose keys are created at once. */
export function suitableAlgorithm({ identity }: RouterConfig): KeyAlgorithm {
  const source = identity.key === undefined ? undefined : parsePemSource(identity.key);
  if (source?.kind !== 'file' || !existsSync(source.path)) return 'EC';
  const key = readKey(source.path, readTextFileSync(source.path));
  return key.asymmetricKeyType === 'rsa' ? 'RSA' : 'EC';
}

async function newKey(algorithm: KeyAlgorithm): Promise<PrivateKey> {
  if (algorithm === 'RSA') {
    const { privateKey: object } = await generate('rsa', { modulusLength: RSA_BITS });
    return { object, pem: object.export({ type: 'pkcs1', format: 'pem' }).toString(), isNew: true };
  }
  const { privateKey: object } = await generate('ec', { namedCurve: 'P-256' });
  return { object, pem: object.export({ type: 'sec1', format: 'pem' }).toString(), isNew: true };
}

function readKey(path: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new EnrollmentError('KEY', `${path} contains no readable private key; remove the file to create a new key`, {
      cause: error,
    });
  }
}

async function enroll(
  token: EnrollmentToken,
  { ca, csr, keys, sockets }: { ca: string; csr: CsrConfig; keys: Keys; sockets: ControllerSocketOptions },
): Promise<Answer> {
  const url = new URL('/edge/client/v1/enroll', token.issuer);
  url.search = new URLSearchParams({ method: 'erott', token: token.id }).toString();
  const [certCsr, serverCertCsr] = [keys.client, keys.server].map(({ object }) =>
    createCsr(token.routerId, csr, object),
  );
  const { status, body } = await call(url, {
    ca,
    sockets,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ serverCertCsr, certCsr }),
  });
  if (status !== 200) throw rejection(status, body);
  const data = (readJson(body) as { data?: Partial<Answer> } | undefined)?.data;
  for (const part of ['cert', 'serverCert', 'ca'] as const) {
    if (typeof data?.[part] !== 'string' || data[part] === '')
      throw new EnrollmentError('CONTROLLER_ANSWER', `the controller's answer has no ${part}`);
  }
  return data as Answer;
}

function rejection(status: number, body: string): EnrollmentError {
  const error = (readJson(body) as { error?: { code?: string; message?: string } } | undefined)?.error;
  if (error?.code === 'INVALID_ENROLLMENT_TOKEN')
    return new EnrollmentError(
      'TOKEN_USED',
      'the token is unknown to the controller: it was already used or withdrawn; create a new token at the controller',
    );
  if (error?.code === 'ENROLLMENT_EXPIRED')
    return new EnrollmentError(
      'TOKEN_EXPIRED',
      'the token has expired; create a new one at the controller (re-enroll the router)',
    );
  return new EnrollmentError(
    'CONTROLLER_ANSWER',
    `the controller rejected the enrollment: ${error?.code ?? `status ${status}`}${error?.message ? ` (${error.message})` : ''}`,
  );
}

function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // the caller reports the missing part
  }
}

async function call(
  url: URL,
  options: {
    ca: string;
    sockets: ControllerSocketOptions;
    method: 'GET' | 'POST';
    headers: Record<string, string>;
    body?: string;
  },
): Promise<{ status: number; body: string }> {
  const { ca, sockets, method, headers, body } = options;
  await using client = new HttpClient({
    clock: sockets.clock,
    limits: { step: TIMEOUT, whole: REQUEST_TIMEOUT, bytes: MAX_ANSWER_BYTES },
    trust: { ca, allowPartialTrustChain: true },
    openSocket: () => openThroughProxy(url, sockets),
  });
  try {
    const { status, bytes } = await client.send(url, { method, headers, ...(body !== undefined && { body }) });
    return { status, body: bytes.toString() };
  } catch (error) {
    throw new EnrollmentError(
      'CONTROLLER_UNREACHABLE',
      `the controller at ${url.origin} did not answer: ${describeError(error)}${aboutClock(error, sockets.clock)}`,
      { cause: error },
    );
  }
}

/** A clock that is wrong by more than the age of the controller's certificates ends the TLS handshake. */
function aboutClock(error: unknown, clock: Clock): string {
  const isAboutDates = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].includes(errorCode(error) ?? '');
  if (!isAboutDates) return '';
  const now = new Date(clock.now()).toISOString();
  return `; the clock of this machine says ${now}: if it is right, correct that of the controller or renew its certificate`;
}

interface Enrolled {
  readonly answer: Answer;
  readonly keys: Keys;
  readonly place: EndpointsPlace;
  readonly controllers: readonly string[];
}

async function writeFiles(paths: TargetFiles, { answer, keys, place, controllers }: Enrolled): Promise<string[]> {
  const { client, server } = keys;
  const known: KnownController[] = controllers.map((address) => ({ id: '', endpoints: [{ address, groups: [] }] }));
  const files: NewFile[] = [
    { path: paths.serverCert, content: answer.serverCert },
    { path: paths.ca, content: answer.ca },
    // Stored endpoints take precedence over the configuration: those of another network must not outlive its
    // certificates.
    endpointsContent(place, known),
  ];
  if (client.isNew) files.push({ path: paths.key, content: client.pem });
  if (paths.serverKey !== undefined && server.isNew) files.push({ path: paths.serverKey, content: server.pem });
  // The last one: scripts take it as the proof of a complete enrollment, even after a crash.
  files.push({ path: paths.cert, content: answer.cert });
  await replaceFiles(files, async (temporary) => {
    const written = new Map(files.map(({ path }, index) => [path, temporary[index] ?? '']));
    const writtenKey = async (path: string, key: PrivateKey) =>
      key.isNew ? createPrivateKey(await readFile(written.get(path) ?? '', 'utf8')) : key.object;
    const certificates = async (path: string) => parsePemCertificates(await readFile(written.get(path) ?? '', 'utf8'));
    mustBelong((await certificates(paths.cert))[0], await writtenKey(paths.key, client));
    mustBelong((await certificates(paths.serverCert))[0], await writtenKey(paths.serverKey ?? paths.key, server));
    if ((await certificates(paths.ca)).length === 0)
      throw new EnrollmentError('CONTROLLER_ANSWER', 'the controller sent no certificate authority');
  });
  return files.map((file) => file.path);
}

function mustBelong(certificate: X509Certificate | undefined, key: KeyObject): void {
  if (!certificate) throw new EnrollmentError('CONTROLLER_ANSWER', 'the controller sent no certificate');
  if (!certificate.checkPrivateKey(key))
    throw new EnrollmentError(
      'CONTROLLER_ANSWER',
      `the controller sent a certificate (${sha1Fingerprint(certificate)}) for another key`,
    );
}

/**
 * Configured endpoints take precedence over those of the token. A router without both could never connect, and finds
 * out here, before the one-time token is used. @throws EnrollmentError
 */
function controllerAddresses({ ctrl }: RouterConfig, token: EnrollmentToken): readonly string[] {
  const configured = ctrl.endpoint ? [ctrl.endpoint] : (ctrl.endpoints ?? []);
  if (configured.length > 0) return configured.map(formatAddress);
  const named = token.controllers.filter(isDialable);
  if (named.length === 0 && ctrl.listeners.length === 0)
    throw new EnrollmentError(
      'NO_CONTROLLER',
      'neither the configuration nor the token has an address of a controller; set ctrl.endpoint: tls:host:port',
    );
  return named;
}

// The router's certificates, key and trusted authorities: loaded from the configured sources, watched, and provided in
// the forms that TLS needs. Enrollment and renewal write them.

import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { background } from '#lib/background.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFile } from '#lib/files/text-file.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { LASTING, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { commonName, isUnfinishedPem, parsePemCertificates, readablePemCertificates } from '#pki/certificates.ts';
import { keyWeakness } from '#pki/key-strength.ts';
import { withoutBlankLines } from '#pki/pem.ts';
import { parsePemSource, readPemSource } from '../config/pem-source.ts';
import type { IdentityConfig } from '../config/router-config.ts';
import { serverChains } from './server-chains.ts';
import { watchedNames } from './watched-names.ts';

export interface IdentityInit {
  config: IdentityConfig;
  clock: Clock;
  log: Log;
  /** Reload when the files change. */
  watch?: boolean;
  /** Key of `config` in the configuration file, for errors; default `identity`. */
  key?: string;
}

export class IdentityError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('IDENTITY', message, options);
  }
}

/** One certificate in use, for metrics. */
interface UsedCertificate {
  /** Key of its source in the configuration, such as `identity.server_cert`. */
  readonly key: string;
  /** Name of the file, without its folder; empty for a certificate inside the configuration. */
  readonly file: string;
  readonly kind: 'client' | 'server' | 'authority';
  /** The common name of its subject; empty if it has none. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface ServerPair {
  readonly pem: string;
  readonly key: string;
  readonly leaf: X509Certificate;
  readonly used: UsedCertificate;
}

/** The result of reading all sources once. */
interface Material {
  readonly certificate: X509Certificate;
  readonly certPem: string;
  readonly keyPem: string;
  readonly caPem: string | undefined;
  readonly roots: readonly X509Certificate[];
  readonly servers: readonly ServerPair[];
  readonly used: readonly UsedCertificate[];
}

const UNFINISHED = 'the file ends within a certificate; write it again';
/** Changes are loaded one second after the last of them (reference fact: config, section 2.2). */
const DEBOUNCE = 1_000;
/** Milliseconds until a folder that cannot be watched is tried again: descriptors or watches may be used up. */
const WATCH_AGAIN = 60_000;

export class Identity {
  readonly #init: IdentityInit;
  readonly #listeners: Listeners<void>;
  readonly #watchers: FSWatcher[] = [];
  readonly #unwatched: RepeatedCondition;
  #watchAgain: Timer | undefined;
  #material: Material;
  #pending: Timer | undefined;
  /** Numbers of two reloads: the newest one, and the one whose material is in use. */
  #begun = 0;
  #inUse = 0;
  #isClosed = false;

  private constructor(init: IdentityInit, material: Material) {
    this.#init = init;
    this.#listeners = new Listeners('the identity', init.log);
    this.#unwatched = new RepeatedCondition(init.clock, LASTING);
    this.#material = material;
  }

  /** @throws IdentityError that names the faulty key of the configuration */
  static async open(init: IdentityInit): Promise<Identity> {
    const identity = new Identity(init, await loadMaterial(init));
    if (init.watch) identity.#watch();
    return identity;
  }

  /** The router's id: the common name of its client certificate. */
  get id(): string {
    return commonName(this.#material.certificate) ?? '';
  }

  /** The leaf of the client certificate. */
  get certificate(): X509Certificate {
    return this.#material.certificate;
  }

  /** The leaf of the first server certificate; the client certificate if there is none. */
  get serverCertificate(): X509Certificate {
    return this.#material.servers[0]?.leaf ?? this.#material.certificate;
  }

  /** The leaves of all certificates that the router presents. */
  get presented(): readonly X509Certificate[] {
    return [...this.#material.servers.map(({ leaf }) => leaf), this.#material.certificate];
  }

  /** The certificates that the router presents, and the trusted authorities. */
  get used(): readonly UsedCertificate[] {
    return this.#material.used;
  }

  /** The private key of the client certificate. */
  get key(): KeyObject {
    return createPrivateKey(this.#material.keyPem);
  }

  /** The private key of the first server certificate: `server_key` if it is set. */
  get serverKey(): KeyObject {
    return createPrivateKey(this.#material.servers[0]?.key ?? this.#material.keyPem);
  }

  /** Trusted authorities; empty if the system's are used. */
  get roots(): readonly X509Certificate[] {
    return this.#material.roots;
  }

  /** The source of the trusted authorities, for errors. */
  get authorities(): string {
    const { config, key = 'identity' } = this.#init;
    if (config.ca === undefined) return `the authorities of this machine (${key}.ca is not set)`;
    const source = parsePemSource(config.ca);
    return source.kind === 'file' ? `${key}.ca (${source.path})` : `${key}.ca`;
  }

  /** For connections that this router opens. */
  clientContext(): SecureContextOptions {
    const { certPem, keyPem, caPem } = this.#material;
    return { cert: certPem, key: keyPem, ...(caPem !== undefined && { ca: caPem }) };
  }

  /** For connections that this router accepts: one for each server certificate, the default one first. */
  serverContexts(): readonly [SecureContextOptions, ...SecureContextOptions[]] {
    const { certPem, keyPem, caPem, servers } = this.#material;
    const ca = caPem !== undefined && { ca: caPem };
    const [first, ...further] = servers.map(({ pem, key }) => ({ cert: pem, key, ...ca }));
    return [first ?? { cert: certPem, key: keyPem, ...ca }, ...further];
  }

  /** Calls `listener` after each reload, until the returned function is called. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Reads the sources again. On failure it throws, and the old material stays in use. Likewise without a failure, if a
   * reload that began later has ended: its material is newer.
   */
  async reload(): Promise<void> {
    const number = ++this.#begun;
    const material = await loadMaterial(this.#init);
    if (number < this.#inUse) return;
    if (this.#init.key === undefined) this.#requireSameRouter(material.certificate);
    this.#inUse = number;
    this.#material = material;
    this.#init.log.info(
      { certificate: this.#material.certificate.fingerprint256, validTo: this.#material.certificate.validTo },
      'identity reloaded',
    );
    this.#listeners.call();
  }

  /** All parts of the router use the id that it had at its start. */
  #requireSameRouter(certificate: X509Certificate): void {
    const id = commonName(certificate) ?? '';
    if (id === this.id) return;
    const remedy = `restart to run as ${id}`;
    throw new IdentityError(
      `identity.cert: the certificate is for the router ${id}, but this is ${this.id}; ${remedy}`,
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#pending?.cancel();
    this.#unwatch();
  }

  /** Watches the current places of the files instead of the previous ones. */
  #watch(): void {
    this.#unwatch();
    if (this.#isClosed) return;
    const { cert, key, server_cert, server_key, alt_server_certs } = this.#init.config;
    const alternates = alt_server_certs.flatMap((each) => [each.server_cert, each.server_key]);
    const given = [cert, key, server_cert, server_key, ...alternates].filter((value) => value !== undefined);
    const sources = given.map(parsePemSource);
    for (const [folder, names] of watchedNames(sources.flatMap((each) => (each.kind === 'file' ? [each.path] : [])))) {
      try {
        this.#watchers.push(this.#watchFolder(folder, names));
      } catch (error) {
        this.#onUnwatched(folder, error);
      }
    }
    if (!this.#watchAgain && this.#unwatched.ended()) this.#init.log.info({}, 'identity files are watched again');
  }

  /** A folder reports under its own name that it was removed or renamed. @throws the system's error */
  #watchFolder(folder: string, names: ReadonlySet<string>): FSWatcher {
    const own = basename(folder);
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name !== null && (names.has(name) || name === own)) this.#reloadSoon();
    });
    watcher.on('error', (error) => this.#onUnwatched(folder, error));
    return watcher;
  }

  /** Tries again later. The files may have changed until then. */
  #onUnwatched(folder: string, error: unknown): void {
    const { clock, log } = this.#init;
    if (this.#unwatched.happened(folder))
      log.warn({ folder, retryIn: WATCH_AGAIN, error: describeError(error) }, 'identity files cannot be watched');
    this.#watchAgain ??= clock.after('identity watch', WATCH_AGAIN, () => {
      this.#watch();
      if (!this.#watchAgain) this.#reloadSoon();
    });
  }

  #unwatch(): void {
    this.#watchAgain?.cancel();
    this.#watchAgain = undefined;
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers.length = 0;
  }

  #reloadSoon(): void {
    this.#pending?.cancel();
    this.#pending = this.#init.clock.after('identity reload', DEBOUNCE, () => {
      background(this.#init.log, 'identity reload', async () => {
        this.#watch();
        try {
          await this.reload();
        } catch (error) {
          this.#init.log.error(
            { error: describeError(error) },
            'changed identity files cannot be used, keeping the old ones',
          );
        }
      });
    });
  }
}

async function loadMaterial({ config, key: place = 'identity' }: IdentityInit): Promise<Material> {
  const certPem = await readPem(`${place}.cert`, config.cert);
  const keyPem = await readPem(`${place}.key`, config.key);
  const [certificate] = certificates(`${place}.cert`, certPem);
  if (!certificate) throw new IdentityError(`${place}.cert: the file contains no certificate`);
  mustPair(`${place}.cert`, certificate, privateKey(`${place}.key`, keyPem));
  mustSuitTls(`${place}.cert`, certPem, keyPem);
  const roots = config.ca === undefined ? [] : authorities(`${place}.ca`, await readPem(`${place}.ca`, config.ca));
  const caPem = config.ca === undefined ? undefined : roots.map(String).join('');
  const servers: ServerPair[] = [];
  if (config.server_cert !== undefined)
    servers.push(...(await serverPairs(place, config.server_cert, config.server_key, keyPem)));
  for (const [index, each] of config.alt_server_certs.entries())
    servers.push(
      ...(await serverPairs(`${place}.alt_server_certs[${index}]`, each.server_cert, each.server_key, keyPem)),
    );
  const used = [
    describeUse('client', `${place}.cert`, config.cert, certificate),
    ...servers.map((server) => server.used),
    ...roots.map((root) => describeUse('authority', `${place}.ca`, config.ca, root)),
  ];
  return { certificate, certPem, keyPem, caPem, roots, servers, used };
}

function describeUse(
  kind: UsedCertificate['kind'],
  key: string,
  value: string | undefined,
  certificate: X509Certificate,
): UsedCertificate {
  const source = value === undefined ? undefined : parsePemSource(value);
  const file = source?.kind === 'file' ? basename(source.path) : '';
  return { key, file, kind, subject: commonName(certificate) ?? '', expiresAt: certificate.validToDate.getTime() };
}

async function serverPairs(
  path: string,
  certificate: string,
  key: string | undefined,
  defaultKey: string,
): Promise<ServerPair[]> {
  const pem = await readPem(`${path}.server_cert`, certificate);
  const keyPem = key === undefined ? defaultKey : await readPem(`${path}.server_key`, key);
  const all = certificates(`${path}.server_cert`, pem);
  if (all.length === 0) throw new IdentityError(`${path}.server_cert: the file contains no certificate`);
  const chains = serverChains(all, privateKey(`${path}.server_key`, keyPem));
  if (chains.length === 0) throw notPaired(`${path}.server_cert`);
  for (const chain of chains) mustSuitTls(`${path}.server_cert`, chain.pem, keyPem);
  return chains.map((chain) => ({
    ...chain,
    key: keyPem,
    used: describeUse('server', `${path}.server_cert`, certificate, chain.leaf),
  }));
}

async function readPem(path: string, value: string | undefined): Promise<string> {
  if (value === undefined) throw new IdentityError(`${path} is missing`);
  const text = await readPemSource(value, async (file) => {
    try {
      return await readTextFile(file);
    } catch (error) {
      throw new IdentityError(`${path}: ${readProblem(file, error)}`, { cause: error });
    }
  });
  return withoutBlankLines(text);
}

/** TLS would reject an unfinished file at each connection, or ignore the authorities in its rest. */
function certificates(path: string, pem: string): X509Certificate[] {
  if (isUnfinishedPem(pem)) throw new IdentityError(`${path}: ${UNFINISHED}`);
  try {
    return parsePemCertificates(pem);
  } catch (error) {
    throw new IdentityError(`${path}: ${describeError(error)}`, { cause: error });
  }
}

/**
 * Ignores certificates that cannot be read, as the reference does; the check of the configuration warns of them. A file
 * without certificates, for example while another program writes it, must not mean the system's authorities.
 */
function authorities(path: string, pem: string): readonly X509Certificate[] {
  if (isUnfinishedPem(pem)) throw new IdentityError(`${path}: ${UNFINISHED}`);
  const { certificates: found, problems } = readablePemCertificates(pem);
  if (found.length === 0) throw new IdentityError(`${path}: ${problems[0] ?? 'the file contains no certificate'}`);
  return found;
}

function privateKey(path: string, pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new IdentityError(`${path}: the file contains no readable private key`, { cause: error });
  }
  const weakness = keyWeakness(key);
  if (weakness !== undefined) throw new IdentityError(`${path}: the file contains ${weakness}`);
  return key;
}

function mustPair(path: string, certificate: X509Certificate, key: KeyObject): void {
  if (!certificate.checkPrivateKey(key)) throw notPaired(path);
}

function notPaired(path: string): IdentityError {
  return new IdentityError(`${path}: the certificate does not belong to the key`);
}

/** OpenSSL has more rules, for example about the authorities that a chain contains. */
function mustSuitTls(path: string, cert: string, key: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new IdentityError(`${path}: TLS cannot use it: ${describeError(error)}`, { cause: error });
  }
}

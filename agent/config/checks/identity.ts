// Identity files: they exist, are readable, keys and certificates match, are valid, and cover the advertised hosts.

import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { commandName } from '#lib/commands/name.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { validity, verifyChain } from '#pki/certificate-chain.ts';
import { commonName, isUnfinishedPem, readablePemCertificates } from '#pki/certificates.ts';
import { keyWeakness } from '#pki/key-strength.ts';
import { withoutBlankLines } from '#pki/pem.ts';
import type { Finding } from '../finding.ts';
import { parsePemSource, readPemSource } from '../pem-source.ts';
import { renewalObstacles } from '../renewable.ts';
import type { IdentityConfig, RouterConfig } from '../router-config.ts';
import { uncoveredHosts, unrequestedHosts } from './advertise.ts';
import { at, type Check, type CheckInput, rejectedByReference } from './check.ts';

const SOON = 7 * 86_400_000;
/** Permission bits of group and others. */
const OTHERS = 0o077;
/** The identity that enrollment writes; others belong to single listeners and have other sources. */
const ROUTER = 'identity';
const REPLACE_HINT = 'replace the file; a running router loads the new one';
const ENROLL_HINT = `enroll the router first: ${commandName('router')} enroll FILE --jwt TOKEN_FILE (or check with --before-enrollment)`;

/** Checks certificates, keys and authorities: existence, access, match, validity, and the advertised hosts. */
export const checkIdentity: Check = (input) => {
  const { identity } = input.config;
  const others = ownIdentities(input.config);
  const findings = [
    ...missing(input, 'identity', identity),
    ...others.flatMap(([place, other]) => [...missing(input, place, other), ...forms(input, place, other)]),
  ];
  if (identity.server_cert === undefined)
    findings.push(
      rejectedByReference(
        input,
        'identity.server_cert',
        'the client certificate serves as server certificate; the reference stops without server_cert',
        { hint: 'set server_cert to a server certificate' },
      ),
    );
  findings.push(...forms(input, 'identity', identity));
  if (findings.some((each) => each.severity === 'error')) return findings;
  if (input.beforeEnrollment) return [...findings, ...unrequestedHosts(input)];
  const files = new IdentityFiles(input, findings);
  files.check(identity);
  for (const [place, other] of others) new IdentityFiles(input, findings, place).check(other);
  if (findings.some((each) => each.severity === 'error')) return findings;
  const canRenew = renewable(input, files.clientCertificate);
  const uncovered = uncoveredHosts(input, files.presented, canRenew);
  const later = unrequestedHosts(input).filter(({ path }) => uncovered.every((each) => each.path !== path));
  return [...findings, ...uncovered, ...later, ...notRenewable(input, files.clientCertificate)];
};

/** Identities of listeners that do not present the router's own, with their paths. */
function ownIdentities({ web, listeners, transport }: RouterConfig): [string, IdentityConfig][] {
  const hasWebSockets = listeners.some((each) => each.binding === 'edge' && each.address.type === 'wss');
  const { identity } = transport.wss;
  return [
    ...web.flatMap((server, index): [string, IdentityConfig][] =>
      server.identity ? [[`web[${index}].identity`, server.identity]] : [],
    ),
    ...(identity && hasWebSockets ? [['transport.wss.identity', identity] as [string, IdentityConfig]] : []),
  ];
}

function missing(input: CheckInput, place: string, identity: IdentityConfig): Finding[] {
  return (['cert', 'key'] as const).flatMap((key) => {
    if (identity[key] !== undefined) return [];
    const remedy = `set it to the ${key === 'cert' ? 'client certificate' : 'private key'} of the router`;
    return [at(input, 'error', 'CFG-MISSING', `${place}.${key}`, `${key} is missing`, remedy)];
  });
}

/** Whether the router can renew its certificates itself; it cannot with an expired one. */
function renewable({ config, now }: CheckInput, certificate: X509Certificate | undefined): boolean {
  const hasCsr = (config.csr ?? config.edge?.csr) !== undefined;
  const isValid = certificate !== undefined && validity(certificate, now) === undefined;
  return isValid && renewalObstacles(config.identity, hasCsr).length === 0;
}

/** A missing csr section has its own finding. */
function notRenewable(input: CheckInput, certificate: X509Certificate | undefined): Finding[] {
  const until = certificate === undefined ? '' : `; the current one expires on ${certificate.validTo}`;
  return renewalObstacles(input.config.identity, true).map(({ key, reason, remedy }) =>
    at(input, 'warning', 'CFG-CERTIFICATE', key, `the certificate cannot be renewed: ${reason}${until}`, remedy),
  );
}

function sources(place: string, identity: IdentityConfig): [string, string][] {
  const named = (['cert', 'key', 'server_cert', 'server_key', 'ca'] as const).flatMap((key) =>
    identity[key] === undefined ? [] : [[`${place}.${key}`, identity[key]] as [string, string]],
  );
  const alternates = identity.alt_server_certs.flatMap((each, index) => {
    const path = `${place}.alt_server_certs[${index}]`;
    return [
      [`${path}.server_cert`, each.server_cert] as [string, string],
      ...(each.server_key === undefined ? [] : [[`${path}.server_key`, each.server_key] as [string, string]]),
    ];
  });
  return [...named, ...alternates];
}

function forms(input: CheckInput, place: string, identity: IdentityConfig): Finding[] {
  return sources(place, identity).flatMap(([path, value]) => {
    try {
      parsePemSource(value);
      return [];
    } catch (error) {
      return [at(input, 'error', 'CFG-IDENTITY', path, describeError(error))];
    }
  });
}

interface PlacedKey {
  readonly path: string;
  readonly key: KeyObject | undefined;
}

type ServerIdentity = Partial<Pick<IdentityConfig, 'server_cert' | 'server_key'>>;

/** Reads each source once and caches its content. */
class IdentityFiles {
  readonly serverCertificates: X509Certificate[] = [];
  clientCertificate: X509Certificate | undefined;
  readonly #input: CheckInput;
  readonly #findings: Finding[];
  readonly #place: string;
  /** Files that enrollment would write. */
  readonly #unwritten: { readonly path: string; readonly file: string; readonly message: string }[] = [];

  /** @param place Path of the identity in the configuration. */
  constructor(input: CheckInput, findings: Finding[], place: string = ROUTER) {
    this.#input = input;
    this.#findings = findings;
    this.#place = place;
  }

  /** Certificates that the router may present. */
  get presented(): X509Certificate[] {
    return [...this.serverCertificates, ...(this.clientCertificate ? [this.clientCertificate] : [])];
  }

  check(identity: IdentityConfig): void {
    const place = this.#place;
    const key = this.#key(`${place}.key`, identity.key);
    const chain = this.#certificates(`${place}.cert`, identity.cert);
    this.clientCertificate = chain?.[0];
    this.#pair(`${place}.key`, key, `${place}.cert`, chain?.[0]);
    this.#dates(`${place}.cert`, chain?.[0]);
    if (place === ROUTER && this.clientCertificate && commonName(this.clientCertificate) === undefined)
      this.#error(`${place}.cert`, 'the certificate has no common name, which is the id of the router');
    const authorities =
      identity.ca === undefined ? undefined : this.#certificates(`${place}.ca`, identity.ca, 'authorities');
    if (place === ROUTER && chain && authorities) this.#signed(`${place}.cert`, chain, authorities);
    const main: PlacedKey = { path: `${place}.key`, key };
    this.#server(place, identity, main);
    for (const [index, each] of identity.alt_server_certs.entries())
      this.#server(`${place}.alt_server_certs[${index}]`, each, main);
    this.#notEnrolled();
  }

  /** One finding for all files that enrollment would write: they are missing for one reason. */
  #notEnrolled(): void {
    const [first, ...others] = this.#unwritten;
    if (first === undefined) return;
    const files = this.#unwritten.map(({ file }) => file);
    const [path, message] =
      others.length === 0
        ? [first.path, first.message]
        : [this.#place, `these files do not exist: ${files.join(', ')}`];
    this.#findings.push(at(this.#input, 'error', 'CFG-NOT-ENROLLED', path, message, ENROLL_HINT));
  }

  /** Without `server_key` the certificate belongs to the main key. */
  #server(path: string, { server_cert: source, server_key: own }: ServerIdentity, main: PlacedKey): void {
    const keyPath = `${path}.server_key`;
    const used = own === undefined ? main : { path: keyPath, key: this.#key(keyPath, own) };
    if (source === undefined) return;
    const chain = this.#certificates(`${path}.server_cert`, source) ?? [];
    const leaves = chain.filter((certificate) => !certificate.ca);
    // A file may contain several certificates; those of other keys are not presented.
    const { key } = used;
    const presented = leaves.filter((leaf) => key === undefined || leaf.checkPrivateKey(key));
    this.serverCertificates.push(...presented);
    const first = presented[0] ?? leaves[0] ?? chain[0];
    this.#pair(used.path, key, `${path}.server_cert`, first);
    this.#dates(`${path}.server_cert`, first);
  }

  #read(path: string, value: string): string | undefined {
    const text = readPemSource(value, (file) => {
      try {
        const text = this.#input.readFile(file);
        if (text.trim() !== '') return text;
        this.#error(path, `${file} is empty`, this.#remedy);
      } catch (error) {
        if (errorCode(error) === 'ENOENT') this.#missing(path, file);
        else this.#error(path, readProblem(file, error));
      }
      return undefined;
    });
    return text === undefined ? undefined : withoutBlankLines(text);
  }

  /**
   * Relative paths start at the working directory, as in the reference; users often expect the folder of the
   * configuration.
   */
  #missing(path: string, file: string): void {
    const absolute = resolve(file);
    const folder = dirname(resolve(this.#input.config.file));
    const beside = join(folder, file);
    const isElsewhere = !isAbsolute(file) && beside !== absolute && this.#isThere(beside);
    const message = isAbsolute(file) ? `${file} does not exist` : `${file} does not exist: ${absolute}`;
    if (!isElsewhere && this.#place === ROUTER) {
      this.#unwritten.push({ path, file: absolute, message });
      return;
    }
    const hint = isElsewhere
      ? `relative paths start at the working directory, but ${beside} exists: start the router in ${folder}, or write the absolute path`
      : this.#remedy;
    const code = this.#place === ROUTER ? 'CFG-NOT-ENROLLED' : 'CFG-IDENTITY';
    this.#findings.push(at(this.#input, 'error', code, path, message, hint));
  }

  get #keyRemedy(): string {
    return this.#place === ROUTER
      ? 'remove the key and its certificate, and enroll the router again'
      : 'replace the key and its certificate';
  }

  get #remedy(): string {
    return this.#place === ROUTER ? ENROLL_HINT : 'choose an existing file, or remove the section';
  }

  #isThere(file: string): boolean {
    try {
      this.#input.readFile(file);
      return true;
    } catch {
      return false; // an unreadable file does not help either
    }
  }

  /** Authorities that cannot be read are ignored, as in the reference, unless none is left. */
  #certificates(
    path: string,
    value: string | undefined,
    role: 'chain' | 'authorities' = 'chain',
  ): readonly X509Certificate[] | undefined {
    const pem = value === undefined ? undefined : this.#read(path, value);
    if (pem === undefined) return undefined;
    if (isUnfinishedPem(pem)) {
      this.#error(path, 'the file ends within a certificate', 'write the whole file again');
      return undefined;
    }
    const { certificates, problems } = readablePemCertificates(pem);
    const [problem] = problems;
    const isUsable = certificates.length > 0 && (problem === undefined || role === 'authorities');
    if (!isUsable) this.#error(path, problem ?? 'the file contains no certificate');
    else if (problem !== undefined) this.#ignored(path, problem, problems.length);
    return isUsable ? certificates : undefined;
  }

  #ignored(path: string, problem: string, count: number): void {
    const message = `${problem}; ${count === 1 ? 'it is' : `${count} such certificates are`} ignored`;
    this.#findings.push(at(this.#input, 'warning', 'CFG-IDENTITY', path, message, 'remove or replace it'));
  }

  #key(path: string, value: string | undefined): KeyObject | undefined {
    const pem = value === undefined ? undefined : this.#read(path, value);
    if (pem === undefined || value === undefined) return undefined;
    this.#rights(path, value);
    try {
      const key = createPrivateKey(pem);
      const weakness = keyWeakness(key);
      if (weakness !== undefined) this.#error(path, `it contains ${weakness}`, this.#keyRemedy);
      return key;
    } catch {
      this.#error(path, 'the file contains no readable private key'); // OpenSSL's text does not help
      return undefined;
    }
  }

  /** Warns of a private key that other users can read or change. */
  #rights(path: string, value: string): void {
    const source = parsePemSource(value);
    const mode = source.kind === 'inline' ? undefined : statSync(source.path, { throwIfNoEntry: false })?.mode;
    if (mode === undefined || process.platform === 'win32' || (mode & OTHERS) === 0) return;
    const bits = (mode & 0o777).toString(8).padStart(4, '0');
    const message = `other users can read or change the private key ${value} (mode ${bits})`;
    this.#findings.push(at(this.#input, 'warning', 'CFG-IDENTITY', path, message, `chmod 600 ${value}`));
  }

  #pair(
    keyPath: string,
    key: KeyObject | undefined,
    certificatePath: string,
    certificate: X509Certificate | undefined,
  ): void {
    if (key && certificate && !certificate.checkPrivateKey(key))
      this.#error(
        certificatePath,
        `the certificate does not belong to ${keyPath}`,
        'key and certificate must be created together; enroll again',
      );
  }

  /** Dates have their own check. */
  #signed(path: string, chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): void {
    const verdict = verifyChain(chain, authorities);
    if (verdict.ok) return;
    const hint = 'controllers and other routers are likely to reject it; enroll again, or correct identity.ca';
    this.#findings.push(
      at(
        this.#input,
        'warning',
        'CFG-IDENTITY',
        path,
        `it is not signed by an authority of identity.ca: ${verdict.reason}`,
        hint,
      ),
    );
  }

  #dateHint(certificate: X509Certificate): string {
    const { now } = this.#input;
    const time = new Date(now).toISOString();
    // Controllers issue certificates that are valid at once.
    if (now < certificate.validFromDate.getTime()) return `correct the clock of this machine, which says ${time}`;
    return `the clock of this machine says ${time}: if it is right, ${this.#place === ROUTER ? 'enroll the router again' : REPLACE_HINT}`;
  }

  #dates(path: string, certificate: X509Certificate | undefined): void {
    if (!certificate) return;
    const { now } = this.#input;
    const problem = validity(certificate, now);
    if (problem)
      this.#findings.push(at(this.#input, 'warning', 'CFG-CERTIFICATE', path, problem, this.#dateHint(certificate)));
    else if (validity(certificate, now + SOON))
      this.#findings.push(
        at(
          this.#input,
          'info',
          'CFG-CERTIFICATE',
          path,
          `the certificate expires on ${certificate.validTo}`,
          this.#place === ROUTER ? 'a running router renews it automatically' : REPLACE_HINT,
        ),
      );
  }

  #error(path: string, message: string, hint = ''): void {
    this.#findings.push(at(this.#input, 'error', 'CFG-IDENTITY', path, message, hint));
  }
}

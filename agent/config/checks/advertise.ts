// Checks the advertised hosts against the names of certificates: the current ones, and the next ones (controllers copy
// `csr.sans` into them). Routers and SDKs verify the host that they dial. Neither this router nor the reference starts
// if no certificate covers a host that is advertised to links or SDKs (reference fact: config, section 2.2).

import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { parsePemCertificates, subjectAltNames } from '#pki/certificates.ts';
import { advertisedHosts, covers, isEverywhere, requestedHosts } from '../advertised.ts';
import type { Finding, Severity } from '../finding.ts';
import { readPemSource } from '../pem-source.ts';
import { at, type CheckInput } from './check.ts';

/** Names of certificates in a finding. */
const MAX_NAMES = 20;

/**
 * Hosts that `csr.sans` does not contain, so the next certificates lack them. Errors stop an enrollment before its
 * one-time token is used.
 */
export function unrequestedHosts(input: CheckInput): Finding[] {
  const { config } = input;
  const csr = config.csr ?? config.edge?.csr;
  if (!csr) return []; // enrollment requires a csr section
  const isRequested = requestedHosts(csr);
  const alternates = alternateCertificates(input);
  return advertisedHosts(config).flatMap(({ path, host, isNeeded }) => {
    if (isRequested(host) || alternates?.some((certificate) => covers(certificate, host))) return [];
    const sans = `${config.csr ? 'csr' : 'edge.csr'}.sans.${isIP(host) === 0 ? 'dns' : 'ip'}`;
    const isFatal = input.beforeEnrollment && isNeeded && alternates !== undefined;
    if (isEverywhere(host)) return [everywhere(input, isFatal ? 'error' : 'warning', path, host)];
    const message = `csr.sans does not contain ${host}: ${consequence(input.beforeEnrollment, isNeeded)}`;
    return [at(input, isFatal ? 'error' : 'warning', 'CFG-ADVERTISE', path, message, `add ${host} to ${sans}`)];
  });
}

/**
 * Hosts that none of the certificates covers; `certificates` are all that the router presents. They are not errors if
 * the router renews its certificates at once, and the new ones will have them.
 */
export function uncoveredHosts(
  input: CheckInput,
  certificates: readonly X509Certificate[],
  canRenew: boolean,
): Finding[] {
  const { config } = input;
  const csr = config.csr ?? config.edge?.csr;
  const isInNext = csr ? requestedHosts(csr) : () => false;
  const has = `its certificates are valid for ${namesOf(certificates)}`;
  return advertisedHosts(config).flatMap(({ path, host, isNeeded }) => {
    if (certificates.some((certificate) => covers(certificate, host))) return [];
    const isRequested = isInNext(host);
    if (isEverywhere(host) && !isRequested) return [everywhere(input, isNeeded ? 'error' : 'warning', path, host)];
    const isRenewed = input.renewsAtStart && canRenew && isRequested;
    const message = `no certificate of this router is valid for ${host}`;
    if (isRenewed) return [at(input, 'warning', 'CFG-ADVERTISE', path, `${message} until it is renewed`)];
    const add = isRequested ? '' : 'add the host to csr.sans, and ';
    const remedy = canRenew
      ? `${add}start the router with --extend, which renews the certificates`
      : `${add}enroll again`;
    return [at(input, isNeeded ? 'error' : 'warning', 'CFG-ADVERTISE', path, message, `${has}; ${remedy}`)];
  });
}

/** The first names: a certificate may have thousands, and each uncovered host names them. */
function namesOf(certificates: readonly X509Certificate[]): string {
  const names = new Set(certificates.flatMap((certificate) => Object.values(subjectAltNames(certificate)).flat()));
  const rest = names.size - MAX_NAMES;
  return [...names].slice(0, MAX_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '') || 'no name';
}

/** No certificate repairs it. */
function everywhere(input: CheckInput, severity: Severity, path: string, host: string): Finding {
  const what = host === '' ? 'a missing host' : host;
  const message = `${what} means all interfaces of this machine, so others cannot connect to it`;
  const remedy =
    'advertise the host name or IP address under which others reach this router, which csr.sans must contain';
  return at(input, severity, 'CFG-ADVERTISE', path, message, remedy);
}

function consequence(beforeEnrollment: boolean, isNeeded: boolean): string {
  if (!isNeeded) return 'clients that verify the certificate reject it';
  return beforeEnrollment
    ? 'routers and SDKs verify the host that they dial, and the router does not start without it in its certificates'
    : 'the renewed certificates will lack it, and the router does not start with them';
}

/** Certificates that enrollment does not write; undefined if they cannot be read yet. */
function alternateCertificates({ config, readFile }: CheckInput): X509Certificate[] | undefined {
  try {
    return config.identity.alt_server_certs.flatMap((each) =>
      parsePemCertificates(readPemSource(each.server_cert, readFile)),
    );
  } catch {
    return undefined; // the identity check reports the reason once the files are required
  }
}

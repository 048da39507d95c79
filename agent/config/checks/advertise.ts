// Checks the advertised hosts against the names of certificates: the current ones, and the next ones (controllers copy
// `csr.sans` into them). Routers and SDKs verify the host that they dial. Neither this router nor the reference starts
// if no certificate covers a host that is advertised to links or SDKs (reference fact: config, section 2.2).

import type { X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import { parsePemCertificates, subjectAltNames } from '#pki/certificates.ts';
import type { Finding } from '../finding.ts';
import { readPemSource } from '../pem-source.ts';
import type { CsrConfig, RouterConfig } from '../router-config.ts';
import { at, type CheckInput } from './check.ts';

interface Advertised {
  readonly path: string;
  readonly host: string;
  /** The router does not start if no certificate covers the host. */
  readonly isNeeded: boolean;
}

/**
 * Hosts that `csr.sans` does not contain, so the next certificates lack them. Errors stop an enrollment before its
 * one-time token is used.
 */
export function unrequestedHosts(input: CheckInput): Finding[] {
  const { config } = input;
  const csr = config.csr ?? config.edge?.csr;
  if (!csr) return []; // enrollment requires a csr section
  const alternates = alternateCertificates(input);
  return advertisedHosts(config).flatMap(({ path, host, isNeeded }) => {
    if (requests(csr, host) || alternates?.some((certificate) => covers(certificate, host))) return [];
    const sans = `${config.csr ? 'csr' : 'edge.csr'}.sans.${isIP(host) === 0 ? 'dns' : 'ip'}`;
    const isFatal = input.beforeEnrollment && isNeeded && alternates !== undefined;
    const message = `csr.sans does not contain ${host}: ${consequence(input.beforeEnrollment, isNeeded)}`;
    return [at(input, isFatal ? 'error' : 'warning', 'CFG-ADVERTISE', path, message, `add ${host} to ${sans}`)];
  });
}

/** Hosts that none of the certificates covers; `certificates` are all that the router presents. */
export function uncoveredHosts(input: CheckInput, certificates: readonly X509Certificate[]): Finding[] {
  return advertisedHosts(input.config).flatMap(({ path, host, isNeeded }) => {
    if (certificates.some((certificate) => covers(certificate, host))) return [];
    const names = new Set(certificates.flatMap((certificate) => Object.values(subjectAltNames(certificate)).flat()));
    return [
      at(
        input,
        isNeeded ? 'error' : 'warning',
        'CFG-ADVERTISE',
        path,
        `no certificate of this router is valid for ${host}`,
        `its certificates are valid for ${[...names].join(', ') || 'no name'}; add the host to csr.sans and enroll again`,
      ),
    ];
  });
}

function consequence(beforeEnrollment: boolean, isNeeded: boolean): string {
  if (!isNeeded) return 'clients that verify the certificate reject it';
  return beforeEnrollment
    ? 'routers and SDKs verify the host that they dial, and the router does not start without it in its certificates'
    : 'the renewed certificates will lack it, and the router does not start with them';
}

function advertisedHosts({ link, listeners, ctrl, web }: RouterConfig): Advertised[] {
  const needed = [
    ...link.listeners.flatMap(({ advertise }, index) =>
      advertise?.type === 'tls' || advertise?.type === 'dtls'
        ? [{ path: `link.listeners[${index}].advertise`, host: advertise.host }]
        : [],
    ),
    ...listeners.flatMap(({ options }, index) =>
      'advertise' in options && options.advertise
        ? [{ path: `listeners[${index}].options.advertise`, host: options.advertise.host }]
        : [],
    ),
  ];
  const useful = [
    ...ctrl.listeners.flatMap(({ advertise }, index) =>
      advertise ? [{ path: `ctrl.listeners[${index}].advertise`, host: advertise.host }] : [],
    ),
    ...web.flatMap(({ identity, bindPoints }, server) =>
      identity
        ? [] // it presents its own certificate
        : bindPoints.map(({ address }, index) => ({ path: `web[${server}].bindPoints[${index}].address`, ...address })),
    ),
  ];
  return [
    ...needed.map((each) => ({ ...each, isNeeded: true })),
    ...useful.map(({ path, host }) => ({ path, host, isNeeded: false })),
  ];
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

function requests({ sans: { dns, ip } }: CsrConfig, host: string): boolean {
  if (isIP(host) !== 0) return ip.some((each) => isIP(each) !== 0 && canonical(each) === canonical(host));
  const wanted = host.toLowerCase();
  return dns.some((each) => {
    const name = each.toLowerCase();
    return name === wanted || (name.startsWith('*.') && name.slice(1) === wanted.slice(wanted.indexOf('.')));
  });
}

function canonical(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}

function covers(certificate: X509Certificate, host: string): boolean {
  return isIP(host) === 0
    ? certificate.checkHost(host, { subject: 'never' }) !== undefined
    : certificate.checkIP(host) !== undefined;
}

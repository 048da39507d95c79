// Advertised hosts against the names of certificates: those that the router has, and those that its next ones will have (`csr.sans`, which
// controllers copy into certificates). Routers and SDKs verify the host that they dial, and neither this router nor the reference starts when
// no certificate covers a host that links or SDKs are told (reference fact: config, section 2.2).

import type { X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import { parsePemCertificates, subjectAltNames } from '#lib/certificates.ts';
import type { Finding } from '../finding.ts';
import { readPemSource } from '../pem-source.ts';
import type { CsrConfig, RouterConfig } from '../router-config.ts';
import { at, type CheckInput } from './check.ts';

interface Advertised {
  readonly path: string;
  readonly host: string;
  /** The router does not start when no certificate covers the host. */
  readonly isNeeded: boolean;
}

/**
 * Hosts that `csr.sans` does not name, so that the next certificates lack them. Errors stop an enrollment before its one-time token is spent.
 */
export function unrequestedHosts(input: CheckInput): Finding[] {
  const { config } = input;
  const csr = config.csr ?? config.edge?.csr;
  if (!csr) return []; // without it there is no enrollment
  const alternates = alternateCertificates(input);
  return advertisedHosts(config).flatMap(({ path, host, isNeeded }) => {
    if (requests(csr, host) || alternates?.some((certificate) => covers(certificate, host))) return [];
    const sans = `${config.csr ? 'csr' : 'edge.csr'}.sans.${isIP(host) === 0 ? 'dns' : 'ip'}`;
    const isFatal = input.beforeEnrollment && isNeeded && alternates !== undefined;
    const message = `csr.sans does not name ${host}: ${consequence(input.beforeEnrollment, isNeeded)}`;
    return [at(input, isFatal ? 'error' : 'warning', 'CFG-ADVERTISE', path, message, `add ${host} to ${sans}`)];
  });
}

/** Hosts that none of the certificates covers; `certificates` are all that the router shows. */
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
        `it is valid for ${[...names].join(', ') || 'no name at all'}; add the host to csr.sans and enroll again`,
      ),
    ];
  });
}

function consequence(beforeEnrollment: boolean, isNeeded: boolean): string {
  if (!isNeeded) return 'clients that verify the certificate reject it';
  return beforeEnrollment
    ? 'routers and SDKs verify the host that they dial, and the router does not start with certificates that lack it'
    : 'the next renewal brings certificates that lack it, and the router does not start with them';
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
        ? [] // it shows a certificate of its own
        : bindPoints.map(({ address }, index) => ({ path: `web[${server}].bindPoints[${index}].address`, ...address })),
    ),
  ];
  return [
    ...needed.map((each) => ({ ...each, isNeeded: true })),
    ...useful.map(({ path, host }) => ({ path, host, isNeeded: false })),
  ];
}

/** Certificates that enrollment does not write; undefined when they cannot be read yet. */
function alternateCertificates({ config, readFile }: CheckInput): X509Certificate[] | undefined {
  try {
    return config.identity.alt_server_certs.flatMap((each) =>
      parsePemCertificates(readPemSource(each.server_cert, readFile)),
    );
  } catch {
    return undefined; // the check of the identity says why, as soon as the files must be there
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

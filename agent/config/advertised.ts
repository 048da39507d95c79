// The hosts that a router advertises, and the names of its certificates: the current ones, and the next ones
// (controllers copy `csr.sans` into them). Routers and SDKs verify the host that they dial.

import type { X509Certificate } from 'node:crypto';
import { isIP, SocketAddress } from 'node:net';
import type { CsrConfig, RouterConfig } from './router-config.ts';

export interface Advertised {
  /** Path of the key. */
  readonly path: string;
  readonly host: string;
  /** The router does not start if no certificate covers the host. */
  readonly isNeeded: boolean;
}

export function advertisedHosts({ link, listeners, ctrl, web }: RouterConfig): Advertised[] {
  const needed = [
    ...link.listeners.flatMap(({ advertise }, index) =>
      advertise && hasNames(advertise) ? [{ path: `link.listeners[${index}].advertise`, host: advertise.host }] : [],
    ),
    ...listeners.flatMap(({ options }, index) =>
      'advertise' in options && options.advertise
        ? [{ path: `listeners[${index}].options.advertise`, host: options.advertise.host }]
        : [],
    ),
  ];
  const useful = [
    ...link.listeners.flatMap(({ advertise, bind }, index) =>
      advertise || !hasNames(bind) ? [] : [{ path: `link.listeners[${index}].advertise`, host: bind.host }],
    ),
    ...ctrl.listeners.map(({ advertise, bind }, index) => ({
      path: `ctrl.listeners[${index}].advertise`,
      host: (advertise ?? bind).host,
    })),
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

function hasNames({ type }: { readonly type: string }): boolean {
  return type === 'tls' || type === 'dtls';
}

/** Whether a host means all interfaces of the machine that listens: others cannot connect to it. */
export function isEverywhere(host: string): boolean {
  return host === '' || host === '0.0.0.0' || canonical(host) === '::';
}

/** Returns whether the next certificates will have a host. The result is for many hosts: a file may have thousands. */
export function requestedHosts({ sans: { dns, ip } }: CsrConfig): (host: string) => boolean {
  const addresses = new Set(ip.filter((each) => isIP(each) !== 0).map(canonical));
  const names = new Set(dns.map((each) => each.toLowerCase()));
  return (host) => {
    if (isIP(host) !== 0) return addresses.has(canonical(host));
    const name = host.toLowerCase();
    const dot = name.indexOf('.');
    return names.has(name) || (dot !== -1 && names.has(`*${name.slice(dot)}`));
  };
}

function canonical(address: string): string {
  return isIP(address) === 6 ? new SocketAddress({ address, family: 'ipv6' }).address : address;
}

export function covers(certificate: X509Certificate, host: string): boolean {
  return isIP(host) === 0
    ? certificate.checkHost(host, { subject: 'never' }) !== undefined
    : certificate.checkIP(host) !== undefined;
}

// Ports that two listeners claim. Protocols that ALPN distinguishes may share a TLS port.

import { isIP, SocketAddress } from 'node:net';
import { type Address, joinHostPort, splitHostPort } from '#lib/net/address.ts';
import type { Finding } from '../finding.ts';
import type { RouterConfig } from '../router-config.ts';
import { nearestNode } from '../text/document.ts';
import { at, type Check, type CheckInput } from './check.ts';

interface Claim {
  readonly path: string;
  readonly host: string;
  readonly port: number;
  /** tcp or udp: their ports are independent. */
  readonly network: 'tcp' | 'udp';
  /** ALPN names of the listener's clients on a TLS port; undefined if the port cannot be shared. */
  readonly protocols?: readonly string[] | undefined;
  /** The router starts without this port. */
  readonly isOptional?: boolean;
}

/** A claim with the one spelling of its host that all others are compared with. */
interface ComparedClaim extends Claim {
  readonly canonical: string;
}

/** Listeners of a port with which further ones are compared: a file may have thousands. */
const MAX_COMPARED = 100;

/** Clients without ALPN go to SDK listeners and to listeners of the binding transport or proxy. */
const WITHOUT_NAME = 'none';
const DNS_PORT = 53;
const REMEDY = 'choose another port';
const SHARING =
  'choose another port; TLS listeners of different protocols can share one if both use the same host:port';

/**
 * Finds listeners that claim the same port. TLS listeners of different protocols may share a port if they use the same
 * `host:port`. Two listeners of one protocol, or a listener without TLS, may not.
 */
export const checkPorts: Check = (input) => {
  const byPort = new Map<string, ComparedClaim[]>();
  return claimsOf(input.config).flatMap((each) => {
    const claim = { ...each, canonical: canonical(each.host) };
    const port = `${claim.network} ${claim.port}`;
    const earlier = byPort.get(port) ?? [];
    const other = earlier.find((one) => inConflict(one, claim));
    if (earlier.length < MAX_COMPARED) byPort.set(port, [...earlier, claim]);
    if (!other) return withoutName(input, claim, earlier);
    const line = lineOf(input, other);
    const isSure = !claim.isOptional && !other.isOptional && isCertain(claim.host, other.host);
    const message = `${joinHostPort(claim.host, claim.port)} is already used by ${other.path} in line ${line} (${joinHostPort(other.host, other.port)})`;
    const hint = claim.protocols && other.protocols ? SHARING : REMEDY;
    return [at(input, isSure ? 'error' : 'warning', 'CFG-PORT-CONFLICT', claim.path, message, hint)];
  });
};

/** Clients without ALPN that a web server does not get, because an edge listener shares its port. */
function withoutName(input: CheckInput, { path, host, port, protocols }: Claim, earlier: readonly Claim[]): Finding[] {
  if (!path.startsWith('web[') || !protocols || port === 0) return [];
  const edge = earlier.find(
    (each) => each.host === host && each.port === port && each.protocols?.includes(WITHOUT_NAME),
  );
  if (!edge) return [];
  const message = `${edge.path} in line ${lineOf(input, edge)} gets the clients of this port that send no ALPN`;
  const hint = 'choose another port for such clients, for example for the HTTPS probes of Kubernetes';
  return [at(input, 'warning', 'CFG-PORT-CONFLICT', path, message, hint)];
}

function lineOf({ root }: CheckInput, { path }: Claim): number {
  return nearestNode(root, path).at.line;
}

function inConflict(a: ComparedClaim, b: ComparedClaim): boolean {
  if (a.port !== b.port || a.port === 0 || a.network !== b.network) return false;
  if (a.host === b.host && a.protocols && b.protocols) return a.protocols.some((name) => b.protocols?.includes(name));
  return overlap(a, b) || overlap(b, a);
}

/**
 * Whether a socket bound to the host of `a` receives traffic for that of `b`. A TCP socket on `::` receives IPv4 as
 * well.
 */
function overlap(a: ComparedClaim, b: ComparedClaim): boolean {
  if (a.canonical === b.canonical || a.host === '') return true;
  if (a.host === LOCALHOST) return LOOPBACK.includes(b.canonical);
  const family = isIP(b.host);
  if (a.host === '0.0.0.0') return family !== 6;
  return a.canonical === '::' && (a.network === 'tcp' || family !== 4);
}

const LOCALHOST = 'localhost';
const LOOPBACK = ['127.0.0.1', '::1'];

/** A name can be resolved only where the router runs. */
function isCertain(a: string, b: string): boolean {
  return isName(a) === isName(b) || [a, b].some((host) => host === '' || canonical(host) === '::');
}

function isName(host: string): boolean {
  return host !== '' && isIP(host) === 0;
}

function canonical(host: string): string {
  return isIP(host) === 6 ? new SocketAddress({ address: host, family: 'ipv6' }).address : host.toLowerCase();
}

function claimsOf(config: RouterConfig): Claim[] {
  const tunnel = config.listeners.findIndex(({ binding }) => binding === 'tunnel'); // further ones are unsupported
  return [
    ...config.link.listeners.map((listener, index) =>
      streamClaim(`link.listeners[${index}].bind`, listener.bind, ['link']),
    ),
    ...config.ctrl.listeners.map((listener, index) =>
      streamClaim(`ctrl.listeners[${index}].bind`, listener.bind, ['ctrl']),
    ),
    ...config.listeners.flatMap((listener, index) =>
      listener.binding === 'tunnel' && index !== tunnel ? [] : listenerClaims(listener, `listeners[${index}]`),
    ),
    ...(config.edge?.apiProxy
      ? [
          {
            path: 'edge.apiProxy.listener',
            ...config.edge.apiProxy.listener,
            network: 'tcp' as const,
            protocols: ['web'],
          },
        ]
      : []),
    ...config.web.flatMap((web, server) =>
      web.bindPoints.map((point, index) => ({
        path: `web[${server}].bindPoints[${index}].interface`,
        ...point.interface,
        network: 'tcp' as const,
        protocols: sharesPorts(web) ? ['web'] : undefined,
      })),
    ),
  ];
}

/** A shared port has the router's certificate and the usual versions of TLS. */
function sharesPorts({ identity, options }: RouterConfig['web'][number]): boolean {
  return !identity && options.minTLSVersion === 'TLS1.2' && options.maxTLSVersion === 'TLS1.3';
}

function listenerClaims(listener: RouterConfig['listeners'][number], path: string): Claim[] {
  switch (listener.binding) {
    case 'edge':
      // WebSockets use HTTP, which an edge listener with TLS distinguishes.
      return [
        streamClaim(
          `${path}.address`,
          listener.address,
          listener.address.type === 'wss' ? ['web'] : ['edge', WITHOUT_NAME],
        ),
      ];
    case 'transport':
    case 'proxy':
      return [streamClaim(`${path}.address`, listener.address, [WITHOUT_NAME])];
    case 'transport_udp':
    case 'proxy_udp':
      return datagramClaims(`${path}.address`, listener.address);
    case 'tunnel':
      if (listener.options.mode === 'proxy') return proxyClaims(path, listener.options.services);
      return listener.options.mode.startsWith('tproxy') ? resolverClaims(path, listener.options.resolver) : [];
    default:
      return [];
  }
}

function streamClaim(path: string, { type, host, port }: Address, protocols: readonly string[]): Claim {
  const isTls = type === 'tls' || type === 'wss';
  return { path, host, port, network: 'tcp', protocols: isTls ? protocols : undefined };
}

function datagramClaims(path: string, address: string, isOptional = false): Claim[] {
  try {
    const { host, port } = splitHostPort(address.replace(/^udp[46]?:/, ''));
    const everywhere = address.startsWith('udp6') ? '::' : '0.0.0.0';
    return [{ path, host: host === '' ? everywhere : host, port, network: 'udp', isOptional }];
  } catch {
    return []; // the check of listeners reports the error
  }
}

/** Name servers of the tunneler. Without their ports the router starts, but resolves no service names. */
function resolverClaims(path: string, resolvers: readonly string[]): Claim[] {
  return resolvers.flatMap((each) => {
    const place = /^udp:\/\/([^?#/]*)/.exec(each)?.[1];
    if (place === undefined) return [];
    return datagramClaims(`${path}.options.resolver`, /:\d+$/.test(place) ? place : `${place}:${DNS_PORT}`, true);
  });
}

function proxyClaims(path: string, services: readonly string[]): Claim[] {
  return services.map((service, index) => {
    const [, port = '0', protocol = 'tcp'] = /:(\d+)(?::(tcp|udp))?$/.exec(service) ?? [];
    return {
      path: `${path}.options.services[${index}]`,
      host: '0.0.0.0',
      port: Number(port),
      network: protocol === 'udp' ? 'udp' : 'tcp',
    };
  });
}

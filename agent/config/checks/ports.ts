// Ports that two listeners want. Protocols that tell themselves apart by ALPN may share a TLS port.

import { joinHostPort, splitHostPort } from '#lib/address.ts';
import type { Finding } from '../finding.ts';
import type { RouterConfig } from '../router-config.ts';
import { at, type Check } from './check.ts';

interface Claim {
  readonly path: string;
  readonly host: string;
  readonly port: number;
  /** tcp or udp: each has ports of its own. */
  readonly network: 'tcp' | 'udp';
  /** Protocol names on a TLS port; undefined when the port cannot be shared. */
  readonly alpn: string | undefined;
}

/**
 * Listeners that want one port. TLS listeners of different protocols may share a port when they write the same `host:port`;
 * two of one protocol, or one that is not TLS, may not.
 */
export const checkPorts: Check = (input) => {
  const findings: Finding[] = [];
  const claims = claimsOf(input.config);
  for (const [index, claim] of claims.entries()) {
    const other = claims.slice(0, index).find((earlier) => inConflict(earlier, claim));
    if (other)
      findings.push(
        at(
          input,
          'error',
          'CFG-PORT-CONFLICT',
          claim.path,
          `${joinHostPort(claim.host, claim.port)} is taken by ${other.path} already`,
          'choose another port',
        ),
      );
  }
  return findings;
};

function inConflict(a: Claim, b: Claim): boolean {
  if (a.port !== b.port || a.port === 0 || a.network !== b.network) return false;
  if (a.host === b.host) return a.alpn === undefined || a.alpn === b.alpn;
  return isWildcard(a.host) || isWildcard(b.host);
}

function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::';
}

function claimsOf(config: RouterConfig): Claim[] {
  const claims: Claim[] = [];
  for (const [index, listener] of config.link.listeners.entries())
    claims.push({
      path: `link.listeners[${index}].bind`,
      ...listener.bind,
      network: 'tcp',
      alpn: tls(listener.bind.type, 'link'),
    });
  for (const [index, listener] of config.ctrl.listeners.entries())
    claims.push({
      path: `ctrl.listeners[${index}].bind`,
      ...listener.bind,
      network: 'tcp',
      alpn: tls(listener.bind.type, 'ctrl'),
    });
  for (const [index, listener] of config.listeners.entries()) {
    const path = `listeners[${index}]`;
    if (listener.binding === 'edge')
      claims.push({
        path: `${path}.address`,
        ...listener.address,
        network: 'tcp',
        // WebSockets are HTTP, which an edge listener with TLS tells apart.
        alpn: tls(listener.address.type, listener.address.type === 'wss' ? 'web' : 'edge'),
      });
    if (listener.binding === 'transport' || listener.binding === 'proxy')
      claims.push({
        path: `${path}.address`,
        ...listener.address,
        network: 'tcp',
        alpn: tls(listener.address.type, 'none'),
      });
    if (listener.binding === 'transport_udp' || listener.binding === 'proxy_udp')
      claims.push(...datagramClaims(`${path}.address`, listener.address));
    if (listener.binding === 'tunnel' && listener.options.mode === 'proxy')
      claims.push(...proxyClaims(path, listener.options.services));
  }
  const proxy = config.edge?.apiProxy;
  if (proxy) claims.push({ path: 'edge.apiProxy.listener', ...proxy.listener, network: 'tcp', alpn: 'web' });
  for (const [server, web] of config.web.entries()) {
    for (const [index, point] of web.bindPoints.entries())
      claims.push({
        path: `web[${server}].bindPoints[${index}].interface`,
        ...point.interface,
        network: 'tcp',
        alpn: 'web',
      });
  }
  return claims;
}

function datagramClaims(path: string, address: string): Claim[] {
  try {
    return [{ path, ...splitHostPort(address.replace(/^udp[46]?:/, '')), network: 'udp', alpn: undefined }];
  } catch {
    return []; // the check of listeners says what is wrong
  }
}

function proxyClaims(path: string, services: readonly string[]): Claim[] {
  return services.map((service, index) => {
    const [, port = '0', protocol = 'tcp'] = /:(\d+)(?::(tcp|udp))?$/.exec(service) ?? [];
    return {
      path: `${path}.options.services[${index}]`,
      host: '0.0.0.0',
      port: Number(port),
      network: protocol === 'udp' ? 'udp' : 'tcp',
      alpn: undefined,
    };
  });
}

function tls(type: string, protocol: string): string | undefined {
  return type === 'tls' || type === 'wss' ? protocol : undefined;
}

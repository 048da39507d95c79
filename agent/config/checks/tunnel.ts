// Options of mode tproxy that are used only after the start: an invalid range stops the router then, an invalid name
// server leaves it without names. The other modes ignore them (reference fact: config, section 2.12). Only mode proxy
// uses the list of services.

import { isIP, isIPv4 } from 'node:net';
import { describeError } from '#lib/errors.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { isEverywhere } from '../advertised.ts';
import type { Finding } from '../finding.ts';
import { type ParsedResolvers, parseResolvers, parseUpstream, type Upstream } from '../name-servers.ts';
import type { TunnelListenerOptions } from '../router-config.ts';
import { at, type Check, type CheckInput } from './check.ts';

/** The range needs three addresses, and must not be all of IPv4. */
const PREFIX_LENGTHS = { from: 1, to: 30 };

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', 'localhost.']);

export const checkTunnel: Check = (input) =>
  input.config.listeners.flatMap((listener, index) => {
    if (listener.binding !== 'tunnel') return [];
    const path = `listeners[${index}].options`;
    const { options } = listener;
    const unused = unusedServices(input, path, options);
    if (!options.mode.startsWith('tproxy')) return unused;
    const checks = [range, nameServers, upstreams];
    return [...unused, ...checks.flatMap((check) => check(input, path, options))];
  });

/** A list of services looks like a restriction, which only mode proxy has. */
function unusedServices(input: CheckInput, path: string, { mode, services }: TunnelListenerOptions): Finding[] {
  if (mode === 'proxy' || services.length === 0) return [];
  const does =
    mode === 'host' ? 'hosts each service that the router may bind' : 'intercepts each service that it may dial';
  const message = `only mode proxy uses this list: mode ${mode} ${does}`;
  return [at(input, 'warning', 'CFG-IGNORED', `${path}.services`, message, 'restrict it by service policies')];
}

function range(input: CheckInput, path: string, { dnsSvcIpRange }: TunnelListenerOptions): Finding[] {
  const [ip = '', bits] = dnsSvcIpRange.split('/');
  if (isIPv4(ip) && Number(bits) >= PREFIX_LENGTHS.from && Number(bits) <= PREFIX_LENGTHS.to) return [];
  const message = `${dnsSvcIpRange} is not an IPv4 range with at least 4 addresses`;
  return [at(input, 'error', 'CFG-VALUE', `${path}.dnsSvcIpRange`, message, 'use a range such as 100.64.0.1/10')];
}

function nameServers(input: CheckInput, path: string, { resolver, dnsUpstream }: TunnelListenerOptions): Finding[] {
  const parsers: [key: string, parse: () => unknown, remedy: string][] = [
    ['resolver', () => parseResolvers(resolver), 'use udp://host:port, or one file:///path of a hosts file'],
    ['dnsUpstream', () => dnsUpstream.map(parseUpstream), 'use udp://host:port or tcp://host:port'],
  ];
  return parsers.flatMap(([key, parse, remedy]) => {
    try {
      parse();
      return [];
    } catch (error) {
      const message = `names of services are not resolved: ${describeError(error)}`;
      return [at(input, 'warning', 'CFG-VALUE', `${path}.${key}`, message, remedy)];
    }
  });
}

/**
 * A query to an upstream must not return to this router's own name server, which would ask the upstream again. The
 * machine resolves the name of an upstream with its name servers, usually with this one.
 */
function upstreams(input: CheckInput, path: string, { resolver, dnsUpstream }: TunnelListenerOptions): Finding[] {
  const own = parsed(() => parseResolvers(resolver))?.servers ?? [];
  const isOwn = answeredBy(own);
  return dnsUpstream.flatMap((text) => {
    const upstream = parsed(() => parseUpstream(text));
    if (!upstream) return []; // has its own finding
    const { host } = upstream;
    const key = `${path}.dnsUpstream`;
    if (isOwn(upstream)) {
      const message = `${text} is the address of the tunneler's own name server (resolver), so queries would never end`;
      return [at(input, 'error', 'CFG-VALUE', key, message, 'use the address of another name server, or remove it')];
    }
    if (isIP(host) !== 0 || LOOPBACK_NAMES.has(host) || own.length === 0) return [];
    const message = `${host} is a name, which this machine may resolve with the tunneler's own name server (resolver)`;
    return [at(input, 'warning', 'CFG-VALUE', key, message, `use the IP address of ${host}`)];
  });
}

/** Returns whether name servers of the tunneler get the queries to an upstream. They answer over UDP only. */
function answeredBy(servers: ParsedResolvers['servers']): (upstream: Upstream) => boolean {
  const addresses = new Set(servers.map(({ host, port }) => joinHostPort(host, port)));
  const openPorts = new Set(servers.flatMap(({ host, port }) => (isEverywhere(host) ? [port] : [])));
  return ({ protocol, host, port }) => {
    const ip = LOOPBACK_NAMES.has(host) ? '127.0.0.1' : host;
    const isHere = isEverywhere(ip) || ip === '::1' || (isIPv4(ip) && ip.startsWith('127.'));
    return protocol === 'udp' && (addresses.has(joinHostPort(ip, port)) || (isHere && openPorts.has(port)));
  };
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined; // nameServers() reports it
  }
}

// Options of mode tproxy that are used only after the start: an invalid range stops the router then, an invalid name
// server leaves it without names. The other modes ignore them (reference fact: config, section 2.12).

import { isIPv4 } from 'node:net';
import { describeError } from '#lib/errors.ts';
import type { Finding } from '../finding.ts';
import { parseResolvers, parseUpstream } from '../name-servers.ts';
import type { TunnelListenerOptions } from '../router-config.ts';
import { at, type Check, type CheckInput } from './check.ts';

/** The range needs three addresses, and must not be all of IPv4. */
const PREFIX_LENGTHS = { from: 1, to: 30 };

export const checkTunnel: Check = (input) =>
  input.config.listeners.flatMap((listener, index) =>
    listener.binding === 'tunnel' && listener.options.mode.startsWith('tproxy')
      ? [
          ...range(input, `listeners[${index}].options`, listener.options),
          ...nameServers(input, `listeners[${index}].options`, listener.options),
        ]
      : [],
  );

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

// The string formats that the schema names: durations, addresses, `host:port`, and others. Each returns a problem as
// text.

import { isIP } from 'node:net';
import { describeError } from '#lib/errors.ts';
import { ADDRESS_TYPES, hostProblem, MAX_PORT, parseAddress, splitHostPort } from '#lib/net/address.ts';
import { parseDuration } from '#lib/time/duration.ts';

/** Returns undefined for a valid text, else its problem. */
export type FormatCheck = (text: string) => string | undefined;

export const FORMATS: Readonly<Record<string, FormatCheck>> = Object.freeze({
  duration: tried(parseDuration),
  'duration-or-ms': tried(parseDuration),
  address: checkAddress,
  'host-port': checkHostPort,
  'host-port-required': checkRequiredHostPort,
  'host-port-listen': checkListenHostPort,
  ip: checkIp,
  'uri-reference': (text) => (/[\s<>"{}|\\^`]/.test(text) ? 'is not a URI' : undefined),
  cidr: checkCidr,
  'datagram-address': (text) =>
    /^(udp|udp4|udp6|unixgram):./.test(text) ? undefined : 'must begin with udp:, udp4:, udp6: or unixgram:',
  'proxy-service': checkProxyService,
  interface: (text) => (text === '' ? 'must not be empty' : undefined),
});

/** Names of formats in messages. */
export const FORMAT_NAMES: Readonly<Record<string, string>> = Object.freeze({
  duration: 'a duration, for example 250ms, 5s or 1m30s',
  'duration-or-ms': 'a duration, for example 250ms, 5s or 1m30s',
  address: 'an address, for example tls:host:6262',
  'host-port': 'host:port',
  'host-port-required': 'host:port with a port from 1 to 65535',
  'host-port-listen': 'host:port; port 0 is a free one',
  ip: 'an IP address',
  'uri-reference': 'a URI',
  cidr: 'an address range, for example 100.64.0.1/10',
  'datagram-address': 'an address, for example udp:host:port',
  'proxy-service': 'SERVICE:PORT or SERVICE:PORT:tcp|udp',
  interface: 'an interface name or IP address',
});

/** A corrected address: adds a missing scheme, or removes a superfluous one. */
export function meantAddress(format: string, text: string): string | undefined {
  if (!['address', 'host-port', 'host-port-required', 'host-port-listen'].includes(format)) return undefined;
  const place = /^(?:[a-z][a-z0-9]*:)?\/*((?:\[[^\]]*\]|[^:/]+):\d+)\/*$/i.exec(text)?.[1];
  if (place === undefined) return undefined;
  const meant = format === 'address' ? `${text.startsWith('ws:') ? 'wss' : 'tls'}:${place}` : place;
  return meant !== text && FORMATS[format]?.(meant) === undefined ? meant : undefined;
}

function tried(parse: (text: string) => unknown): FormatCheck {
  return (text) => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return describeError(error);
    }
  };
}

function checkAddress(text: string): string | undefined {
  const problem = tried(parseAddress)(text);
  if (problem) return problem;
  return parseAddress(text).type === 'ws' ? 'ws is not supported, use wss' : undefined;
}

function checkHostPort(text: string): string | undefined {
  const type = ADDRESS_TYPES.find((each) => text.startsWith(`${each}:`));
  // A host may have the name of a type: `tcp:80`.
  if (type !== undefined && text.lastIndexOf(':') > type.length) return `the type ${type}: does not belong here`;
  return tried((value) => splitHostPort(String(value)))(text);
}

function checkIp(text: string): string | undefined {
  if (isIP(text) !== 0) return undefined;
  const isName = text !== '' && hostProblem(text) === undefined;
  return isName ? 'is not an IP address; names belong to dns' : 'is not an IP address';
}

function checkListenHostPort(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  return checkHostPort(text) ?? (splitHostPort(text).host === '' ? 'host must be specified' : undefined);
}

function checkRequiredHostPort(text: string): string | undefined {
  const problem = checkListenHostPort(text);
  return problem ?? (splitHostPort(text).port === 0 ? 'port must be from 1 to 65535' : undefined);
}

function checkCidr(text: string): string | undefined {
  const [ip = '', bits = '', ...rest] = text.split('/');
  const family = isIP(ip);
  const max = family === 4 ? 32 : 128;
  return family === 0 || rest.length > 0 || !/^\d+$/.test(bits) || Number(bits) > max
    ? 'is not an address range'
    : undefined;
}

function checkProxyService(text: string): string | undefined {
  const match = /^(.+?):(\d+)(?::(tcp|udp))?$/.exec(text);
  if (!match) return 'is not of the form SERVICE:PORT or SERVICE:PORT:tcp|udp';
  const port = Number(match[2]);
  return port > MAX_PORT ? `port ${match[2]} is above ${MAX_PORT}` : undefined;
}

// Transport addresses: `tls:host:port`, `tls:[::1]:6262`. The rules of what parses, and in which order the types are tried,
// are those of the reference (reference/router-config.md section 3), except that hosts which cannot exist are refused here
// and not at the first dial.

import { isIP } from 'node:net';
import { ProjectError } from './errors.ts';

export const ADDRESS_TYPES = ['tls', 'dtls', 'tcp', 'ws', 'wss', 'udp'] as const;
export type AddressType = (typeof ADDRESS_TYPES)[number];

/** Characters of a name and of each part between two points (RFC 1035). */
const LONGEST_NAME = 254;
const LONGEST_LABEL = 63;

export interface Address {
  readonly type: AddressType;
  /** Without brackets; may be empty, which means every interface for a listener and the local host for a dialer. */
  readonly host: string;
  readonly port: number;
}

export class AddressError extends ProjectError {
  constructor(text: string, why: string) {
    super('BAD_ADDRESS', `address (${text}) not parsed: ${why}`);
  }
}

/** Throws AddressError with what is wrong about the text. */
export function parseAddress(text: string): Address {
  const colon = text.indexOf(':');
  if (colon < 0) throw new AddressError(text, 'expected type:host:port');
  const type = text.slice(0, colon);
  if (!isAddressType(type))
    throw new AddressError(text, `unknown type "${type}", expected one of ${ADDRESS_TYPES.join(', ')}`);
  return { type, ...splitHostPort(text.slice(colon + 1), text) };
}

/** `host:port` or `[v6]:port`; `shown` is the text that the error names. */
export function splitHostPort(text: string, shown: string = text): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  if (colon < 0) throw new AddressError(shown, 'missing port');
  let host = text.slice(0, colon);
  const portText = text.slice(colon + 1);
  if (host.startsWith('[') && host.endsWith(']')) host = host.slice(1, -1);
  else if (host.includes(':')) throw new AddressError(shown, 'an IPv6 host must stand in brackets');
  if (!/^\d+$/.test(portText)) throw new AddressError(shown, `"${portText}" is not a port number`);
  const port = Number(portText);
  if (port > 65_535) throw new AddressError(shown, `port ${portText} is above 65535`);
  const problem = host === '' ? undefined : hostProblem(host);
  if (problem !== undefined) throw new AddressError(shown, problem);
  return { host, port };
}

/** The reason why a text is not a host name or IP address, or undefined. */
export function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0) return undefined;
  if (host.startsWith('//')) return `"${host}" is no host; leave the slashes out`;
  const isName = host.length <= LONGEST_NAME && host.replace(/\.$/, '').split('.').every(isLabel);
  // Four numbers that are no IP address are a mistyped one; no such name exists.
  return isName && !/^[\d.]+$/.test(host) ? undefined : `"${host}" is neither a host name nor an IP address`;
}

/** `host:port`, with brackets round an IPv6 host. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The canonical text, `type:host:port`. */
export function formatAddress(address: Address): string {
  return `${address.type}:${joinHostPort(address.host, address.port)}`;
}

/** One part of a name, in any language: some networks have names of their own that no registry would take. */
function isLabel(text: string): boolean {
  return text.length <= LONGEST_LABEL && /^[\p{L}\p{M}\p{N}_-]+$/u.test(text);
}

function isAddressType(type: string): type is AddressType {
  return (ADDRESS_TYPES as readonly string[]).includes(type);
}

// Transport addresses: `tls:host:port`, `tls:[::1]:6262`. Syntax and order of types follow the reference
// (reference/router-config.md section 3), with one exception: impossible hosts are rejected here, not at the first
// dial.

import { isIP } from 'node:net';
import { ProjectError } from '../errors.ts';

export const ADDRESS_TYPES = ['tls', 'dtls', 'tcp', 'ws', 'wss', 'udp'] as const;
export type AddressType = (typeof ADDRESS_TYPES)[number];

export const MAX_PORT = 65_535;

/** Characters of a name, and of each label between two dots (RFC 1035). */
const MAX_NAME_LENGTH = 254;
const MAX_LABEL_LENGTH = 63;

export interface Address {
  readonly type: AddressType;
  /** Without brackets. Empty means every interface for a listener and the local host for a dialer. */
  readonly host: string;
  readonly port: number;
}

export class AddressError extends ProjectError {
  constructor(text: string, why: string) {
    super('BAD_ADDRESS', `address (${text}) not parsed: ${why}`);
  }
}

/** @throws AddressError that describes the problem of the text */
export function parseAddress(text: string): Address {
  const colon = text.indexOf(':');
  if (colon < 0) throw new AddressError(text, 'expected type:host:port');
  const type = text.slice(0, colon);
  if (!isAddressType(type))
    throw new AddressError(text, `unknown type "${type}", expected one of ${ADDRESS_TYPES.join(', ')}`);
  return { type, ...splitHostPort(text.slice(colon + 1), text) };
}

/** Splits `host:port` or `[v6]:port`; `original` is the text for the error. */
export function splitHostPort(text: string, original: string = text): { host: string; port: number } {
  const colon = text.lastIndexOf(':');
  if (colon < 0) throw new AddressError(original, 'missing port');
  let host = text.slice(0, colon);
  const portText = text.slice(colon + 1);
  if (host.startsWith('[') && host.endsWith(']')) host = host.slice(1, -1);
  else if (host.includes(':')) throw new AddressError(original, 'an IPv6 host requires brackets');
  if (!/^\d+$/.test(portText)) throw new AddressError(original, `"${portText}" is not a port number`);
  const port = Number(portText);
  if (port > MAX_PORT) throw new AddressError(original, `port ${portText} is above ${MAX_PORT}`);
  const problem = host === '' ? undefined : hostProblem(host);
  if (problem !== undefined) throw new AddressError(original, problem);
  return { host, port };
}

/** The reason why a text is not a host name or IP address, or undefined. */
export function hostProblem(host: string): string | undefined {
  if (isIP(host) !== 0) return undefined;
  if (host.startsWith('//')) return `"${host}" is not a host; remove the slashes`;
  const isName = host.length <= MAX_NAME_LENGTH && host.replace(/\.$/, '').split('.').every(isLabel);
  // Rejects four numbers that are not an IP address: a typing mistake, because no such name exists.
  return isName && !/^[\d.]+$/.test(host) ? undefined : `"${host}" is neither a host name nor an IP address`;
}

/** Certificates contain host names in ASCII only. */
export function isAscii(host: string): boolean {
  return /^[\x20-\x7e]*$/.test(host);
}

/** `host:port`, with brackets around an IPv6 host. */
export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The canonical text, `type:host:port`. */
export function formatAddress(address: Address): string {
  return `${address.type}:${joinHostPort(address.host, address.port)}`;
}

/** One label of a name, in any script: some networks use private names that no registry would accept. */
function isLabel(text: string): boolean {
  return text.length <= MAX_LABEL_LENGTH && /^[\p{L}\p{M}\p{N}_-]+$/u.test(text);
}

function isAddressType(type: string): type is AddressType {
  return (ADDRESS_TYPES as readonly string[]).includes(type);
}

// IP addresses of both versions: one text for each address, and ranges.

import { BlockList, isIP, SocketAddress } from 'node:net';
import { ipv4ToNumber, ipv4ToText } from './tproxy/ipv4.ts';

/** The upper 96 bits of an IPv4-mapped IPv6 address. */
const MAPPED_IPV4 = 0xffffn;

/**
 * The one text of an address, which many texts may mean. An IPv4-mapped address becomes the IPv4 address that the
 * system connects to. Names are returned unchanged.
 */
export function canonicalAddress(text: string): string {
  if (isIP(text) !== 6) return text;
  const [ip = '', zone] = text.split('%');
  const bits = toBits(ip);
  if (bits >> 32n === MAPPED_IPV4) return ipv4ToText(Number(BigInt.asUintN(32, bits)));
  return zone === undefined ? ipv6Text(bits) : `${ipv6Text(bits)}%${zone}`;
}

/** Both addresses have the same version. */
export function inRange(network: string, bits: number, ip: string): boolean {
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(ip, family);
}

/** `family`: 4 or 6. */
export function isPrefixLength(bits: number, family: number): boolean {
  return Number.isInteger(bits) && bits >= 0 && bits <= (family === 4 ? 32 : 128);
}

/** Reads a valid address without a zone. */
export function toBits(ip: string): bigint {
  if (isIP(ip) === 4) return BigInt(ipv4ToNumber(ip));
  // The last 32 bits may be written as an IPv4 address.
  const hexadecimal = ip.replace(/[^:]*\.[^:]*$/, (ipv4) => {
    const number = ipv4ToNumber(ipv4);
    return `${Math.floor(number / 65_536).toString(16)}:${(number % 65_536).toString(16)}`;
  });
  const [head = [], tail = []] = hexadecimal.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

export function ipv6Text(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_none, index) =>
    ((bits >> BigInt(16 * (7 - index))) & 0xffffn).toString(16),
  );
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
}

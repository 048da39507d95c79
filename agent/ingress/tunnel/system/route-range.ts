// Address ranges of routes in one spelling. The kernel clears the bits after the prefix and ignores notation, so ranges
// that differ only in these are one route.

import { isIPv6 } from 'node:net';
import { ipv6Text, toBits } from '../ip-addresses.ts';
import { networkToText, parseIpv4Network } from '../tproxy/ipv4.ts';

const ADDRESS_BITS = 128;

/** `10.9.8.7/24` → `10.9.8.0/24`, `FD00::0:1` → `fd00::1/128`. Returns other text unchanged: `ip` rejects it. */
export function normalizeRange(text: string): string {
  const ipv4 = parseIpv4Network(text);
  if (ipv4) return networkToText(ipv4);
  const [ip = '', bits = String(ADDRESS_BITS)] = text.split('/');
  if (!isIPv6(ip) || ip.includes('%') || !/^\d{1,3}$/.test(bits) || Number(bits) > ADDRESS_BITS) return text;
  const hostBits = BigInt(ADDRESS_BITS - Number(bits));
  return `${ipv6Text((toBits(ip) >> hostBits) << hostBits)}/${Number(bits)}`;
}

/** Whether a normalized range is one of IPv6. */
export function isIpv6Range(range: string): boolean {
  return range.includes(':');
}

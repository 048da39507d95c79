// The source of a client, for limits per source. An IPv6 client usually owns a whole /64, so its network is the source;
// an IPv4 address is the source in either notation.

import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** 16-bit groups of an IPv6 address, and the groups of its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/** The source of a socket's remote address; the text itself if it is not an IP address. */
export function sourceOf(remoteAddress: string | undefined): string {
  const [address = ''] = (remoteAddress ?? '').split('%');
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [before = '', after] = address.toLowerCase().split('::');
  const head = groupsOf(before);
  const tail = groupsOf(after ?? '');
  const zeros = Array.from({ length: Math.max(0, GROUPS - head.length - tail.length) }, () => '0');
  const network = [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** A dotted quad at the end counts as two groups. */
function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? [group, '0'] : [group]));
}

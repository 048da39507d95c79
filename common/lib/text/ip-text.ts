// The usual text of IPv6 addresses: certificates and their errors have eight groups in capitals.

import { SocketAddress } from 'node:net';

const EIGHT_GROUPS = /(?<![\w.]|[0-9A-F]:)(?:[0-9A-F]{1,4}:){7}[0-9A-F]{1,4}(?![\w:])/gi;

/** Compresses the IPv6 addresses of eight groups in a text: `::1` instead of `0:0:0:0:0:0:0:1`. */
export function compressedIps(text: string): string {
  return text.replace(EIGHT_GROUPS, (address) => new SocketAddress({ address, family: 'ipv6' }).address);
}

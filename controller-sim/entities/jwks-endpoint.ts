// Where the keys of other issuers may be fetched: whoever may create a signer would otherwise reach, with the network position of the
// controller, what hands credentials to every process of a machine, or what only that machine can reach by its link.

import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** reference fact: addresses that are never fetched: link-local ones, among them the metadata services of clouds, and unspecified ones. */
const BLOCKED = new BlockList();
BLOCKED.addSubnet('169.254.0.0', 16, 'ipv4');
BLOCKED.addSubnet('224.0.0.0', 24, 'ipv4');
BLOCKED.addAddress('0.0.0.0', 'ipv4');
BLOCKED.addSubnet('fe80::', 10, 'ipv6');
BLOCKED.addSubnet('ff02::', 16, 'ipv6');
BLOCKED.addAddress('fd00:ec2::254', 'ipv6');
BLOCKED.addAddress('::', 'ipv6');

/** Why an address is not fetched; undefined for one that may be. Names are not resolved: `checkedLookup` looks at what they stand for. */
export function endpointProblem(endpoint: string): string | undefined {
  const url = URL.parse(endpoint.trim());
  if (!url) return 'the jwks endpoint is not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `invalid jwks endpoint scheme ${url.protocol.slice(0, -1)}, only http and https are supported`;
  return isBlocked(url.hostname.replace(/^\[|\]$/g, '')) ? 'the address of the jwks endpoint is blocked' : undefined;
}

/** Resolves names as usual, and fails for those that stand for a blocked address. */
export const checkedLookup: LookupFunction = (hostname, options, callback) =>
  resolve(hostname, options, (error, address, family) => {
    const found = Array.isArray(address) ? address.map((each) => each.address) : [address];
    const blocked = error ? undefined : found.find(isBlocked);
    if (blocked === undefined) callback(error, address, family);
    else callback(new Error(`${hostname} stands for ${blocked}, which is blocked`), address, family);
  });

function isBlocked(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && BLOCKED.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

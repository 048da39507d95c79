// Restricts the addresses from which issuers' keys are fetched. Otherwise anyone who may create a signer could reach
// services from the controller's position: cloud metadata services that give out credentials, and hosts on its local
// link.

import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** reference fact: blocked addresses: link-local ones, including cloud metadata services, and unspecified ones. */
const BLOCKED = new BlockList();
BLOCKED.addSubnet('169.254.0.0', 16, 'ipv4');
BLOCKED.addSubnet('224.0.0.0', 24, 'ipv4');
BLOCKED.addAddress('0.0.0.0', 'ipv4');
BLOCKED.addSubnet('fe80::', 10, 'ipv6');
BLOCKED.addSubnet('ff02::', 16, 'ipv6');
BLOCKED.addAddress('fd00:ec2::254', 'ipv6');
BLOCKED.addAddress('::', 'ipv6');

/**
 * Why an address is rejected; undefined for a permitted one. Names are not resolved here: `checkedLookup` checks their
 * addresses.
 */
export function endpointProblem(endpoint: string): string | undefined {
  const url = URL.parse(endpoint.trim());
  if (!url) return 'the jwks endpoint is not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return `invalid jwks endpoint scheme ${url.protocol.slice(0, -1)}, only http and https are supported`;
  return isBlocked(url.hostname.replace(/^\[|\]$/g, '')) ? 'the address of the jwks endpoint is blocked' : undefined;
}

/** Resolves names as usual, and rejects those with a blocked address. */
export const checkedLookup: LookupFunction = (hostname, options, callback) =>
  resolve(hostname, options, (error, address, family) => {
    const found = Array.isArray(address) ? address.map((each) => each.address) : [address];
    const blocked = error ? undefined : found.find(isBlocked);
    if (blocked === undefined) callback(error, address, family);
    else callback(new Error(`${hostname} resolves to ${blocked}, which is blocked`), address, family);
  });

function isBlocked(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && BLOCKED.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

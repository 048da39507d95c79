// The hosts to which proxies in front of routers may lead, beside the router's own address: names, addresses and
// networks that an administrator has named at the start.

import { BlockList, isIP } from 'node:net';
import { hostProblem } from '#lib/net/address.ts';
import type { OptionCheck } from '#lib/options.ts';

const BITS = { 4: 32, 6: 128 } as const;

interface Subnet {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

export class ProxyTargets {
  /** In lower case. */
  readonly #names = new Set<string>();
  readonly #addresses = new BlockList();

  constructor(allowed: readonly string[]) {
    for (const each of allowed) {
      const subnet = subnetOf(each);
      if (subnet) this.#addresses.addSubnet(subnet.address, subnet.bits, subnet.family);
      else this.#names.add(each.toLowerCase());
    }
  }

  /** Whether a proxy may lead to a host that a router has named. An IPv4 address may have the notation of IPv6. */
  allow(host: string): boolean {
    const family = isIP(host);
    if (family === 0) return this.#names.has(host.toLowerCase());
    return this.#addresses.check(host, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** A name, an address, or a network such as `10.0.0.0/8`. */
export const proxyTarget: OptionCheck = (value) => {
  const text = typeof value === 'string' ? value : '';
  if (text !== '' && (subnetOf(text) ?? (isIP(text) === 0 && hostProblem(text) === undefined))) return undefined;
  return 'It must be a host name, an address, or a network, for example router.example or 10.0.0.0/8.';
};

/** A single address is the network of its own. */
function subnetOf(text: string): Subnet | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || rest.length > 0) return undefined;
  const max = BITS[family as 4 | 6];
  const count = bits === undefined ? max : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return count <= max ? { address, bits: count, family: family === 4 ? 'ipv4' : 'ipv6' } : undefined;
}

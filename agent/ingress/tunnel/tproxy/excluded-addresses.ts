// The addresses that intercepted ranges leave out, because the router or its machine would lose what it needs:
// loopback, the machine's own addresses, controllers and peers of links; of ranges for the whole internet also the name
// servers. An intercept that names one of these addresses itself takes it.

import { getServers } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Clock } from '#lib/time/clock.ts';
import { contains, type Ipv4Network, parseIpv4Network } from './ipv4.ts';

export interface ExcludedAddressesInit {
  readonly clock: Clock;
  /** Hosts that the router dials or that have dialed it: controllers, their proxy, peers of links. */
  peers(): Iterable<string>;
  /** Hosts of the upstream name servers. */
  nameServers(): Iterable<string>;
}

const LOOPBACK: Ipv4Network = { first: 0x7f000000, last: 0x7fffffff, bits: 8 };
/** Ranges with shorter prefixes than the largest private network (10.0.0.0/8) mean the internet. */
const MIN_NETWORK_BITS = 8;
/** Limit on addresses: each splits a range into up to 31 routes. */
const MAX_ADDRESSES = 64;
/** Milliseconds for the addresses of all names. Names without an answer keep their earlier addresses. */
const MAX_LOOKUP_MS = 3_000;

export class ExcludedAddresses {
  readonly #init: ExcludedAddressesInit;
  /** The last known addresses of each host with a name. */
  readonly #byName = new Map<string, readonly string[]>();
  #own: readonly Ipv4Network[] = [];
  #nameServers: readonly Ipv4Network[] = [];

  constructor(init: ExcludedAddressesInit) {
    this.#init = init;
  }

  /** Reads the current addresses. Returns whether they have changed. */
  async refresh(): Promise<boolean> {
    const peers = new Set(this.#init.peers());
    const servers = new Set([...this.#init.nameServers(), ...getServers()]);
    await this.#resolve([...peers, ...servers]);
    const before = this.#text;
    this.#own = this.#networksOf([...ownAddresses(), ...peers]);
    this.#nameServers = this.#networksOf(servers);
    return this.#text !== before;
  }

  /** The parts of an intercepted network that are intercepted. */
  outside(network: Ipv4Network): Ipv4Network[] {
    if (network.bits === 32) return [network];
    const isLoopback = contains(LOOPBACK, network.first);
    const excluded = [
      ...(isLoopback ? [] : [LOOPBACK]),
      ...this.#own,
      ...(network.bits < MIN_NETWORK_BITS ? this.#nameServers : []),
    ];
    return excluded.reduce((parts, each) => parts.flatMap((part) => without(part, each)), [network]);
  }

  get #text(): string {
    return JSON.stringify([this.#own, this.#nameServers]);
  }

  #networksOf(hosts: Iterable<string>): Ipv4Network[] {
    const addresses = [...hosts].flatMap((host) => (isIPv4(host) ? [host] : (this.#byName.get(host) ?? [])));
    return [...new Set(addresses)]
      .slice(0, MAX_ADDRESSES)
      .sort()
      .flatMap((address) => parseIpv4Network(address) ?? []);
  }

  async #resolve(hosts: readonly string[]): Promise<void> {
    const names = hosts.filter((host) => /[a-z]/i.test(host) && !host.includes(':')).slice(0, MAX_ADDRESSES);
    for (const known of this.#byName.keys()) if (!names.includes(known)) this.#byName.delete(known);
    if (names.length === 0) return;
    const lookups = names.map(async (name) => {
      const found = await lookup(name, { all: true, family: 4 });
      this.#byName.set(
        name,
        found.map(({ address }) => address),
      );
    });
    await new Promise<void>((resolve) => {
      const late = this.#init.clock.after('lookups of peers', MAX_LOOKUP_MS, resolve);
      void Promise.allSettled(lookups).then(() => {
        late.cancel();
        resolve();
      });
    });
  }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
  );
}

/** The parts of `network` outside of `excluded`, which is not larger: halves, and halves of halves. */
function without(network: Ipv4Network, excluded: Ipv4Network): Ipv4Network[] {
  if (!contains(network, excluded.first)) return [network];
  if (network.bits >= excluded.bits) return [];
  const bits = network.bits + 1;
  const middle = network.first + 2 ** (32 - bits);
  return [
    ...without({ first: network.first, last: middle - 1, bits }, excluded),
    ...without({ first: middle, last: network.last, bits }, excluded),
  ];
}

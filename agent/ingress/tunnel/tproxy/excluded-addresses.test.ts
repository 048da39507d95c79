// Intercepted ranges leave out the addresses that the router and its machine need, and no others.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { ExcludedAddresses } from './excluded-addresses.ts';
import { contains, type Ipv4Network, ipv4ToNumber, mergeRanges, networkToText, parseIpv4Network } from './ipv4.ts';

const parse = (text: string) => parseIpv4Network(text) as Ipv4Network;

async function excluded({ peers = [] as string[], nameServers = [] as string[] } = {}) {
  const addresses = new ExcludedAddresses({
    clock: new VirtualClock(),
    peers: () => peers,
    nameServers: () => nameServers,
  });
  await addresses.refresh();
  const outside = (text: string) => addresses.outside(parse(text));
  const takes = (text: string, address: string) =>
    outside(text).some((network) => contains(network, ipv4ToNumber(address)));
  return { addresses, outside, takes };
}

t.test('a peer is left out of every range that contains it, and nothing else is', async (t) => {
  const { outside, takes } = await excluded({ peers: ['10.1.2.3', '10.1.2.4', '203.0.113.7'] });
  for (const range of ['0.0.0.0/0', '10.0.0.0/8', '10.1.2.0/30', '10.1.2.2/31'])
    t.notOk(takes(range, '10.1.2.3'), range);
  t.ok(takes('10.0.0.0/8', '10.1.2.2') && takes('10.0.0.0/8', '10.1.2.5'));
  const covered = mergeRanges(outside('10.0.0.0/8'));
  const size = covered.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  t.equal(size, 2 ** 24 - 2);
  t.same(outside('10.1.2.3/32').map(networkToText), ['10.1.2.3/32'], 'an intercept that names the address takes it');
  t.same(outside('10.9.0.0/16').map(networkToText), ['10.9.0.0/16']);
});

t.test('loopback is left out of larger ranges only', async (t) => {
  const { outside, takes } = await excluded();
  t.notOk(takes('0.0.0.0/1', '127.0.0.1'));
  t.ok(takes('0.0.0.0/1', '126.255.255.255'));
  t.same(outside('127.8.0.0/16').map(networkToText), ['127.8.0.0/16']);
});

t.test('name servers are left out of ranges for the internet, not of private networks', async (t) => {
  const { takes } = await excluded({ nameServers: ['10.0.0.53', '192.0.2.53'] });
  t.notOk(takes('0.0.0.0/1', '10.0.0.53'));
  t.notOk(takes('128.0.0.0/1', '192.0.2.53'));
  t.ok(takes('10.0.0.0/8', '10.0.0.53'), 'an intercepted network may have its own name server');
});

t.test('names of peers are resolved, and a change is noticed', async (t) => {
  const peers = ['localhost', 'fd00::1', ''];
  const { addresses, takes } = await excluded({ peers });
  t.notOk(takes('0.0.0.0/1', '127.0.0.1'));
  t.equal(await addresses.refresh(), false);
  peers.push('198.51.100.9');
  t.equal(await addresses.refresh(), true);
  t.notOk(takes('198.51.100.0/24', '198.51.100.9'));
});

t.test('the number of addresses is bounded', async (t) => {
  const peers = Array.from({ length: 5_000 }, (_none, index) => `10.${index >> 8}.${index & 255}.1`);
  const { outside } = await excluded({ peers });
  t.ok(outside('0.0.0.0/0').length < 64 * 32 + 64);
});

// The resolver of tproxy mode, in a namespace without other name servers.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createLog, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { systemRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inOwnNamespace, run } from '../../../../../test/support/networks/network-namespace.ts';
import { until } from '../../../../../test/support/until.ts';
import { AddressPool } from '../address-pool.ts';
import { parseIpv4Network } from '../ipv4.ts';
import { Resolver, type ResolverOptions } from './resolver.ts';

const SERVER_FAILURE = 2;
const REFUSED = 5;
const COMMON = {
  random: systemRandom,
  marker: { set: () => undefined, failed: () => undefined },
  routerId: 'router',
};
const OPTIONS: ResolverOptions = {
  resolver: ['udp://127.0.0.1:0'],
  dnsUpstream: [],
  dnsUpstreamMode: '',
  dnsUnanswerable: '',
};
/** Intercepts of every name, and of none. */
const ANY_NAME = { names: [], kindOf: () => 'wildcard' as const };
const NO_NAME = { names: [], kindOf: () => undefined };

if (await inOwnNamespace(import.meta.filename, ['ip'])) await tests();

/** A query for the IPv4 address of a name with one label. */
function query(label: string): Buffer {
  const header = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, Buffer.from([label.length]), Buffer.from(label), Buffer.from([0, 0, 1, 0, 1])]);
}

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  run('ip', 'link', 'set', 'lo', 'up');

  t.test('while no address is left, a line a minute is logged', async (t) => {
    const messages: string[] = [];
    const log = createLog({ write: (line) => void messages.push(JSON.parse(line).msg) });
    const clock = new VirtualClock();
    const range = parseIpv4Network('100.64.0.0/30');
    if (!range) throw new Error('no range');
    const components = {
      clock,
      io: new IoContext({ clock }),
      log,
      table: ANY_NAME,
      pool: new AddressPool(clock, range),
    };
    const resolver = new Resolver({ ...COMMON, ...components });
    await resolver.open(OPTIONS);
    const client = createSocket('udp4').bind(0, '127.0.0.1');
    await once(client, 'listening');
    t.after(() => client.close());
    t.after(() => resolver.close());
    const statuses: number[] = [];
    const ask = async (label: string) => {
      client.send(query(label), resolver.ports[0] ?? 0, '127.0.0.1');
      const [answer] = (await once(client, 'message')) as [Buffer];
      statuses.push((answer[3] ?? 0) & 0xf);
    };
    const warnings = () => messages.filter((each) => each.startsWith('no address left')).length;
    for (const label of ['a', 'b', 'c', 'd', 'a', 'e']) await ask(label);
    t.same(statuses, [0, 0, SERVER_FAILURE, SERVER_FAILURE, 0, SERVER_FAILURE]);
    t.equal(warnings(), 1);
    await clock.advance(60_000);
    for (const label of ['f', 'g']) await ask(label);
    t.equal(warnings(), 2);
  });

  t.test('a client that asks for names without end leaves addresses below a wildcard for others', async (t) => {
    const clock = new VirtualClock();
    const range = parseIpv4Network('100.64.0.0/24');
    if (!range) throw new Error('no range');
    const log = createLog({ write: () => undefined });
    const components = {
      clock,
      io: new IoContext({ clock }),
      log,
      table: ANY_NAME,
      pool: new AddressPool(clock, range),
    };
    const resolver = new Resolver({ ...COMMON, ...components });
    await resolver.open(OPTIONS);
    t.after(() => resolver.close());
    /** The number of new names that a client at `source` gets an address for. */
    const found = async (source: string, count: number) => {
      const client = createSocket('udp4').bind(0, source);
      await once(client, 'listening');
      let answered = 0;
      for (let index = 0; index < count; index++) {
        client.send(query(`${source.at(-1)}x${index}`), resolver.ports[0] ?? 0, '127.0.0.1');
        const [answer] = (await once(client, 'message')) as [Buffer];
        if (((answer[3] ?? 0) & 0xf) === 0) answered += 1;
      }
      client.close();
      return answered;
    };
    const flood = await found('127.0.0.2', 300);
    t.ok(flood > 0 && flood <= 64, `${flood} addresses of 254`);
    t.equal(await found('127.0.0.3', 20), 20);
    t.equal(await found('127.0.0.4', 20), 20);
  });

  t.test('a port that another program holds is opened once it is free', async (t) => {
    const messages: string[] = [];
    const log = createLog({ write: (line) => void messages.push(JSON.parse(line).msg) });
    const clock = new VirtualClock();
    const range = parseIpv4Network('100.64.0.0/30');
    if (!range) throw new Error('no range');
    const pool = new AddressPool(clock, range);
    const components = { clock, io: new IoContext({ clock }), log, table: NO_NAME, pool };
    const resolver = new Resolver({ ...COMMON, ...components });
    const holder = createSocket('udp4').bind(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address();
    const servers = [`udp://127.0.0.1:${port}`, 'udp://127.0.0.1:0'];
    await resolver.open({ ...OPTIONS, resolver: servers });
    t.equal(resolver.ports.length, 1, 'the other one is open');
    const isWaiting = () => clock.timers().includes('resolver retry');
    await clock.advance(30_000);
    await until('another failure', isWaiting);
    t.equal(messages.filter((each) => each.startsWith('resolver cannot be opened')).length, 1);
    holder.close();
    await once(holder, 'close');
    await clock.advance(30_000);
    await until('the port', () => resolver.ports.includes(port));
    await resolver.close();
    t.notOk(isWaiting());
  });

  t.test('options decide what other names get, and which upstreams are asked', async (t) => {
    const range = parseIpv4Network('100.64.0.0/30');
    if (!range) throw new Error('no range');
    const asked = [0, 0];
    const upstreams: string[] = [];
    for (const index of asked.keys()) {
      const upstream = createSocket('udp4').bind(0, '127.0.0.1');
      upstream.on('message', () => {
        asked[index] = (asked[index] ?? 0) + 1;
      });
      await once(upstream, 'listening');
      t.after(() => upstream.close());
      upstreams.push(`udp://127.0.0.1:${upstream.address().port}`);
    }
    const client = createSocket('udp4').bind(0, '127.0.0.1');
    await once(client, 'listening');
    t.after(() => client.close());
    const ask = async (given: Partial<ResolverOptions>) => {
      const clock = new VirtualClock();
      const pool = new AddressPool(clock, range);
      const components = { clock, io: new IoContext({ clock }), log: silentLog, table: NO_NAME, pool };
      const resolver = new Resolver({ ...COMMON, ...components });
      await resolver.open({ ...OPTIONS, ...given });
      t.after(() => resolver.close());
      client.send(query('other'), resolver.ports[0] ?? 0, '127.0.0.1');
    };
    for (const [address, dnsUnanswerable, status] of [
      ['udp://127.0.0.1:0', '', REFUSED],
      ['udp://127.0.0.1:0', 'servfail', SERVER_FAILURE],
      ['udp://127.0.0.1:0?response=refused', 'servfail', REFUSED],
    ] as const) {
      await ask({ resolver: [address], dnsUnanswerable });
      const [answer] = (await once(client, 'message')) as [Buffer];
      t.equal((answer[3] ?? 0) & 0xf, status, `${address} ${dnsUnanswerable}`);
    }
    await ask({ resolver: ['udp://127.0.0.1:0'], dnsUpstream: upstreams });
    await until('both upstreams', () => asked.every((count) => count === 1));
    await ask({ resolver: ['udp://127.0.0.1:0'], dnsUpstream: upstreams, dnsUpstreamMode: 'failover' });
    await until('the first upstream', () => asked[0] === 2);
    t.equal(asked[1], 1);
  });

  t.test('programs that ask other name servers are reported', async (t) => {
    const messages: string[] = [];
    const log = createLog({ write: (line) => void messages.push(JSON.parse(line).msg) });
    const clock = new VirtualClock();
    const range = parseIpv4Network('100.64.0.0/30');
    if (!range) throw new Error('no range');
    const pool = new AddressPool(clock, range);
    const resolver = new Resolver({ ...COMMON, clock, io: new IoContext({ clock }), log, table: NO_NAME, pool });
    await resolver.open(OPTIONS);
    t.after(() => resolver.close());
    await until('the test of the resolver', () => messages.some((each) => each.startsWith('programs on this machine')));
  });
}

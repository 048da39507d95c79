// Interception without the system: matching of services, names and their addresses, hosts files.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Log } from '#lib/log/log.ts';
import { OF_SUBJECTS, RepeatedCondition } from '#lib/log/repeated-condition.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { parseResolvers } from '../../../config/name-servers.ts';
import { AddressPool } from './address-pool.ts';
import { HostsFile } from './dns/hosts-file.ts';
import { readInterceptConfig } from './intercept-config.ts';
import { type Flow, InterceptTable } from './intercept-table.ts';
import { type InterceptsComponents, readIntercepts } from './intercepts.ts';
import { ipv4ToNumber, mergeRanges, networkToText, parseIpv4Network } from './ipv4.ts';

const PORTS = [{ low: 80, high: 90 }];

function intercept(id: string, data: Readonly<Record<string, unknown>>) {
  const config = readInterceptConfig(new Map([['intercept.v1', { protocols: ['tcp'], portRanges: PORTS, ...data }]]));
  if (!config) throw new Error('no configuration');
  return { ...config, id, service: `service ${id}` };
}

function network(text: string) {
  const parsed = parseIpv4Network(text);
  if (!parsed) throw new Error(text);
  return parsed;
}

t.test('parsing a network clears the bits after the prefix and rejects other text', async (t) => {
  t.equal(networkToText(network('10.1.2.3/16')), '10.1.0.0/16');
  t.equal(networkToText(network('255.255.255.255')), '255.255.255.255/32');
  t.same(network('0.0.0.0/0'), { first: 0, last: 2 ** 32 - 1, bits: 0 });
  for (const text of ['10.1.2', '10.1.2.3/33', '10.1.2.3/', '10.1.2.3/-1', '10.1.2.3/8/8', '010.1.2.3', '::1', 'a', ''])
    t.equal(parseIpv4Network(text), undefined, text);
  const ranges = ['10.0.0.0/24', '10.0.1.0/24', '10.0.0.7', '11.0.0.0/8'].map(network);
  t.same(mergeRanges(ranges).length, 2);
  t.same(mergeRanges([]), []);
});

t.test('a connection belongs to the most specific matching intercept', async (t) => {
  const table = new InterceptTable();
  const all = [
    intercept('everything', { addresses: ['10.0.0.0/8', '*'] }),
    intercept('network', { addresses: ['10.1.0.0/16', '*.example'] }),
    intercept('address', { addresses: ['10.1.1.1', 'a.b.example'], portRanges: [{ low: 80, high: 80 }] }),
    intercept('few ports', { addresses: ['10.1.0.0/16', '*.b.example'], portRanges: [{ low: 80, high: 81 }] }),
    intercept('sources', { addresses: ['10.2.0.0/16'], allowedSourceAddresses: ['192.168.0.0/16'] }),
    intercept('udp', { addresses: ['10.3.0.1', 'udp.example'], protocols: ['udp'] }),
  ];
  for (const intercepts of [all, [...all].reverse()]) {
    table.replace(intercepts);
    const find = (destination: string, port = 80, more: Partial<Flow> = {}) =>
      table.find({
        protocol: 'tcp',
        source: ipv4ToNumber('192.168.1.1'),
        destination: ipv4ToNumber(destination),
        port,
        name: undefined,
        ...more,
      })?.id;
    const named = (name: string, port = 80, more: Partial<Flow> = {}) => find('100.64.0.9', port, { name, ...more });
    t.equal(find('10.9.9.9'), 'everything');
    t.equal(find('10.1.9.9'), 'few ports');
    t.equal(find('10.1.9.9', 82), 'network');
    t.equal(find('10.1.1.1'), 'address');
    t.equal(find('10.1.1.1', 90), 'network');
    t.equal(find('10.1.1.1', 91), undefined);
    t.equal(find('11.1.1.1'), undefined);
    t.equal(find('10.2.1.1'), 'sources');
    t.equal(find('10.2.1.1', 80, { source: 1 }), 'everything', 'another source');
    t.equal(find('10.3.0.1', 80, { protocol: 'udp' }), 'udp');
    t.equal(find('10.3.0.1'), 'everything');
    t.equal(named('a.b.example'), 'address');
    t.equal(named('a.b.example', 81), 'few ports', 'the wildcard matches ports that the name does not');
    t.equal(named('a.b.example', 85), 'network');
    t.equal(named('c.b.example'), 'few ports');
    t.equal(named('b.example'), 'network');
    t.equal(named('example'), 'everything');
    t.equal(named('udp.example', 80, { protocol: 'udp' }), 'udp');
    t.equal(named('other.example', 80, { protocol: 'udp' }), undefined);
  }
  table.replace([intercept('one', { addresses: ['*.b.example', 'c.example'] })]);
  t.equal(table.kindOf('b.example'), undefined);
  t.equal(table.kindOf('x.y.b.example'), 'wildcard');
  t.equal(table.kindOf('c.example'), 'exact');
  t.equal(table.kindOf('a.b.example'), 'wildcard', 'replaced intercepts are removed');
  table.replace([intercept('all', { addresses: ['*.example', '*'] })]);
  for (const name of ['_service.a-1.example', 'other']) t.equal(table.kindOf(name), 'wildcard', name);
  for (const name of ['a\\.b.example', 'x\0y.example', 'x y.example', '\xe9.example', '*.example', ''])
    t.equal(table.kindOf(name), undefined, `not a host name: ${JSON.stringify(name)}`);
});

t.test('invalid configurations are rejected with the name of the field', async (t) => {
  const wrong: [Readonly<Record<string, unknown>>, RegExp][] = [
    [{ addresses: [] }, /addresses/],
    [{ addresses: ['a b'] }, /addresses/],
    [{ addresses: ['*.*.example'] }, /addresses/],
    [{ addresses: ['a'], portRanges: [{ low: 2, high: 1 }] }, /portRanges/],
    [{ addresses: ['a'], portRanges: [{ low: -1, high: 1 }] }, /portRanges/],
    [{ addresses: ['a'], portRanges: [{ low: 1, high: 70_000 }] }, /portRanges/],
    [{ addresses: ['a'], protocols: ['sctp'] }, /protocol/],
    [{ addresses: ['a'], allowedSourceAddresses: ['lan'] }, /allowedSourceAddresses/],
    [{ addresses: Array.from({ length: 5_001 }, (_none, index) => `h${index}`) }, /5000/],
  ];
  for (const [data, message] of wrong) t.throws(() => intercept('x', data), message, JSON.stringify(data).slice(0, 60));
  t.same(intercept('x', { addresses: ['::1', 'fd00::/8', '0.0.0.0/0', '10.0.0.1'] }).leftOut, [
    '::1',
    'fd00::/8',
    '0.0.0.0/0',
  ]);
  const client = readInterceptConfig(new Map([['ziti-tunneler-client.v1', { hostname: 'Old.Example', port: 99 }]]));
  t.match(client, {
    names: ['old.example'],
    ports: [{ first: 99, last: 99 }],
    protocols: ['tcp', 'udp'],
    timeout: 5_000,
  });
  t.equal(readInterceptConfig(new Map([['host.v1', {}]])), undefined);
  t.equal(intercept('x', { addresses: ['a'], dialOptions: { connectTimeoutSeconds: 9 } }).timeout, 9_000);
  const unclosed = '$src_ip$tunneler_id.appData[port';
  t.throws(
    () => intercept('x', { addresses: ['a'], sourceIp: unclosed }),
    /^sourceIp has .* without a closing bracket/,
  );
  t.throws(
    () => intercept('x', { addresses: ['a'], dialOptions: { identity: unclosed } }),
    /^dialOptions\.identity has/,
  );
});

t.test('names keep their address; wildcard names lose theirs after a long time without lookups', async (t) => {
  const clock = new VirtualClock();
  const pool = new AddressPool(clock, network('100.64.0.0/16'));
  t.equal(pool.addressOf('a', 'exact'), '100.64.0.2');
  t.equal(pool.addressOf('b', 'wildcard'), '100.64.0.3');
  t.equal(pool.addressOf('a', 'exact'), '100.64.0.2');
  t.equal(pool.nameOf(ipv4ToNumber('100.64.0.3')), 'b');
  for (let n = 0; n < 9_999; n++) pool.addressOf(`flood${n}`, 'wildcard');
  t.equal(pool.addressOf('one too many', 'wildcard'), undefined, 'a flood of names evicts no address');
  t.equal(pool.size, 10_001);
  t.ok(pool.addressOf('of a service', 'exact'), 'names of services always get one');
  await clock.advance(599_000);
  t.equal(pool.addressOf('b', 'wildcard'), '100.64.0.3');
  await clock.advance(2_000);
  t.ok(pool.addressOf('later', 'wildcard'));
  t.equal(pool.addressOf('b', 'wildcard'), '100.64.0.3', 'it was looked up');
  t.equal(pool.nameOf(ipv4ToNumber('100.64.0.4')), undefined, 'the unused name lost its address');
  pool.keep((name) => (name === 'a' ? 'exact' : undefined));
  t.equal(pool.size, 1);
  t.equal(pool.addressOf('a', 'exact'), '100.64.0.2');
});

t.test('a source that looks up names without end leaves addresses for others', async (t) => {
  const clock = new VirtualClock();
  const pool = new AddressPool(clock, network('100.64.0.0/10'));
  const asked = (source: string, count: number, first = 0) => {
    let found = 0;
    for (let n = first; n < first + count; n++) if (pool.addressOf(`${source}${n}`, 'wildcard', source)) found++;
    return found;
  };
  t.equal(asked('flood', 20_000), 2_500);
  t.equal(asked('other', 2_000), 2_000);
  t.equal(pool.addressOf('other1', 'wildcard', 'flood'), pool.addressOf('other1', 'wildcard', 'other'), 'known names');
  await clock.advance(700_000);
  t.equal(asked('other', 2_000), 2_000);
  t.equal(asked('flood', 3_000, 20_000), 2_500, 'its own old names make room');
  t.equal(asked('other', 2_000), 2_000, 'which the names of others do not');
  pool.keep(() => undefined);
  t.equal(asked('flood', 3_000), 2_500);

  const small = new AddressPool(clock, network('100.64.0.0/24'));
  const inSmall = (source: string) =>
    Array.from({ length: 300 }, (_none, n) => small.addressOf(`${source}${n}`, 'wildcard', source)).filter(Boolean);
  t.same(
    ['a', 'b', 'c', 'd', 'e'].map((source) => inSmall(source).length),
    [47, 47, 47, 47, 2],
  );
  for (let n = 0; n < 60; n++) t.ok(small.addressOf(`service${n}`, 'exact'), 'names of services keep a part');
});

t.test('a name that a new service has keeps its address', async (t) => {
  const clock = new VirtualClock();
  const pool = new AddressPool(clock, network('100.64.0.0/10'));
  const before = pool.addressOf('a', 'wildcard');
  t.equal(pool.addressOf('a', 'exact'), before);
  for (let n = 0; n < 10_000; n++) pool.addressOf(`flood${n}`, 'wildcard');
  t.equal(pool.size, 10_001, 'it leaves room for another wildcard name');
  await clock.advance(700_000);
  pool.addressOf('later', 'wildcard');
  t.equal(pool.addressOf('a', 'exact'), before, 'another name was evicted');
});

t.test('names that match only a wildcard after a change are limited, and may be evicted', async (t) => {
  const clock = new VirtualClock();
  const pool = new AddressPool(clock, network('100.64.0.0/10'));
  for (let n = 0; n < 15_000; n++) pool.addressOf(`name${n}`, 'exact');
  pool.keep(() => 'wildcard');
  t.equal(pool.size, 10_000);
  const first = pool.addressOf('name0', 'wildcard');
  t.equal(pool.nameOf(ipv4ToNumber(first ?? '')), 'name0', 'they keep their addresses');
  t.equal(pool.addressOf('other', 'wildcard'), undefined);
  await clock.advance(700_000);
  t.ok(pool.addressOf('other', 'wildcard'));
  t.equal(pool.size, 10_000);
  pool.keep(() => 'exact');
  for (let n = 0; n < 10_000; n++) pool.addressOf(`flood${n}`, 'wildcard');
  t.equal(pool.size, 20_000, 'names of services do not count');
});

t.test('in a small range released addresses are reused, the oldest first', async (t) => {
  const pool = new AddressPool(new VirtualClock(), network('100.64.0.0/29'));
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  t.same(
    names.map((name) => pool.addressOf(name, 'exact')),
    [2, 3, 4, 5, 6, 7].map((last) => `100.64.0.${last}`),
  );
  t.equal(pool.addressOf('g', 'exact'), undefined);
  pool.keep((name) => (name === 'c' || name === 'e' ? undefined : 'exact'));
  t.equal(pool.addressOf('g', 'exact'), '100.64.0.4');
});

t.test('resolver addresses are parsed', async (t) => {
  t.same(parseResolvers(['udp://127.0.0.1:5353?response=servfail']), {
    servers: [{ host: '127.0.0.1', port: 5_353 }],
    file: undefined,
    unanswerable: 'servfail',
  });
  t.match(parseResolvers(['udp://127.0.0.1', 'udp://10.0.0.1:54?timeout']), {
    servers: [{ port: 53 }, { port: 54 }],
    unanswerable: 'timeout',
  });
  t.equal(parseResolvers(['file:///etc/hosts']).file, '/etc/hosts');
  for (const wrong of [
    ['tcp://127.0.0.1:53'],
    ['127.0.0.1:53'],
    ['file://hosts'],
    ['file:///a', 'udp://b:1'],
    ['udp://a:99999'],
  ])
    t.throws(() => parseResolvers(wrong), Error, wrong.join());
});

t.test('own lines of a hosts file are replaced, other lines stay unchanged', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'hosts');
  writeFileSync(path, '127.0.0.1 localhost\n\n9.9.9.9 stale # edgeweave router\n8.8.8.8 foreign # edgeweave other\n');
  const file = new HostsFile(path, 'router');
  await Promise.all([file.write(new Map([['x', '10.0.0.1']])), file.write(new Map([['web', '100.64.0.2']]))]);
  const kept = '127.0.0.1 localhost\n\n8.8.8.8 foreign # edgeweave other\n';
  t.equal(readFileSync(path, 'utf8'), `${kept}100.64.0.2\tweb\t# edgeweave router\n`);
  await file.write(new Map());
  t.equal(readFileSync(path, 'utf8'), kept);
  const missing = new HostsFile(join(directory, 'new'), 'router');
  await missing.write(new Map([['a', '1.1.1.1']]));
  t.match(readFileSync(join(directory, 'new'), 'utf8'), /^1\.1\.1\.1\ta\t/);
  await t.rejects(new HostsFile(directory, 'router').write(new Map()), { code: 'EISDIR' });
});

t.test('a service that cannot be intercepted is logged once, and again after it was in order', async (t) => {
  const lines: unknown[] = [];
  const log = { warn: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const config = (addresses: readonly string[]) => ({ addresses, protocols: ['tcp'], portRanges: PORTS });
  let bad: unknown = config(['fd00::1', '10.0.0.1']);
  const model = {
    identities: new Map([['r', { disabled: false }]]),
    servicesFor: () => [
      { id: 's1', name: 'one' },
      { id: 's2', name: 'two' },
    ],
    configsFor: ({ id }: { id: string }) => new Map([['intercept.v1', id === 's1' ? bad : { protocols: [] }]]),
  } as unknown as InterceptsComponents['model'];
  const problems = new RepeatedCondition(new VirtualClock(), OF_SUBJECTS);
  const read = () => {
    lines.length = 0;
    readIntercepts({ log, model, routerId: 'r' }, problems);
    return lines.map((fields) => (fields as { service: string }).service);
  };
  t.same(read(), ['one', 'two']);
  t.same(read(), [], 'not with every change of the data model');
  bad = config(['fd00::2', '10.0.0.1']);
  t.same(read(), ['one'], 'another problem');
  bad = config(['10.0.0.1']);
  t.same(read(), []);
  bad = config(['fd00::2', '10.0.0.1']);
  t.same(read(), ['one'], 'it has returned');
});

t.test('services above the limit are not intercepted, and logged once', async (t) => {
  const lines: unknown[] = [];
  const log = { error: (_fields: unknown, message: string) => lines.push(message) } as unknown as Log;
  const services = Array.from({ length: 5_000 }, (_none, n) => ({ id: `s${n}`, name: `s${n}` }));
  const config = { addresses: ['10.0.0.1'], protocols: ['tcp'], portRanges: PORTS };
  const model = {
    identities: new Map([['r', { disabled: false }]]),
    servicesFor: () => services,
    configsFor: () => new Map([['intercept.v1', config]]),
  } as unknown as InterceptsComponents['model'];
  const problems = new RepeatedCondition(new VirtualClock(), OF_SUBJECTS);
  const read = () => readIntercepts({ log, model, routerId: 'r' }, problems).length;
  t.equal(read(), 5_000);
  t.same(lines, [], 'none is left out');
  services.push({ id: 'more', name: 'more' });
  t.equal(read(), 5_000);
  t.equal(read(), 5_000);
  t.same(lines, ['too many services, further ones are not intercepted']);
});

// The targets and source addresses that a host configuration allows to a dialing side.

import t from 'tap';
import { chooseTarget, isAllowedAddress, readHostConfigs } from './host-config.ts';

function host(data: Readonly<Record<string, unknown>>) {
  const [config] = readHostConfigs(new Map([['host.v1', { protocol: 'tcp', address: 'db', port: 5432, ...data }]]));
  if (!config) throw new Error('no configuration');
  return config;
}

const FORWARDED = { forwardAddress: true, forwardPort: true, allowedPortRanges: [{ low: 80, high: 90 }] };

t.test('addresses that are not allowed are rejected in every notation', async (t) => {
  const config = host({ ...FORWARDED, allowedAddresses: ['10.0.0.0/8', '*.db.example', 'exact.example', 'fd00::/64'] });
  const allowed = [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '::FFFF:10.1.2.3',
    'db.example',
    'a.b.DB.example',
    'EXACT.example',
    'fd00::7',
  ];
  for (const dst of allowed) t.ok(chooseTarget(config, { dst_hostname: dst, dst_port: '80' }), dst);
  t.equal(chooseTarget(config, { dst_ip: '::ffff:10.1.2.3', dst_port: '80' }).host, '10.1.2.3');
  const rejected = [
    '11.0.0.1',
    '::ffff:11.0.0.1',
    '127.0.0.1',
    '0x0a000001',
    '10.1',
    '167772161',
    'notdb.example',
    'fd01::7',
    '::',
    '10.1.2.3/8',
    ' 10.1.2.3',
    'exact.example.',
    '10.1.2.3\0',
  ];
  for (const dst of rejected) t.throws(() => chooseTarget(config, { dst_hostname: dst, dst_port: '80' }), Error, dst);
  t.throws(() => chooseTarget(config, { dst_port: '80' }), /did not send dst_ip/);
});

t.test('an IPv6 range does not allow IPv4-mapped addresses', async (t) => {
  const config = host({ ...FORWARDED, allowedAddresses: ['::/0'] });
  t.ok(chooseTarget(config, { dst_ip: '2001:db8::1', dst_port: '80' }));
  const mapped = ['::ffff:127.0.0.1', '::FFFF:7f00:1', '0:0:0:0:0:ffff:127.0.0.1', '0::ffff:7f00:1', '::ffff:7f00:1%1'];
  for (const dst_ip of mapped)
    t.throws(() => chooseTarget(config, { dst_ip, dst_port: '80' }), /'127.0.0.1' is not in allowed addresses/, dst_ip);
});

t.test('all texts of an IPv6 address are the same address', async (t) => {
  for (const allowed of ['2001:db8::1', '2001:DB8:0:0::0001', '2001:db8::/64'])
    for (const wanted of ['2001:db8::1', '2001:0db8:0000::1', '2001:DB8:0:0:0:0:0:1'])
      t.ok(isAllowedAddress(allowed, wanted), `${allowed} ${wanted}`);
  t.notOk(isAllowedAddress('2001:db8::1', '2001:db8::2'));
});

t.test('names that would change the request to a proxy are rejected', async (t) => {
  const config = host({ ...FORWARDED, allowedAddresses: ['*.allowed.example', '*'] });
  const names = [
    'a HTTP/1.1\r\nX: .allowed.example',
    'x:22 .allowed.example',
    'a\0.allowed.example',
    'a/.allowed.example',
  ];
  for (const dst_hostname of names)
    t.throws(() => chooseTarget(config, { dst_hostname, dst_port: '80' }), /neither a host name nor an IP address/);
});

t.test('an invalid range allows nothing', async (t) => {
  const config = host({ ...FORWARDED, allowedAddresses: ['10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '/8'] });
  t.throws(() => chooseTarget(config, { dst_ip: '10.0.0.1', dst_port: '80' }), /not in allowed addresses/);
});

t.test('ports and protocols that are not allowed are rejected', async (t) => {
  const config = host({ ...FORWARDED, allowedAddresses: ['*'], forwardProtocol: true, allowedProtocols: ['udp'] });
  const target = { dst_ip: '10.0.0.1', dst_port: '80', dst_protocol: 'udp' };
  t.match(chooseTarget(config, target), { protocol: 'udp', host: '10.0.0.1', port: 80 });
  for (const dst_port of ['79', '91', '80.5', '80x', '', 'NaN', '-80', ' ', '0x50', '8e1', ' 80 '])
    t.throws(() => chooseTarget(config, { ...target, dst_port }), Error, dst_port);
  for (const dst_protocol of ['tcp', 'UDP', '', 'icmp', '__proto__'])
    t.throws(() => chooseTarget(config, { ...target, dst_protocol }), Error, dst_protocol);
});

t.test('the dialing side may request an allowed source address', async (t) => {
  const any = host({});
  t.equal(chooseTarget(any, {}).source, undefined);
  t.same(chooseTarget(any, { source_addr: '10.0.0.1' }).source, { host: '10.0.0.1', port: 0 });
  t.same(chooseTarget(any, { source_addr: '10.0.0.1:99' }).source, { host: '10.0.0.1', port: 99 });
  t.same(chooseTarget(any, { source_addr: 'fd00::1' }).source, { host: 'fd00::1', port: 0 });
  t.same(chooseTarget(any, { source_addr: '[fd00::1]:99' }).source, { host: 'fd00::1', port: 99 });
  const some = host({ allowedSourceAddresses: ['10.0.0.0/24', 'fd00::1'] });
  t.ok(chooseTarget(some, { source_addr: '10.0.0.77:1' }).source);
  for (const source_addr of ['10.0.1.1', '::ffff:10.0.1.1', 'localhost', '10.0.0.1:70000', 'fd00::2', '10.0.0.1:x'])
    t.throws(() => chooseTarget(some, { source_addr }), Error, source_addr);
});

t.test('forwarded addresses of both versions are translated by the longest prefix', async (t) => {
  const config = host({
    ...FORWARDED,
    allowedAddresses: ['*'],
    forwardAddressTranslations: [
      { from: '10.0.0.0', to: '192.168.0.0', prefixLength: 16 },
      { from: '10.0.7.0', to: '172.16.7.128', prefixLength: 25 },
      { from: '2001:db8:1::', to: 'fd00:1:2:3::9', prefixLength: 48 },
      { from: '2001:db8:1:8000::', to: 'fd00:f::', prefixLength: 49 },
      { from: '64:ff9b::', to: 'fd00:64::', prefixLength: 96 },
      { from: '2001:db8:2::1', to: '::1', prefixLength: 128 },
    ],
  });
  const table: [wanted: string, target: string][] = [
    ['10.0.3.4', '192.168.3.4'],
    ['10.0.7.5', '172.16.7.133'],
    ['10.0.7.200', '192.168.7.200'],
    ['10.1.0.1', '10.1.0.1'],
    ['2001:db8:1:2::7', 'fd00:1:2:2::7'],
    ['2001:DB8:1:ffff::', 'fd00:f:0:7fff::'],
    ['64:ff9b::10.1.2.3', 'fd00:64::a01:203'],
    ['2001:db8:2::1', '::1'],
    ['2001:db8:3::1', '2001:db8:3::1'],
    ['name.example', 'name.example'],
  ];
  for (const [dst_ip, target] of table) t.equal(chooseTarget(config, { dst_ip, dst_port: '80' }).host, target, dst_ip);
});

t.test('an invalid configuration is rejected with the name of its field', async (t) => {
  const wrong: [Readonly<Record<string, unknown>>, RegExp][] = [
    [{ allowedSourceAddresses: ['10.0.0.0/33'] }, /allowedSourceAddresses/],
    [{ allowedSourceAddresses: ['lo'] }, /allowedSourceAddresses/],
    [{ allowedSourceAddresses: [] }, /allowedSourceAddresses/],
    [{ proxy: { type: 'socks5', address: 'a:1' } }, /proxy\.type/],
    [{ proxy: { type: 'http', address: 'a' } }, /proxy\.address/],
    [{ forwardAddressTranslations: [{ from: '10.0.0.0', to: '10.0.0.0' }] }, /prefixLength/],
    [{ forwardAddressTranslations: [{ from: '10.0.0.0', to: '10.0.0.0', prefixLength: 33 }] }, /prefixLength/],
    [{ forwardAddressTranslations: [{ from: '10.0.0.0', to: '::1', prefixLength: 8 }] }, /same version/],
    [{ port: 65_536 }, /port/],
    [{ protocol: 'sctp' }, /protocol/],
  ];
  for (const [data, message] of wrong) t.throws(() => host(data), message, JSON.stringify(data));
  t.same(host({ proxy: { type: 'http', address: 'proxy:3128', more: 1 } }).proxy, { host: 'proxy', port: 3128 });
});

t.test('a template with an unclosed bracket is rejected, with its field', async (t) => {
  const identityOf = (identity: unknown) => host({ listenOptions: { identity } }).listen.identity;
  for (const template of [
    '$tunneler_id.appData[site',
    '$tunneler_id.appData[a]$tunneler_id.appData[b',
    '$tunneler_id.appData[',
  ])
    t.throws(
      () => identityOf(template),
      /^listenOptions\.identity has \$tunneler_id\.appData\[ without a closing bracket; write \$tunneler_id\.appData\[KEY\]$/,
      template,
    );
  for (const template of ['$tunneler_id.appData[site]', '$tunneler_id.appData', 'x[', ''])
    t.equal(identityOf(template), template);
  t.equal(identityOf(7), undefined);
});

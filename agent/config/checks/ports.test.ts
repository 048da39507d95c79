// Addresses of listeners: ports that two of them claim, and protocols that share one.

import t from 'tap';
import { withMore } from '../../../test/support/config/router-config.ts';
import { growth, MAX_GROWTH } from '../../../test/support/hostile/call-counter.ts';

t.test('two listeners on one port are reported; protocols that share a TLS port are not', async (t) => {
  const link = 'link: {listeners: [{binding: transport, bind: "tls:127.0.0.1:3022", advertise: "tls:127.0.0.1:3022"}]}';
  const edge =
    'edge: {}\nlisteners: [{binding: edge, address: "tls:127.0.0.1:3022", options: {advertise: "127.0.0.1:3022"}}]';
  t.notOk(
    withMore(`${link}\n${edge}`).findings.some((each) => each.code === 'CFG-PORT-CONFLICT'),
    'link and edge by ALPN',
  );
  const twice =
    'link: {listeners: [{binding: transport, bind: "tls:127.0.0.1:3022", advertise: "tls:a:3022"}, {binding: transport, bind: "tls:127.0.0.1:3022", advertise: "tls:b:3022"}]}';
  t.ok(withMore(twice).findings.some((each) => each.code === 'CFG-PORT-CONFLICT'));
});

t.test('two listeners of any kind on one port are reported with both places', async (t) => {
  const edge = (address: string) =>
    `{binding: edge, address: "${address}", options: {advertise: "localhost:${address.split(':').at(-1)}"}}`;
  const proxy = (address: string) => `{binding: proxy, address: "${address}", service: s}`;
  const datagrams = (address: string) => `{binding: proxy_udp, address: "${address}", service: s}`;
  const tunnel = (options: string) => `{binding: tunnel, options: {${options}}}`;
  const web = (place: string, more = '') =>
    `web: [{name: w, bindPoints: [{interface: "${place}", address: "localhost:1"}], apis: [{binding: health-checks}]${more}}]`;
  const link = (bind: string) =>
    `link: {listeners: [{binding: transport, bind: "${bind}", advertise: "tls:localhost:1"}]}`;
  const controllers = (bind: string) => `ctrl: {endpoint: "tls:c:1", listeners: [{bind: "${bind}"}]}`;
  const apiProxy = (place: string) => `edge: {apiProxy: {listener: "${place}", upstream: "c:1280"}}`;
  const conflicts = (listeners: string[], ...more: string[]) =>
    withMore(['edge: {}', `listeners: [${listeners.join(', ')}]`, ...more].join('\n'))
      .findings.filter(({ code }) => code === 'CFG-PORT-CONFLICT')
      .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
  const cases: [string[], RegExp | undefined][] = [
    [
      conflicts([edge('tls:0.0.0.0:3022')], web('127.0.0.1:3022')),
      /^error web.* is already used by listeners\[0\].address in line 6 /,
    ],
    [
      conflicts([edge('tls:127.0.0.1:3022')], web('127.0.0.1:3022')),
      /^warning web.*: listeners\[0\].address in line 6 gets the clients of this port that send no ALPN/,
    ],
    [conflicts([], link('tls:127.0.0.1:3022'), web('127.0.0.1:3022')), undefined],
    [
      conflicts(
        [],
        link('tls:127.0.0.1:3022'),
        web('127.0.0.1:3022', ', identity: {cert: a, server_cert: b, key: c, ca: d}'),
      ),
      /^error web/,
    ],
    [conflicts([], link('tls:127.0.0.1:3022'), web('127.0.0.1:3022', ', options: {minTLSVersion: TLS1.3}')), /^error/],
    [conflicts([edge('wss:127.0.0.1:3022')], web('127.0.0.1:3022')), /^error web/],
    [conflicts([proxy('tcp:127.0.0.1:3022')], web('127.0.0.1:3022')), /^error web/],
    [conflicts([edge('tls:127.0.0.1:3022')], link('tls:127.0.0.1:3022')), undefined],
    [conflicts([edge('tls:127.0.0.1:3022')], link('tls:0.0.0.0:3022')), /^error listeners\[0\].address/],
    [conflicts([edge('tls:127.0.0.1:3022'), proxy('tls:127.0.0.1:3022')]), /^error listeners\[1\]/],
    [conflicts([edge('wss:127.0.0.1:3022'), edge('tls:127.0.0.1:3022')]), undefined],
    [conflicts([edge('tls:127.0.0.1:3022')], apiProxy('127.0.0.1:3022')), undefined],
    [conflicts([edge('wss:127.0.0.1:3022')], apiProxy('127.0.0.1:3022')), /^error edge.apiProxy.listener/],
    [conflicts([edge('tls:127.0.0.1:3022')], controllers('tls:127.0.0.1:3022')), undefined],
    [conflicts([proxy('tcp:[::]:7000'), proxy('tcp:127.0.0.1:7000')]), /^error listeners\[1\]/],
    [conflicts([proxy('tcp:[::1]:7000'), proxy('tcp:[0:0::1]:7000')]), /^error listeners\[1\]/],
    [conflicts([proxy('tcp:[::1]:7000'), proxy('tcp:0.0.0.0:7000')]), undefined],
    [conflicts([proxy('tcp:localhost:7000'), proxy('tcp:127.0.0.1:7000')]), /^warning listeners\[1\]/],
    [conflicts([proxy('tcp::7000'), proxy('tcp:localhost:7000')]), /^error listeners\[1\]/],
    [conflicts([proxy('tcp:127.0.0.1:0'), proxy('tcp:127.0.0.1:0')]), undefined],
    [conflicts([tunnel('mode: proxy, services: ["a:81", "b:81:udp"]')], web('127.0.0.1:81')), /^error web/],
    [conflicts([tunnel('mode: host'), tunnel('mode: proxy, services: ["a:81"]')], web('127.0.0.1:81')), undefined],
    [conflicts([tunnel('mode: tproxy'), datagrams('udp::53')]), /^warning listeners\[1\]/],
    [conflicts([datagrams('udp6::53'), datagrams('udp::53')]), undefined],
  ];
  for (const [index, [found, expected]] of cases.entries())
    if (expected) t.match(found, [expected], `case ${index}`);
    else t.same(found, [], `case ${index}`);
});

t.test('listeners for clients without an identity accept TCP, TLS and UDP addresses, each port once', async (t) => {
  const listeners = (...entries: string[]) => withMore(`listeners: [${entries.join(', ')}]`).findings;
  const fine = [
    '{binding: transport, address: "tcp:127.0.0.1:7001"}',
    '{binding: transport, address: "tls:127.0.0.1:7002"}',
    '{binding: proxy, address: "tcp:127.0.0.1:7003", service: x}',
    '{binding: transport_udp, address: "udp:127.0.0.1:7001"}',
    '{binding: proxy_udp, address: "udp6:[::1]:7003", service: x}',
  ];
  t.same(
    listeners(...fine).filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const wrong of ['wss:127.0.0.1:7001', 'udp:127.0.0.1:7001'])
    t.match(listeners(`{binding: transport, address: "${wrong}"}`), [
      { code: 'CFG-ADDRESS', path: 'listeners[0].address' },
    ]);
  for (const wrong of ['unixgram:/tmp/x', 'udp:127.0.0.1', 'udp:::1:7001', 'udp:127.0.0.1:70000'])
    t.match(listeners(`{binding: transport_udp, address: "${wrong}"}`), [
      { code: 'CFG-ADDRESS', path: 'listeners[0].address' },
    ]);
  const twice = listeners(...fine, '{binding: proxy_udp, address: "udp:127.0.0.1:7001", service: x}');
  t.match(twice, [{ code: 'CFG-PORT-CONFLICT', path: 'listeners[5].address' }]);
});

t.test('WebSocket listeners: invalid addresses, shared ports, times and certificates are found', async (t) => {
  const findings = (listeners: readonly string[], wss = '') => {
    const entries = listeners.map(
      (address) => `{binding: edge, address: "${address}", options: {advertise: "localhost:443"}}`,
    );
    return withMore(`edge: {}\nlisteners: [${entries.join(', ')}]\ntransport: {wss: {${wss}}}`).findings;
  };
  const errors = (...given: Parameters<typeof findings>) =>
    findings(...given).filter(({ severity }) => severity === 'error');
  t.same(errors(['wss:127.0.0.1:7001', 'tls:127.0.0.1:7001']), [], 'browsers and SDKs share a port');
  t.match(errors(['wss:127.0.0.1:7001', 'wss:127.0.0.1:7001']), [{ code: 'CFG-PORT-CONFLICT' }]);
  t.match(errors(['tcp:127.0.0.1:7001']), [{ code: 'CFG-ADDRESS', path: 'listeners[0].address' }]);
  const own = 'identity: {cert: a.pem, key: a.key}';
  t.same(errors(['wss:127.0.0.1:7001'], own), []);
  t.match(errors(['wss:127.0.0.1:7001', 'tls:127.0.0.1:7001'], own), [{ path: 'transport.wss.identity' }]);
  t.same(errors(['wss:127.0.0.1:0', 'tls:127.0.0.1:0'], own), [], 'with port 0, each gets a port of its own');
  t.match(
    findings(['wss:127.0.0.1:7001'], 'pongTimeout: 30').filter(({ path }) => path.startsWith('transport')),
    [{ severity: 'warning', path: 'transport.wss.pongTimeout' }],
  );
});

t.test('conflicts are found among thousands of listeners', async (t) => {
  const services = Array.from({ length: 9_000 }, (_, index) => `"s:${1 + index}"`);
  const proxies = (...more: string[]) =>
    withMore(`listeners: [{binding: tunnel, options: {mode: proxy, services: [${[...services, ...more].join(', ')}]}}]`)
      .findings.filter(({ code }) => code === 'CFG-PORT-CONFLICT')
      .map(({ path }) => path);
  t.same(proxies(), []);
  t.same(proxies('"s:8000:udp"', '"s:8000"'), ['listeners[0].options.services[9001]']);
  t.equal(proxies(...Array.from({ length: 30_000 }, () => '"s:7"')).length, 1_000, 'as many as are shown');
  const address = (index: number) =>
    `{binding: proxy, address: "tcp:127.0.${index >> 8}.${index & 255}:7", service: s}`;
  const onePort = (count: number) =>
    withMore(`listeners: [${Array.from({ length: count }, (_, index) => address(index)).join(', ')}]`);
  const grown = await growth(onePort, 400);
  t.ok(grown < MAX_GROWTH, `${grown.toFixed(1)} times the calls for 4 times the listeners of a port`);
});

t.test('port 0, a free one, is allowed wherever the router listens', async (t) => {
  const errors = (more: string) =>
    withMore(more).findings.flatMap(({ severity, path }) => (severity === 'error' ? [path] : []));
  const proxies = (...ports: number[]) =>
    `listeners: [{binding: tunnel, options: {mode: proxy, services: [${ports.map((port) => `"a:${port}"`).join(', ')}]}}]`;
  t.same(errors(proxies(0, 0)), []);
  t.same(errors(proxies(65_536)), ['listeners[0].options.services[0]']);
  const web = (point: string) => `web: [{name: w, bindPoints: [{${point}}], apis: [{binding: health-checks}]}]`;
  t.same(errors(web('interface: "127.0.0.1:0", address: "localhost:0"')), []);
  const moved = 'interface: "127.0.0.1:0", address: "localhost:0", newAddress: "localhost:0"';
  t.same(errors(web(moved)), ['web[0].bindPoints[0].newAddress'], 'clients cannot move there');
  t.same(errors('edge: {apiProxy: {listener: "127.0.0.1:0", upstream: "localhost:1"}}'), []);
});

// The values of an accepted configuration file: given, default, or of an environment variable; older and missing
// sections.

import t from 'tap';
import { accepted, check, MINIMAL, withMore } from '../../test/support/config/router-config.ts';
import { checkRouterConfig, type LoadOptions } from './load.ts';
import type { RouterConfig } from './router-config.ts';

t.test('v, ctrl and identity are sufficient; all other keys have defaults', async (t) => {
  const config = accepted(check(MINIMAL));
  t.match(config.forwarder, {
    faultTxInterval: 15_000,
    idleCircuitTimeout: 60_000,
    idleTxInterval: 60_000,
    linkDialQueueLength: 1_000,
    linkDialWorkerCount: 32,
    rateLimitedQueueLength: 5_000,
    rateLimitedWorkerCount: 5,
    xgressCloseCheckInterval: 5_000,
    xgressDialDwellTime: 0,
    xgressDialQueueLength: 1_000,
    xgressDialWorkerCount: 128,
  });
  t.equal(config.ctrl.defaultRequestTimeout, 5_000);
  t.same(
    [config.metrics.reportInterval, config.metrics.messageQueueSize, config.metrics.intervalAgeThreshold],
    [60_000, 10, 80_000],
  );
  t.match(config.healthChecks.ctrlPingCheck, { interval: 30_000, timeout: 15_000, initialDelay: 15_000 });
  t.match(config.healthChecks.linkCheck, { interval: 5_000, initialDelay: 1_000, minLinks: 0 });
  t.equal(config.edge, undefined, 'no edge section: fabric only');
  t.ok(Object.isFrozen(config) && Object.isFrozen(config.forwarder));
});

t.test('a link dialer has both retry policies, split and the group default', async (t) => {
  const [dialer] = accepted(withMore('link: {dialers: [{binding: transport}]}')).link.dialers;
  t.match(dialer?.healthyDialBackoff, { minRetryInterval: 5_000, maxRetryInterval: 300_000, retryBackoffFactor: 1.5 });
  t.match(dialer?.unhealthyDialBackoff, {
    minRetryInterval: 60_000,
    maxRetryInterval: 3_600_000,
    retryBackoffFactor: 10,
  });
  t.equal(dialer?.split, true);
  t.same(dialer?.groups, ['default']);
});

t.test('an empty edge section enables edge', async (t) => {
  for (const edge of ['edge: {}', 'edge:']) t.ok(accepted(withMore(edge)).edge, edge);
});

t.test(
  'endpoint takes precedence over endpoints; without both, enrollment and the endpoints file have them',
  async (t) => {
    const both = check(
      MINIMAL.replace('{endpoint: "tls:controller.example:6262"}', '{endpoint: "tls:one:1", endpoints: ["tls:two:2"]}'),
    );
    t.equal(accepted(both).ctrl.endpoint?.host, 'one');
    t.ok(
      both.findings.some((each) => each.code === 'CFG-ENDPOINT' && each.severity !== 'error'),
      'reported, but accepted',
    );
    const text = MINIMAL.replace('ctrl: {endpoint: "tls:controller.example:6262"}', 'ctrl: {endpointsFile: e.yml}');
    const about = (options: LoadOptions) =>
      checkRouterConfig(text, 'router.yml', options).findings.filter(({ code }) => code === 'CFG-ENDPOINT');
    t.match(about({ beforeEnrollment: true }), [
      { severity: 'info', message: /writes those of the token into e\.yml$/ },
    ]);
    t.ok(check(text).ok);
    t.match(about({}), [{ severity: 'error', message: /e\.yml has none$/, hint: /or enroll the router/ }]);
    const readFile = (path: string) => (path === 'e.yml' ? 'endpoints: ["tls:one:1"]' : '');
    t.match(about({ readFile }), [{ severity: 'info', message: /dials those in the endpoints file e\.yml$/ }]);
  },
);

t.test('version 3 is required', async (t) => {
  for (const version of ['v: 2', 'v: "three"', 'version: 3'])
    t.notOk(check(MINIMAL.replace('v: 3', version)).ok, version);
});

t.test('environment variables are substituted, and unset ones are reported', async (t) => {
  const text = MINIMAL.replace('controller.example', '$HOST').replace('6262', `\${PORT}`);
  const { host, port } = accepted(check(text, { HOST: 'real.example', PORT: '1280' })).ctrl.endpoint ?? {};
  t.same([host, port], ['real.example', 1280]);
  const missing = check(text, { PORT: '1280' });
  t.ok(missing.findings.some((each) => each.code === 'CFG-ENVIRONMENT' && each.line === 3));
});

t.test('an unset variable that leaves an address without a host is an error', async (t) => {
  const edge = `edge: {}\nlisteners: [{binding: edge, address: "tls:\${BIND}:3022", options: {advertise: "localhost:3022"}}]`;
  const web = 'apis: [{binding: health-checks}]';
  const cases: [string, string, string][] = [
    [MINIMAL.replace('controller.example', '$BIND'), 'ctrl.endpoint', 'tls::6262'],
    [`${MINIMAL}${edge}`, 'listeners[0].address', 'tls::3022'],
    [
      `${MINIMAL}link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1", advertise: "tls:\${BIND}:1"}]}`,
      'link.listeners[0].advertise',
      'tls::1',
    ],
    [
      `${MINIMAL}web: [{name: w, bindPoints: [{interface: "\${BIND}:8081", address: "localhost:8081"}], ${web}}]`,
      'web[0].bindPoints[0].interface',
      '',
    ],
    [
      `${MINIMAL}listeners: [{binding: proxy_udp, address: "udp:\${BIND}:53", service: s}]`,
      'listeners[0].address',
      'udp::53',
    ],
    [`${MINIMAL}listeners: [{binding: proxy, address: "\${BIND}", service: s}]`, 'listeners[0].address', ''],
  ];
  for (const [text, path, shown] of cases) {
    for (const environment of [{}, { BIND: '' }] as Record<string, string>[]) {
      const { ok, findings } = check(text, environment);
      t.notOk(ok, path);
      const [found, ...others] = findings.filter((each) => each.path === path);
      t.match(`${found?.message} ${found?.hint}`, /environment variable BIND/, path);
      t.ok(found?.message.includes(shown), String(found?.message));
      t.same(others, [], 'reported once');
    }
    t.ok(check(text, { BIND: text.includes('"${BIND}"') ? 'tcp:127.0.0.1:9' : '127.0.0.1' }).ok, path);
  }
});

t.test('each value has a source', async (t) => {
  const { values } = check(`${MINIMAL.replace('controller.example', '$HOST')}forwarder: {linkDialWorkerCount: 7}`, {
    HOST: 'h',
  });
  const source = (path: string) => values.find((each) => each.path === path)?.source;
  t.equal(source('forwarder.linkDialWorkerCount'), 'given');
  t.equal(source('forwarder.linkDialQueueLength'), 'default');
  t.equal(source('ctrl.endpoint'), 'environment');
});

t.test('connectTimeoutMs is used unless connectTimeout is set', async (t) => {
  const sections: [more: string, path: string, timeoutOf: (config: RouterConfig) => number | undefined][] = [
    ['ctrl: {endpoint: "tls:c:1", options: {VALUE}}', 'ctrl.options', ({ ctrl }) => ctrl.options.connectTimeout],
    [
      'link: {dialers: [{binding: transport, options: {VALUE}}]}',
      'link.dialers[0].options',
      ({ link }) => link.dialers[0]?.options.connectTimeout,
    ],
    [
      'link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1", options: {VALUE}}]}',
      'link.listeners[0].options',
      ({ link }) => link.listeners[0]?.options.connectTimeout,
    ],
  ];
  for (const [more, path, timeoutOf] of sections) {
    const older = withMore(more.replace('VALUE', 'connectTimeoutMs: 1500'));
    t.equal(timeoutOf(accepted(older)), 1_500, path);
    t.match(
      older.values.find((value) => value.path === `${path}.connectTimeout`),
      { written: '1.5s', source: 'given' },
    );
    for (const both of ['connectTimeoutMs: 1500, connectTimeout: 2s', 'connectTimeout: 2s, connectTimeoutMs: 1500'])
      t.equal(timeoutOf(accepted(withMore(more.replace('VALUE', both)))), 2_000, both);
    t.equal(timeoutOf(accepted(withMore(more.replace('VALUE', 'connectTimeoutMs: soon')))), 5_000, 'as the reference');
  }
});

t.test('an interval that would occupy the processor is raised, with a warning', async (t) => {
  const loaded = withMore('interfaceDiscovery: {checkInterval: 0s}');
  t.equal(accepted(loaded).interfaceDiscovery.checkInterval, 1_000);
  const [warning] = loaded.findings.filter(({ path }) => path === 'interfaceDiscovery.checkInterval');
  t.match(warning, { severity: 'warning', message: '0s is out of bounds, 1s is used', hint: /1s to 24h/ });
});

t.test('csr below edge works but is deprecated; the root one takes precedence', async (t) => {
  const below = check(`${MINIMAL.replace(/^csr.*\n/m, '')}edge: {csr: {sans: {dns: [below]}}}`);
  t.same(accepted(below).edge?.csr?.sans?.dns, ['below']);
  t.ok(below.findings.some((each) => each.code === 'CFG-DEPRECATED'));
});

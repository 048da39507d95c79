// The configuration file: accepted files with their values, and findings with code, place and remedy.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { explain, explainAll } from './explain.ts';
import { checkRouterConfig, type LoadedConfig, loadRouterConfig } from './load.ts';
import type { RouterConfig } from './router-config.ts';
import { TEMPLATES, writeTemplate } from './templates.ts';

const MINIMAL = `v: 3
identity: {cert: r.cert, server_cert: r.server.cert, key: r.key, ca: r.ca}
ctrl: {endpoint: "tls:controller.example:6262"}
csr: {sans: {dns: [localhost], ip: [127.0.0.1]}}
`;

function check(text: string, environment: Record<string, string> = {}): LoadedConfig {
  return checkRouterConfig(text, 'router.yml', { beforeEnrollment: true, environment });
}

/** The minimal file with further lines. */
function withMore(more: string): LoadedConfig {
  return check(`${MINIMAL}${more}\n`);
}

function accepted(loaded: LoadedConfig) {
  if (!loaded.config) throw new Error(JSON.stringify(loaded.findings));
  return loaded.config;
}

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

/** Lines added to the minimal file; code and path of the finding; whether the router would start. */
const MISTAKES: readonly (readonly [string, string, string, boolean])[] = [
  ['forwarder: {linkDialQueueLenght: 5}', 'CFG-UNKNOWN-KEY', 'forwarder.linkDialQueueLenght', true],
  ['forwarder: {linkDialQueueLength: many}', 'CFG-TYPE', 'forwarder.linkDialQueueLength', false],
  [
    'link: {dialers: [{binding: transport, healthyDialBackoff: {minRetryInterval: 10m, maxRetryInterval: 1m}}]}',
    'CFG-BACKOFF',
    'link.dialers[0].healthyDialBackoff',
    false,
  ],
  [
    'link: {dialers: [{binding: transport, healthyDialBackoff: {minRetryInterval: 1ms}}]}',
    'CFG-RANGE',
    'link.dialers[0].healthyDialBackoff.minRetryInterval',
    false,
  ],
  [
    'link: {dialers: [{binding: transport, healthyDialBackoff: {retryBackoffFactor: 101}}]}',
    'CFG-RANGE',
    'link.dialers[0].healthyDialBackoff.retryBackoffFactor',
    false,
  ],
  ['link: {dialers: [{binding: pigeon}]}', 'CFG-VALUE', 'link.dialers[0].binding', false],
  [
    'link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:99999", advertise: "tls:127.0.0.1:99999"}]}',
    'CFG-ADDRESS',
    'link.listeners[0].bind',
    false,
  ],
  [
    'link: {listeners: [{binding: transport, advertise: "tls:127.0.0.1:1"}]}',
    'CFG-MISSING',
    'link.listeners[0].bind',
    false,
  ],
  ['edge: {}\nlisteners: [{binding: edge, address: "tls:0.0.0.0:3022"}]', 'CFG-MISSING', 'listeners[0].options', false],
  [
    'listeners: [{binding: edge, address: "tls:0.0.0.0:3022", options: {advertise: "127.0.0.1:3022"}}]',
    'CFG-EDGE',
    'listeners[0]',
    false,
  ],
  [
    'edge: {}\nlisteners: [{binding: tunnel, options: {mode: teleport}}]',
    'CFG-VALUE',
    'listeners[0].options.mode',
    false,
  ],
  [
    'link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:80", advertise: "tls:foo bar:80"}]}',
    'CFG-ADDRESS',
    'link.listeners[0].advertise',
    false,
  ],
  [
    'edge: {}\nlisteners: [{binding: edge, address: "tls:0.0.0.0:80", options: {advertise: "foo bar:80"}}]',
    'CFG-ADDRESS',
    'listeners[0].options.advertise',
    false,
  ],
  [
    'web: [{name: h, bindPoints: [{interface: "foo bar:81", address: "x:81"}], apis: [{binding: health-checks}]}]',
    'CFG-ADDRESS',
    'web[0].bindPoints[0].interface',
    false,
  ],
  ['metrics: {reportInterval: 5 parsecs}', 'CFG-DURATION', 'metrics.reportInterval', false],
  [
    'web: [{name: h, bindPoints: [{interface: "0.0.0.0:8081", address: "x:8081"}], apis: [{binding: nothing}]}]',
    'CFG-VALUE',
    'web[0].apis[0].binding',
    false,
  ],
];

t.test('findings have a code and a place', async (t) => {
  for (const [more, code, path, ok] of MISTAKES) {
    const loaded = withMore(more);
    const found = loaded.findings.find((each) => each.code === code && each.path === path);
    t.ok(found, `${more}\nfound: ${loaded.findings.map((each) => `${each.code} ${each.path}`).join(', ')}`);
    t.equal(loaded.ok, ok, more);
    if (found) t.ok(found.line >= 5 && found.column >= 1 && found.message !== '', `${more}: place and text`);
  }
});

t.test('queue lengths and worker counts have the bounds of the specification', async (t) => {
  const table: [string, number, number][] = [
    ['linkDialQueueLength', 1, 10_000],
    ['linkDialWorkerCount', 1, 10_000],
    ['rateLimitedQueueLength', 1, 50_000],
    ['rateLimitedWorkerCount', 1, 10_000],
    ['xgressDialQueueLength', 1, 10_000],
    ['xgressDialWorkerCount', 1, 10_000],
  ];
  for (const [key, low, high] of table) {
    for (const value of [low, high])
      t.equal(accepted(withMore(`forwarder: {${key}: ${value}}`)).forwarder[key as 'linkDialQueueLength'], value);
    for (const value of [low - 1, high + 1])
      t.ok(
        withMore(`forwarder: {${key}: ${value}}`).findings.some((each) => each.code === 'CFG-RANGE'),
        `${key}: ${value}`,
      );
  }
});

t.test('a listener without a binding, or with one that is not text, is reported once', async (t) => {
  const table: [binding: string, code: string, message: RegExp, hint: RegExp][] = [
    ['', 'CFG-MISSING', /^binding is missing$/, /^one of edge, tunnel, /],
    ['binding: 3', 'CFG-TYPE', /^expected a string, found the number 3$/, /^/],
    ['binding: [edge]', 'CFG-TYPE', /^expected a string, found a list$/, /^/],
  ];
  for (const [binding, code, message, hint] of table) {
    const { findings } = withMore(`listeners: [{${binding}}]`);
    t.match(findings, [{ code, path: 'listeners[0].binding', message, hint }], binding);
    t.equal(findings.length, 1, findings.map((each) => each.message).join('; '));
  }
});

t.test('the remedy for a wrong type leads to a value that is accepted', (t) => {
  const bindPoint = (port: string) =>
    `web: [{name: w, bindPoints: [{interface: ${port}, address: "a:81"}], apis: [{binding: metrics}]}]`;
  const table: [more: string, path: string, hint: string][] = [
    [bindPoint('8081'), 'web[0].bindPoints[0].interface', 'write the host too, for example 127.0.0.1:8081'],
    ['csr: {country: 7}', 'csr.country', 'put quotes around it'],
    ['ctrl:\nendpoint: "tls:a:1"', 'ctrl', 'indent the keys that belong to ctrl'],
  ];
  for (const [more, path, hint] of table) {
    const { findings } = withMore(more);
    t.match(
      findings.filter((each) => each.path === path && each.code === 'CFG-TYPE'),
      [{ hint }],
      more,
    );
  }
  t.end();
});

t.test('an invalid number is reported once, as written, with a correction', async (t) => {
  const table: [string, string, RegExp, RegExp][] = [
    ['forwarder: {linkDialWorkerCount: 1e400}', 'CFG-TYPE', /1e400$/, /1 to 10000/],
    ['forwarder: {linkDialWorkerCount: 1.5}', 'CFG-TYPE', /1\.5$/, /write 1$/],
    ['forwarder: {linkDialWorkerCount: -1.5}', 'CFG-TYPE', /-1\.5$/, /write 1$/],
    ['forwarder: {linkDialWorkerCount: 5.0}', 'CFG-TYPE', /5\.0$/, /write 5$/],
    ['forwarder: {linkDialWorkerCount: 1e6}', 'CFG-RANGE', /^1e6 is out of bounds/, /1 to 10000/],
    ['forwarder: {faultTxInterval: .nan}', 'CFG-TYPE', /\.nan$/, /default is 15000/],
    ['forwarder: {faultTxInterval: -.inf}', 'CFG-TYPE', /-\.inf$/, /default is 15000/],
    ['forwarder: {faultTxInterval: 99999999999999999999}', 'CFG-TYPE', /found 9{20}$/, /too large/],
    ['dialers: [{binding: transport, options: {retxScale: .nan}}]', 'CFG-TYPE', /\.nan$/, /default is 1\.5/],
    ['metrics: {reportInterval: .inf}', 'CFG-TYPE', /\.inf$/, /^$/],
    [
      'ctrl: {endpoint: "tls:a:1", rateLimiter: {decreaseFactor: 2}}',
      'CFG-RANGE',
      /^2 is/,
      /more than 0 and less than 1/,
    ],
  ];
  for (const [more, code, message, hint] of table) {
    const findings = withMore(more).findings.filter(({ severity }) => severity === 'error');
    t.match(findings, [{ code, message, hint }], more);
    t.equal(findings.length, 1, `${more}: ${findings.map((each) => each.message).join('; ')}`);
  }
  const version = check(MINIMAL.replace('v: 3', 'v: .nan')).findings.filter(({ path }) => path === 'v');
  t.match(version, [{ code: 'CFG-VERSION', message: 'version .nan is not supported' }]);
  t.equal(version.length, 1);
});

t.test('a duration in place of a number is reported with the number, for every key with a unit', async (t) => {
  const durations = { '1m': 60_000, '5s': 5_000, '1h30m': 5_400_000, '2000ms': 2_000 };
  const keys: [string, string, number][] = [
    ...[
      'faultTxInterval',
      'idleCircuitTimeout',
      'idleTxInterval',
      'xgressCloseCheckInterval',
      'xgressDialDwellTime',
    ].map((key): [string, string, number] => [`forwarder: {${key}: VALUE}`, `forwarder.${key}`, 1]),
    ['ctrl: {endpoint: "tls:c:1", options: {connectTimeoutMs: VALUE}}', 'ctrl.options.connectTimeoutMs', 1],
    ['edge: {heartbeatIntervalSeconds: VALUE}', 'edge.heartbeatIntervalSeconds', 1_000],
    ['edge: {dbSaveIntervalSeconds: VALUE}', 'edge.dbSaveIntervalSeconds', 1_000],
    ['profile: {memory: {path: p, intervalMs: VALUE}}', 'profile.memory.intervalMs', 1],
    ...['retxStartMs', 'retxAddMs', 'retxMaxMs', 'maxCloseWaitMs'].map((key): [string, string, number] => [
      `dialers: [{binding: transport, options: {${key}: VALUE}}]`,
      `dialers[0].options.${key}`,
      1,
    ]),
    ...['writeTimeout', 'readTimeout', 'idleTimeout', 'pongTimeout', 'pingInterval', 'handshakeTimeout'].map(
      (key): [string, string, number] => [`transport: {wss: {${key}: VALUE}}`, `transport.wss.${key}`, 1_000],
    ),
  ];
  for (const [more, path, unit] of keys)
    for (const [value, milliseconds] of Object.entries(durations)) {
      const found = withMore(more.replace('VALUE', value)).findings.find((each) => each.path === path);
      t.match(found?.hint, new RegExp(`the unit is .*seconds: write ${milliseconds / unit}$`), `${path}: ${value}`);
    }
  t.match(withMore('forwarder: {faultTxInterval: 500ms}').findings[0]?.hint, /write 500$/);
});

t.test('an address without a scheme, or with two, is reported with a correction', async (t) => {
  const cases: [string, string][] = [
    ['ctrl: {endpoint: "c.example:6262"}', 'tls:c.example:6262'],
    ['ctrl: {endpoint: "https://c.example:6262/"}', 'tls:c.example:6262'],
    ['ctrl: {endpoint: "tls://c.example:6262"}', 'tls:c.example:6262'],
    ['link: {listeners: [{binding: transport, bind: "0.0.0.0:6000", advertise: "tls:a:1"}]}', 'tls:0.0.0.0:6000'],
    [
      'edge: {}\nlisteners: [{binding: edge, address: "tls:0.0.0.0:3022", options: {advertise: "tls:localhost:3022"}}]',
      'localhost:3022',
    ],
    [
      'web: [{name: w, bindPoints: [{interface: "https://[::1]:81", address: "a:81"}], apis: [{binding: metrics}]}]',
      '[::1]:81',
    ],
  ];
  for (const [more, meant] of cases)
    t.match(
      withMore(more).findings.filter(({ severity }) => severity === 'error'),
      [{ hint: new RegExp(`did you mean ${RegExp.escape(meant)}\\?$`) }],
      more,
    );
  t.notMatch(withMore('ctrl: {endpoint: "c.example"}').findings[0]?.hint, /did you mean/);
});

t.test('an unknown key is reported with a suggestion', async (t) => {
  const [finding] = withMore('forwader: {}').findings.filter((each) => each.code === 'CFG-UNKNOWN-KEY');
  t.match(finding, { path: 'forwader', line: 5, column: 1 });
  t.match(`${finding?.message} ${finding?.hint}`, /forwarder/);
});

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

t.test('folders and empty files in place of identity files are reported as such', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('empty'), '\n');
  mkdirSync(at('folder'));
  const text = `v: 3\nctrl: {endpoint: "tls:c:1"}\nidentity: {cert: ${at('empty')}, server_cert: ${at('folder')}, key: ${at('empty')}, ca: ${at('empty/x')}}\n`;
  const { findings } = checkRouterConfig(text, at('router.yml'));
  const messageAt = (path: string) => findings.find((each) => each.path === path && each.severity === 'error')?.message;
  t.match(messageAt('identity.cert'), /empty is empty$/);
  t.match(messageAt('identity.key'), /empty is empty$/);
  t.match(messageAt('identity.server_cert'), /folder is a folder; name a file$/);
  t.match(messageAt('identity.ca'), /does not exist$/);
  const others = check(
    `${MINIMAL}web: [{name: w, identity: {cert: "xy:z", server_cert: s, key: b, ca: c}, bindPoints: [{interface: "a:1", address: "localhost:1"}], apis: [{binding: metrics}]}]`,
  );
  t.match(others.findings.find(({ code }) => code === 'CFG-IDENTITY')?.path, 'web[0].identity.cert');
  t.match(loadRouterConfig(folder).findings, [{ code: 'CFG-FILE', message: `${folder} is a folder; name a file` }]);
});

t.test('files that cannot be written are found, and none is created', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  writeFileSync(join(folder, 'file'), '');
  const found = (more: string) =>
    withMore(more)
      .findings.filter(({ code }) => code === 'CFG-FILE')
      .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
  const sections: [string, string, RegExp][] = [
    ['trace: {path: PATH}', 'trace.path', /messages are not traced/],
    ['profile: {cpu: {path: PATH}}', 'profile.cpu.path', /no CPU profile/],
    ['profile: {memory: {path: PATH}}', 'profile.memory.path', /no memory profile/],
    ['ctrl: {endpoint: "tls:c:1", endpointsFile: PATH}', 'ctrl.endpointsFile', /are lost at a restart/],
    ['edge: {db: PATH}', 'edge.db', /knows no services until a controller answers/],
  ];
  for (const [more, key, loss] of sections) {
    const at = (path: string) => found(more.replace('PATH', join(folder, path)));
    t.same([...at('file'), ...at('new')], [], key);
    t.match(at(''), [new RegExp(`^warning ${key}: .*is a folder; name a file$`)]);
    t.match(at('file/x'), [/is not a folder$/]);
    t.match(at('file/x'), [loss]);
    if (key !== 'ctrl.endpointsFile') t.match(at('nowhere/x'), [/nowhere does not exist; create it$/]);
  }
  t.same(readdirSync(folder), ['file']);
});

t.test('an unsupported setting is a warning at its place, or an error if nothing is left', async (t) => {
  const found = (more: string) =>
    withMore(more)
      .findings.filter(({ code }) => code === 'CFG-UNSUPPORTED')
      .map(({ severity, path, hint }) => `${severity} ${path}: ${hint}`);
  t.same(found('link: {listeners: [{bind: "dtls:0.0.0.0:1", advertise: "dtls:localhost:1"}]}'), [
    'warning link.listeners[0].bind: write tls:0.0.0.0:1, here and where it is advertised',
  ]);
  t.same(found('link: {listeners: [{bind: "tls:0.0.0.0:1", advertise: "wss:localhost:1"}]}'), [
    'warning link.listeners[0].advertise: write tls:localhost:1',
  ]);
  t.match(found('enableDebugOps: true'), [/^warning enableDebugOps: remove the key; /]);
  t.same(found('enableDebugOps: false'), []);
  t.same(found('ctrl: {endpoint: "wss:c:1"}'), ['error ctrl.endpoint: write tls:c:1']);
  t.same(found('ctrl: {endpoints: ["wss:c:1", "tls:c:2"]}'), ['warning ctrl.endpoints[0]: write tls:c:1']);
  t.same(found('ctrl: {endpoint: "tls:c:1", listeners: [{bind: "tcp:0.0.0.0:9"}]}'), [
    'warning ctrl.listeners[0].bind: write tls:0.0.0.0:9, here and where it is advertised',
  ]);
  t.match(found('dialers: [{binding: transport}, {binding: proxy}, {binding: pigeon}, {binding: edge}]'), [
    /^warning dialers\[1\]\.binding: known are transport, /,
    /^warning dialers\[2\]\.binding/,
  ]);
  t.same(found('edge: {}\nlisteners: [{binding: tunnel}, {binding: tunnel, options: {mode: host}}]'), [
    'warning listeners[1]: keep one of them',
  ]);
});

t.test('two listeners of any kind on one port are reported with both places', async (t) => {
  const edge = (address: string) =>
    `{binding: edge, address: "${address}", options: {advertise: "localhost:${address.split(':').at(-1)}"}}`;
  const proxy = (address: string) => `{binding: proxy, address: "${address}", service: s}`;
  const datagrams = (address: string) => `{binding: proxy_udp, address: "${address}", service: s}`;
  const tunnel = (options: string) => `{binding: tunnel, options: {${options}}}`;
  const web = (place: string) =>
    `web: [{name: w, bindPoints: [{interface: "${place}", address: "localhost:1"}], apis: [{binding: health-checks}]}]`;
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
    [conflicts([edge('tls:127.0.0.1:3022')], web('127.0.0.1:3022')), /^error web/],
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

t.test('endpoint takes precedence over endpoints; one of them is required', async (t) => {
  const both = check(
    MINIMAL.replace('{endpoint: "tls:controller.example:6262"}', '{endpoint: "tls:one:1", endpoints: ["tls:two:2"]}'),
  );
  t.equal(accepted(both).ctrl.endpoint?.host, 'one');
  t.ok(
    both.findings.some((each) => each.code === 'CFG-ENDPOINT' && each.severity !== 'error'),
    'reported, but accepted',
  );
  const none = check(MINIMAL.replace('ctrl: {endpoint: "tls:controller.example:6262"}', 'ctrl: {}'));
  t.ok(none.findings.some((each) => each.code === 'CFG-ENDPOINT' || each.code === 'CFG-MISSING'));
  t.notOk(none.ok);
});

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

t.test('options of mode tproxy that cannot work are found, and other modes ignore them', async (t) => {
  const cases: [option: string, key: string, severity: string][] = [
    ['dnsSvcIpRange: 10.0.0.0/31', 'dnsSvcIpRange', 'error'],
    ['dnsSvcIpRange: 0.0.0.0/0', 'dnsSvcIpRange', 'error'],
    ['dnsSvcIpRange: fd00::/64', 'dnsSvcIpRange', 'error'],
    ['resolver: tcp://127.0.0.1:53', 'resolver', 'warning'],
    ['resolver: [udp://127.0.0.1, file:///etc/hosts]', 'resolver', 'warning'],
    ['resolver: udp://127.0.0.1:99999', 'resolver', 'warning'],
    ['dnsUpstream: [udp://8.8.8.8, 9.9.9.9]', 'dnsUpstream', 'warning'],
  ];
  const findings = (mode: string, option: string, key: string) =>
    withMore(`edge: {}\nlisteners: [{binding: tunnel, options: {mode: ${mode}, ${option}}}]`).findings.filter(
      ({ path }) => path === `listeners[0].options.${key}`,
    );
  for (const [option, key, severity] of cases) {
    for (const mode of ['tproxy', '"tproxy:/bin/divert"'])
      t.match(findings(mode, option, key), [{ code: 'CFG-VALUE', severity, hint: /^use / }], option);
    t.same(findings('host', option, key), [], option);
  }
  t.same(findings('tproxy', 'dnsSvcIpRange: 100.64.0.1/10, resolver: "udp://[::1]:53"', 'resolver'), []);
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

t.test('keys without effect are reported, and their bounds still apply', async (t) => {
  const keys: [more: string, path: string][] = [
    ['ctrl: {endpoint: "tls:c:1", options: {maxQueuedConnects: 3}}', 'ctrl.options.maxQueuedConnects'],
    ['metrics: {eventQueueSize: 300}', 'metrics.eventQueueSize'],
    ['link: {heartbeats: {sendInterval: 5s, closeUnresponsiveTimeout: 60s}}', 'link.heartbeats.sendInterval'],
    ['link: {heartbeats: {checkInterval: 5s, closeUnresponsiveTimeout: 60s}}', 'link.heartbeats.checkInterval'],
    ...['mtu: 900', 'randomDrops: true', 'drop1InN: 9', 'txQueueSize: 9', 'txPortalDupAckScale: 0.5'].map(
      (option): [string, string] => [
        `dialers: [{binding: transport, options: {${option}}}]`,
        `dialers[0].options.${option.split(':')[0]}`,
      ],
    ),
  ];
  for (const [more, path] of keys)
    t.match(
      withMore(more).findings.filter((each) => each.path === path),
      [{ code: 'CFG-IGNORED', severity: 'warning' }],
      path,
    );
  const tooMany = withMore('ctrl: {endpoint: "tls:c:1", options: {maxQueuedConnects: 5001}}');
  t.ok(tooMany.findings.some(({ code, severity }) => code === 'CFG-RANGE' && severity === 'error'));
});

t.test('merge keys are merged as in the reference', async (t) => {
  const common = 'common: &common {linkDialQueueLength: 11, linkDialWorkerCount: 12}';
  const table: [string, string, [number, number]][] = [
    ['below its own keys', 'forwarder:\n  linkDialQueueLength: 1\n  <<: *common', [11, 12]],
    ['above its own keys', 'forwarder:\n  <<: *common\n  linkDialQueueLength: 1', [1, 12]],
    ['in one line', 'forwarder: {<<: *common, linkDialWorkerCount: 2}', [11, 2]],
    ['the first of a list', 'forwarder: {<<: [{linkDialQueueLength: 3}, *common]}', [3, 12]],
    ['twice', 'forwarder:\n  <<: *common\n  <<: {linkDialQueueLength: 4}', [4, 12]],
    ['through another merge', 'more: &more {<<: *common}\nforwarder: {<<: *more}', [11, 12]],
  ];
  for (const [name, text, expected] of table) {
    const { linkDialQueueLength, linkDialWorkerCount } = accepted(withMore(`${common}\n${text}`)).forwarder;
    t.same([linkDialQueueLength, linkDialWorkerCount], expected, name);
  }
  const { values } = withMore(`${common}\nforwarder: {<<: *common}`);
  t.match(
    values.find(({ path }) => path === 'forwarder.linkDialQueueLength'),
    { written: 11, source: 'given' },
  );
  const wrong = withMore('common: &common\n  linkDialQueueLength: -5\nforwarder:\n  <<: *common');
  t.match(
    wrong.findings.find(({ code }) => code === 'CFG-RANGE'),
    { path: 'forwarder.linkDialQueueLength', line: 6, column: 24 },
  );
  t.match(
    withMore('ctrl: {endpoint: "tls:c:1", <<: [{bind: $NOBODY}]}').findings.find(({ path }) => path === 'ctrl.bind'),
    { hint: /^set the environment variable NOBODY; /, line: 5 },
  );
  for (const value of ['3', '[1]', '*list', ''])
    t.match(
      withMore(`list: &list [{}]\nforwarder:\n  <<: ${value}`).findings.find(({ code }) => code === 'CFG-YAML'),
      { path: 'forwarder', line: 7, message: /map or a list of maps/ },
      value,
    );
  t.match(
    withMore('forwarder: {"<<": {}}').findings.find(({ code }) => code === 'CFG-UNKNOWN-KEY'),
    { path: 'forwarder.<<' },
  );
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
  t.match(
    findings(['wss:127.0.0.1:7001'], 'pongTimeout: 30').filter(({ path }) => path.startsWith('transport')),
    [{ severity: 'warning', path: 'transport.wss.pongTimeout' }],
  );
});

t.test('csr below edge works but is deprecated; the root one takes precedence', async (t) => {
  const below = check(`${MINIMAL.replace(/^csr.*\n/m, '')}edge: {csr: {sans: {dns: [below]}}}`);
  t.same(accepted(below).edge?.csr?.sans?.dns, ['below']);
  t.ok(below.findings.some((each) => each.code === 'CFG-DEPRECATED'));
});

t.test(
  'an alias refers to the last anchor before it; without an anchor it is an error, and many aliases cost little',
  async (t) => {
    const levels = 'x: &a {ctrl: 1s}\ny: &a {reportInterval: 7s}\nmetrics: *a\n';
    t.equal(accepted(withMore(levels)).metrics.reportInterval, 7_000);
    const missing = withMore('metrics: *nope');
    t.match(missing.findings, [{ code: 'CFG-YAML', line: 5, path: 'metrics', message: /no anchor/ }]);
    const begun = performance.now();
    t.notOk(withMore('a: *a\n'.repeat(20_000)).ok);
    t.ok(performance.now() - begun < 10_000, '6,400 of them once took 26 s');
  },
);

t.test('any content that is not a configuration gives findings', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const file = join(directory, 'router.yml');
  const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${Array(10).fill(`*a${index}`).join(',')}]`).join('\n')}`;
  const table: [string, string | Buffer][] = [
    ['empty', ''],
    ['only a comment', '# nothing\n'],
    ['a list', '- v: 3\n'],
    ['a string', 'hello'],
    ['a number', '42'],
    ['invalid YAML', 'v: [3\nctrl: }'],
    ['tabs', 'v: 3\n\tctrl: {}\n'],
    ['NUL bytes', Buffer.from('v: 3\0\n')],
    ['not UTF-8', Buffer.from([0x76, 0x3a, 0xff, 0xfe, 0x0a])],
    ['a binary file', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256))],
    ['an alias bomb', bomb],
    ['an alias to itself', 'v: 3\nctrl: &a {endpoint: *a}\n'],
    ['ten megabytes of nesting', '['.repeat(10 * 1024 * 1024)],
    ['deep nesting below the size limit', `v: 3\nctrl: ${'['.repeat(100_000)}`],
    [
      'deep maps',
      Array.from({ length: 5_000 }, (_, index) => `${' '.repeat(index)}a:`)
        .join('\n')
        .slice(0, 900_000),
    ],
    ['two documents', `${MINIMAL}---\n${MINIMAL}`],
    ['a tag', 'v: !!js/function "function(){}"\n'],
    ['keys that are prototypes', `${MINIMAL}__proto__: {polluted: true}\nconstructor: {prototype: 1}\n`],
    ['a key that is a map', '{a: 1}: 3\n'],
    ['merge keys', `${MINIMAL}forwarder:\n  <<: {linkDialQueueLength: -5}\n`],
  ];
  for (const [name, content] of table) {
    writeFileSync(file, content);
    const loaded = loadRouterConfig(file, { beforeEnrollment: true });
    t.ok(loaded.findings.length > 0, `${name}: ${JSON.stringify(loaded.findings[0])}`);
    if (!['two documents', 'keys that are prototypes'].includes(name)) t.notOk(loaded.ok, name);
  }
  t.equal(({} as { polluted?: boolean }).polluted, undefined);
  mkdirSync(join(directory, 'folder'));
  for (const path of [join(directory, 'nowhere.yml'), join(directory, 'folder'), '/dev/null']) {
    t.match(loadRouterConfig(path), { ok: false, findings: [{ code: /CFG-(FILE|EMPTY)/ }] }, path);
  }
});

t.test('any YAML value in any place gives findings, never an exception', async (t) => {
  const value = fc
    .anything({ maxDepth: 3, withBigInt: false, withNullPrototype: false })
    .map((each) => JSON.stringify(each) ?? 'null');
  const section = fc.constantFrom(
    'v',
    'ctrl',
    'csr',
    'dialers',
    'edge',
    'forwarder',
    'healthChecks',
    'identity',
    'link',
    'listeners',
    'metrics',
    'trace',
    'transport',
    'profile',
    'web',
    'tls',
    'proxy',
    'x',
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(section, value), { maxLength: 6 }), (sections) => {
      const loaded = check(sections.map(([key, text]) => `${key}: ${text}`).join('\n'));
      return Array.isArray(loaded.findings);
    }),
    { numRuns: 400 },
  );
  t.pass('400 files');
});

t.test('names that a certificate cannot contain are found before the token is used', (t) => {
  const text = MINIMAL.replace(/csr: .*/, 'csr: {sans: {dns: [localhost, "müller.example"]}}');
  const found = (beforeEnrollment: boolean) =>
    checkRouterConfig(text, 'router.yml', { beforeEnrollment, environment: {} })
      .findings.filter(({ path }) => path.startsWith('csr'))
      .map(({ severity, path, message, hint }) => `${severity} ${path}: ${message}; ${hint}`);
  const finding =
    'csr.sans.dns[1]: certificates contain ASCII names only, not müller.example; write xn--mller-kva.example, here and where the host is advertised';
  t.same(found(true), [`error ${finding}`]);
  t.same(found(false), [`warning ${finding}`], 'a running router is not stopped');
  t.end();
});

t.test('advertised hosts missing in csr.sans are found before the token is used', async (t) => {
  const link = (host: string) =>
    `link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1", advertise: "tls:${host}:1"}]}`;
  const edge = (host: string) =>
    `edge: {}\nlisteners: [{binding: edge, address: "tls:0.0.0.0:3022", options: {advertise: "${host}:3022"}}]`;
  const web = (host: string, more = '') =>
    `web: [{name: w, ${more} bindPoints: [{interface: "0.0.0.0:81", address: "${host}:81"}], apis: [{binding: metrics}]}]`;
  const found = (more: string, sans = '{dns: [localhost, "*.wild.example"], ip: [127.0.0.1, "0:0::1"]}') =>
    check(`${MINIMAL.replace(/csr: .*/, `csr: {sans: ${sans}}`)}${more}`)
      .findings.filter(({ code }) => code === 'CFG-ADVERTISE')
      .map(({ severity, path, hint }) => `${severity} ${path}: ${hint}`);
  for (const host of ['localhost', 'LOCALHOST', 'a.wild.example', '127.0.0.1', '[::1]'])
    t.same([...found(link(host)), ...found(web(host))], [], host);
  for (const host of ['edge.example', 'wild.example', 'a.b.wild.example'])
    t.same(found(link(host)), [`error link.listeners[0].advertise: add ${host} to csr.sans.dns`]);
  t.same(found(link('192.0.2.1')), ['error link.listeners[0].advertise: add 192.0.2.1 to csr.sans.ip']);
  t.same(found(edge('edge.example')), ['error listeners[0].options.advertise: add edge.example to csr.sans.dns']);
  t.same(found(edge('edge.example'), '{dns: [edge.example]}'), []);
  t.same(found(web('edge.example')), ['warning web[0].bindPoints[0].address: add edge.example to csr.sans.dns']);
  t.same(found(web('edge.example', 'identity: {cert: a, key: b, ca: c},')), [], 'a separate certificate');
  t.same(found('ctrl: {endpoint: "tls:c:1", listeners: [{bind: "tls:0.0.0.0:9", advertise: "tls:edge.example:9"}]}'), [
    'warning ctrl.listeners[0].advertise: add edge.example to csr.sans.dns',
  ]);
  const alternate = (path: string) =>
    found(
      `${link('edge.example')}\nidentity: {cert: a, server_cert: b, key: c, ca: d, alt_server_certs: [{server_cert: ${path}}]}`,
    );
  t.match(alternate('/nonexistent/alternate.pem'), [/^warning link/], 'an alternate certificate may cover it');
  const { findings } = check(MINIMAL.replace(/csr: .*/, '') + link('edge.example'));
  t.notOk(
    findings.some(({ code }) => code === 'CFG-ADVERTISE'),
    'enrollment requires csr',
  );
});

t.test('every template passes the check', async (t) => {
  for (const template of TEMPLATES) {
    for (const advertise of ['edge.example', '192.0.2.1', '2001:db8::1', 'no', 'null', '0x1f', 'a_b-c.']) {
      const loaded = check(writeTemplate(template, { name: 'router', ctrl: 'tls:controller.example:6262', advertise }));
      t.same(
        loaded.findings.filter(({ severity }) => severity !== 'info'),
        [],
        `${template} ${advertise}`,
      );
    }
  }
});

t.test('templates name identity files beside the written file, or explain relative paths', async (t) => {
  const values = { name: 'r', ctrl: 'tls:controller.example:6262', advertise: 'edge.example' };
  for (const template of TEMPLATES) {
    for (const folder of ['/etc/ziti', "/srv/it's: #1 [x]", '/a b']) {
      const { identity } = accepted(check(writeTemplate(template, { ...values, folder })));
      t.match(identity, { cert: `${folder}/r.cert`, server_cert: `${folder}/r.server.chain.cert` });
      t.match(identity, { key: `${folder}/r.key`, ca: `${folder}/r.cas` });
    }
    for (const folder of [undefined, '/home/$USER']) {
      const text = writeTemplate(template, { ...values, folder });
      t.match(text, /# .*Relative paths start at the working directory of the router\.\nidentity:/);
      t.equal(accepted(check(text)).identity.key, 'r.key');
    }
  }
});

t.test('every key has an explanation; an unknown one has a suggestion', async (t) => {
  t.match(explainAll(), /forwarder/);
  t.match(explain('forwarder.linkDialQueueLength').text, /1000/);
  t.match(explain('link.dialers[].healthyDialBackoff.minRetryInterval').text, /5s/);
  t.equal(explain('forwarder.linkDialQueueLenght').suggestion, 'forwarder.linkDialQueueLength');
  const manual = readFileSync(join(import.meta.dirname, '../../docs/reference/router-config.md'), 'utf8');
  const keys = [...manual.matchAll(/^\| `([^`]+)` \|/gm)].map(([, key = '']) => key);
  t.ok(keys.includes('listeners[]{edge}.options.mtu'));
  t.same(
    keys.filter((key) => explain(key).text === undefined),
    [],
    'as the manual writes it',
  );
  t.match(explain('listeners[]{tunnel}.options.mode').text, /host/);
  t.same(explain('listeners[]{edge}.options.mode'), {}, 'a key of another binding');
  t.equal(explain('listeners[]{egde}.options').suggestion, 'listeners{edge}');
  for (const key of ['__proto__', 'constructor', 'toString', 'link.constructor', '', 'link.', 'v{x}'])
    t.equal(explain(key).text, undefined, `there is no key ${key}`);
});

t.test('secrets are hidden in values and findings, in every spelling', async (t) => {
  const secrets = [
    'hunter.2',
    'hunter/2',
    'C:\\hunter',
    './hunter',
    'hunter2',
    '/etc/hunter',
    'hunter.pem',
    'pem:hunter',
  ];
  const proxy = (password: string) => `proxy: {type: http, address: "p:1", username: u, password: ${password}}`;
  for (const secret of secrets) {
    const loaded = withMore(proxy(JSON.stringify(secret)));
    t.match(
      loaded.values.find(({ path }) => path === 'proxy.password'),
      { written: '(hidden)' },
      secret,
    );
    t.notMatch(JSON.stringify([loaded.values, loaded.findings]), /hunter/, secret);
  }
  const texts = [
    proxy('1234567.5'),
    proxy('*hunter2'),
    proxy('!hunter2 x'),
    proxy('"hunter$hunter2"'),
    proxy('[hunter2]'),
    proxy('{hunter2: 1}'),
    proxy('"hunter2'),
    `proxy: {type: http, address: "http://u:hunter2@p:1"}`,
    `proxy: {type: http, address: "x:hunter2", password: "hunter2"}`,
  ];
  for (const text of texts) {
    const { findings, values } = withMore(text);
    const shown = values.filter(({ path }) => path === 'proxy.password' || text.includes('//'));
    t.notMatch(JSON.stringify([findings, shown]), /hunter2|1234567/, text);
  }
  const key = `${'MIGHAgEAMBMGByqGSM49'.repeat(4)}/a`;
  const wrong = check(MINIMAL.replace(/key: [^,}\n]+/, `key: ${key}`));
  t.notMatch(JSON.stringify([wrong.values, wrong.findings]), /MIGHAgEA/, 'a key in place of its file');
});

t.test('the path of a key is not hidden', async (t) => {
  for (const path of ['keys/a.key', '/etc/router.key', 'file:///etc/router.key', 'router'])
    t.equal(
      check(MINIMAL.replace(/key: [^,}\n]+/, `key: ${path}`)).values.find((each) => each.path === 'identity.key')
        ?.written,
      path,
    );
});

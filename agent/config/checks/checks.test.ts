// Checks of files, of the names in certificates, and of mode tproxy.

import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Authority, issue, makeAuthority } from '../../../test/support/clients/certificates.ts';
import { check, MINIMAL, withMore } from '../../../test/support/config/router-config.ts';
import { checkRouterConfig, loadRouterConfig } from '../load.ts';

t.test('folders, empty and unfinished files in place of identity files are reported as such', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('empty'), '\n');
  mkdirSync(at('folder'));
  writeFileSync(at('half'), '-----BEGIN CERTIFICATE-----\nMIIB');
  const text = `v: 3
ctrl: {endpoint: "tls:c:1"}
identity: {cert: ${at('empty')}, server_cert: ${at('folder')}, key: ${at('empty')}, ca: ${at('empty/x')}, alt_server_certs: [{server_cert: ${at('half')}}]}
`;
  const { findings } = checkRouterConfig(text, at('router.yml'));
  const messageAt = (path: string) => findings.find((each) => each.path === path && each.severity === 'error')?.message;
  t.match(messageAt('identity.cert'), /empty is empty$/);
  t.match(messageAt('identity.key'), /empty is empty$/);
  t.match(messageAt('identity.server_cert'), /folder is a folder; name a file$/);
  t.match(messageAt('identity.ca'), /does not exist$/);
  t.equal(messageAt('identity.alt_server_certs[0].server_cert'), 'the file ends within a certificate');
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

t.test('a file that the router writes must not be another file of the router', async (t) => {
  const folder = t.testdir({ 'router.yml': '', 'key.pem': '', link: t.fixture('symlink', 'key.pem') });
  const key = join(folder, 'key.pem');
  const cases: [more: string, key: string, owner: string][] = [
    ['trace: {path: FOLDER/router.yml}', 'trace.path', 'the configuration'],
    ['trace: {path: FOLDER/sub/../key.pem}', 'trace.path', 'identity.key'],
    ['trace: {path: FOLDER/link}', 'trace.path', 'identity.key'],
    ['trace: {path: FOLDER/server.pem}', 'trace.path', 'identity.alt_server_certs[0].server_cert'],
    ['trace: {path: FOLDER/new}\nprofile: {cpu: {path: FOLDER/new}}', 'profile.cpu.path', 'trace.path'],
    ['profile: {memory: {path: FOLDER/endpoints.yml}}', 'profile.memory.path', 'ctrl.endpointsFile'],
    ['edge: {db: FOLDER/key.pem}', 'edge.db', 'identity.key'],
  ];
  const found = (more: string) => {
    const text = `v: 3
ctrl: {endpoint: "tls:c:1"}
identity: {cert: "pem:x", server_cert: "pem:x", key: ${key}, ca: "pem:x", alt_server_certs: [{server_cert: "file://${folder}/server.pem"}]}
${more.replaceAll('FOLDER', folder)}`;
    return checkRouterConfig(text, join(folder, 'router.yml'))
      .findings.filter((each) => each.message.includes('is also the file of'))
      .map(({ severity, code, path, message }) => [severity, code, path, message.replace(/.* the file of /, '')]);
  };
  for (const [more, path, owner] of cases) t.same(found(more), [['error', 'CFG-FILE', path, owner]], more);
  t.same(found('trace: {path: /dev/null}\nprofile: {cpu: {path: /dev/null}}'), [], 'a device can be shared');
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
    ['dnsUpstream: udp://dns.example', 'dnsUpstream', 'warning'],
    ['dnsUpstream: [udp://8.8.8.8, "tcp://dns.example:5353"]', 'dnsUpstream', 'warning'],
    ['dnsUpstream: udp://127.0.0.1:53', 'dnsUpstream', 'error'],
    ['dnsUpstream: udp://localhost', 'dnsUpstream', 'error'],
    ['resolver: "udp://10.0.0.1:5353", dnsUpstream: "udp://10.0.0.1:5353"', 'dnsUpstream', 'error'],
    ['resolver: "udp://[::1]:53", dnsUpstream: "udp://[::1]"', 'dnsUpstream', 'error'],
    ['resolver: "udp://0.0.0.0:53", dnsUpstream: udp://127.0.0.53', 'dnsUpstream', 'error'],
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
  for (const option of [
    'dnsUpstream: [udp://8.8.8.8, udp://127.0.0.53, "udp://127.0.0.1:5353", tcp://127.0.0.1]',
    'resolver: "file:///etc/hosts", dnsUpstream: udp://dns.example',
  ])
    t.same(findings('tproxy', option, 'dnsUpstream'), [], option);
  t.same(findings('tproxy', 'dnsSvcIpRange: 100.64.0.1/10, resolver: "udp://[::1]:53"', 'resolver'), []);
});

t.test('a list of services without an effect is not taken for a restriction', (t) => {
  const found = (mode: string) =>
    withMore(
      `edge: {}\nlisteners: [{binding: tunnel, options: {mode: ${mode}, services: ["echo:1977"]}}]`,
    ).findings.filter(({ path }) => path === 'listeners[0].options.services');
  t.same(found('proxy'), []);
  for (const mode of ['tproxy', 'host'])
    t.match(found(mode), [
      { code: 'CFG-IGNORED', severity: 'warning', message: `mode ${mode}`, hint: /service policies/ },
    ]);
  t.end();
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

t.test('the server certificate that belongs to the key counts, wherever it is in its file', async (t) => {
  const authority = await makeAuthority('network');
  const client = await issue(authority, 'router');
  const own = await issue(authority, 'own', { hosts: ['own.example'], key: client.key });
  const foreign = await issue(authority, 'foreign', { hosts: ['foreign.example'] });
  const ca = authority.certificate.toString('pem');
  const pems: Record<string, string> = {
    'r.cert': client.pem,
    'r.key': client.key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'r.ca': ca,
  };
  const errors = (server: string, host: string) =>
    checkRouterConfig(
      `${MINIMAL}link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1", advertise: "tls:${host}:1"}]}`,
      'router.yml',
      { environment: {}, readFile: (path) => pems[path] ?? server },
    )
      .findings.filter(({ severity }) => severity === 'error')
      .map(({ path }) => path);
  t.same(errors(`${ca}\n${foreign.pem}${own.pem}`, 'own.example'), []);
  t.same(errors(`${ca}\n${foreign.pem}${own.pem}`, 'foreign.example'), ['link.listeners[0].advertise']);
  t.same(errors(`${ca}\n${foreign.pem}`, 'own.example'), ['identity.server_cert']);
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

t.test('an advertised address that means all interfaces is reported, also one that bind provides', async (t) => {
  const remedy = /advertise the host name or IP address under which others reach this router/;
  const cases: [more: string, path: string, severity: string][] = [
    ...['0.0.0.0', '[::]', '[0:0::0]', ''].map((host): [string, string, string] => [
      `link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1", advertise: "tls:${host}:1"}]}`,
      'link.listeners[0].advertise',
      'error',
    ]),
    [
      'edge: {}\nlisteners: [{binding: edge, address: "tls:0.0.0.0:1", options: {advertise: "0.0.0.0:1"}}]',
      'listeners[0].options.advertise',
      'error',
    ],
    ['link: {listeners: [{binding: transport, bind: "tls:0.0.0.0:1"}]}', 'link.listeners[0].advertise', 'warning'],
    ['ctrl: {endpoint: "tls:c:1", listeners: [{bind: "tls:0.0.0.0:9"}]}', 'ctrl.listeners[0].advertise', 'warning'],
    [
      'web: [{name: w, bindPoints: [{interface: "0.0.0.0:81", address: "0.0.0.0:81"}], apis: [{binding: health-checks}]}]',
      'web[0].bindPoints[0].address',
      'warning',
    ],
  ];
  for (const [more, path, severity] of cases)
    t.match(
      withMore(more).findings.filter(({ code }) => code === 'CFG-ADVERTISE'),
      [{ path, severity, message: /means all interfaces/, hint: remedy }],
      more,
    );
  const bound = withMore('link: {listeners: [{binding: transport, bind: "tls:192.0.2.1:1"}]}');
  t.match(
    bound.findings.filter(({ code }) => code === 'CFG-ADVERTISE'),
    [{ path: 'link.listeners[0].advertise', severity: 'warning', hint: 'add 192.0.2.1 to csr.sans.ip' }],
  );
});

t.test('a finding names the first names of a certificate, and how many more it has', async (t) => {
  const root = await makeAuthority('root');
  const table: [count: number, names: RegExp][] = [
    [0, /^its certificates are valid for no name; /],
    [1, /^its certificates are valid for host0.example; /],
    [20, /^its certificates are valid for host0.example, .*, host19.example; /],
    [21, /^its certificates are valid for host0.example, .*, host19.example and 1 more; /],
    [3_000, /^its certificates are valid for host0.example, .*, host19.example and 2980 more; /],
  ];
  for (const [count, names] of table) {
    const hints = await hintsFor(root, count);
    t.equal(hints.length, 2);
    for (const hint of hints) t.match(hint, names);
  }
});

/** The hints for two advertised hosts that a certificate with so many other names does not cover. */
async function hintsFor(root: Authority, names: number): Promise<(string | undefined)[]> {
  const hosts = Array.from({ length: names }, (_, index) => `host${index}.example`);
  const { pem, key } = await issue(root, 'leaf', { hosts, purposes: ['client', 'server'] });
  const files: Record<string, string> = {
    'r.cert': pem,
    'r.server.cert': pem,
    'r.key': key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'r.ca': root.certificate.toString('pem'),
  };
  const listeners = ['a', 'b'].map((host) => `{binding: transport, bind: "tls:0.0.0.0:0", advertise: "tls:${host}:1"}`);
  const { findings } = checkRouterConfig(`${MINIMAL}link: {listeners: [${listeners.join(', ')}]}\n`, 'router.yml', {
    environment: {},
    readFile: (path) => files[path] ?? '',
  });
  return findings.filter(({ message }) => message.startsWith('no certificate')).map(({ hint }) => hint);
}

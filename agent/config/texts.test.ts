// The texts that users get: templates, explanations of keys, and values and findings without secrets.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { accepted, check, MINIMAL, withMore } from '../../test/support/config/router-config.ts';
import { explain, explainAll } from './explain.ts';
import { TEMPLATES, writeTemplate } from './text/templates.ts';

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
  const other = explain('listeners[]{edge}.options.mode');
  t.match(other, { text: undefined, suggestion: undefined, known: { path: 'listeners.options' } });
  t.notOk(other.known?.keys.includes('mode'), 'a key of another binding');
  t.equal(explain('listeners[]{egde}.options').suggestion, 'listeners{edge}');
  for (const key of ['__proto__', 'constructor', 'toString', 'link.constructor', '', 'link.', 'v{x}'])
    t.equal(explain(key).text, undefined, `there is no key ${key}`);
});

t.test('an explanation has the type, default, bounds and keys of a key, or why it has no effect', async (t) => {
  const explained = (key: string) => explain(key).text?.split('\n').slice(2);
  t.equal(explain('v').text, 'v\n  Version of the file format.\n  type: whole number');
  t.same(explained('forwarder.linkDialQueueLength'), [
    '  type: whole number',
    '  default: 1000',
    '  allowed: 1 to 10000',
  ]);
  t.same(explained('ctrl.endpoint'), ['  type: address, for example tls:host:6262']);
  const { type, bounds, keys } = {
    type: '  type: duration, for example 250ms, 5s, 1m30s',
    bounds: '  allowed: 10ms to 24h',
    keys: '  keys: bind, advertise, bindInterface, groups, options',
  };
  t.same(explained('link.dialers[].healthyDialBackoff.minRetryInterval'), [type, '  default: "5s"', bounds]);
  t.same(explained('ctrl.listeners'), ['  type: list', '  default: []', keys]);
  t.same(explained('listeners[]{tunnel}.options.resolver'), [
    '  type: string or list of strings',
    '  default: ["udp://127.0.0.1:53"]',
  ]);
  t.same(explained('listeners[]{tunnel}.options.mode'), [
    '  type: text',
    '  default: "tproxy"',
    '  allowed: host, proxy, tproxy, tproxy:PROGRAM',
  ]);
  t.same(explained('proxy'), ['  type: map', '  keys: type, address, username, password']);
  t.same(explained('listeners{edge}.options.connectTimeoutMs'), [
    '  type: whole number',
    '  allowed: 30 to 60000',
    '  deprecated: use connectTimeout',
  ]);
  t.equal(explained('ctrl.options.maxQueuedConnects')?.at(-1), '  has no effect');
  t.same(explain('forwarder').text?.split('\n').at(-1)?.split(', ').slice(0, 2), [
    '  keys: faultTxInterval',
    'idleCircuitTimeout',
  ]);
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

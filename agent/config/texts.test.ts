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

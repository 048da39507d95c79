// Empty values: each value of a full file is set to null, and each of its texts to an empty one. The verdicts of the
// reference are recorded (test/interop/config-files.test.ts repeats them).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { emptied, fullConfig } from '../../test/support/config/full-config.ts';
import { accepted, check, withMore } from '../../test/support/config/router-config.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';
import { dereference } from './text/normalize.ts';

type Kind = 'null' | 'empty';

const RECORDED: Readonly<Record<Kind, { starts: readonly string[]; stops: readonly string[] }>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../test/vectors/empty-values.json'), 'utf8'),
);
const AT_DIALS = 'the reference starts, and fails at the first dial that reads the value';
/** Values with which the reference starts and this router does not. */
const REJECTED: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  null: {
    'dialers[0].options.mtu': AT_DIALS,
    'dialers[0].options.connectTimeout': AT_DIALS,
    'transport.proxy.type': AT_DIALS,
    'transport.proxy.address': AT_DIALS,
    'transport.proxy.username': AT_DIALS,
    'transport.proxy.password': AT_DIALS,
  },
  empty: {
    'dialers[0].options.connectTimeout': AT_DIALS,
    'transport.proxy.type': AT_DIALS,
    'transport.proxy.address': AT_DIALS,
    'proxy.address': AT_DIALS,
    'profile.cpu.path': 'the specification demands it',
    'profile.memory.path': 'the specification demands it',
    'transport.wss.identity.cert': 'an identity has a certificate',
  },
};
const FULL = fullConfig('.', '190');

function warnings(text: string): Set<string> {
  const { findings } = check(text);
  return new Set(findings.filter(({ severity }) => severity === 'warning').map(({ code, path }) => `${code} ${path}`));
}

for (const [kind, value] of [
  ['null', null],
  ['empty', ''],
] as const)
  t.test(`empty values (${kind}) are accepted where the reference accepts them`, async (t) => {
    const { starts, stops } = RECORDED[kind];
    const variants = emptied(FULL, value);
    t.same(variants.map(({ path }) => path).toSorted(), [...starts, ...stops].toSorted(), 'all have a record');
    const usual = warnings(FULL);
    for (const { path, text } of variants) {
      const { ok, findings } = check(text);
      if (starts.includes(path))
        t.equal(ok, REJECTED[kind][path] === undefined, `${path}: ${JSON.stringify(findings)}`);
      else if (ok) t.ok(!warnings(text).isSubsetOf(usual), `${path}: a warning says that the reference does not start`);
    }
  });

t.test('the full file has every key', async (t) => {
  const { ok, findings, values } = check(FULL);
  t.ok(ok, JSON.stringify(findings));
  t.same(
    findings.filter(({ code }) => code === 'CFG-UNKNOWN-KEY'),
    [],
  );
  t.ok(values.length > 300);
  const written = new Set(emptied(FULL, null).map(({ path }) => path.replace(/\[\d+\]/g, '[]')));
  const isElsewhere = (path: string) =>
    /^edge\.csr|\.alt_server_certs|\.server_key/.test(path) || written.has(path.replace(/^dialers/, 'listeners'));
  const missing = [...keys(ROUTER_SCHEMA, '')].filter((path) => !written.has(path) && !isElsewhere(path));
  // The reference has no section runtime, and ignores it.
  t.same(missing, ['runtime', 'runtime.threads', 'transport.dtls', 'web[].bindPoints[].identity']);
});

/** The paths of all keys; kinds of list items share theirs. */
function* keys(given: ConfigSchema, path: string): Generator<string> {
  const schema = dereference(ROUTER_SCHEMA, given);
  if (schema.items && !schema['x-as-list']) yield* keys(schema.items, `${path}[]`);
  for (const branch of schema.oneOf ?? []) yield* keys(branch, path);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const at = path === '' ? key : `${path}.${key}`;
    yield at;
    yield* keys(property, at);
  }
}

t.test('a chart may render keys without values', async (t) => {
  const csr = 'csr:\n  country:\n  sans:\n    dns:\n    - localhost\n    -\n    - ""\n    ip:\n    email:\n    uri:\n';
  const loaded = check(
    `v: 3\nidentity: {cert: c, server_cert: s, key: k, ca: a}\nctrl: {endpoint: "tls:c:1"}\n${csr}\n`,
  );
  t.same(accepted(loaded).csr, { sans: { dns: ['localhost'], ip: [], uri: [], email: [] } });
  t.same(loaded.findings, []);
  const dialers = withMore('dialers:\n  -\n  - binding: transport\n    options:\n');
  t.equal(accepted(dialers).dialers.length, 1);
  t.match(
    dialers.findings.filter(({ path }) => path.startsWith('dialers')),
    [
      { severity: 'warning', code: 'CFG-TYPE', path: 'dialers[0]', line: 6, message: 'expected a map, found nothing' },
      { severity: 'warning', code: 'CFG-PORTABILITY', path: 'dialers[1].options', line: 8 },
    ],
  );
});

t.test('an empty switch is off, as in the reference, and a warning says so', async (t) => {
  for (const value of ['', '""']) {
    const loaded = withMore(`connectEvents: {enabled: ${value}}`);
    t.equal(accepted(loaded).connectEvents.enabled, false);
    const [found] = loaded.findings.filter(({ path }) => path === 'connectEvents.enabled');
    t.match(found, { severity: 'warning', code: 'CFG-VALUE', message: /means false/, hint: 'write true or false' });
  }
});

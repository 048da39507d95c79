// Files that the programs read at their start: configurations, endpoints, identities; and seeds, from the shell or the
// API.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { atOnce } from '#lib/slices.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { checkRouterConfig } from '../../../agent/config/load.ts';
import { TEMPLATES, writeTemplate } from '../../../agent/config/text/templates.ts';
import { parseEndpoints } from '../../../agent/control/endpoints-file.ts';
import { validateBody } from '../../../controller-sim/api/bodies/validate.ts';
import { builtInConfigTypes, defaultAuthPolicy } from '../../../controller-sim/entities/built-in.ts';
import { baseFields } from '../../../controller-sim/entities/common.ts';
import { SeedError } from '../../../controller-sim/lab/seed/mistake.ts';
import { prepareSeed } from '../../../controller-sim/lab/seed/seed.ts';
import { State } from '../../../controller-sim/state/state.ts';
import { MemoryStore } from '../../../controller-sim/state/store/memory-store.ts';
import { issue, makeAuthority } from '../../support/clients/certificates.ts';
import type { FuzzTarget } from '../runner.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/two-routers');
/** A file is checked once, by a process without other work. */
const MAX_FILE_BYTES = 32 * 1024;
const MAX_FILE_TIME_MS = 1_000;

type Growing = NonNullable<FuzzTarget['growing']>;

class Rejected extends Error {}

const isRejected = (error: unknown) => error instanceof Rejected;

export async function fileTargets(): Promise<FuzzTarget[]> {
  return [
    {
      name: 'configurations',
      seeds: configurations(),
      longest: MAX_FILE_BYTES,
      slowest: MAX_FILE_TIME_MS,
      costOfKib: { milliseconds: 15, bytes: 6 * 1024 * 1024 },
      growing: { ...YAML, ...CONFIGURATIONS },
      run: (input) => checkConfiguration(input),
      rejects: isRejected,
    },
    await seedTarget(),
    {
      name: 'endpoints files',
      seeds: ENDPOINTS,
      longest: MAX_FILE_BYTES,
      slowest: MAX_FILE_TIME_MS,
      costOfKib: { milliseconds: 10, bytes: 4 * 1024 * 1024 },
      growing: ENDPOINT_LISTS,
      run: (input) => {
        if (parseEndpoints(input.toString()).length === 0) throw new Rejected();
      },
      rejects: (error) => error instanceof Error && error.name !== 'InvariantError',
    },
    await identityTarget(),
  ];
}

/** A text of parts with a number, which have a length together; the text around them is beyond it. */
function parts(length: number, part: (index: number) => string, [before, after] = ['', '']): Buffer {
  const all: string[] = [];
  for (let index = 0, left = length; left > 0; index++) {
    const next = part(index);
    all.push(next);
    left -= next.length;
  }
  return Buffer.from(`${before}${all.join('')}${after}`);
}

/** Forms of YAML whose parts refer to each other, or are compared with each other. */
const YAML: Growing = {
  keys: (length) => parts(length, (index) => `key${index}: 1\n`),
  'same keys': (length) => parts(length, () => 'key: 1\n'),
  anchors: (length) => parts(length, (index) => `k${index}: &a${index} 1\n`),
  aliases: (length) => parts(length, (index) => `k${index}: *a\n`, ['v: &a [1, 2, {b: 3}]\n', '']),
  merges: (length) => parts(length, (index) => `k${index}: {<<: *a}\n`, ['v: &a {b: 1, c: 2}\n', '']),
  'a long key above many values': (length) => parts(length, () => '  - 1\n', [`? ${'k'.repeat(length / 2)}\n:\n`, '']),
  'long keys inside each other': (length) =>
    parts(length, (index) => `${' '.repeat(index)}${'k'.repeat(Math.ceil(length / 60))}:\n`),
  'unresolved aliases': (length) => parts(length, () => '- *x\n'),
  tags: (length) => parts(length, (index) => `- !t${index} 1\n`),
  'invalid lines': (length) => parts(length, () => '@\n'),
  tabs: (length) => parts(length, () => '\t- x\n', ['a:\n', '']),
  comments: (length) => parts(length, () => '#\n'),
  documents: (length) => parts(length, () => '---\na: 1\n'),
  numbers: (length) => parts(length, () => '1,', ['[', '1]']),
  brackets: (length) => Buffer.alloc(length, '['),
  'closing brackets': (length) => Buffer.alloc(length, ']'),
  quotes: (length) => Buffer.alloc(length, '"\\'),
  colons: (length) => Buffer.alloc(length, ': '),
  'block scalars': (length) => parts(length, () => '- |\n  x\n'),
  'a block of empty lines': (length) => Buffer.from(`a: |\n${'\n'.repeat(length)}`),
};

const SMALL = 'v: 3\nidentity: {cert: a, server_cert: b, key: c, ca: d}\nctrl: {endpoint: "tls:c.example:1"}\n';

/** Lists and texts of a router's configuration that are compared with each other, or have many mistakes. */
const CONFIGURATIONS: Growing = {
  'unknown keys of a section': (length) => parts(length, (index) => `  k${index}: 1\n`, [`${SMALL}edge:\n`, '']),
  'wrong entries': (length) => parts(length, () => '  - 1\n', [`${SMALL}listeners:\n`, '']),
  'wrong listeners': (length) => parts(length, () => '  - {binding: x}\n', [`${SMALL}listeners:\n`, '']),
  'aliased listeners': (length) =>
    parts(length, () => '  - *l\n', [
      `${SMALL}x: &l {binding: edge, address: 1, options: {a: 1, b: 2}}\nlisteners:\n`,
      '',
    ]),
  listeners: (length) =>
    parts(length, (index) => `  - {binding: edge, address: "tls:0.0.0.0:${index + 1}"}\n`, [
      `${SMALL}listeners:\n`,
      '',
    ]),
  'listeners on one port': (length) =>
    parts(length, () => '  - {binding: edge, address: "tls:0.0.0.0:1"}\n', [`${SMALL}listeners:\n`, '']),
  'link listeners': (length) =>
    parts(length, (index) => `    - {binding: transport, bind: "tls:0.0.0.0:${index + 1}"}\n`, [
      `${SMALL}link:\n  listeners:\n`,
      '',
    ]),
  dialers: (length) => parts(length, () => '    - {binding: transport}\n', [`${SMALL}link:\n  dialers:\n`, '']),
  'web servers': (length) =>
    parts(length, (index) => `  - {name: w${index}, bindPoints: [{interface: "0.0.0.0:1", address: "a:1"}]}\n`, [
      `${SMALL}web:\n`,
      '',
    ]),
  variables: (length) => parts(length, () => '$' + '{X}', [`${SMALL}name: "`, '"']),
  'unset variables': (length) => parts(length, (index) => `  k${index}: $` + `{X${index}}\n`, [`${SMALL}edge:\n`, '']),
  names: (length) =>
    parts(length, (index) => `        - n${index}.example\n`, [`${SMALL}edge:\n  csr:\n    sans:\n      dns:\n`, '']),
  'a long address': (length) =>
    Buffer.from(`${SMALL}listeners: [{binding: edge, address: "tls:${'a:'.repeat(length / 2)}"}]`),
  'a long duration': (length) =>
    Buffer.from(`${SMALL}healthChecks: {ctrlPingCheck: {interval: ${'1h'.repeat(length / 2)}}}`),
  services: (length) =>
    parts(length, (index) => `"s${index}:${1 + (index % 65_000)}",`, [
      `${SMALL}listeners: [{binding: tunnel, options: {mode: proxy, services: [`,
      '"s:1"]}}]',
    ]),
  'services on one port': (length) =>
    parts(length, () => '"s:1",', [
      `${SMALL}listeners: [{binding: tunnel, options: {mode: proxy, services: [`,
      '"s:1"]}}]',
    ]),
  transports: (length) =>
    parts(length, (index) => `  - {binding: transport, address: "tls:0.0.0.0:${index % 65_000}", service: a}\n`, [
      `${SMALL}listeners:\n`,
      '',
    ]),
  'listeners with older keys': (length) =>
    parts(
      length,
      (index) =>
        `  - {binding: edge, address: "tls:0.0.0.0:${index % 65_000}", options: {connectTimeoutMs: 5000, advertise: "a:1"}}\n`,
      [`${SMALL}edge: {csr: {sans: {dns: [a]}}}\nlisteners:\n`, ''],
    ),
  'keys of web servers': (length) =>
    parts(length, (index) => `  - {name: w${index}, k: 1, identity: {key: "pem:secret${index}"}}\n`, [
      `${SMALL}web:\n`,
      '',
    ]),
  'key and text': (length) =>
    parts(
      length,
      (index) =>
        `  - {name: w${index}, k: 1, identity: {key: "pem:secret${index}", cert: b, server_cert: b, ca: a}, bindPoints: [{interface: "127.0.0.1:${index % 65_000}", address: "a:1"}], apis: [{binding: health-checks}]}\n`,
      [`${SMALL}web:\n`, ''],
    ),
  'an aliased section': (length) =>
    parts(length / 2, () => '  - *l\n', [
      `${SMALL}x: &l {${parts(length / 2, (index) => `k${index}: 1, `)}}\nlisteners:\n`,
      '',
    ]),
  'a merged section': (length) =>
    parts(length / 2, () => '  - {<<: *l}\n', [
      `${SMALL}x: &l {${parts(length / 2, (index) => `k${index}: 1, `)}}\nlisteners:\n`,
      '',
    ]),
  'advertised hosts and names': (length) =>
    parts(
      length / 2,
      (index) => `    - {binding: transport, bind: "tls:0.0.0.0:${index % 65_000}", advertise: "tls:h${index}:1"}\n`,
      [
        `${SMALL}csr:\n  sans:\n    dns:\n${parts(length / 2, (index) => `    - n${index}\n`)}link:\n  listeners:\n`,
        '',
      ],
    ),
  'name servers and upstreams': (length) =>
    parts(length / 2, (index) => `"udp://127.1.0.1:${1 + (index % 65_000)}", `, [
      `${SMALL}listeners: [{binding: tunnel, options: {mode: tproxy, resolver: [${parts(length / 2, (index) => `"udp://127.0.0.1:${1 + (index % 65_000)}", `)}], dnsUpstream: [`,
      ']}}]',
    ]),
  'WebSockets and links': (length) =>
    parts(length / 2, (index) => `    - {binding: transport, bind: "tls:0.0.0.0:${index % 65_000}"}\n`, [
      `${SMALL}transport: {wss: {identity: {cert: a, server_cert: b, key: c, ca: d}}}\nlisteners:\n${parts(length / 2, (index) => `  - {binding: edge, address: "wss:0.0.0.1:${1 + (index % 65_000)}", options: {advertise: "a:1"}}\n`)}link:\n  listeners:\n`,
      '',
    ]),
  controllers: (length) =>
    parts(length, (index) => `    - "tls:c${index}.example:1"\n`, [
      'v: 3\nidentity: {cert: a, server_cert: b, key: c, ca: d}\nctrl:\n  endpoints:\n',
      '',
    ]),
};

const ENDPOINT_LISTS: Growing = {
  keys: (length) => parts(length, (index) => `key${index}: 1\n`),
  tabs: (length) => parts(length, () => '\t- x\n', ['a:\n', '']),
  brackets: (length) => Buffer.alloc(length, '['),
  'closing brackets': (length) => Buffer.alloc(length, ']'),
  controllers: (length) =>
    parts(length, (index) => `- {id: c${index}, endpoints: [{address: "tls:a:${index + 1}"}]}\n`, [
      'controllers:\n',
      '',
    ]),
  'endpoints of one': (length) =>
    parts(length, (index) => `  - {address: "tls:a:${index + 1}", groups: [a]}\n`, [
      'controllers:\n- id: c\n  endpoints:\n',
      '',
    ]),
  'flat endpoints': (length) => parts(length, (index) => `- tls:a:${index + 1}\n`, ['endpoints:\n', '']),
  'wrong endpoints': (length) => parts(length, () => '- tls:a\n', ['endpoints:\n', '']),
};

const ENDPOINTS = [
  'controllers:\n- id: c1\n  endpoints:\n  - address: tls:c1.example:6262\n    groups: [default]\n',
  'endpoints:\n- tls:c1.example:6262\n- tls:c2.example:6262\n',
].map((text) => Buffer.from(text));

function checkConfiguration(input: Buffer, readFile?: (path: string) => string): void {
  const { ok, findings } = checkRouterConfig(input.toString('utf8'), 'router.yml', {
    beforeEnrollment: readFile === undefined,
    environment: { X: 'x' },
    ...(readFile && { readFile }),
  });
  if (!ok) throw new Rejected(findings[0]?.message);
}

function configurations(): Buffer[] {
  const where = { name: 'router', ctrl: 'tls:controller.example:6262', advertise: 'edge.example' };
  const templates = TEMPLATES.map((name) => writeTemplate(name, where));
  const example = readFileSync(join(EXAMPLES, 'router-a.yml'), 'utf8');
  return [...templates, example, SMALL, `${SMALL}link: &a {dialers: [{binding: transport}]}\n`].map((text) =>
    Buffer.from(text),
  );
}

// Identity files ------------------------------------------------------------------------------------------------------

/** The input is the file of the authorities, of the certificate chain, and of the key, in turn. */
async function identityTarget(): Promise<FuzzTarget> {
  const root = await makeAuthority('root');
  const between = await makeAuthority('between', root, { pathLength: 1 });
  const { pem, key: privateKey } = await issue(between, 'leaf', {
    hosts: ['edge.example'],
    purposes: ['client', 'server'],
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const authorities = root.certificate.toString('pem');
  const chain = [pem, between.certificate.toString('pem')].join('\n');
  const files = { a: chain, b: chain, c: key, d: authorities };
  const config = Buffer.from(`${SMALL}csr: {sans: {dns: [edge.example]}}\nlink: {dialers: [{binding: transport}]}\n`);
  checkConfiguration(config, (path) => files[path as 'a']); // it is valid
  const run = (input: Buffer) => {
    const text = input.toString('latin1');
    for (const name of ['a', 'b', 'c', 'd'] as const)
      checkConfiguration(config, (path) => ({ ...files, [name]: text })[path as 'a'] ?? '');
  };
  return {
    name: 'identity files',
    seeds: [chain, authorities, key].map((text) => Buffer.from(text)),
    longest: MAX_FILE_BYTES,
    slowest: MAX_FILE_TIME_MS,
    costOfKib: { milliseconds: 10, bytes: 2 * 1024 * 1024 },
    growing: {
      'authorities of one name': (length) => parts(length, () => authorities),
      'certificates of a chain': (length) => parts(length, () => chain),
      keys: (length) => parts(length, () => key),
      begins: (length) => parts(length, () => '-----BEGIN CERTIFICATE-----\n'),
    },
    run,
    rejects: isRejected,
  };
}

// Seeds ---------------------------------------------------------------------------------------------------------------

/** Reads and checks a whole seed, and applies it in a transaction that is abandoned. */
async function seedTarget(): Promise<FuzzTarget> {
  const clock = new VirtualClock(Date.UTC(2030, 0));
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  await state.change((transaction) => {
    const base = (id: string) => baseFields(transaction, id);
    for (const type of builtInConfigTypes(base)) transaction.put('configType', type);
    transaction.put('authPolicy', defaultAuthPolicy(base('default')));
  });
  const tokens = { enrollment: async () => 'jwt' };
  const passwords = { hash: async () => 'hash' };
  const components = { state, clock, tokens, passwords, validateBody, enrollmentLifetime: 1 };
  return {
    name: 'seeds',
    seeds: SEEDS,
    longest: MAX_FILE_BYTES,
    slowest: MAX_FILE_TIME_MS,
    costOfKib: { milliseconds: 25, bytes: 8 * 1024 * 1024 },
    growing: { ...YAML, ...ENTITIES },
    run: async (input) => {
      const { apply } = await prepareSeed(components, input.toString());
      await state
        .change((transaction) => {
          atOnce(apply(transaction));
          throw new Abandoned();
        })
        .catch((error: unknown) => {
          if (!(error instanceof Abandoned)) throw error;
        });
    },
    rejects: (error) => error instanceof SeedError,
  };
}

class Abandoned extends Error {}

const SEEDS = [
  'identities:\n  - name: anna\n    roleAttributes: [staff]\n    password: "a long one"\n',
  'services: &all\n  - {name: web, configs: ["@web"]}\nservicePolicies:\n  - <<: *all\n    type: Dial\n',
  '{"edgeRouters": [{"name": "a", "isTunnelerEnabled": true}], "tags": {"a": [1, 2.5, null]}}',
  '# a comment\nconfigs:\n  - name: |\n      block\n    data: !!binary QQ==\n    at: 2030-01-31\n',
].map((text) => Buffer.from(text));

/** A section of a JSON document, and what stands before it. */
function section(name: string, before = ''): [string, string] {
  return [`{${before}"${name}": [`, ']}'];
}

const SERVICE = '"encryptionRequired": true';
const AN_IDENTITY = '"identities": [{"name": "i"}],';
const A_SERVICE = `"services": [{"name": "s", ${SERVICE}}],`;
const A_ROUTER = '"edgeRouters": [{"name": "r"}],';

/** Entities that refer to each other, are compared with each other, or have many mistakes. */
const ENTITIES: Growing = {
  services: (length) => parts(length, (index) => `{"name": "s${index}", ${SERVICE}},`, section('services')),
  'same services': (length) => parts(length, () => `{"name": "s", ${SERVICE}},`, section('services')),
  'unknown fields': (length) => parts(length, (index) => `"k${index}": 1,`, ['{"services": [{', '"name": "s"}]}']),
  'unknown sections': (length) => parts(length, (index) => `"k${index}": [],`, ['{', '"x": 1}']),
  'aliased mistakes': (length) => parts(length, () => '- *a\n', ['identities:\n- &a {nam: x, b: 1, c: 2}\n', '']),
  'a large aliased mistake': (length) =>
    parts(length / 2, () => '- *a\n', [`identities:\n- &a {${parts(length / 2, (index) => `k${index}: 1, `)}}\n`, '']),
  'missing configs': (length) =>
    parts(length, (index) => `{"name": "s${index}", ${SERVICE}, "configs": ["@none${index}"]},`, section('services')),
  'missing configs of one': (length) =>
    parts(length, (index) => `"@none${index}",`, [`{"services": [{"name": "s", ${SERVICE}, "configs": [`, '"@x"]}]}']),
  'missing services beside some': (length) =>
    parts(length / 2, (index) => `"@s-ervice${index}",`, [
      `{"services": [${parts(length / 2, (index) => `{"name": "service${index}", ${SERVICE}},`)} {"name": "s", ${SERVICE}}], "servicePolicies": [{"name": "p", "type": "Dial", "semantic": "AnyOf", "serviceRoles": [`,
      '"@s"]}]}',
    ]),
  attributes: (length) =>
    parts(length, (index) => `"a${index}",`, ['{"identities": [{"name": "s", "roleAttributes": [', '"x"]}]}']),
  administrators: (length) =>
    parts(length, (index) => `{"name": "i${index}", "isDefaultAdmin": true},`, section('identities')),
  'identities and administrators': (length) =>
    parts(length / 2, (index) => `{"name": "i${index}", "isDefaultAdmin": true},`, [
      `{"identities": [${parts(length / 2, (index) => `{"name": "i${index}"},`)}`,
      ']}',
    ]),
  identities: (length) => parts(length, (index) => `{"name": "i${index}"},`, section('identities')),
  policies: (length) =>
    parts(
      length,
      (index) =>
        `{"name": "p${index}", "type": "Dial", "semantic": "AnyOf", "serviceRoles": ["#all"], "identityRoles": ["#all"]},`,
      section('servicePolicies', AN_IDENTITY + A_SERVICE),
    ),
  'identities with roles, and policies': (length) =>
    parts(
      length / 2,
      (index) =>
        `{"name": "p${index}", "type": "Dial", "semantic": "AnyOf", "serviceRoles": ["#all"], "identityRoles": ["#all"]},`,
      section(
        'servicePolicies',
        `${A_SERVICE}"identities": [${parts(length / 2, (index) => `{"name": "i${index}"},`)} {"name": "i"}],`,
      ),
    ),
  'members of a policy': (length) =>
    parts(length, () => '"@s",', [
      `{${A_SERVICE}"servicePolicies": [{"name": "p", "type": "Dial", "semantic": "AnyOf", "serviceRoles": [`,
      '"@s"]}]}',
    ]),
  routers: (length) =>
    parts(length, (index) => `{"name": "r${index}", "isTunnelerEnabled": true},`, section('edgeRouters')),
  terminators: (length) =>
    parts(
      length,
      (index) => `{"service": "@s", "router": "@r", "binding": "transport", "address": "tcp:a:${index}"},`,
      section('terminators', A_SERVICE + A_ROUTER),
    ),
  settings: (length) =>
    parts(length, () => '{"service": "@s", "cost": 1},', [
      `{${A_SERVICE}"identities": [{"name": "i", "serviceSettings": [`,
      '{"service": "@s"}]}]}',
    ]),
  configs: (length) =>
    parts(
      length,
      (index) =>
        `{"name": "c${index}", "configType": "@host.v1", "data": {"port": 1, "address": "a", "protocol": "tcp"}},`,
      section('configs'),
    ),
  'configs of a service': (length) =>
    parts(length, () => '"@c",', [
      `{"configs": [{"name": "c", "configType": "@host.v1", "data": {"port": 1, "address": "a", "protocol": "tcp"}}], "services": [{"name": "s", ${SERVICE}, "configs": [`,
      '"@c"]}]}',
    ]),
  'addresses of a config': (length) =>
    parts(length, (index) => `"a${index}",`, [
      '{"configs": [{"name": "c", "configType": "@intercept.v1", "data": {"protocols": ["tcp"], "portRanges": [{"low": 1, "high": 2}], "addresses": [',
      '"a"]}}]}',
    ]),
  'same addresses of a config': (length) =>
    parts(length, () => '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",', [
      '{"configs": [{"name": "c", "configType": "@intercept.v1", "data": {"protocols": ["tcp"], "portRanges": [{"low": 1, "high": 2}], "addresses": [',
      '"a"]}}]}',
    ]),
  'port ranges of a config': (length) =>
    parts(length, (index) => `{"low": 1, "high": ${1 + (index % 65_000)}},`, [
      '{"configs": [{"name": "c", "configType": "@intercept.v1", "data": {"protocols": ["tcp"], "addresses": ["a"], "portRanges": [',
      '{"low": 1, "high": 2}]}}]}',
    ]),
  'data of a config': (length) =>
    parts(length, (index) => `"k${index}": ${index},`, [
      '{"configs": [{"name": "c", "configType": "@intercept.v1", "data": {',
      '"x": 1}}]}',
    ]),
  'config types': (length) =>
    parts(
      length,
      (index) =>
        `{"name": "t${index}", "schema": {"type": "object", "properties": {"a${index}": {"type": "string"}}}},`,
      section('configTypes'),
    ),
  'a schema': (length) =>
    parts(length, (index) => `"a${index}": {"type": "string"},`, [
      '{"configTypes": [{"name": "t", "schema": {"type": "object", "properties": {',
      '"a": {}}}}]}',
    ]),
  'configs of a type': (length) =>
    parts(
      length,
      (index) => `{"name": "c${index}", "configType": "@t", "data": {"a": 1}},`,
      section(
        'configs',
        '"configTypes": [{"name": "t", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}],',
      ),
    ),
  'posture checks': (length) =>
    parts(
      length,
      (index) => `{"name": "c${index}", "typeId": "MAC", "macAddresses": ["00:00:00:00:00:00"]},`,
      section('postureChecks'),
    ),
  'addresses of a posture check': (length) =>
    parts(length, () => '"00:00:00:00:00:00",', [
      '{"postureChecks": [{"name": "c", "typeId": "MAC", "macAddresses": [',
      '"00:00:00:00:00:01"]}]}',
    ]),
  'auth policies': (length) =>
    parts(
      length,
      (index) =>
        `{"name": "a${index}", "primary": {"cert": {"allowed": true, "allowExpiredCerts": true}, "extJwt": {"allowed": true, "allowedSigners": []}, "updb": {"allowed": true, "minPasswordLength": 5, "maxAttempts": 0, "lockoutDurationMinutes": 0, "requireMixedCase": false, "requireNumberChar": false, "requireSpecialChar": false}}},`,
      section('authPolicies'),
    ),
  signers: (length) =>
    parts(
      length,
      (index) =>
        `{"name": "j${index}", "enabled": true, "issuer": "i${index}", "audience": "a", "jwksEndpoint": "https://a"},`,
      section('externalJwtSigners'),
    ),
};

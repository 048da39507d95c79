// Seeds and exports of random networks, and the places of mistakes. test/api/lab-seed.test.ts seeds over the API.

import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { atOnce } from '#lib/slices.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import schema from '#schemas/sim/seed.schema.json' with { type: 'json' };
import { CallCounter, growth, MAX_GROWTH } from '../../../test/support/hostile/call-counter.ts';
import { validateBody } from '../../api/bodies/validate.ts';
import { authPolicyRules } from '../../entities/auth-policy.ts';
import { Body } from '../../entities/body.ts';
import { builtInConfigTypes, defaultAuthPolicy } from '../../entities/built-in.ts';
import { baseFields } from '../../entities/common.ts';
import { createConfig, createConfigType } from '../../entities/config.ts';
import { createSigner } from '../../entities/external-jwt-signer.ts';
import { createIdentity, disableIdentity } from '../../entities/identity.ts';
import { edgeRouterPolicyRules, serviceEdgeRouterPolicyRules, servicePolicyRules } from '../../entities/policy.ts';
import { createPostureCheck } from '../../entities/posture-check.ts';
import { createEdgeRouter, createTransitRouter } from '../../entities/router.ts';
import { loadSchemaValidator } from '../../entities/schema-validator.ts';
import { createService } from '../../entities/service.ts';
import { associateConfigs } from '../../entities/service-configs.ts';
import { createTerminator } from '../../entities/terminator.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import type { Transaction } from '../../state/transaction.ts';
import { readSeedText } from './document.ts';
import { exportNetwork } from './export.ts';
import { seedText } from './format.ts';
import { SeedError } from './mistake.ts';
import { SECTIONS } from './sections.ts';
import { prepareSeed } from './seed.ts';
import type { Seeded } from './seeded.ts';

const UPDB = {
  allowed: true,
  minPasswordLength: 5,
  maxAttempts: 0,
  lockoutDurationMinutes: 0,
  requireMixedCase: false,
  requireNumberChar: false,
  requireSpecialChar: false,
};

/** An entry of an auth policy. */
function authPolicy(name: string, cert: { allowed: boolean }): object {
  const primary = {
    cert: { allowExpiredCerts: false, ...cert },
    extJwt: { allowed: false, allowedSigners: [] },
    updb: UPDB,
  };
  return { name, primary, secondary: { requireTotp: false } };
}

class Network {
  readonly state: State;
  readonly clock: VirtualClock;

  private constructor(state: State, clock: VirtualClock) {
    this.state = state;
    this.clock = clock;
  }

  static async open(): Promise<Network> {
    const clock = new VirtualClock(Date.UTC(2030, 0));
    const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
    await loadSchemaValidator();
    await state.change((transaction) => {
      const base = (id: string) => baseFields(transaction, id);
      for (const type of builtInConfigTypes(base)) transaction.put('configType', type);
      transaction.put('authPolicy', defaultAuthPolicy(base('default')));
    });
    return new Network(state, clock);
  }

  text(format?: 'yaml' | 'json'): string {
    return seedText(exportNetwork(this.state.tables, this.clock.now()), format);
  }

  async prepare(
    document: unknown,
    processorTime?: () => number,
  ): Promise<(transaction: Transaction) => Generator<void, Seeded>> {
    const tokens = { enrollment: async () => 'jwt' };
    const passwords = { hash: async () => 'hash' };
    const { state, clock } = this;
    const limits = { enrollmentLifetime: 1, ...(processorTime && { processorTime }) };
    const components = { state, clock, tokens, passwords, validateBody, ...limits };
    return (await prepareSeed(components, document, { file: 'seed.yml' })).apply;
  }

  async seed(document: unknown, processorTime?: () => number): Promise<Seeded> {
    return this.state.changeInSlices(await this.prepare(document, processorTime));
  }

  async rejected(document: unknown): Promise<SeedError> {
    try {
      await this.seed(document);
    } catch (error) {
      if (error instanceof SeedError) return error;
      throw error;
    }
    throw new Error('the seed was accepted');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state.close();
  }
}

/** Names that are not plain texts in some version of YAML, or look like references. */
const TRICKY = [
  'yes',
  'null',
  '~',
  '010',
  '1_000',
  '0o7',
  '1e3',
  '2030-01-01',
  '#a',
  '@b',
  '- c',
  'd: e',
  "'",
  '\n',
  '*f',
  '&g',
  '<<',
];
const NAME = fc.oneof(fc.constantFrom(...TRICKY), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }));
const TAGS = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 5 }).filter((key) => key !== '__proto__'),
  fc.oneof(NAME, fc.boolean(), fc.integer()),
  {
    maxKeys: 2,
  },
);

/** Fills a network with the creators of entities. */
function fill(transaction: Transaction, g: fc.GeneratorValue): void {
  const { ids } = transaction;
  const some = <T>(all: readonly T[], max = 2) => g(fc.subarray<T>, [...all], { maxLength: Math.min(max, all.length) });
  const flag = () => g(fc.boolean);
  const attributes = () => g(fc.subarray<string>, ['a', 'b', 'yes', '010']);
  const make = (create: (id: string, body: Body) => void, fields: (name: string) => object): string[] =>
    g(() => fc.uniqueArray(NAME, { maxLength: 3 })).map((name) => {
      const id = ids.long();
      create(id, new Body({ name, tags: g(() => TAGS), ...fields(name) }, 'create'));
      return id;
    });
  const roles = (entities: readonly string[]) =>
    flag() && flag() ? ['#all'] : [...attributes().map((each) => `#${each}`), ...some(entities).map((id) => `@${id}`)];
  const semantic = () => g(fc.constantFrom, 'AllOf', 'AnyOf');

  const types = make(
    (id, body) => createConfigType(transaction, id, body),
    () => ({
      target: 'service',
      ...(flag() && { schema: { type: 'object', properties: { z: {}, a: {} } } }),
    }),
  );
  const configs = types.flatMap((configTypeId, index) =>
    make(
      (id, body) => createConfig(transaction, id, body),
      (name) => ({
        name: `${index} ${name}`,
        configTypeId,
        data: { z: g(() => fc.jsonValue({ maxDepth: 2 })), a: [1, { y: null, x: 'yes' }] },
      }),
    ),
  );
  const signers = make(
    (id, body) => createSigner(transaction, id, body, true),
    (name) => ({
      issuer: `issuer of ${name}`,
      audience: name,
      enabled: flag(),
      jwksEndpoint: 'https://issuer.example/keys',
      scopes: attributes(),
      enrollToCertEnabled: flag(),
    }),
  );
  const policies = make(
    (id, body) => authPolicyRules.create(transaction, id, body),
    () => ({
      primary: {
        cert: { allowed: flag(), allowExpiredCerts: flag() },
        extJwt: { allowed: flag(), allowedSigners: some(signers) },
        updb: { ...UPDB, maxAttempts: g(fc.nat) },
      },
      secondary: { requireTotp: flag(), requireExtJwtSigner: some(signers, 1)[0] ?? null },
    }),
  );
  const services = make(
    (id, body) => createService(transaction, id, body),
    () => ({
      encryptionRequired: flag(),
      configs: some(configs, 1),
      roleAttributes: attributes(),
      terminatorStrategy: g(fc.constantFrom, 'smartrouting', 'random'),
      maxIdleTimeMillis: g(fc.nat),
    }),
  );
  const checks = [
    ...make(
      (id, body) => createPostureCheck(transaction, id, body),
      (name) => ({
        name: `os ${name}`,
        roleAttributes: attributes(),
        typeId: 'OS',
        operatingSystems: [{ type: 'Linux', versions: flag() ? ['>=5.0.0'] : [] }],
      }),
    ),
    ...make(
      (id, body) => createPostureCheck(transaction, id, body),
      (name) => ({
        name: `mfa ${name}`,
        typeId: 'MFA',
        timeoutSeconds: flag() ? 30 : 0,
        promptOnWake: flag(),
      }),
    ),
    ...make(
      (id, body) => createPostureCheck(transaction, id, body),
      (name) => ({
        name: `process ${name}`,
        typeId: 'PROCESS',
        process: { osType: 'Linux', path: name, hashes: flag() ? ['AB'] : [], signerFingerprint: 'CD' },
      }),
    ),
    ...make(
      (id, body) => createPostureCheck(transaction, id, body),
      (name) => ({
        name: `multi ${name}`,
        typeId: 'PROCESS_MULTI',
        semantic: semantic(),
        processes: [{ osType: 'macOS', path: name }],
      }),
    ),
  ];
  const routers = make(
    (id, body) => createEdgeRouter(transaction, id, body, { id: ids.short(), token: id, jwt: '', expiresAt: '' }),
    (name) => ({
      name: `edge ${name}`,
      isTunnelerEnabled: flag(),
      noTraversal: flag(),
      disabled: flag(),
      cost: g(fc.nat, 65_535),
      roleAttributes: attributes(),
      ...(flag() && { ctrlChanListeners: { [name]: attributes() } }),
    }),
  );
  make(
    (id, body) => createTransitRouter(transaction, id, body, undefined),
    (name) => ({ name: `transit ${name}` }),
  );
  const people = make(
    (id, body) => createIdentity(transaction, id, body),
    (name) => ({
      name: `person ${name}`,
      isAdmin: flag(),
      roleAttributes: attributes(),
      authPolicyId: some(policies, 1)[0] ?? 'default',
      ...(flag() && { externalId: name.trim() && `external ${name}`, appData: { a: name }, permissions: ['service'] }),
      defaultHostingCost: g(fc.nat, 100),
      defaultHostingPrecedence: g(fc.constantFrom, 'default', 'failed', 'required'),
      serviceHostingCosts: Object.fromEntries(some(services).map((id) => [id, 5])),
      serviceHostingPrecedences: Object.fromEntries(some(services).map((id) => [id, 'required'])),
    }),
  );
  for (const id of people) {
    const pairs = some(services).flatMap((serviceId) => some(configs, 1).map((configId) => ({ serviceId, configId })));
    const identity = transaction.get('identity', id);
    if (identity) associateConfigs(transaction, identity, pairs);
    const current = transaction.get('identity', id);
    if (current && flag()) disableIdentity(transaction, current, flag() ? Date.UTC(2031, 0) : undefined);
  }
  const identities = [...people, ...routers.filter((id) => transaction.get('identity', id))];
  make(
    (id, body) => servicePolicyRules.create(transaction, id, body),
    () => ({
      type: g(fc.constantFrom, 'Dial', 'Bind'),
      semantic: semantic(),
      identityRoles: roles(identities),
      serviceRoles: roles(services),
      postureCheckRoles: roles(checks),
    }),
  );
  make(
    (id, body) => edgeRouterPolicyRules.create(transaction, id, body),
    () => ({
      semantic: semantic(),
      identityRoles: roles(identities),
      edgeRouterRoles: roles(routers),
    }),
  );
  make(
    (id, body) => serviceEdgeRouterPolicyRules.create(transaction, id, body),
    () => ({
      semantic: semantic(),
      serviceRoles: roles(services),
      edgeRouterRoles: roles(routers),
    }),
  );
  for (const service of some(services))
    for (const router of some(routers))
      createTerminator(
        transaction,
        ids.long(),
        new Body({ service, router, binding: 'transport', address: 'tcp:a:1', cost: 5 }, 'create'),
      );
}

t.test('an export of any network, seeded into an empty one, exports the same text again', async (t) => {
  let entities = 0;
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      await using first = await Network.open();
      await first.state.change((transaction) => fill(transaction, g));
      await using second = await Network.open();
      const { created, existing } = await second.seed(first.text());
      entities += Object.values(created).reduce((sum, count) => sum + count, 0);
      if (Object.keys(existing).length > 0) throw new Error(JSON.stringify(existing));
      if (second.text() !== first.text()) throw new Error(`${first.text()}\n became \n${second.text()}`);
      await using third = await Network.open();
      await third.seed(first.text('json'));
      if (third.text('json') !== first.text('json')) throw new Error('JSON differs');
      const again = await second.seed(first.text());
      if (Object.keys(again.created).length > 0) throw new Error(`created again: ${JSON.stringify(again.created)}`);
    }),
    { numRuns: 30, endOnFailure: true },
  );
  t.ok(entities > 100, `${entities} entities`);
});

t.test('every mistake has its place, its entity and the remedy, and nothing is created', async (t) => {
  await using network = await Network.open();
  const before = network.state.index;
  const { mistakes, message } = await network.rejected(`identities:
  - {name: anna, rolAttributes: [x]}
  - {name: berta, isAdmin: 1, authPolicy: Default}
  - name: clara
    authPolicy: "@Defalt"
  - name: clara
servises: []
services: {}
configs:
  - name: hosted
    configType: "@host.v1"
    data: {protocol: tcp, address: a, port: many}
servicePolicies:
  - {name: p, type: Dial, semantic: AnyOf, identityRoles: ["@claro", nobody], serviceRoles: []}
postureChecks:
  - {name: q, typeId: OS, operatingSystems: [{type: Linx}]}
`);
  t.same(
    mistakes.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`),
    [
      '2:18 identities[0].rolAttributes: identity anna: unknown field rolAttributes; did you mean roleAttributes?',
      '3:19 identities[1].isAdmin: identity berta: this must be true or false, not a number',
      '3:31 identities[1].authPolicy: identity berta: entities are named with @ in front: write @NAME',
      '5:5 identities[2].authPolicy: identity clara: there is no auth policy Defalt; did you mean Default?',
      '6:5 identities[3].name: identity clara appears twice in the seed; rename or remove one',
      '7:1 servises: unknown field servises; did you mean services?',
      '8:1 services: this must be a list, not a map',
      '12:39 configs[0].data.port: config hosted: port is invalid: port: Invalid type. Expected: integer, given: string',
      '14:70 servicePolicies[0].identityRoles[1]: service policy p: a role is #ATTRIBUTE, @NAME or #all',
      '16:47 postureChecks[0].operatingSystems[0].type: posture check q: operatingSystems.0.type in body should be one of [Windows WindowsServer Android iOS Linux macOS]',
    ],
  );
  t.match(
    message,
    /^seed\.yml has 10 mistakes, and nothing was changed\n {2}seed\.yml:2:18 identities\[0\]\.rolAttributes: /,
  );
  t.equal(network.state.index, before);
  t.match(
    (await network.rejected({ services: [{ name: 'web' }] })).message,
    /^services\[0\]: service web: the field encryptionRequired is missing$/,
  );
});

t.test('a rule that fails half-way leaves nothing behind', async (t) => {
  await using network = await Network.open();
  const before = network.state.index;
  const signer = { audience: 'a', enabled: true, jwksEndpoint: 'https://issuer.example/keys' };
  const table: readonly [document: object, message: RegExp][] = [
    [
      {
        externalJwtSigners: [
          { name: 'one', issuer: 'i', ...signer },
          { name: 'two', issuer: 'i', ...signer },
        ],
      },
      /signer two: its issuer is also that of external JWT signer one; change one/,
    ],
    [
      {
        identities: [
          { name: 'anna', externalId: 'x' },
          { name: 'berta', externalId: 'x' },
        ],
      },
      /identity berta: its externalId is also that of identity anna/,
    ],
    [
      {
        identities: [
          { name: 'anna', password: 'secret one' },
          { name: 'berta', username: 'anna', password: 'secret two' },
        ],
      },
      /identity berta: its username is also that of identity anna/,
    ],
    [
      { edgeRouters: [{ name: 'edge', isTunnelerEnabled: true }], identities: [{ name: 'edge' }] },
      /identity edge: its name is also that of edge router edge/,
    ],
    [{ edgeRouters: [{ name: 'x' }], transitRouters: [{ name: 'x' }] }, /transit router x appears twice/],
    [{ identities: [{ name: 'edge', typeId: 'Router' }] }, /no edge router of the seed has this name and a tunneler/],
    [
      {
        configs: [
          { name: 'a', configType: '@host.v1', data: { protocol: 'tcp', address: 'a', port: 1 } },
          { name: 'b', configType: '@host.v1', data: { protocol: 'tcp', address: 'b', port: 1 } },
        ],
        services: [{ name: 'web', encryptionRequired: true, configs: ['@a', '@b'] }],
      },
      /services\[0\]\.configs: service web: duplicate configs named a and b found for config type host\.v1/,
    ],
    [
      {
        externalJwtSigners: [
          { name: 'one', issuer: 'i', ...signer, enrollAuthPolicyId: '@no certificates', enrollToCertEnabled: true },
        ],
        authPolicies: [authPolicy('no certificates', { allowed: false })],
      },
      /^externalJwtSigners\[0\]\.enrollAuthPolicyId: external JWT signer one: .*auth policy/,
    ],
    [{ identities: [{ name: 'bob', password: 'secret' }] }, /identity bob: a user name has 4 to 100 characters; give/],
  ];
  for (const [document, message] of table) {
    const error = await network.rejected(document);
    t.match(error.message, message);
    t.notMatch(error.message, /secret (?:one|two)/);
  }
  t.equal(network.state.index, before);
  t.equal(network.state.tables.router.size, 0);
});

t.test('hostile texts are rejected in bounded time, without a quote from them', async (t) => {
  const bomb = Array.from({ length: 20 }, (_, level) => {
    const inside = level === 0 ? 'x' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(9).fill(inside).join(',')}]`;
  }).join('\n');
  const table: readonly [what: string, text: string, message: RegExp][] = [
    ['a large text', `# ${'x'.repeat(2 ** 20)}`, /more than 1048576 characters; write it as JSON, or divide it/],
    ['brackets', '['.repeat(10_000), /nested deeper than 104/],
    ['flow maps', '{a: '.repeat(5_000), /nested deeper/],
    ['block lists', '- '.repeat(10_000), /nested deeper/],
    ['aliases that multiply', bomb, /more than 200000 values/],
    ['an alias of itself', 'a: &a [*a]', /nested deeper/],
    ['an unknown alias', 'a: *secret', /1:4: this alias has no anchor above it/],
    ['a double key', 'identities: []\nidentities: []', /2:1: the key identities appears twice/],
    ['a key that is a list', '? [a]\n: b', /a key has to be a text/],
    ['broken YAML', 'identities:\n  - name: "secret', /this is not YAML: [a-z ]+$/],
    ['a lone text', 'secret', /this must be a map, not a text/],
  ];
  await using network = await Network.open();
  for (const [what, text, message] of table) {
    const error = await network.rejected(text);
    t.match(error.message, message, what);
    t.notMatch(error.message, /secret/, what);
  }
  const many = Array.from({ length: 100_001 }, (_, index) => ({ name: `person ${index}` }));
  t.match((await network.rejected({ identities: many })).message, /more than 100000 entities; divide it/);
  const passwords = many.slice(0, 501).map((each) => ({ ...each, password: 'a long secret' }));
  t.match((await network.rejected({ identities: passwords })).message, /more than 500 passwords; divide it/);
  t.equal(network.state.tables.identity.size, 0);
});

t.test('aliases and JSON are read, with the places of values behind aliases', (t) => {
  const { value, at } = atOnce(readSeedText('a: &x\n  b: [1, 2]\nc: *x\n', undefined));
  t.same(value, { a: { b: [1, 2] }, c: { b: [1, 2] } });
  t.same(at(['c', 'b', 1]), { path: 'c.b[1]', line: 2, column: 10 });
  t.same(atOnce(readSeedText('{\n\t"a": [1,\n\t\t{"b": null}]\n}', undefined)).value, { a: [1, { b: null }] });
  t.end();
});

t.test('the schema is valid, and has every section', (t) => {
  const ajv = new Ajv({ allowUnionTypes: true });
  t.ok(ajv.validateSchema(schema), ajv.errorsText());
  t.same(Object.keys(schema.properties), SECTIONS.map(({ name }) => name).toSorted());
  t.end();
});

t.test('each text is read in linear time, whatever is in it, and only the first mistakes are reported', async (t) => {
  await using network = await Network.open();
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}: 1`).join(', ');
  const table: [name: string, largest: number, text: (size: number) => string][] = [
    ['aliases of a mistake', 5_000, (size) => `identities:\n  - &a {nmae: x}\n${'  - *a\n'.repeat(size)}`],
    ['unknown fields', 20_000, (size) => `identities:\n  - {${fields(size)}}\n`],
    ['numbers', 500_000, (size) => `{"identities": [${'1,'.repeat(size)}1]}`],
    ['binary data', 17_000, (size) => `identities:\n${'  - !!binary QQ==\n'.repeat(size)}`],
    ['tabs', 100_000, (size) => '\t- x\n'.repeat(size)],
    ['comments', 300_000, (size) => '#\n'.repeat(size)],
    ['quotes', 250_000, (size) => '"\n'.repeat(size)],
    ['a long field', 900_000, (size) => `identities: [{${'x'.repeat(size)}: 1}]`],
  ];
  for (const [name, largest, text] of table) {
    const error = await network.rejected(text(largest));
    const grown = await growth((size) => network.seed(text(size)).catch(() => undefined), 300);
    t.ok(grown < MAX_GROWTH, `${name}: ${grown.toFixed(1)} times the calls for 4 times the text`);
    t.ok(error.mistakes.length >= 1 && error.mistakes.length <= 100, `${name}: ${error.mistakes.length} mistakes`);
    t.ok(error.message.length < 20_000, `${name}: ${error.message.length} characters`);
  }
  const { mistakes } = await network.rejected(`identities:\n  - {${fields(20_000)}}\n`);
  t.equal(mistakes.length, 1, 'a check of so large an entry ends at the first mistake');
});

t.test('only texts, numbers, booleans and null are read, whatever else YAML has', async (t) => {
  await using network = await Network.open();
  const names = ['yes', '2030-01-31', '1_000', '12:30:45'];
  await network.seed(`identities:\n${names.map((name) => `  - {name: ${name}}\n`).join('')}`);
  t.same([...network.state.tables.identity.values()].map(({ name }) => name).toSorted(), names.toSorted());
  t.match((await network.rejected('identities: [!!binary QQ==]')).message, /this must be a map, not a text$/);
});

t.test('a seed whose entities take seconds is rejected, and nothing is created', async (t) => {
  await using network = await Network.open();
  const services = Array.from({ length: 20 }, (_, index) => ({ name: `service ${index}`, encryptionRequired: true }));
  let time = 0;
  const half = () => (time += 3_000);
  await t.rejects(network.seed({ services }, half), {
    message: 'services[10]: creating the entities before this one takes longer than 30000 ms; divide the seed',
  });
  t.equal(network.state.tables.service.size, 0);
  const quick = () => (time += 1_000);
  t.same((await network.seed({ services }, quick)).created, { services: 20 });
});

t.test('a similar name is searched only for mistakes that are shown', async (t) => {
  await using network = await Network.open();
  const names = Array.from({ length: 500 }, (_, index) => `configuration ${index}`);
  const configs = names.map((name) => ({
    name,
    configType: '@host.v1',
    data: { protocol: 'tcp', address: 'a', port: 1 },
  }));
  const missing = names.map((name) => `@${name.replace('n', 'nn')}`);
  const services = [{ name: 'web', encryptionRequired: true, configs: missing }];
  using counter = new CallCounter();
  const { mistakes, message } = await network.rejected({ configs, services });
  t.equal(counter.take().of('didYouMean'), 100);
  t.match(message, /^seed.yml has 500 mistakes/);
  t.equal(mistakes.length, 100);
});

t.test('an entity that is deleted while a seed is prepared is not created by halves', async (t) => {
  await using network = await Network.open();
  const { state } = network;
  await network.seed({ edgeRouters: [{ name: 'edge' }], identities: [{ name: 'anna' }] });
  const apply = await network.prepare({
    edgeRouters: [{ name: 'edge' }],
    identities: [{ name: 'anna', password: 'password of anna' }],
  });
  await state.change((transaction) => {
    for (const { id } of state.tables.router.values()) transaction.delete('router', id);
    for (const { id } of state.tables.identity.values()) transaction.delete('identity', id);
  });
  const error = await state.changeInSlices(apply).then(
    () => undefined,
    (reason: unknown) => reason as SeedError,
  );
  t.match(
    error?.mistakes.map(({ message }) => message),
    [
      'edge router edge: it was deleted while the seed was prepared; seed again',
      'identity anna: it was deleted while the seed was prepared; seed again',
    ],
  );
  t.same([state.tables.router.size, state.tables.identity.size], [0, 0]);
});

// Networks from files: at the start, in a running simulator, over the API. controller-sim/lab/seed/seed.test.ts tests
// the mistakes in them, and random networks.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { seedText } from '../../controller-sim/lab/seed/format.ts';
import { startSimulator } from '../../entry/sim.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { type Authority, makeAuthority } from '../support/clients/certificates.ts';
import { atItsPort } from '../support/networks/fixed-ports.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/seed/network.yml');
const TEXT = readFileSync(EXAMPLE, 'utf8');
const YAML = 'application/yaml';
const WIKI = { identity: 'anna', service: 'wiki', type: 'Dial' } as const;

t.test('the example: users log in, the device enrolls, access is as its policies say', async (t) => {
  await using api = await ApiClient.start({ seed: EXAMPLE });
  const { lab, seeded } = api.simulator;
  t.same(seeded?.existing, {});
  t.match(seeded?.created, { identities: 4, services: 1, edgeRouters: 1, configs: 2, servicePolicies: 2 });
  const token = (await api.tryLogin('anna', 'annas secret')).data.token;
  t.same(await api.names('/services', token), ['wiki']);
  t.same(await api.names('/services', (await api.tryLogin('berta', 'bertas secret')).data.token), []);
  const identities = await api.get<{ name: string; enrollment: object; roleAttributes: string[] }[]>('/identities');
  t.match(
    identities.find(({ name }) => name === 'phone'),
    { enrollment: { ott: { token: /./ } } },
  );
  t.match(
    identities.find(({ name }) => name === 'edge-1'),
    { typeId: 'Router', roleAttributes: ['hosts'] },
  );
  const [router] = await api.get<{ enrollmentJwt: string }[]>('/edge-routers');
  t.match(router?.enrollmentJwt, /^ey/);
  const blocking = lab.why(WIKI).reasons.filter((reason) => reason.blocking);
  t.match(
    blocking.map(({ message }) => message),
    [
      /supported systems \(OS\) of staff may dial fails .*no operating system is reported/,
      /edge-1 .* offline/,
      /no terminators/,
    ],
  );
  t.match(lab.why({ ...WIKI, identity: 'berta' }).reasons[1], {
    ok: false,
    message: 'no service policy lets berta dial wiki',
  });
});

t.test('reset returns to the seeded network', async (t) => {
  await using api = await ApiClient.start({ seed: EXAMPLE });
  const before = seedText(api.simulator.lab.export());
  await api.create('/services', { name: 'another', encryptionRequired: true });
  const [anna] = await api.get<{ id: string }[]>('/identities?filter=name="anna"');
  await api.change('DELETE', `/identities/${anna?.id}`);
  t.not(seedText(api.simulator.lab.export()), before);
  await api.change('POST', '/lab/v1/reset');
  t.equal(seedText(api.simulator.lab.export()), before);
  t.equal((await api.tryLogin('anna', 'annas secret')).status, 200, 'with her password');
});

t.test('over the API: one change, what exists is kept, all mistakes with their lines', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  const seen: unknown[] = [];
  const send = (body: unknown, type = YAML) => api.manage('POST', '/lab/v1/seed', body, type);
  await api.person('anna', { roleAttributes: ['own'] });
  const first = await send(TEXT);
  t.equal(first.status, 200, first.text);
  t.match(first.data, { created: { identities: 3, services: 1 }, existing: { identities: 1 } });
  t.equal((await api.tryLogin('anna', 'annas secret')).status, 401, 'an existing identity is not changed');
  api.simulator.events.subscribe((event) => seen.push(event), ['entityChange']);
  t.same((await send(TEXT)).data.created, {});
  t.same(seen, [], 'and nothing is stored');
  const exported = await api.get('/lab/v1/export');
  t.same(exported, lab.export());
  await using other = await ApiClient.start();
  t.equal((await other.manage('POST', '/lab/v1/seed', exported)).status, 200, 'as JSON');
  t.same(other.simulator.lab.export(), exported);
  const wrong = await send('services:\n  - {name: x, encryptionRequired: 1}\n  - {nam: y, encryptionRequired: true}\n');
  t.match([wrong.status, wrong.code], [400, 'COULD_NOT_VALIDATE']);
  t.match(wrong.cause.data, [
    { line: 2, column: 15, path: 'services[0].encryptionRequired', message: /must be true or false, not a number/ },
    { line: 3, column: 5, path: 'services[1]', message: /the field name is missing/ },
    { line: 3, column: 6, path: 'services[1].nam', message: /did you mean name\?/ },
  ]);
  t.notOk((await api.names('/services')).includes('x'));
});

t.test('only administrators seed and export; readers may export', async (t) => {
  await using api = await ApiClient.start();
  await api.person('plain');
  await api.person('reader', { permissions: ['admin_readonly'] });
  for (const [name, exports] of [
    ['plain', 401],
    ['reader', 200],
  ] as const) {
    const token = await api.login(name);
    t.equal((await api.ask('POST', '/lab/v1/seed', { token, body: TEXT, type: YAML })).status, 401);
    t.equal((await api.ask('GET', '/lab/v1/export', { token })).status, exports);
  }
  t.equal((await api.ask('POST', '/lab/v1/seed', { body: TEXT, type: YAML })).status, 401);
});

t.test('hostile bodies are rejected, and the simulator goes on', async (t) => {
  await using api = await ApiClient.start();
  const before = seedText(api.simulator.lab.export());
  const deep = `{"configs": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  const table: readonly [what: string, body: string, type: string, status: number][] = [
    ['10 MiB', `# ${'x'.repeat(10 * 2 ** 20)}`, YAML, 413],
    ['deep YAML', deep, YAML, 400],
    ['deep JSON', deep, 'application/json', 400],
    ['a list', '[]', 'application/json', 400],
    ['aliases', `a: &a [1]\nb: [${'*a,'.repeat(100_000)}]`, YAML, 400],
    ['binary', '\0\x01', YAML, 400],
    ['prototype', '{"__proto__": {"services": []}}', 'application/json', 400],
    ['no entries', 'services: [null, 5, [], "x"]', YAML, 400],
  ];
  for (const [what, body, type, status] of table)
    t.equal((await api.manage('POST', '/lab/v1/seed', body, type)).status, status, what);
  t.equal((await api.manage('POST', '/lab/v1/seed', undefined)).status, 400);
  t.equal(seedText(api.simulator.lab.export()), before);
});

t.test('a start with mistakes fails with the file and its lines, and stores nothing', async (t) => {
  const folder = t.testdir();
  const [seed, data] = [join(folder, 'seed.yml'), join(folder, 'sim.db')];
  writeFileSync(seed, 'identities:\n  - {name: anna, password: annas secret}\nservices:\n  - {name: web}\n');
  await t.rejects(startSimulator({ seed, data }), {
    code: 'SEED',
    message: /seed\.yml:4:5 services\[0\]: service web: the field/,
  });
  await t.rejects(startSimulator({ seed: join(folder, 'none.yml') }), {
    code: 'BAD_OPTION',
    message: /none\.yml does not exist/,
  });
  await t.rejects(startSimulator({ seed: folder }), { code: 'BAD_OPTION', message: /is a folder/ });
  await t.rejects(startSimulator({ seed: 5 as never }), {
    code: 'BAD_OPTION',
    message: /It must be the path of a file, or/,
  });
  await t.rejects(startSimulator({ seed: { servics: [] } as never }), {
    code: 'SEED',
    message: /did you mean services\?/,
  });
  const database = new DatabaseSync(data);
  const names = database.prepare("SELECT body FROM entity WHERE kind = 'identity'").all();
  database.close();
  t.same(names, [], 'neither the users nor the administrator');
  writeFileSync(seed, 'identities:\n  - {name: anna, password: annas secret}\n');
  for (const wanted of [
    { created: { identities: 1 }, existing: {} },
    { created: {}, existing: { identities: 1 } },
  ]) {
    await using simulator = await startSimulator(await atItsPort({ seed, data }));
    t.same(simulator.seeded, wanted);
    const api = new ApiClient(simulator);
    t.equal((await api.tryLogin('anna', 'annas secret')).status, 200);
    await api.close();
  }
});

t.test(
  'everything that a network has survives: authorities, signers and policies that refer to each other',
  async (t) => {
    const authority: Authority = await makeAuthority('third');
    await using api = await ApiClient.start();
    await api.addAuthority('third party', authority, { identityRoles: ['theirs'] });
    const signer = await api.create('/external-jwt-signers', {
      name: 'issuer',
      issuer: 'https://issuer.example',
      audience: 'sim',
      enabled: true,
      jwksEndpoint: 'https://issuer.example/keys',
    });
    const policy = await api.authPolicy('by token', {
      extJwt: { allowedSigners: [signer] },
      secondary: { requireExtJwtSigner: signer },
    });
    await api.change('PATCH', `/external-jwt-signers/${signer}`, {
      enrollAuthPolicyId: policy,
      enrollToTokenEnabled: true,
    });
    const type = await api.create('/config-types', { name: 'tune.v1', target: 'router', schema: { type: 'object' } });
    const config = await api.create('/configs', { name: 'tune', configTypeId: type, data: { speed: 5 } });
    const edge = await api.create('/edge-routers', {
      name: 'edge',
      isTunnelerEnabled: true,
      configs: [config],
      cost: 7,
    });
    const web = await api.create('/services', { name: 'web', encryptionRequired: false });
    await api.create('/transit-routers', { name: 'transit', noTraversal: true });
    await api.create('/terminators', {
      service: web,
      router: edge,
      binding: 'transport',
      address: 'tcp:127.0.0.1:1',
      identity: 'one',
    });
    await api.person('anna', { authPolicyId: policy, serviceHostingCosts: { [web]: 9 } });
    const text = seedText(api.simulator.lab.export());
    t.notMatch(text, /a long secret|annas secret|verificationToken|jwt:|argon2/);
    await using copy = await ApiClient.start();
    await copy.simulator.lab.seed(text);
    t.equal(seedText(copy.simulator.lab.export()), text);
    t.match((await copy.get('/cas'))[0], { name: 'third party', isVerified: true, identityRoles: ['theirs'] });
    t.match((await copy.get('/external-jwt-signers'))[0], {
      enrollToTokenEnabled: true,
      enrollAuthPolicyId: /^\w{15,}$/,
    });
    t.match((await copy.get('/terminators'))[0], { address: 'tcp:127.0.0.1:1', identity: 'one' });
    t.same((await copy.simulator.lab.seed(text)).created, {}, 'twice is as once');
  },
);

t.test('a seed names what it keeps with other values than the document', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  const identities = [
    { name: 'anna', roleAttributes: ['staff'] },
    { name: 'berta', roleAttributes: ['staff'] },
  ];
  t.equal((await lab.seed({ identities })).different, undefined);
  t.equal((await lab.seed({ identities })).different, undefined, 'nothing differs');
  const other = { identities: [{ name: 'anna', roleAttributes: ['guests'] }, { name: 'berta' }] };
  t.same((await lab.seed(other)).different, [{ kind: 'identity', name: 'anna', fields: ['roleAttributes'] }]);
  t.match(lab.export().identities, [{ name: 'anna', roleAttributes: ['staff'] }], 'it is kept');
});

t.test('a session of a network without router policies is rejected with the ones that are missing', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const serviceId = await api.create('/services', { name: 'web', encryptionRequired: false });
  const all = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] };
  await api.create('/service-policies', { name: 'dial', type: 'Dial', ...all });
  const token = await api.login('anna');
  const { code, cause } = await api.ask('POST', '/sessions', { token, body: { serviceId, type: 'Dial' } });
  t.equal(code, 'NO_EDGE_ROUTERS_AVAILABLE');
  t.equal(
    cause.message,
    'no edge router policy lets anna use any router, and no service edge router policy lets web use any router',
  );
});

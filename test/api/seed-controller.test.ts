// A seed for another controller, by its management API: the same plan, the same network, and nothing a second time.

import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { openClient } from '../../controller-sim/client/api-client.ts';
import type { SeedDocument } from '../../controller-sim/lab/seed/export.ts';
import { type Simulator, seedController } from '../../entry/sim.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { runProgram } from '../support/programs/run.ts';

const NETWORK: SeedDocument = {
  configTypes: [{ name: 'own', schema: { type: 'object' } }],
  configs: [
    { name: 'wiki-host', configType: '@host.v1', data: { protocol: 'tcp', address: 'wiki', port: 80 } },
    { name: 'wiki-other', configType: '@host.v1', data: { protocol: 'tcp', address: 'other', port: 81 } },
    { name: 'mine', configType: '@own', data: { a: 1 } },
  ],
  externalJwtSigners: [
    {
      name: 'issuer',
      issuer: 'https://issuer.example',
      audience: 'network',
      enabled: true,
      jwksEndpoint: 'https://issuer.example/keys',
      enrollAuthPolicyId: '@strict',
    },
  ],
  authPolicies: [
    {
      name: 'strict',
      primary: {
        cert: { allowed: true, allowExpiredCerts: false },
        extJwt: { allowed: true, allowedSigners: ['@issuer'] },
        updb: {
          allowed: false,
          lockoutDurationMinutes: 0,
          maxAttempts: 3,
          minPasswordLength: 8,
          requireMixedCase: false,
          requireNumberChar: false,
          requireSpecialChar: false,
        },
      },
      secondary: { requireTotp: false },
    },
  ],
  services: [{ name: 'wiki', encryptionRequired: true, configs: ['@wiki-host', '@mine'], roleAttributes: ['web'] }],
  postureChecks: [
    { name: 'domain', typeId: 'DOMAIN', domains: ['example.com'], roleAttributes: ['office'] },
    { name: 'system', typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0'] }] },
  ],
  edgeRouters: [{ name: 'edge', isTunnelerEnabled: true, roleAttributes: ['public'], cost: 5 }],
  transitRouters: [{ name: 'transit', noTraversal: true }],
  identities: [
    { name: 'edge', typeId: 'Router', roleAttributes: ['hosts'] },
    {
      name: 'anna',
      authPolicy: '@strict',
      roleAttributes: ['staff'],
      appData: { floor: 3 },
      enrollment: { ott: true },
      serviceSettings: [{ service: '@wiki', cost: 7, configs: ['@wiki-other'] }],
    },
    { name: 'ben', username: 'benjamin', password: 'password of ben', disabled: true },
  ],
  servicePolicies: [
    {
      name: 'staff',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#staff', '@ben'],
      serviceRoles: ['@wiki'],
      postureCheckRoles: ['@domain'],
    },
    { name: 'hosts', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@edge'], serviceRoles: ['@wiki'] },
  ],
  edgeRouterPolicies: [
    { name: 'all', semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['@edge', '#public'] },
  ],
  serviceEdgeRouterPolicies: [{ name: 'all', semantic: 'AnyOf', serviceRoles: ['@wiki'], edgeRouterRoles: ['#all'] }],
  terminators: [{ service: '@wiki', router: '@edge', binding: 'transport', address: 'tcp:wiki:80' }],
};

/** A controller with a client of its management API, and a simulator that makes the plans. */
async function opened() {
  const [api, planner] = [await ApiClient.start(), await startSimulator({ passwordCost: TEST_COST })];
  const client = openClient('management', { ...api.simulator, password: api.simulator.password ?? '' });
  const { lab } = planner;
  const close = async () => {
    await client.close();
    await planner.close();
    await api.close();
  };
  const seed = (document: SeedDocument | string, options = {}) => lab.seedController(client, document, options);
  return { api, client, seed, lab: api.simulator.lab, planner: lab, [Symbol.asyncDispose]: close };
}

t.test('the plan is that of the simulator; the requests make the same network; then nothing is left', async (t) => {
  await using parts = await opened();
  const { api, seed, lab } = parts;
  const options = { apply: true, prune: true };
  const plan = await seed(NETWORK, { ...options, plan: true });
  t.same(plan, await lab.seed(NETWORK, { ...options, plan: true }));
  t.equal(plan.steps?.length, 19);
  t.match(await api.get('/services'), [], 'a plan changes nothing');
  const { steps: _, ...counts } = plan;
  t.same(await seed(NETWORK, options), counts);
  const made = lab.export();
  await lab.reset();
  await lab.seed(NETWORK, options);
  t.same(made, lab.export(), 'the same as a seed of the simulator');
  const again = await seed(NETWORK, { ...options, plan: true });
  t.same(again.steps, [], 'it is what the file says');
  t.same([again.created, again.changed, again.deleted], [{}, {}, {}]);
});

t.test('changes and deletions; built-in entities, the administrator and the caller stay', async (t) => {
  await using parts = await opened();
  const { api, seed, lab, planner, client } = parts;
  await seed(NETWORK);
  const before = await api.get('/identities?limit=100');
  await api.create('/identities', { name: 'boss', type: 'Default', isAdmin: true });
  const [{ id: boss }] = await api.get('/identities?filter=name%3D%22boss%22');
  await api.create('/authenticators', {
    method: 'updb',
    identityId: boss,
    username: 'boss',
    password: 'password of boss',
  });
  await using own = openClient('management', { ...api.simulator, username: 'boss', password: 'password of boss' });
  const changed: SeedDocument = {
    services: [{ name: 'wiki', encryptionRequired: true, configs: ['@wiki-other'], roleAttributes: [] }],
    postureChecks: [{ name: 'domain', typeId: 'DOMAIN', domains: ['example.org'] }],
    identities: [
      {
        name: 'anna',
        authPolicy: '@Default',
        roleAttributes: ['boss'],
        serviceSettings: [{ service: '@wiki', cost: 8 }],
      },
      { name: 'edge', typeId: 'Router', roleAttributes: [] },
      { name: 'ben', disabled: false },
    ],
    configTypes: [{ name: 'own', schema: { type: 'object', title: 'changed' } }],
    configs: [
      { name: 'wiki-other', configType: '@host.v1', data: { protocol: 'tcp', address: 'other', port: 82 } },
      { name: 'wiki-host', configType: '@host.v1', data: { protocol: 'tcp', address: 'wiki', port: 80 } },
    ],
    edgeRouterPolicies: [],
    externalJwtSigners: [
      {
        name: 'issuer',
        issuer: 'https://issuer.example',
        audience: 'network',
        enabled: true,
        enrollAuthPolicyId: 'default',
      },
    ],
    authPolicies: [],
  };
  const options = { apply: true, prune: true };
  const plan = await planner.seedController(own, changed, { ...options, plan: true });
  t.match(
    plan.steps?.map(({ action, kind, name }) => `${action} ${kind} ${name}`),
    [
      'change config type own',
      'change config wiki-other',
      'change external JWT signer issuer',
      'change service wiki',
      'change posture check domain',
      'change identity anna',
      'change identity edge',
      'change identity ben',
      'delete edge router policy all',
      'delete posture check system',
      'delete auth policy strict',
      'delete config mine',
    ],
  );
  await planner.seedController(own, changed, options);
  t.same((await planner.seedController(own, changed, { ...options, plan: true })).steps, []);
  const { identities, services } = lab.export();
  t.match(identities, [
    { name: 'anna', roleAttributes: ['boss'], serviceSettings: [{ service: '@wiki', cost: 8, configs: undefined }] },
    { name: 'ben', disabled: false },
    { name: 'boss' },
    { name: 'edge' },
  ]);
  t.match(services, [{ configs: ['@wiki-other'] }]);
  const after = await api.get('/identities?limit=100');
  t.equal(after.length, before.length + 1, 'the administrator and the caller exist');
  const policies = await client.edgeRouterPolicies.list();
  t.match(policies, [{ isSystem: true }], 'so does the policy of the router');
});

t.test('mistakes and failed requests name the entry', async (t) => {
  await using parts = await opened();
  const { api, seed, lab } = parts;
  const wrong = 'services:\n  - { name: wiki, encryptionRequired: true, configs: ["@nothing"] }\n';
  await t.rejects(seed(wrong, { file: 'n.yml' }), {
    code: 'SEED',
    message: /^n\.yml:2:55 services\[0\]\.configs\[0\]: service wiki: there is no config nothing/,
  });
  lab.faults.add({ kind: 'http', operation: 'createService', status: 503 });
  const document = {
    services: [{ name: 'wiki', encryptionRequired: true }],
    configTypes: [{ name: 'own' }],
  };
  await t.rejects(seed(document), {
    code: 'SEED',
    message:
      /^services\[0\]: service wiki: createService: .*; 1 of 2 changes were made: correct it, and run the same again$/,
  });
  lab.faults.clear();
  t.match(await seed(document), { created: { services: 1 }, existing: { configTypes: 1 } });
  t.equal((await api.get('/services')).length, 1);
  await t.rejects(seed('services: [&a { name: x, other: *a }]'), { code: 'SEED' });
  await t.rejects(seed({ services: 5 } as never), { code: 'SEED', message: /this must be a list/ });
});

t.test('a config that an identity uses is not pruned; the plan says so before any request', async (t) => {
  await using parts = await opened();
  const { seed, lab } = parts;
  await seed(NETWORK);
  const before = lab.export();
  const without = { configs: NETWORK.configs?.filter(({ name }) => name !== 'wiki-other') } as SeedDocument;
  const message = /configs: the config wiki-other cannot be deleted/;
  await t.rejects(seed(without, { prune: true, plan: true }), { code: 'SEED', message });
  await t.rejects(seed(without, { prune: true }), { code: 'SEED', message });
  t.same(lab.export(), before);
});

t.test('a controller of an earlier release: fields that it ignores are rejected, all at once', async (t) => {
  await using parts = await opened();
  const { seed, lab } = parts;
  lab.faults.add({ kind: 'http', operation: 'listVersion', status: 200, body: { data: { version: 'v1.6.20' } } });
  const wrong = `identities:
  - { name: anna, permissions: [service] }
edgeRouters:
  - { name: edge, ctrlChanListeners: { "tls:a:1": [x] } }
  - { name: other, ctrlChanListeners: {} }
`;
  const ignored = String.raw`: the controller \(v1\.6\.20\) ignores this field; leave it out, or`;
  await t.rejects(seed(wrong, { file: 'n.yml', plan: true }), {
    code: 'SEED',
    message: new RegExp(
      String.raw`2 mistakes.*\n  n\.yml:2:\d+ identities\[0\]\.permissions${ignored}.*\n  n\.yml:4:\d+ edgeRouters\[0\]\.ctrl\w+${ignored}`,
    ),
  });
  t.match(await seed({ identities: [{ name: 'anna' }] }), { created: { identities: 1 } });
});

t.test(
  'seedController of the package: the target may be a simulator, and the command makes the same requests',
  async (t) => {
    await using api = await ApiClient.start();
    const { simulator } = api;
    const { baseUrl, ca, username, password } = simulator;
    const options = { apply: true, prune: true };
    const plan = await seedController(simulator, NETWORK, { ...options, plan: true });
    t.same(plan, await simulator.lab.seed(NETWORK, { ...options, plan: true }));
    const byFunction = await requestsOf(simulator, () =>
      seedController({ baseUrl, ca, username, password }, NETWORK, options),
    );
    t.same((await seedController(simulator, NETWORK, { ...options, plan: true })).steps, []);
    const made = simulator.lab.export();
    await simulator.lab.reset();
    const folder = t.testdir({ 'network.json': JSON.stringify(NETWORK), 'ca.pem': ca });
    const byCommand = await requestsOf(simulator, async () => {
      const args = [
        '--url',
        baseUrl,
        '--ca',
        join(folder, 'ca.pem'),
        '--username',
        username,
        '--password',
        password ?? '',
      ];
      const seeded = ['seed', join(folder, 'network.json'), '--apply', '--prune', '--management', ...args];
      t.match(await runProgram(['entry/sim-cli.ts', ...seeded]), { code: 0, stderr: '' });
    });
    t.same(byCommand, byFunction);
    t.same(simulator.lab.export(), made);
    await t.rejects(seedController({ ...simulator, password: 'wrong' }, NETWORK), { code: 'API_REQUEST', status: 401 });
    await t.rejects(seedController(simulator, 'services: [{ nam: a }]', { file: 'n.yml' }), {
      code: 'SEED',
      message: /n\.yml:1:\d+ services\[0\]/,
    });
  },
);

/** The operations that a controller is asked for, in their order. */
async function requestsOf({ lab }: Pick<Simulator, 'lab'>, work: () => Promise<unknown>): Promise<unknown[]> {
  const after = lab.journal.last;
  await work();
  const asked = lab.journal.entries({ kind: 'http', after, limit: 1_000 });
  return asked.flatMap((entry) => (entry.kind === 'http' && entry.method !== 'GET' ? [entry.operation] : []));
}

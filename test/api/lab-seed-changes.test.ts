// Seeds that change and delete: applied twice they change nothing, a plan has the same steps, and `what-if` compares
// rights on a copy.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SeedDocument } from '../../controller-sim/lab/seed/export.ts';
import { startSimulator } from '../../entry/sim.ts';

const ROOT = join(import.meta.dirname, '../..');
const QUICK = { passwordCost: { memory: 64, passes: 1 } };
const NETWORK: SeedDocument = {
  services: [
    { name: 'web', roleAttributes: ['public'], encryptionRequired: true },
    { name: 'db', encryptionRequired: false },
  ],
  identities: [
    { name: 'anna', roleAttributes: ['staff'], password: 'secret-of-anna' },
    { name: 'ben', roleAttributes: ['guest'] },
  ],
  edgeRouters: [{ name: 'edge', isTunnelerEnabled: true, roleAttributes: ['east'] }],
  servicePolicies: [
    { name: 'staff', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@web', '@db'] },
  ],
  configs: [{ name: 'addresses', configType: '@host.v1', data: { protocol: 'tcp', address: 'localhost', port: 80 } }],
};

t.test('applied twice, a document changes nothing, and neither does an export', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed(NETWORK, { apply: true, prune: true });
  const exported = lab.export();
  for (const document of [NETWORK, exported, readFileSync(join(ROOT, 'examples/seed/network.yml'), 'utf8')]) {
    await lab.seed(document, { apply: true });
    const state = lab.export();
    const again = await lab.seed(document, { apply: true, plan: true });
    t.same(again.steps, []);
    t.same([again.created, again.changed], [{}, {}]);
    t.same(lab.export(), state);
  }
});

t.test('changes and deletions follow their plan; what the document leaves out stays', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed(NETWORK);
  const change: SeedDocument = {
    services: [
      { name: 'web', roleAttributes: ['public', 'new'] },
      { name: 'mail', encryptionRequired: false },
    ],
    identities: [{ name: 'anna', disabled: true, serviceSettings: [{ service: '@mail', cost: 7 }] }],
    edgeRouters: [{ name: 'edge', cost: 5 }],
    servicePolicies: [{ name: 'staff', serviceRoles: ['@mail', '@web'] }],
  };
  const before = lab.export();
  const plan = await lab.seed(change, { apply: true, prune: true, plan: true });
  t.same(plan.steps, [
    { action: 'change', kind: 'service', name: 'web', fields: ['roleAttributes'] },
    { action: 'create', kind: 'service', name: 'mail' },
    { action: 'change', kind: 'edge router', name: 'edge', fields: ['cost'] },
    { action: 'change', kind: 'identity', name: 'anna', fields: ['disabled', 'serviceSettings'] },
    { action: 'change', kind: 'service policy', name: 'staff', fields: ['serviceRoles'] },
    { action: 'delete', kind: 'identity', name: 'ben' },
    { action: 'delete', kind: 'service', name: 'db' },
  ]);
  t.same(lab.export(), before, 'a plan changes nothing');
  const { steps: _steps, ...planned } = plan;
  t.same(await lab.seed(change, { apply: true, prune: true }), planned);
  t.match(lab.export(), {
    services: [{ name: 'mail' }, { name: 'web', roleAttributes: ['new', 'public'], encryptionRequired: true }],
    identities: [
      { name: 'anna', disabled: true, roleAttributes: ['staff'] },
      { name: 'edge', typeId: 'Router' },
    ],
    servicePolicies: [{ name: 'staff', serviceRoles: ['@mail', '@web'], identityRoles: ['#staff'] }],
    configs: [{ name: 'addresses' }],
  });
  await lab.seed({ identities: [{ name: 'anna', disabled: false }] }, { apply: true });
  t.match(lab.export().identities, [{ name: 'anna', disabled: false }, {}]);
  await t.rejects(
    lab.seed({ configs: [{ name: 'addresses', configType: '@intercept.v1', data: {} }] }, { apply: true }),
    /configType cannot be changed; delete it first/,
  );
  await t.rejects(
    lab.seed(
      { configTypes: [], configs: [], services: [{ name: 'x', encryptionRequired: true, configs: ['@none'] }] },
      { prune: true },
    ),
    /no config none/,
  );
});

t.test('entities that refer to each other are deleted together; those that the file still names are not', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  const own: SeedDocument = { configTypes: [{ name: 'own' }], configs: [{ name: 'c', configType: '@own', data: {} }] };
  await lab.seed(own);
  const service = { name: 'web', encryptionRequired: true, configs: ['@c'] };
  const options = { apply: true, prune: true };
  await t.rejects(
    lab.seed({ configs: [], services: [service] }, options),
    /^configs: the config c cannot be deleted: service web of the seed refers to it; add it to configs$/,
  );
  await lab.seed({ services: [service] });
  t.match(await lab.seed({ configTypes: [], configs: [] }, options), { deleted: { configs: 1, configTypes: 1 } });
  t.match(lab.export().services, [{ name: 'web', configs: [] }]);
});

t.test('a signer changes to an auth policy of the same seed', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  const signer = { name: 'issuer', issuer: 'https://a.example', audience: 'b', enabled: true };
  await lab.seed({ externalJwtSigners: [{ ...signer, jwksEndpoint: 'https://a.example/keys' }] });
  const [policy] = lab.export().authPolicies ?? [];
  t.equal(policy, undefined);
  const { primary, secondary } = (await simulator.admin.authPolicies.list())[0] ?? {};
  const document = {
    authPolicies: [{ name: 'strict', primary, secondary }],
    externalJwtSigners: [{ ...signer, enrollAuthPolicyId: '@strict' }],
  } as SeedDocument;
  t.match(await lab.seed(document, { apply: true }), {
    created: { authPolicies: 1 },
    changed: { externalJwtSigners: 1 },
  });
  t.match(lab.export().externalJwtSigners, [{ enrollAuthPolicyId: '@strict' }]);
});

t.test('a value in another form than the stored one does not change anything', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  const document: SeedDocument = {
    identities: [
      { name: 'anna', roleAttributes: ['b', 'a', 'b'], defaultHostingPrecedence: 'default', disabled: true },
    ],
    postureChecks: [
      { name: 'mac', typeId: 'MAC', macAddresses: ['00:11:22:33:44:AA'] },
      { name: 'domain', typeId: 'DOMAIN', domains: ['b.example', 'a.example', 'b.example'] },
    ],
  };
  const index = () => {
    lab.snapshots.take('now');
    return lab.snapshots.list().at(-1)?.index;
  };
  await lab.seed(document);
  const before = simulator.lab.export();
  const indexBefore = index();
  t.same(await lab.seed(document, { apply: true, plan: true }), {
    created: {},
    existing: { identities: 1, postureChecks: 2 },
    changed: {},
    steps: [],
  });
  await lab.seed(document, { apply: true });
  t.equal(index(), indexBefore, 'clients and routers get no change');
  t.match(await lab.seed({ postureChecks: [{ name: 'mac', macAddresses: ['1'] }] } as never, { apply: true }), {
    changed: { postureChecks: 1 },
  });
  t.notSame(lab.export(), before);
  const service = { name: 'web', encryptionRequired: true };
  await lab.seed({ services: [service], edgeRouters: [{ name: 'edge' }] });
  await t.rejects(
    lab.seed({ services: [{ ...service, encryptionRequired: false }] }, { apply: true }),
    /service web: encryptionRequired cannot be changed/,
  );
  const terminator = { service: '@web', router: '@edge', binding: 'transport', address: 'tcp:a:1' };
  await t.rejects(lab.seed({ terminators: [terminator, terminator] }), /terminators\[1\]: terminator appears twice/);
});

t.test('the settings of a file replace those of the identity', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  const host = (name: string) => ({ name, configType: '@host.v1', data: { protocol: 'tcp', address: name, port: 1 } });
  const services = ['web', 'mail'].map((name) => ({ name, encryptionRequired: true }));
  const anna = (...names: string[]) => ({
    identities: [{ name: 'anna', serviceSettings: names.map((name) => ({ service: `@${name}`, configs: ['@c'] })) }],
  });
  await lab.seed({ configs: [host('c')], services, ...anna('web', 'mail') });
  await lab.seed(anna('mail'), { apply: true });
  t.match(lab.export().identities, [{ serviceSettings: [{ service: '@mail', configs: ['@c'] }] }]);
  t.match(await lab.seed(anna('mail'), { apply: true }), { existing: { identities: 1 }, changed: {} });
  await lab.seed(anna(), { apply: true });
  t.equal(lab.export().identities?.[0]?.serviceSettings, undefined);
});

t.test('comparisons run one after another; too many at once are rejected', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const asked = Array.from({ length: 20 }, () => simulator.lab.whatIf({}));
  const outcomes = await Promise.allSettled(asked);
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 17, 'one runs, and 16 wait');
  t.match(outcomes.at(-1), { status: 'rejected', reason: { code: 'QUEUE_FULL' } });
  t.match(await simulator.lab.whatIf({}), { totals: { gained: 0, lost: 0 } });
});

t.test('what-if compares rights on a copy, for the API and for an export', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed(NETWORK);
  const before = lab.export();
  const change: SeedDocument = {
    identities: [
      { name: 'ben', roleAttributes: ['staff'] },
      { name: 'anna', roleAttributes: [] },
    ],
  };
  const answer = await lab.whatIf(change);
  t.match(answer, {
    gained: [
      { identity: 'ben', service: 'db', type: 'Dial' },
      { identity: 'ben', service: 'web', type: 'Dial' },
    ],
    lost: [
      { identity: 'anna', service: 'db', type: 'Dial' },
      { identity: 'anna', service: 'web', type: 'Dial' },
    ],
    totals: { gained: 2, lost: 2 },
    seeded: { changed: { identities: 2 } },
  });
  t.same(lab.export(), before);
  t.match(await lab.whatIf({ identities: [] }, { prune: true }), { totals: { gained: 0, lost: 2 } });

  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content));
    return join(folder, name);
  };
  const ready = file('ready.json', {
    event: 'ready',
    management: simulator.managementUrl,
    ca: file('ca.pem', ''),
    labToken: simulator.labToken,
  });
  writeFileSync(join(folder, 'ca.pem'), simulator.ca);
  const sim = (...args: string[]) =>
    new Promise<{ code: number | string | null; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [join(ROOT, 'entry/sim-cli.ts'), ...args], (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      );
    });
  const changeFile = file('change.json', change);
  const listed = '+ ben dial db\n+ ben dial web\n- anna dial db\n- anna dial web\ngained 2, lost 2\n';
  const [running, exported, planned] = await Promise.all([
    sim('what-if', changeFile, '--ready', ready),
    sim('what-if', changeFile, '--network', file('export.json', before), '--fail-on', 'none'),
    sim('seed', changeFile, '--apply', '--plan', '--ready', ready),
  ]);
  t.same(running, { code: 1, stdout: listed, stderr: '' });
  t.same(exported, { code: 0, stdout: listed, stderr: '' });
  const many = { services: Array.from({ length: 6_000 }, (_, i) => ({ name: `many-${i}`, encryptionRequired: true })) };
  const inParts = await sim('seed', file('many.json', { identities: [{ name: 'carl' }], ...many }), '--ready', ready);
  t.same(inParts, { code: 0, stdout: 'created 6000 services, 1 identity\n', stderr: '' });
  const wrong = { ...many, identities: [{ name: 'dora' }, { name: 'emil', authPolicy: '@none' }] };
  const rejected = await sim('seed', file('wrong.json', wrong), '--ready', ready);
  t.match(rejected, { code: 1, stderr: /identities\[1\]\.authPolicy: identity emil: there is no auth policy none/ });
  t.notOk(
    lab.export().identities?.some(({ name }) => name === 'dora'),
    'all or nothing',
  );
  t.notOk(lab.snapshots.list().some(({ name }) => name === 'before-seed'));
  t.match(planned, {
    code: 0,
    stdout:
      '~ identity ben: roleAttributes\n~ identity anna: roleAttributes\nplan: created nothing; changed 2 identities\n',
  });
});

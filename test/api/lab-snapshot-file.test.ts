// Snapshots as files: saved in one simulator, restored in another one, without and with credentials.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { Entity } from '../../controller-sim/state/entity.ts';
import type { EntityKind } from '../../controller-sim/state/kinds.ts';
import { startSimulator } from '../../entry/sim.ts';
import { ApiClient } from '../support/clients/api-client.ts';

const QUICK = { passwordCost: { memory: 64, passes: 1 } };

t.test('a file restores the network elsewhere; its administrator stays; credentials only if asked', async (t) => {
  await using source = await ApiClient.start();
  await source.person('jane');
  const { lab } = source.simulator;
  await lab.seed({
    services: [{ name: 'web', encryptionRequired: true, roleAttributes: ['public'] }],
    servicePolicies: [
      { name: 'all', type: 'Dial', semantic: 'AnyOf', identityRoles: ['@jane'], serviceRoles: ['#public'] },
    ],
  });
  lab.snapshots.take('base');
  const [plain, whole] = [lab.snapshots.save('base'), lab.snapshots.save('base', { credentials: true })];
  t.notMatch(JSON.stringify(plain), /passwordHash|"jwt"|recoveryCodes/);
  t.match(JSON.stringify(whole), /passwordHash/);

  await using other = await ApiClient.start();
  const copy = other.simulator.lab;
  const load = (file: unknown, options = {}) =>
    copy.snapshots.load('theirs', JSON.parse(JSON.stringify(file)), options);
  load(plain);
  await copy.restore('theirs');
  t.same(copy.export(), lab.export());
  t.equal(copy.why({ identity: 'jane', service: 'web', type: 'Dial' }).identity.name, 'jane');
  t.equal((await other.manage('GET', '/services')).status, 200, 'the administrator logs in as before');
  await t.rejects(other.login('jane'), 'without her password');
  t.throws(() => load(whole), { code: 'INVALID', message: /has credentials; .* load it with the option credentials/ });
  load(whole, { credentials: true });
  await copy.restore('theirs');
  t.ok(await other.login('jane'), 'with her password');
  t.equal((await other.manage('GET', '/services')).status, 200);

  t.match(await other.manage('GET', '/lab/v1/snapshots/theirs/file'), { data: { credentials: false } });
  const sent = { name: 'again', file: JSON.parse(JSON.stringify(plain)) };
  t.match(await other.manage('POST', '/lab/v1/snapshots/load', sent), { status: 201, data: { name: 'again' } });
  const secret = { name: 'again', file: JSON.parse(JSON.stringify(whole)) };
  t.match(await other.manage('POST', '/lab/v1/snapshots/load', secret), { status: 400, cause: { field: 'file' } });
  const wanted = { ...secret, credentials: true };
  t.match(await other.manage('POST', '/lab/v1/snapshots/load', wanted), { status: 201, data: { name: 'again' } });
});

t.test('entities of another form are rejected, before a list or a policy fails on them', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed(readFileSync(join(import.meta.dirname, '../../examples/seed/network.yml'), 'utf8'));
  lab.snapshots.take('base');
  const file = lab.snapshots.save('base', { credentials: true });
  const trusted = { credentials: true };
  lab.snapshots.load('copy', structuredClone(file), trusted);
  const table: [kind: EntityKind, field: string, values: unknown[], expected: RegExp][] = [
    [
      'service',
      'configs',
      [undefined, null, 'x', [5]],
      /service\[\d+\] of the snapshot: configs is not a list of texts/,
    ],
    ['service', 'name', [undefined, 5, ''], /name is not a text/],
    ['service', 'roleAttributes', [{}, [null]], /roleAttributes is not a list of texts/],
    ['servicePolicy', 'identityRoles', [7], /identityRoles is not a list of texts/],
    ['authPolicy', 'primary', [undefined, null, 'x'], /authPolicy\[0\] of the snapshot: primary is not a map/],
    ['authPolicy', 'secondary', [undefined, null], /secondary is not a map/],
    ['identity', 'serviceConfigs', [null, [], { x: 5 }], /serviceConfigs(?:\.x)? is not a (?:map|list of texts)/],
    ['router', 'configs', [true], /configs is not a list of texts/],
    ['identity', 'isAdmin', ['yes'], /isAdmin is not true or false/],
    ['identity', 'made up', [1], /made up is unknown/],
    ['identity', 'disabledUntil', ['soon'], /disabledUntil is not a time or null/],
    ['postureCheck', 'demands', [{}, { process: null }], /demands\..* is not|demands\..* is unknown/],
    [
      'identity',
      'defaultHostingCost',
      [-1, 65_536, 2 ** 40, 0.5],
      /defaultHostingCost is not a whole number from 0 to/,
    ],
    ['identity', 'serviceHostingCosts', [{ x: 2 ** 40 }], /serviceHostingCosts\.x is not a whole number from 0 to/],
    ['router', 'cost', [2 ** 40], /cost is not a whole number from 0 to 65535/],
    ['service', 'name', ['x'.repeat(40_000)], /service\[0\] of the snapshot: key too large: name has 40000 bytes/],
    ['service', 'id', ['x'.repeat(2_000)], /service\[0\] of the snapshot: an id has at most 1024 bytes/],
    ['configType', 'target', ['all'], /target is not one of service, router, other/],
  ];
  for (const [kind, field, values, message] of table)
    for (const value of values) {
      const entities = file.entities[kind] ?? [];
      t.ok(entities.length > 0, kind);
      const broken = entities.map((entity) => ({ ...entity, [field]: value }) as Entity);
      const content = { ...file, entities: { ...file.entities, [kind]: broken } };
      const load = () => lab.snapshots.load('x', content, trusted);
      t.throws(load, { code: 'INVALID', message }, `${kind}.${field}: ${value}`);
    }
});

t.test('an administrator whose id is part of other texts keeps them as they are', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed({ services: [{ name: 'web', encryptionRequired: true, roleAttributes: ['a', 'b'] }] });
  const file = lab.snapshots.save('start');
  const exported = lab.export();
  lab.snapshots.take('now');
  const { entities } = lab.snapshots.save('now');
  const identity = entities.identity?.map((each) => ({ ...each, id: ',' }));
  lab.snapshots.load('theirs', { ...file, entities: { ...entities, identity } });
  await lab.restore('theirs');
  t.same(lab.export(), exported);
});

t.test('other content is rejected with the reason', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { snapshots } = simulator.lab;
  const file = snapshots.save('start');
  const table: [content: unknown, message: RegExp][] = [
    [undefined, /not a snapshot; its format must be edgeweave-snapshot\/1/],
    [{ ...file, format: 'edgeweave-snapshot/2' }, /its format/],
    [{ ...file, clock: {} }, /no clock/],
    [{ ...file, takenAt: 'x' }, /takenAt of the snapshot is not a time/],
    [{ ...file, takenAt: undefined }, /takenAt/],
    [{ ...file, clock: { now: 0, advanced: 0, rate: -5 } }, /a rate other than 0 to/],
    [{ ...file, clock: { ...file.clock, advanced: 1e15 } }, /more than twenty years away/],
    [{ ...file, clock: { now: -1e15, advanced: 0, rate: 0 } }, /more than twenty years away/],
    [{ ...file, entities: {} }, /no administrator/],
    [{ ...file, entities: { ...file.entities, service: [{ id: 7 }] } }, /service\[0\] of the snapshot: its id/],
    [{ ...file, entities: { ...file.entities, service: {} } }, /service of the snapshot is not a list of entities/],
    [{ ...file, entities: { ...file.entities, identity: [null] } }, /identity of the snapshot is not a list/],
  ];
  for (const [content, message] of table) t.throws(() => snapshots.load('x', content), { code: 'INVALID', message });
  t.throws(() => snapshots.load('start', file), /choose another/);
  t.throws(() => snapshots.save('none'), { code: 'NOT_FOUND' });
});

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----';

/** Changes the content of a file, as a stranger may. */
type Change = (entities: Record<EntityKind, Record<string, unknown>[]>) => void;

t.test('a file grants nothing that the caller did not ask for, and locks nobody out', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  await lab.seed({
    identities: [
      { name: 'anna', password: 'a long secret' },
      { name: 'operator', isAdmin: true, password: 'another secret' },
    ],
    edgeRouters: [{ name: 'r1' }],
    externalJwtSigners: [
      { name: 'idp', issuer: 'https://idp', audience: 'us', enabled: true, jwksEndpoint: 'https://idp.example/keys' },
    ],
  } as object);
  lab.snapshots.take('base');
  const [plain, whole] = [lab.snapshots.save('base'), lab.snapshots.save('base', { credentials: true })];
  const changed = (change: Change, file: unknown = plain) => {
    const copy = JSON.parse(JSON.stringify(file)) as { entities: Record<EntityKind, Record<string, unknown>[]> };
    change(copy.entities);
    return copy;
  };
  const byName = (list: readonly Record<string, unknown>[], name: string) =>
    list.find((each) => each.name === name) as Record<string, unknown>;
  const { authenticator = [] } = whole.entities;
  const table: [what: string, change: Change, message: RegExp][] = [
    [
      'authenticators',
      (file) => (file.authenticator = authenticator as never),
      /authenticator of the snapshot is not empty/,
    ],
    [
      'a second default administrator',
      (file) => (byName(file.identity, 'anna').isDefaultAdmin = true),
      /several default administrators/,
    ],
    ['an administrator', (file) => (byName(file.identity, 'anna').isAdmin = true), /anna of the snapshot gets rights/],
    [
      'permissions',
      (file) => (byName(file.identity, 'anna').permissions = ['admin']),
      /anna of the snapshot gets rights/,
    ],
    [
      'no auth policies',
      (file) => (file.authPolicy = []),
      /authPolicyId refers to default, which the snapshot does not/,
    ],
    [
      'an auth policy without passwords',
      (file) => ((byName(file.authPolicy, 'Default').primary as { updb: { allowed: boolean } }).updb.allowed = false),
      /Default of the snapshot locks the administrator/,
    ],
    ['two identities of a name', (file) => (byName(file.identity, 'anna').name = 'operator'), /name is also that of/],
    [
      'two identities of an id',
      (file) => file.identity.push({ ...byName(file.identity, 'anna') }),
      /its id appears twice/,
    ],
    [
      'an unknown kind',
      (file) => ((file as Record<string, unknown>).apiSession = []),
      /apiSession of the snapshot is not a kind/,
    ],
    [
      'a signer without a source of keys',
      (file) => Object.assign(byName(file.externalJwtSigner, 'idp'), { jwksEndpoint: null }),
      /needs either jwksEndpoint or certPem/,
    ],
    [
      'a signer with an invalid certificate',
      (file) => Object.assign(byName(file.externalJwtSigner, 'idp'), { jwksEndpoint: null, certPem: CERTIFICATE }),
      /externalJwtSigner\[0\] of the snapshot: certPem is not a certificate/,
    ],
  ];
  for (const [what, change, message] of table)
    t.throws(() => lab.snapshots.load('theirs', changed(change)), { code: 'INVALID', message }, what);
  const sameUser: Change = (file) => {
    const [one] = file.authenticator.filter(({ username }) => username === 'anna');
    Object.assign(one ?? {}, { username: api.simulator.username });
  };
  const trusted = { credentials: true };
  t.throws(() => lab.snapshots.load('theirs', changed(sameUser, whole), trusted), {
    message: /username is also that of/,
  });
  const several: Change = (file) => {
    file.authPolicy = [];
    byName(file.identity, 'anna').name = 'operator';
  };
  t.throws(() => lab.snapshots.load('theirs', changed(several)), {
    message: /name is also that of .*; .*authPolicyId/,
  });

  const stranger: Change = (file) => {
    Object.assign(byName(file.externalJwtSigner, 'idp'), { jwksEndpoint: 'https://evil/' });
    byName(file.identity, 'operator').externalId = 'subject of a stranger';
    Object.assign(byName(file.router, 'r1'), { fingerprint: 'f'.repeat(40), isVerified: true });
  };
  lab.snapshots.load('theirs', changed(stranger));
  await lab.restore('theirs');
  lab.snapshots.take('now');
  const { externalJwtSigner: [signer] = [], router: [router] = [], identity } = lab.snapshots.save('now').entities;
  t.match(byName(identity as never, 'operator'), { externalId: null, isAdmin: true }, 'it names nobody anew');
  t.match(router, { fingerprint: null, isVerified: false }, 'it brings no router');
  t.match(signer, { jwksEndpoint: 'https://evil/', vouchesForAdmins: false }, 'it does not vouch for administrators');
  t.ok(await api.login('anna', 'a long secret'), 'credentials stay');
  lab.snapshots.load('theirs', plain);
  await lab.restore('theirs');
  await lab.reset();
  t.equal((await api.manage('GET', '/external-jwt-signers')).status, 200);
});

t.test('a start with a password lets the administrator in, whatever the data says', async (t) => {
  const data = join(mkdtempSync(join(tmpdir(), 'edgeweave-test-')), 'sim.db');
  t.teardown(() => rmSync(dirname(data), { recursive: true }));
  {
    await using api = await ApiClient.start({ data });
    const primary = { ...((await api.get('/auth-policies/default')).primary as object), updb: { allowed: false } };
    await api.change('PATCH', '/auth-policies/default', { primary });
    api.token = '';
    await t.rejects(api.login('admin'), 'the policy permits no passwords');
  }
  await using api = await ApiClient.start({ data });
  t.ok(await api.login('admin'));
  await api.simulator.lab.reset();
  t.ok(await api.login('admin'));
});

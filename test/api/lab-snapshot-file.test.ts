// Snapshots as files: saved in one simulator, restored in another one, without and with credentials.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const load = (file: unknown) => copy.snapshots.load('theirs', JSON.parse(JSON.stringify(file)));
  load(plain);
  await copy.restore('theirs');
  t.same(copy.export(), lab.export());
  t.equal(copy.why({ identity: 'jane', service: 'web', type: 'Dial' }).identity.name, 'jane');
  t.equal((await other.manage('GET', '/services')).status, 200, 'the administrator logs in as before');
  await t.rejects(other.login('jane'), 'without her password');
  load(whole);
  await copy.restore('theirs');
  t.ok(await other.login('jane'), 'with her password');
  t.equal((await other.manage('GET', '/services')).status, 200);

  t.match(await other.manage('GET', '/lab/v1/snapshots/theirs/file'), { data: { credentials: false } });
  const sent = { name: 'again', file: JSON.parse(JSON.stringify(plain)) };
  t.match(await other.manage('POST', '/lab/v1/snapshots/load', sent), { status: 201, data: { name: 'again' } });
});

t.test('entities of another form are rejected, before a list or a policy fails on them', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed(readFileSync(join(import.meta.dirname, '../../examples/seed/network.yml'), 'utf8'));
  lab.snapshots.take('base');
  const file = lab.snapshots.save('base', { credentials: true });
  lab.snapshots.load('copy', structuredClone(file));
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
    ['authPolicy', 'primary', [undefined, null, 'x'], /primary.extJwt.allowedSigners is not a list of texts/],
    ['authPolicy', 'secondary', [undefined, null], /secondary.requireExtJwtSigner is not a text or null/],
    ['identity', 'serviceConfigs', [null, [], { x: 5 }], /serviceConfigs is not a map/],
    ['router', 'configs', [true], /configs is not a list of texts/],
  ];
  for (const [kind, field, values, message] of table)
    for (const value of values) {
      const entities = file.entities[kind] ?? [];
      t.ok(entities.length > 0, kind);
      const broken = entities.map((entity) => ({ ...entity, [field]: value }) as Entity);
      const content = { ...file, entities: { ...file.entities, [kind]: broken } };
      t.throws(() => lab.snapshots.load('x', content), { code: 'INVALID', message }, `${kind}.${field}: ${value}`);
    }
});

t.test('an administrator whose id is part of other texts keeps them as they are', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { lab } = simulator;
  await lab.seed({ services: [{ name: 'web', encryptionRequired: true, roleAttributes: ['a', 'b'] }] });
  const file = lab.snapshots.save('start', { credentials: true });
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

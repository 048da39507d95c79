// Snapshots as files: saved in one simulator, restored in another one, without and with credentials.

import t from 'tap';
import { startSimulator } from '../../controller-sim/index.ts';
import { ApiClient } from '../support/api-client.ts';

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

t.test('other content is rejected with the reason', async (t) => {
  await using simulator = await startSimulator(QUICK);
  const { snapshots } = simulator.lab;
  const file = snapshots.save('start');
  const table: [content: unknown, message: RegExp][] = [
    [undefined, /not a snapshot; its format must be edgeweave-snapshot\/1/],
    [{ ...file, format: 'edgeweave-snapshot/2' }, /its format/],
    [{ ...file, clock: {} }, /no clock/],
    [{ ...file, entities: {} }, /no administrator/],
    [{ ...file, entities: { ...file.entities, service: [{ id: 7 }] } }, /service\[0\] of the snapshot: its id/],
  ];
  for (const [content, message] of table) t.throws(() => snapshots.load('x', content), { code: 'INVALID', message });
  t.throws(() => snapshots.load('start', file), /choose another/);
  t.throws(() => snapshots.save('none'), { code: 'NOT_FOUND' });
});

// The simulator as a library, as a test program uses it: listeners, close, and restarts from a data file.

import { join } from 'node:path';
import t from 'tap';
import { openClient, startSimulator } from '../../entry/sim.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

t.test('a listener with two subscriptions receives the events of both until each of them ends', async (t) => {
  await using api = await ApiClient.start();
  const received: string[] = [];
  const listener = ({ namespace }: { namespace: string }) => void received.push(namespace);
  const { events } = api.simulator;
  const endChanges = events.subscribe(listener, ['entityChange']);
  const endLogins = events.subscribe(listener, ['authentication']);
  await api.create('/services', { name: 'first', encryptionRequired: true });
  t.same(new Set(received), new Set(['authentication', 'entityChange']));
  endLogins();
  received.length = 0;
  await api.create('/services', { name: 'second', encryptionRequired: true });
  t.same(new Set(received), new Set(['entityChange']));
  endChanges();
  received.length = 0;
  await api.create('/services', { name: 'third', encryptionRequired: true });
  t.same(received, []);
});

t.test('the end of a block ends faults, subscriptions and snapshots', async (t) => {
  await using simulator = await startSimulator();
  const { lab, events, admin } = simulator;
  const received: unknown[] = [];
  {
    using fault = lab.faults.add({ kind: 'http', operation: 'listConfigs', delay: 1, times: 2 });
    using _ = lab.journal.subscribe((entry) => received.push(entry.kind));
    using _events = events.subscribe((event) => received.push(event.namespace), ['entityChange']);
    using snapshot = lab.snapshots.take('inside');
    await admin.configs.list();
    t.equal(fault.hits, 1);
    t.same(fault.fault, { id: 'f1', kind: 'http', operation: 'listConfigs', delay: 1, times: 2, hits: 1 });
    await admin.services.create({ name: 'inside', encryptionRequired: true });
    t.same([...new Set(received)].sort(), ['entityChange', 'http']);
    t.match(await snapshot.restore({ keep: ['journal'] }), { deleted: 1 });
    t.equal(fault.hits, 0, 'as in the snapshot');
  }
  t.same(lab.faults.list(), []);
  t.same(
    lab.snapshots.list().map(({ name }) => name),
    ['start'],
  );
  received.length = 0;
  await admin.services.create({ name: 'outside', encryptionRequired: true });
  t.same(received, []);
});

t.test('a handle counts after a restore, and does nothing to its successor', async (t) => {
  await using simulator = await startSimulator();
  const { admin } = simulator;
  const { faults, snapshots } = simulator.lab;
  const fault = faults.add({ kind: 'http', operation: 'listConfigs', delay: 1 });
  const first = snapshots.take('base');
  await admin.configs.list();
  t.equal(fault.hits, 1);
  await first.restore();
  t.equal(fault.hits, 0);
  await admin.configs.list();
  t.equal(fault.hits, 1);
  fault.remove();
  fault.remove();
  t.same(faults.list(), []);
  await first.restore();
  t.match(faults.list(), [{ id: fault.id, hits: 0 }], 'the snapshot contains it');
  faults.remove(fault.id);
  const second = snapshots.take('base');
  first.remove();
  await t.rejects(first.restore(), { name: 'UnknownError', message: /base was deleted, or replaced/ });
  t.equal(snapshots.list().length, 2);
  second.remove();
  await t.rejects(snapshots.restore('base'), /there is no snapshot base/);
});

t.test('unknown options of the lab, the events and the typed client are rejected', async (t) => {
  await using simulator = await startSimulator();
  const { lab, events, admin, baseUrl, ca } = simulator;
  const wrong = (value: unknown) => value as never;
  await t.rejects(lab.restore('start', wrong({ keeps: ['clock'] })), /keeps is unknown; did you mean keep\?/);
  await t.rejects(lab.reset(wrong({ keeps: [] })), /keeps is unknown/);
  await t.rejects(lab.journal.waitFor({}, wrong({ timeOut: 1 })), /timeOut is unknown; did you mean timeout\?/);
  await t.rejects(lab.journal.verify({}, wrong({ time: 1 })), /time is unknown; did you mean times\?/);
  await t.rejects(lab.service('web', wrong({ host: 'a', port: 1, adress: 'x' })), /did you mean address\?/);
  await t.rejects(
    lab.identity('anna', wrong({ roles: [] })),
    /roles is unknown; known are roleAttributes|did you mean/,
  );
  t.throws(() => lab.why(wrong({ identity: 'a', service: 'b', typ: 'Dial' })), /typ is unknown; did you mean type\?/);
  t.throws(() => events.subscribe(() => undefined, [], wrong({ version: 3 })), /unknown option version/);
  t.throws(() => events.subscribe(() => undefined, [], wrong({ usageVersion: 4 })), /It must be 2 or 3/);
  t.throws(() => openClient(wrong('managment'), wrong({})), /unknown API managment; did you mean management\?/);
  t.throws(
    () => openClient('client', wrong({ url: baseUrl, ca, username: 'admin' })),
    /option baseUrl is invalid\. It must be a string/,
  );
  t.throws(() => openClient('client', wrong({ baseUrl: 'here', ca, username: 'admin' })), /https:\/\/host:port/);
  await t.rejects(admin.services.list(wrong({ filtr: 'true' })), /unknown parameter filtr; did you mean filter\?/);
  await t.rejects(admin.call('listServices', wrong({ qery: {} })), /unknown option qery; did you mean query\?/);
});

t.test('every call of close waits until the data file is free', async (t) => {
  const data = join(t.testdir(), 'sim.db');
  const { simulator } = await ApiClient.start({ data });
  const first = simulator.close();
  await simulator.close();
  const again = await startSimulator({ data, password: PASSWORD });
  await first;
  await again.close();
});

t.test('data whose administrator has no password starts, whoever has the default name', async (t) => {
  const data = join(t.testdir(), 'sim.db');
  {
    await using api = await ApiClient.start({ data });
    await api.person('other', { isAdmin: true });
    const [own] = await api.get<{ id: string }[]>('/authenticators?filter=updbUsername="admin"');
    const [others] = await api.get<{ id: string }[]>('/authenticators?filter=updbUsername="other"');
    api.token = await api.login('other');
    await api.change('DELETE', `/authenticators/${own?.id}`);
    await api.change('PATCH', `/authenticators/${others?.id}`, { username: 'admin' });
  }
  await using simulator = await startSimulator({ data });
  t.equal(simulator.password, undefined);
});

t.test('a generated password is not lost with a start that fails', async (t) => {
  const data = join(t.testdir(), 'sim.db');
  await using other = await startSimulator();
  await t.rejects(startSimulator({ data, port: other.port }), { code: 'EADDRINUSE' });
  await t.rejects(startSimulator({ data, console: t.testdirName }), { name: 'ConsoleError' });
  await using simulator = await startSimulator({ data });
  const api = new ApiClient(simulator);
  t.same(await api.names('/identities'), ['Default Admin']);
  await api.close();
});

t.test('each changed entity has its own event, and a commit with the same id', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('person');
  const changes: unknown[] = [];
  const commits: unknown[] = [];
  api.simulator.events.subscribe(
    ({ eventType, eventId, entityType }) => {
      if (eventType === 'committed') commits.push(eventId);
      else changes.push([eventId, entityType]);
    },
    ['entityChange'],
  );
  await api.change('DELETE', `/identities/${id}`);
  t.same(
    changes.map((change) => (change as string[])[1]),
    ['authenticators', 'revocations', 'identities'],
  );
  t.equal(new Set(commits).size, 3);
  t.same(
    commits,
    changes.map((change) => (change as string[])[0]),
  );
});

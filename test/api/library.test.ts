// The simulator as a library, as a test program uses it: listeners, close, and restarts from a data file.

import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/index.ts';
import { ApiClient, PASSWORD } from '../support/api-client.ts';

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

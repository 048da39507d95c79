// Far more concurrent requests than the limit. Every one gets its answer or is asked to retry, and afterwards the state
// is as before.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { ApiClient, JSON_TYPE, PASSWORD } from '../support/clients/api-client.ts';
import { httpClient } from '../support/clients/http.ts';

const CONNECTIONS = 300;
/** Milliseconds for a connection: all handshakes share one processor with the test. */
const REQUESTS = 6_000;
const MIB = 1024 * 1024;
const MAX_GROWTH_BYTES = 100 * MIB;
const LATER = ['RATE_LIMITED', 'SERVER_TOO_MANY_REQUESTS'];

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

interface Wanted {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

/** Reads, writes, logins and invalid requests, in turn. */
function wanted(index: number): Wanted {
  const name = `flood ${index}`;
  const services = '/edge/management/v1/services';
  const table: readonly Wanted[] = [
    { method: 'GET', path: `${services}?limit=5`, status: 200 },
    {
      method: 'POST',
      path: services,
      body: { name, encryptionRequired: true, roleAttributes: [`r${index % 7}`] },
      status: 201,
    },
    { method: 'GET', path: '/edge/client/v1/current-identity', status: 200 },
    { method: 'PATCH', path: `${services}/shared`, body: { tags: { index: String(index) } }, status: 404 },
    { method: 'GET', path: '/fabric/v1/circuits', status: 200 },
    { method: 'POST', path: services, body: { name: 'shared', encryptionRequired: true }, status: 400 },
  ];
  return table[index % table.length] as Wanted;
}

t.test('requests in a flood are answered or asked to retry, and leave nothing behind', async (t) => {
  await using simulator = await startSimulator({ passwordCost: TEST_COST });
  await using api = new ApiClient(simulator);
  await api.create('/services', { name: 'shared', encryptionRequired: true });
  const before = heap();
  const clients = httpClient({ ca: simulator.ca }, { connections: CONNECTIONS });
  const wrong: string[] = [];
  let created = 0;
  const ask = async (index: number) => {
    const { method, path, body, status } = wanted(index);
    const answer = await api.ask(method, path, { token: api.token, body, type: JSON_TYPE, as: clients });
    if (status === 201 && answer.status === 201) created += 1;
    const isLater = answer.status === 429 && LATER.includes(answer.code ?? '') && 'apiVersion' in answer.meta;
    if (answer.status !== status && !isLater) wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
  await Promise.all(
    Array.from({ length: REQUESTS }, (_, index) => ask(index).catch((error: unknown) => wrong.push(String(error)))),
  );
  t.same(wrong, []);
  t.ok(created > 0, `${created} services were created`);
  t.match(await api.get('/summary'), { services: created + 1 }, 'acknowledged changes are stored, and no others');
  await clients.close();
  const growth = heap() - before;
  t.ok(growth < MAX_GROWTH_BYTES, `the heap grew by ${Math.round(growth / MIB)} MiB`);
  t.equal((await api.manage('GET', '/services/none')).status, 404);
});

t.test('requests on one connection beyond the limit', async (t) => {
  await using simulator = await startSimulator({ passwordCost: TEST_COST });
  await using api = new ApiClient(simulator);
  const clients = httpClient({ ca: simulator.ca }, { connections: 100, pipelining: 50 });
  const statuses = new Set<number>();
  const ask = async () => {
    const { status } = await api.ask('GET', '/version', { as: clients });
    statuses.add(status);
  };
  await Promise.all(Array.from({ length: 4_000 }, ask));
  statuses.delete(429);
  t.same([...statuses], [200]);
  await clients.close();
});

t.test('wrong current passwords from one address leave room for passwords of others', async (t) => {
  const passwordCost = { memory: 19_456, passes: 8 };
  await using api = await ApiClient.start({ passwordCost, passwordsWaiting: 1 });
  await api.person('anna');
  const token = await api.login('anna', PASSWORD);
  const [own] = await api.get('/current-identity/authenticators', token);
  const identityId = await api.create('/identities', { name: 'berta', type: 'User', isAdmin: false });
  const as = httpClient({ ca: api.simulator.ca }, { localAddress: '127.0.0.2', connections: 30 });
  const body = { username: 'anna', currentPassword: 'wrong', password: PASSWORD };
  const flood = Array.from({ length: 30 }, () =>
    api.ask('PUT', `/current-identity/authenticators/${own.id}`, { token, body, as }),
  );
  await Promise.race(flood);
  const authenticator = { identityId, method: 'updb', username: 'berta', password: PASSWORD };
  t.match(await api.manage('POST', '/authenticators', authenticator), { status: 201 });
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  t.same([...new Set(statuses)].sort(), [401, 429]);
  await as.close();
});

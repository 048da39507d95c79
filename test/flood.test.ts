// Far more requests at once than a controller likes: every one is answered, with what was asked for or with the request to come later,
// and afterwards everything is as before.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { Agent, type Dispatcher, request } from 'undici';
import { ApiCaller } from './support/api-caller.ts';

const CONNECTIONS = 300;
const REQUESTS = 6_000;
const MIB = 1024 * 1024;
const MOST_GROWTH = 100 * MIB;
const LATER = ['RATE_LIMITED', 'SERVER_TOO_MANY_REQUESTS'];

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

interface Wanted {
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
}

/** Reads, writes, logins and nonsense, in turn. */
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

t.test('a flood is answered or asked to come later, and leaves nothing behind', async (t) => {
  await using api = await ApiCaller.start();
  await api.create('/services', { name: 'shared', encryptionRequired: true });
  const { baseUrl, ca } = api.simulator;
  const before = heap();
  const agent = new Agent({ connect: { ca }, connections: CONNECTIONS, pipelining: 1 });
  const wrong: string[] = [];
  let made = 0;
  const ask = async (index: number) => {
    const { method, path, body, status } = wanted(index);
    const response = await request(`${baseUrl}${path}`, {
      method,
      dispatcher: agent,
      headers: { 'content-type': 'application/json', 'zt-session': api.token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = (await response.body.json()) as {
      data?: unknown;
      error?: { code: string; requestId?: string };
      meta: object;
    };
    if (status === 201 && response.statusCode === 201) made += 1;
    const isLater =
      response.statusCode === 429 && LATER.includes(answer.error?.code ?? '') && 'apiVersion' in answer.meta;
    if (response.statusCode !== status && !isLater)
      wrong.push(`${method} ${path}: ${response.statusCode} ${JSON.stringify(answer.error)}`);
  };
  await Promise.all(
    Array.from({ length: REQUESTS }, (_, index) => ask(index).catch((error: unknown) => wrong.push(String(error)))),
  );
  t.same(wrong, []);
  t.ok(made > 0, `${made} services were made`);
  t.match(await api.get('/summary'), { services: made + 1 }, 'what was answered was done, and nothing else');
  await agent.close();
  const growth = heap() - before;
  t.ok(growth < MOST_GROWTH, `the heap grew by ${Math.round(growth / MIB)} MiB`);
  t.equal((await api.ask('GET', '/services/none')).status, 404);
});

t.test('more requests on a connection than can be answered at once', async (t) => {
  await using api = await ApiCaller.start();
  const { baseUrl, ca } = api.simulator;
  const agent = new Agent({ connect: { ca }, connections: 100, pipelining: 50 });
  const statuses = new Set<number>();
  const ask = async () => {
    const response = await request(`${baseUrl}/edge/client/v1/version`, { dispatcher: agent });
    statuses.add(response.statusCode);
    await response.body.dump();
  };
  await Promise.all(Array.from({ length: 4_000 }, ask));
  statuses.delete(429);
  t.same([...statuses], [200]);
  await agent.close();
});

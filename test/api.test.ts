// What clients of the simulator's APIs rely on, whatever they send.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { Agent, type Dispatcher, request } from 'undici';
import { VirtualClock } from '#lib/clock.ts';
import { seededRandom } from '#lib/random.ts';
import { TEST_COST } from '../controller-sim/auth/passwords.ts';
import { type Simulator, startSimulator } from '../controller-sim/simulator.ts';

const SEED = 1;

async function withSimulator(work: (simulator: Simulator, agent: Agent) => Promise<void>): Promise<void> {
  // Ids decide the order of lists, and so which entries a page shows.
  const random = seededRandom(SEED);
  await using simulator = await startSimulator({
    username: 'admin',
    password: 'admin',
    passwordCost: TEST_COST,
    random,
  });
  const agent = new Agent({ connect: { ca: simulator.ca } });
  await work(simulator, agent);
  await agent.close();
}

t.test('requests that cannot be understood are refused with their place, and the next one is served', async (t) => {
  await withSimulator(async (simulator, agent) => {
    const url = simulator.managementUrl;
    const send = async (
      method: Dispatcher.HttpMethod | 'QUERY',
      path: string,
      body?: string | Buffer,
      type = 'application/json',
      token = '',
    ) => {
      const response = await request(`${url}${path}`, {
        method: method as Dispatcher.HttpMethod,
        dispatcher: agent,
        headers: { 'content-type': type, 'zt-session': token },
        ...(body !== undefined && { body }),
      });
      return {
        status: response.statusCode,
        allow: response.headers.allow,
        body: (await response.body.json()) as {
          data?: { token: string };
          error?: { code: string; cause?: { field?: string } };
        },
      };
    };
    const login = await send(
      'POST',
      '/authenticate?method=password',
      JSON.stringify({ username: 'admin', password: 'admin' }),
    );
    const token = login.body.data?.token ?? '';
    const table: [string, () => ReturnType<typeof send>, number, string][] = [
      ['broken JSON', () => send('POST', '/services', '{"name":', undefined, token), 400, 'COULD_NOT_PARSE_BODY'],
      ['a list as body', () => send('POST', '/services', '[]', undefined, token), 400, 'COULD_NOT_PARSE_BODY'],
      [
        'NUL bytes',
        () => send('POST', '/services', Buffer.from([0, 1, 2]), undefined, token),
        400,
        'COULD_NOT_PARSE_BODY',
      ],
      ['a text as body', () => send('POST', '/services', '"name"', undefined, token), 400, 'COULD_NOT_PARSE_BODY'],
      [
        'a body that is no JSON, where only JSON is taken',
        () => send('POST', '/revocations', 'type: JTI', 'text/plain', token),
        415,
        'COULD_NOT_VALIDATE',
      ],
      [
        'a body of two megabytes',
        () => send('POST', '/services', JSON.stringify({ name: 'x'.repeat(2 << 20) }), undefined, token),
        413,
        'REQUEST_ENTITY_TOO_LARGE',
      ],
      [
        'a type that does not fit',
        () => send('POST', '/services', '{"name":"s","encryptionRequired":"yes"}', undefined, token),
        400,
        'COULD_NOT_PARSE_BODY',
      ],
      [
        'a filter that is none',
        () => send('GET', '/services?filter=%3D%3D', undefined, undefined, token),
        400,
        'INVALID_FILTER',
      ],
      [
        'a filter nested a thousand times',
        () => send('GET', `/services?filter=${'('.repeat(1_000)}true`, undefined, undefined, token),
        400,
        'INVALID_FILTER',
      ],
      ['a path that is not there', () => send('GET', '/castles', undefined, undefined, token), 404, 'NOT_FOUND'],
      [
        'an entity that is not there',
        () => send('GET', '/services/nope', undefined, undefined, token),
        404,
        'NOT_FOUND',
      ],
      ['a method that is not served', () => send('PUT', '/summary', '{}', undefined, token), 405, 'METHOD_NOT_ALLOWED'],
      ['a method that few know', () => send('QUERY', '/services'), 405, 'METHOD_NOT_ALLOWED'],
      [
        'a role semantic that is none',
        () => send('GET', '/services?roleFilter=%23a&roleSemantic=NoneOf', undefined, undefined, token),
        400,
        'COULD_NOT_VALIDATE',
      ],
      ['no session', () => send('GET', '/services'), 401, 'UNAUTHORIZED'],
      [
        'a session that is made up',
        () => send('GET', '/services', undefined, undefined, 'made-up'),
        401,
        'UNAUTHORIZED',
      ],
      [
        'a wrong password',
        () => send('POST', '/authenticate?method=password', '{"username":"admin","password":"wrong"}'),
        401,
        'INVALID_AUTH',
      ],
      [
        'a user that is not there',
        () => send('POST', '/authenticate?method=password', '{"username":"nobody","password":"wrong"}'),
        401,
        'INVALID_AUTH',
      ],
    ];
    for (const [name, ask, status, code] of table) {
      const answer = await ask();
      t.equal(answer.status, status, name);
      t.equal(answer.body.error?.code, code, name);
    }
    t.equal((await send('GET', '/services', undefined, undefined, token)).status, 200);
    t.equal((await send('PUT', '/services')).allow, 'GET, POST', 'what is allowed is told');
    t.same((await send('GET', '/revocations', undefined, undefined, token)).body.data, [], 'nothing came of it');
  });
});

t.test('what an identity without rights asks for is refused; its own services are shown', async (t) => {
  await withSimulator(async (simulator, agent) => {
    const ask = async (method: 'GET' | 'POST', url: string, token: string, body?: unknown) => {
      const response = await request(url, {
        method,
        dispatcher: agent,
        headers: { 'content-type': 'application/json', 'zt-session': token },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return {
        status: response.statusCode,
        body: (await response.body.json()) as {
          data: { id: string; token: string; name: string }[] & { id: string; token: string };
        },
      };
    };
    const { managementUrl: management, clientUrl: client } = simulator;
    const admin = (
      await ask('POST', `${management}/authenticate?method=password`, '', { username: 'admin', password: 'admin' })
    ).body.data.token;
    const identity = (
      await ask('POST', `${management}/identities`, admin, { name: 'user', type: 'User', isAdmin: false })
    ).body.data.id;
    await ask('POST', `${management}/authenticators`, admin, {
      identityId: identity,
      method: 'updb',
      username: 'user',
      password: 'secret',
    });
    for (const name of ['allowed', 'other'])
      await ask('POST', `${management}/services`, admin, { name, encryptionRequired: false, roleAttributes: [name] });
    await ask('POST', `${management}/service-policies`, admin, {
      name: 'dial',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: [`@${identity}`],
      serviceRoles: ['#allowed'],
    });
    const user = (
      await ask('POST', `${client}/authenticate?method=password`, '', { username: 'user', password: 'secret' })
    ).body.data.token;
    t.equal((await ask('GET', `${management}/services`, user)).status, 401);
    t.same(
      (await ask('GET', `${client}/services`, user)).body.data.map(({ name }) => name),
      ['allowed'],
    );
  });
});

t.test('connections that say too little or nonsense end; the others are served', async (t) => {
  const clock = new VirtualClock(Date.now());
  await using simulator = await startSimulator({ passwordCost: TEST_COST, clock });
  const open = async (bytes: string) => {
    const socket = connect({ port: simulator.port, host: '127.0.0.1', ca: simulator.ca });
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.write(bytes);
    return { socket, text: () => text };
  };
  const half = await open('GET /version HTTP/1.1\r\nHo');
  const body = await open('POST /authenticate?method=password HTTP/1.1\r\nHost: x\r\ncontent-length: 10\r\n\r\n{');
  await sleep(100);
  await clock.advance(20_000);
  await Promise.all([half, body].map(({ socket }) => socket.destroyed || once(socket, 'close')));
  for (const target of ['//:', '///x', '/%zz', '/edge/management/v1/services/%ff', '/x'.repeat(4_000)]) {
    const { socket, text } = await open(`GET ${target} HTTP/1.1\r\nHost: x\r\nconnection: close\r\n\r\n`);
    await once(socket, 'close');
    t.match(text(), /^HTTP\/1\.1 404 .*"code":"NOT_FOUND"/s, target.slice(0, 40));
  }
  const garbage = await open('\0\0\0\r\n\r\n');
  await once(garbage.socket, 'close');
  t.match(garbage.text(), /^HTTP\/1\.1 400 /);
});

t.test('HEAD, OPTIONS, other origins, and answers that are packed', async (t) => {
  await withSimulator(async (simulator, agent) => {
    const ask = (method: 'HEAD' | 'OPTIONS' | 'GET', path: string, headers: Record<string, string> = {}) =>
      request(`${simulator.managementUrl}${path}`, { method, dispatcher: agent, headers });
    const head = await ask('HEAD', '/version');
    t.equal(head.statusCode, 200);
    t.equal(await head.body.text(), '');
    const options = await ask('OPTIONS', '/services/x');
    t.equal(options.statusCode, 204);
    t.equal(options.headers.allow, 'GET, PUT, PATCH, DELETE, OPTIONS');
    await options.body.dump();
    const preflight = await ask('OPTIONS', '/services', {
      origin: 'https://console.example',
      'access-control-request-method': 'POST',
    });
    t.equal(preflight.statusCode, 200);
    t.equal(preflight.headers['access-control-allow-origin'], '*');
    t.match(preflight.headers['access-control-allow-headers'], /zt-session/);
    await preflight.body.dump();
    const other = await ask('GET', '/specs/edge-client/spec', {
      origin: 'https://console.example',
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
    t.equal(other.headers['access-control-allow-origin'], '*');
    t.equal(other.headers['content-encoding'], 'gzip');
    const { data } = JSON.parse(gunzipSync(Buffer.from(await other.body.arrayBuffer())).toString()) as { data: object };
    t.match(data, { openapi: '3.1.0' });
    const unknown = await ask('OPTIONS', '/castles');
    t.equal(unknown.statusCode, 404);
    await unknown.body.dump();
  });
});

// What the reference's web console relies on: how it writes paths and queries, and what it reads of the answers.

import { join } from 'node:path';
import t from 'tap';
import { Agent, type Dispatcher, request } from 'undici';
import { TEST_COST } from '../controller-sim/auth/passwords.ts';
import { type Simulator, startSimulator } from '../controller-sim/simulator.ts';

interface Reply {
  readonly status: number;
  readonly body: { readonly data?: unknown; readonly meta?: unknown; readonly error?: { readonly code: string } };
}

type Send = (method: Dispatcher.HttpMethod, path: string, body?: unknown) => Promise<Reply>;

/** `send` takes paths below the server itself, and speaks for the administrator. */
async function withConsole(work: (send: Send, simulator: Simulator) => Promise<void>): Promise<void> {
  await using simulator = await startSimulator({ username: 'admin', password: 'admin', passwordCost: TEST_COST });
  const agent = new Agent({ connect: { ca: simulator.ca } });
  let token = '';
  const send: Send = async (method, path, body) => {
    const response = await request(new URL(simulator.managementUrl).origin + path, {
      method,
      dispatcher: agent,
      headers: { 'content-type': 'application/json', 'zt-session': token },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.statusCode, body: (await response.body.json()) as Reply['body'] };
  };
  const login = await send('POST', '/edge/management/v1/authenticate?method=password', {
    username: 'admin',
    password: 'admin',
  });
  ({ token } = login.body.data as { token: string });
  await work(send, simulator);
  await agent.close();
}

t.test('slashes that are too many do not matter', async (t) => {
  await withConsole(async (send) => {
    for (const path of [
      '/fabric/v1//routers?limit=1000',
      '/edge/management/v1/identities//',
      '/edge//client/v1/version',
    ])
      t.equal((await send('GET', path)).status, 200, path);
    t.equal((await send('PATCH', '/fabric/v1//links')).body.error?.code, 'METHOD_NOT_ALLOWED');
    t.equal((await send('GET', '/edge/management/v1//castles')).body.error?.code, 'NOT_FOUND');
  });
});

t.test('role attributes are listed whatever they are to be sorted by and cut to; the filter counts', async (t) => {
  await withConsole(async (send) => {
    const at = '/edge/management/v1';
    for (const [name, roleAttributes] of Object.entries({ one: ['a', 'b'], two: ['b', 'c'] }))
      await send('POST', `${at}/services`, { name, encryptionRequired: true, roleAttributes });
    const table: [string, string[], number][] = [
      ['?limit=2&offset=1&sort=name asc', ['a', 'b', 'c'], 3],
      ['?filter=id contains "a" or id = "c"&sort=name asc', ['a', 'c'], 2],
      ['?filter=true sort by id desc skip 1 limit 1', ['b'], 3],
      ['?filter=true limit none', ['a', 'b', 'c'], 3],
    ];
    for (const [query, data, totalCount] of table)
      t.match(await send('GET', `${at}/service-role-attributes${query.replaceAll(' ', '%20')}`), {
        status: 200,
        body: { data, meta: { pagination: { totalCount } } },
      });
  });
});

t.test('a built console is served beside the APIs, and nothing outside its folder', async (t) => {
  const folder = t.testdir({
    'secret.txt': 'not for everybody',
    built: { 'index.html': '<title>console</title>', 'main.js': 'start()', assets: { 'logo.svg': '<svg/>' } },
  });
  await using simulator = await startSimulator({ console: join(folder, 'built') });
  const agent = new Agent({ connect: { ca: simulator.ca } });
  const get = async (path: string, accept = '*/*') => {
    const { statusCode, headers, body } = await request(simulator.baseUrl + path, {
      dispatcher: agent,
      headers: { accept },
    });
    return [statusCode, String(headers['content-type']).split(';')[0], await body.text()];
  };
  const page = [200, 'text/html', '<title>console</title>'];
  t.equal(simulator.consoleUrl, `${simulator.baseUrl}/zac/`);
  t.same(await get('/zac/'), page);
  t.same(await get('/zac'), page);
  t.same(await get('/zac/identities/some-id', 'text/html,*/*'), page, 'a path of its own');
  t.same(await get('/zac/main.js'), [200, 'application/javascript', 'start()']);
  t.same(await get('/assets/logo.svg'), [200, 'image/svg+xml', '<svg/>']);
  for (const path of ['/zac/lost.js', '/assets/lost.svg', '/zac/%2e%2e/secret.txt', '/zac/..%2fsecret.txt'])
    t.match(await get(path), [404, 'application/json', /NOT_FOUND/], path);
  t.match(await get('/edge/management/v1/version'), [200, 'application/json']);
  await agent.close();
});

t.test('a folder without a console is refused, with what to give instead', async (t) => {
  const start = startSimulator({ console: t.testdir({}) });
  await t.rejects(start, {
    code: 'CONSOLE',
    message: /holds no built web console: .*; give the folder with its index/,
  });
  await using simulator = await startSimulator();
  t.equal(simulator.consoleUrl, undefined);
});

// Requirements of the reference's web console: its paths and queries, and the fields that it reads.

import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { ApiClient } from '../support/clients/api-client.ts';

t.test('additional slashes are ignored', async (t) => {
  await using api = await ApiClient.start();
  for (const path of ['/fabric/v1//routers?limit=1000', '/edge/management/v1/identities//', '/edge//client/v1/version'])
    t.equal((await api.manage('GET', path)).status, 200, path);
  t.equal((await api.manage('PATCH', '/fabric/v1//links')).code, 'METHOD_NOT_ALLOWED');
  t.equal((await api.manage('GET', '//castles')).code, 'NOT_FOUND');
});

t.test('lists of role attributes ignore the parameters sort and limit, but not the filter', async (t) => {
  await using api = await ApiClient.start();
  for (const [name, roleAttributes] of Object.entries({ one: ['a', 'b'], two: ['b', 'c'] }))
    await api.create('/services', { name, encryptionRequired: true, roleAttributes });
  const table: [string, string[], number][] = [
    ['?limit=2&offset=1&sort=name asc', ['a', 'b', 'c'], 3],
    ['?filter=id contains "a" or id = "c"&sort=name asc', ['a', 'c'], 2],
    ['?filter=true sort by id desc skip 1 limit 1', ['b'], 3],
    ['?filter=true limit none', ['a', 'b', 'c'], 3],
  ];
  for (const [query, data, totalCount] of table)
    t.match(await api.manage('GET', `/service-role-attributes${query.replaceAll(' ', '%20')}`), {
      status: 200,
      data,
      meta: { pagination: { totalCount } },
    });
});

t.test('a built console is served beside the APIs, and no file outside its folder', async (t) => {
  const folder = t.testdir({
    'secret.txt': 'not for everybody',
    built: { 'index.html': '<title>console</title>', 'main.js': 'start()', assets: { 'logo.svg': '<svg/>' } },
  });
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  await using api = await ApiClient.start({ console: join(folder, 'built') });
  const get = async (path: string, accept = '*/*') => {
    const { status, headers, text } = await api.ask('GET', path, { headers: { accept } });
    return [status, String(headers['content-type']).split(';')[0], text];
  };
  const page = [200, 'text/html', '<title>console</title>'];
  t.equal(api.simulator.consoleUrl, `${api.simulator.baseUrl}/zac/`);
  t.same(await get('/zac/'), page);
  t.same(await get('/zac'), page);
  t.same(await get('/zac/identities/some-id', 'text/html,*/*'), page, 'a path of its own router');
  t.same(await get('/zac/main.js'), [200, 'application/javascript', 'start()']);
  t.same(await get('/assets/logo.svg'), [200, 'image/svg+xml', '<svg/>']);
  for (const path of ['/zac/lost.js', '/assets/lost.svg', '/zac/%2e%2e/secret.txt', '/zac/..%2fsecret.txt'])
    t.match(await get(path), [404, 'application/json', /NOT_FOUND/], path);
  t.match(await get('/edge/management/v1/version'), [200, 'application/json']);
  t.same(warnings.map(String), [], 'no warning of leaking listeners');
});

t.test('a folder without a console is rejected with a remedy', async (t) => {
  const start = startSimulator({ console: t.testdir({}) });
  await t.rejects(start, {
    code: 'CONSOLE',
    message: /holds no built web console: .*; give the folder with its index/,
  });
  await using simulator = await startSimulator();
  t.equal(simulator.consoleUrl, undefined);
});

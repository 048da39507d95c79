// The files of the dashboard over the port: what everybody may read, how browsers must treat it, and the data behind
// the login.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { dashboardPages } from '../../controller-sim/dashboard/pages.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const FOLDER = join(import.meta.dirname, '../../controller-sim/dashboard/page');
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

t.test('every file is served to everybody, with strict headers', async (t) => {
  await using api = await ApiClient.start();
  t.equal(api.simulator.dashboardUrl, `${api.simulator.baseUrl}/lab/`);
  for (const { path } of dashboardPages()) {
    const { status, headers, text } = await api.ask('GET', path === '/lab' ? '/lab/' : path);
    t.equal(status, 200, path);
    t.equal(headers['content-type'], TYPES[/\.(\w+)$/.exec(path)?.[1] ?? 'html'], path);
    t.equal(headers['content-security-policy'], POLICY, path);
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
      'cross-origin-resource-policy': 'same-origin',
    });
    t.ok(text.length > 100, path);
    t.notMatch(
      text,
      /<script>|\bon\w+="|https?:\/\/(?!www\.w3\.org)|\beval\(|innerHTML =/,
      `${path} has no inline scripts`,
    );
  }
});

t.test('the table has every file of the folder, and every imported module', async (t) => {
  await using api = await ApiClient.start();
  const paths = new Set(dashboardPages().map(({ path }) => path));
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }))
    if (/\.(?:js|css)$/.test(file)) t.ok(paths.has(`/lab/${file}`), file);
  for (const path of paths) {
    const { text } = await api.ask('GET', path === '/lab' ? '/lab/' : path);
    const code = text.replaceAll(/\/\*\*.*?\*\//gs, ''); // types are imported in comments
    const address = new URL(path === '/lab' ? '/lab/' : path, 'https://simulator');
    for (const [, imported, loaded] of code.matchAll(/from '(\.[^']+)'|(?:src|href)="([^"]+\.(?:js|css))"/g)) {
      const { pathname } = new URL(imported ?? loaded ?? '', address);
      t.ok(paths.has(pathname), `${path} imports ${pathname}`);
    }
  }
});

t.test('an unchanged file is not sent again', async (t) => {
  await using api = await ApiClient.start();
  const { headers } = await api.ask('GET', '/lab/app.js');
  const etag = String(headers.etag);
  for (const known of [etag, `"other", ${etag}`, '*']) {
    const again = await api.ask('GET', '/lab/app.js', { headers: { 'if-none-match': known } });
    t.equal(again.status, 304, known);
    t.equal(again.bytes.length, 0);
    t.equal(again.headers.etag, etag);
  }
  t.equal((await api.ask('GET', '/lab/app.js', { headers: { 'if-none-match': '"other"' } })).status, 200);
  t.not((await api.ask('GET', '/lab/style.css')).headers.etag, etag);
});

t.test('HEAD has the headers without the file, gzip is used, other methods are rejected', async (t) => {
  await using api = await ApiClient.start();
  const head = await api.ask('HEAD', '/lab/app.js');
  t.equal(head.status, 200);
  t.equal(head.bytes.length, 0);
  t.equal(head.headers['content-security-policy'], POLICY);
  const { headers } = await api.ask('GET', '/lab/htm.js', { headers: { 'accept-encoding': 'gzip' } });
  t.equal(headers['content-encoding'], 'gzip');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, headers } = await api.ask(method, '/lab/app.js');
    t.equal(status, 405, method);
    t.equal(headers.allow, 'GET');
  }
});

t.test('only the listed files are served', async (t) => {
  await using api = await ApiClient.start();
  const paths = [
    '/lab/pages.ts',
    '/lab/index.html',
    '/lab/layout.test.ts',
    '/lab/page/app.js',
    '/lab/APP.js',
    '/lab/app.js.map',
    '/lab/app.js%00',
    '/lab/%2e%2e/package.json',
    '/lab/..%2f..%2fpackage.json',
    '/lab/..%5cpackage.json',
    '/lab/app.js/x',
    '/labs/app.js',
  ];
  for (const path of paths) t.equal((await api.ask('GET', path)).status, 404, path);
  t.equal((await api.ask('GET', '/lab/app.js?v=1')).status, 200, 'a query is ignored');
});

t.test('nothing of the network without a login', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  const token = await api.login('jane');
  for (const path of ['network', 'clock', 'journal', 'snapshots', 'faults', 'export']) {
    t.equal((await api.ask('GET', `/lab/v1/${path}`)).status, 401, path);
    t.equal((await api.ask('GET', `/lab/v1/${path}`, { token })).status, 401, `${path} for a user`);
  }
  const { text } = await api.ask('GET', '/lab/');
  t.notMatch(text, api.simulator.controllerId);
});

t.test('requests for the page are not in the journal, and faults do not affect them', async (t) => {
  await using api = await ApiClient.start();
  const { faults, journal } = api.simulator.lab;
  faults.add({ kind: 'http', status: 503 });
  for (const path of ['/lab/', '/lab/app.js', '/lab/style.css'])
    t.equal((await api.ask('GET', path)).status, 200, path);
  t.same(journal.entries(), []);
  t.equal((await api.ask('GET', '/edge/client/v1/version')).status, 503);
});

t.test('the option turns it off', async (t) => {
  await using api = await ApiClient.start({ dashboard: false });
  t.equal(api.simulator.dashboardUrl, undefined);
  for (const path of ['/lab/', '/lab', '/lab/app.js']) t.equal((await api.ask('GET', path)).status, 404, path);
  t.equal((await api.manage('GET', '/lab/v1/network')).status, 200, 'the API stays');
  for (const dashboard of ['yes', 1, null])
    await t.rejects(startSimulator({ dashboard } as object), { message: /dashboard.*true or false/i });
});

t.test('the network has controllers, routers, links, circuits and counts', async (t) => {
  await using api = await ApiClient.start({ cluster: true });
  const { lab, controllerId, baseUrl, controlAddress } = api.simulator;
  const edge = await api.create('/edge-routers', { name: 'west' });
  const transit = await api.create('/transit-routers', { name: 'relay', cost: 7 });
  const network = await api.get('/lab/v1/network');
  t.same(network, JSON.parse(JSON.stringify(lab.network())), 'as the library has it');
  t.same(network.controllers, [
    {
      id: controllerId,
      url: baseUrl,
      controlAddress,
      connected: true,
      leader: true,
      startedAt: new Date(api.clock.now()).toISOString(),
      index: network.controllers[0].index,
      behind: 0,
    },
  ]);
  const offline = { online: false, disabled: false, identities: 0 };
  t.strictSame(
    network.routers.sort((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)),
    [
      { id: transit, name: 'relay', type: 'transit', cost: 7, ...offline },
      { id: edge, name: 'west', type: 'edge', cost: 0, ...offline },
    ],
  );
  t.same([network.links, network.circuits], [[], []]);
  t.same(network.totals, { routers: 2, online: 0, links: 0, circuits: 0 });
  t.match(network.entities, { identities: 1, routers: 2, services: 0, configTypes: 8 });
  t.equal(network.journal.last, lab.journal.last);
});

t.test('a large network is cut, and counted', async (t) => {
  await using api = await ApiClient.start();
  const edgeRouters = Array.from({ length: 1_200 }, (_, index) => ({ name: `router-${index}` }));
  await api.simulator.lab.seed({ edgeRouters });
  const { status, data } = await api.manage('GET', '/lab/v1/network');
  t.equal(status, 200);
  t.equal(data.routers.length, 1_000);
  t.equal(data.totals.routers, 1_200);
});

t.test('an administrator who may only read reads the network, and changes nothing', async (t) => {
  await using api = await ApiClient.start();
  await api.person('reader', { permissions: ['admin_readonly'] });
  const { data } = await api.ask('POST', '/lab/v1/authenticate?method=password', {
    body: { username: 'reader', password: PASSWORD },
  });
  t.equal((await api.ask('GET', '/lab/v1/network', { token: data.token })).status, 200);
  t.equal((await api.ask('POST', '/lab/v1/reset', { token: data.token })).status, 401);
});

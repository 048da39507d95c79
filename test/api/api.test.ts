// The contract of the simulator's APIs for all kinds of requests.

import { once } from 'node:events';
import { connect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { ApiClient, type AskOptions, JSON_TYPE } from '../support/clients/api-client.ts';
import { until } from '../support/until.ts';

const MANAGEMENT = '/edge/management/v1';

t.test('invalid requests are rejected with the position of the error, and the next one is served', async (t) => {
  await using api = await ApiClient.start();
  const as = api.connect(undefined, 1);
  const token = await api.login('admin');
  const send = (method: string, path: string, body?: string, different: AskOptions = {}) =>
    api.ask(method, MANAGEMENT + path, { body, token, type: JSON_TYPE, as, ...different });
  const anybody = { token: '' };
  const table: [string, string, string, string | undefined, number, string, AskOptions?][] = [
    ['broken JSON', 'POST', '/services', '{"name":', 400, 'COULD_NOT_PARSE_BODY'],
    ['a list as body', 'POST', '/services', '[]', 400, 'COULD_NOT_PARSE_BODY'],
    ['NUL bytes', 'POST', '/services', '\0\u0001\u0002', 400, 'COULD_NOT_PARSE_BODY'],
    ['a text as body', 'POST', '/services', '"name"', 400, 'COULD_NOT_PARSE_BODY'],
    [
      'a body that is not JSON, where only JSON is accepted',
      'POST',
      '/revocations',
      'type: JTI',
      415,
      'COULD_NOT_VALIDATE',
      { type: 'text/plain' },
    ],
    [
      'a body of two megabytes',
      'POST',
      '/services',
      JSON.stringify({ name: 'x'.repeat(2 << 20) }),
      413,
      'REQUEST_ENTITY_TOO_LARGE',
    ],
    ['a wrong type', 'POST', '/services', '{"name":"s","encryptionRequired":"yes"}', 400, 'COULD_NOT_PARSE_BODY'],
    ['an invalid filter', 'GET', '/services?filter=%3D%3D', undefined, 400, 'INVALID_FILTER'],
    [
      'a filter nested a thousand times',
      'GET',
      `/services?filter=${'('.repeat(1_000)}true`,
      undefined,
      400,
      'INVALID_FILTER',
    ],
    ['an unknown path', 'GET', '/castles', undefined, 404, 'NOT_FOUND'],
    ['an unknown entity', 'GET', '/services/nope', undefined, 404, 'NOT_FOUND'],
    ['a method that is not supported', 'PUT', '/summary', '{}', 405, 'METHOD_NOT_ALLOWED'],
    ['a rare method', 'QUERY', '/services', undefined, 405, 'METHOD_NOT_ALLOWED', anybody],
    [
      'an invalid role semantic',
      'GET',
      '/services?roleFilter=%23a&roleSemantic=NoneOf',
      undefined,
      400,
      'COULD_NOT_VALIDATE',
    ],
    ['no session', 'GET', '/services', undefined, 401, 'UNAUTHORIZED', anybody],
    ['an invented session', 'GET', '/services', undefined, 401, 'UNAUTHORIZED', { token: 'created-up' }],
    [
      'a wrong password',
      'POST',
      '/authenticate?method=password',
      '{"username":"admin","password":"wrong"}',
      401,
      'INVALID_AUTH',
      anybody,
    ],
    [
      'an unknown user',
      'POST',
      '/authenticate?method=password',
      '{"username":"nobody","password":"wrong"}',
      401,
      'INVALID_AUTH',
      anybody,
    ],
  ];
  for (const [name, method, path, body, status, code, different] of table) {
    const answer = await send(method, path, body, different);
    t.equal(answer.status, status, name);
    t.equal(answer.code, code, name);
  }
  t.equal((await send('GET', '/services')).status, 200);
  t.equal(
    (await send('PUT', '/services', undefined, anybody)).headers.allow,
    'GET, POST',
    'the allowed methods are named',
  );
  t.same((await send('GET', '/revocations')).data, [], 'nothing was created');
});

t.test('requests of an identity without rights are rejected, except for its own services', async (t) => {
  await using api = await ApiClient.start();
  const identity = await api.person('user');
  for (const name of ['allowed', 'other'])
    await api.create('/services', { name, encryptionRequired: false, roleAttributes: [name] });
  await api.create('/service-policies', {
    name: 'dial',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: [`@${identity}`],
    serviceRoles: ['#allowed'],
  });
  const token = await api.login('user');
  t.equal((await api.ask('GET', `${MANAGEMENT}/services`, { token })).status, 401);
  t.same(await api.names('/services', token), ['allowed']);
});

t.test('connections with incomplete or invalid requests are closed; others are served', async (t) => {
  await using api = await ApiClient.start();
  const { clock, simulator } = api;
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
  await until('both requests', () => clock.timers().filter((name) => name === 'http read').length >= 2);
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

t.test('the APIs have no HEAD; OPTIONS, other origins, and compressed answers', async (t) => {
  await using api = await ApiClient.start();
  const as = api.connect(undefined, 1);
  const ask = (method: string, path: string, headers = {}) => api.ask(method, MANAGEMENT + path, { headers, as });
  const head = await ask('HEAD', '/version');
  t.equal(head.status, 405);
  t.equal(head.text, '');
  for (const path of ['/health-checks', '/metrics', '/oidc/.well-known/openid-configuration'])
    t.equal((await api.ask('HEAD', `/../../..${path}`)).status, 200, path);
  const options = await ask('OPTIONS', '/services/x');
  t.equal(options.status, 200);
  t.equal(options.headers.allow, 'GET, PUT, PATCH, DELETE, OPTIONS');
  const preflight = await ask('OPTIONS', '/services', {
    origin: 'https://console.example',
    'access-control-request-method': 'POST',
  });
  t.equal(preflight.status, 200);
  t.equal(preflight.headers['access-control-allow-origin'], '*');
  t.match(preflight.headers['access-control-allow-headers'], /zt-session/);
  const other = await ask('GET', '/specs/edge-client/spec', {
    origin: 'https://console.example',
    accept: 'application/json',
    'accept-encoding': 'gzip',
  });
  t.equal(other.headers['access-control-allow-origin'], '*');
  t.equal(other.headers['content-encoding'], 'gzip');
  const { data } = JSON.parse(gunzipSync(other.bytes).toString()) as { data: object };
  t.match(data, { openapi: '3.1.0' });
  const unknown = await ask('OPTIONS', '/castles');
  t.equal(unknown.status, 404);
  t.equal(unknown.headers['access-control-allow-origin'], '*', 'pages can read errors');
});

t.test('pages of other origins may request tokens; clients that reject compression get plain answers', async (t) => {
  await using api = await ApiClient.start();
  const ask = (method: string, path: string, headers = {}) => api.ask(method, path, { headers });
  const origin = 'https://console.example';
  const preflight = await ask('OPTIONS', '/oidc/oauth/token', { origin, 'access-control-request-method': 'POST' });
  t.equal(preflight.status, 200);
  t.equal(preflight.headers['access-control-allow-origin'], '*');
  const page = await ask('GET', '/oidc/login/username?authRequestID=none', { origin });
  t.match(page.headers['access-control-expose-headers'], /auth-request-id, totp-required/);
  const wrong = await ask('PUT', '/oidc/keys');
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.allow, 'GET');
  for (const accept of ['gzip;q=0', 'br, gzip; q=0.0', 'identity']) {
    const plain = await ask('GET', '/swagger.json', { 'accept-encoding': accept });
    t.equal(plain.headers['content-encoding'], undefined, accept);
  }
});

t.test('each API has its description under the path that code generators expect', async (t) => {
  await using api = await ApiClient.start();
  for (const base of ['/edge/management/v1', '/edge/client/v1', '/edge/v1', '/fabric/v1']) {
    const { text } = await api.ask('GET', `${base}/swagger.json`);
    t.match(JSON.parse(text), { openapi: '3.1.0', paths: { '/swagger.json': {} } }, base);
  }
});

t.test('JSON has the content type that SDKs compare as text, without a charset', async (t) => {
  await using api = await ApiClient.start();
  const paths = ['/version', '/identities', '/nothing/at/all', '/oidc/.well-known/openid-configuration', '/oidc/keys'];
  for (const path of paths) t.equal((await api.ask('GET', path)).headers['content-type'], JSON_TYPE, path);
  t.equal((await api.ask('POST', '/enroll?token=created-up')).headers['content-type'], JSON_TYPE);
  t.equal((await api.manage('GET', '/identities')).headers['content-type'], JSON_TYPE);
});

t.test('content types are case-insensitive', async (t) => {
  await using api = await ApiClient.start();
  const token = await api.login(api.simulator.username, api.simulator.password);
  const body = { name: 'shouted', encryptionRequired: false };
  const created = await api.ask('POST', `${MANAGEMENT}/services`, { token, body, type: 'APPLICATION/JSON' });
  t.match(created, { status: 201 });
});

t.test('clients that do not accept JSON get 406, or an answer without a type if they sent a body', async (t) => {
  await using api = await ApiClient.start();
  const token = await api.login(api.simulator.username, api.simulator.password);
  const create = (name: string, accept: string) =>
    api.ask('POST', `${MANAGEMENT}/services`, {
      token,
      body: { name, encryptionRequired: false },
      headers: { accept },
    });
  for (const accept of [
    '*/*',
    'text/html, */*;q=0.1',
    'application/*',
    'text/plain, APPLICATION/JSON ; charset=utf-8',
  ]) {
    t.equal((await api.ask('GET', '/version', { headers: { accept } })).status, 200, accept);
    const created = await create(`accepted ${accept}`, accept);
    t.match(created, { status: 201, headers: { 'content-type': JSON_TYPE } }, accept);
  }
  for (const accept of ['', 'text/html', '*', 'application/json;q=0', 'application/x+json', ','.repeat(2_000)]) {
    const rejected = await api.ask('GET', '/version', { headers: { accept } });
    t.match(rejected, { status: 406, cause: { field: 'Accept', value: accept } }, accept);
    t.equal(rejected.headers['content-type'], JSON_TYPE, 'errors are JSON');
    const name = `rejected ${accept.length}`;
    const created = await create(name, accept);
    t.match(created, { status: 201, data: { id: /./ } }, accept);
    t.equal(created.headers['content-type'], '', accept);
    const again = await create(name, accept);
    t.match(again, { status: 400, cause: { field: 'name' } }, accept);
    t.equal(again.headers['content-type'], '', 'an error that the handler found');
    const options = { token, body: { name }, headers: { accept } };
    const invalid = await api.ask('POST', `${MANAGEMENT}/services`, options);
    t.match(invalid, { status: 400, headers: { 'content-type': JSON_TYPE } }, 'an error found before');
  }
});

t.test('a body without a content type, or with a malformed or another one, is rejected', async (t) => {
  await using api = await ApiClient.start();
  const token = await api.login(api.simulator.username, api.simulator.password);
  const send = (type: string) =>
    api.ask('POST', `${MANAGEMENT}/services`, { token, body: { name: 's', encryptionRequired: false }, type });
  const value = 'application/octet-stream';
  t.match(await send(''), { status: 415, code: 'COULD_NOT_VALIDATE', cause: { field: 'Content-Type', value } });
  t.match(await api.ask('POST', `${MANAGEMENT}/services`, { token, body: {}, headers: { 'content-type': '' } }), {
    status: 415,
  });
  t.match(await send('text/json'), { status: 415, cause: { value: 'text/json' } });
  const malformed = await send('json');
  t.match(malformed, { status: 400, code: 'COULD_NOT_PARSE_BODY' });
  t.match(malformed.cause.message, /^parsing Content-Type header from "json" failed/);
  t.match(await send('Application/JSON; charset=utf-8'), { status: 201 });
});

t.test('an enrollment that accepts only an unsupported content type is rejected', async (t) => {
  await using api = await ApiClient.start();
  const ask = (accept: string) => api.ask('POST', '/enroll?token=created-up', { headers: { accept } });
  t.match(await ask('application/x-pem-file'), { status: 406, code: 'COULD_NOT_VALIDATE' });
  t.match(await ask('application/x-pem-file, application/json'), { status: 400, code: 'INVALID_ENROLLMENT_TOKEN' });
});

t.test('health checks are short on request, and have their own address', async (t) => {
  await using api = await ApiClient.start({ cluster: true });
  const ask = async (path: string) => JSON.parse((await api.ask('GET', `/../../..${path}`)).text);
  const check = async (path: string) => (await ask(path)).data;
  t.match(await check('/health-checks'), { healthy: true, checks: [{ id: 'store.read', lastCheckTime: /Z$/ }] });
  t.same(await check('/health-checks?type=short'), { healthy: true, checks: [{ id: 'store.read', healthy: true }] });
  const { raft } = await ask('/health-checks/controller/raft');
  t.same(raft, { isLeader: true, isRaftEnabled: true });
  const [controller] = await api.get('/controllers');
  const [{ url }] = controller.apiAddresses['health-checks'];
  t.equal(url, `${api.simulator.baseUrl}/health-checks`);
});

t.test('the hosting identity of a terminator belongs to the fabric API', async (t) => {
  await using api = await ApiClient.start();
  const service = await api.create('/services', { name: 's', encryptionRequired: true });
  const router = await api.create('/edge-routers', { name: 'r' });
  const fields = { service, router, binding: 'transport', address: 'tcp:127.0.0.1:1', hostId: 'host' };
  const id = await api.create('/terminators', fields);
  t.notOk('hostId' in (await api.get(`/terminators/${id}`)));
  t.equal((await api.get(`/fabric/v1/terminators/${id}`)).hostId, '');
  await api.change('PATCH', `/fabric/v1/terminators/${id}`, { hostId: 'another' });
  await api.change('PATCH', `/terminators/${id}`, { cost: 7, hostId: 'nobody' });
  t.match(await api.get(`/fabric/v1/terminators/${id}`), { hostId: 'another', cost: 7 });
});

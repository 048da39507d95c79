// The journal of the lab: what the author of a client sees of his requests, in the library, the API and on the command
// line.

import { request as httpsRequest } from 'node:https';
import t from 'tap';
import type { HttpEntry } from '../../controller-sim/lab/journal/journal-entry.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

const JOURNAL = '/lab/v1/journal';

/** The entries of requests, without those of the administrator of the test. */
function requests(api: ApiClient, filter: object = {}): HttpEntry[] {
  return api.simulator.lab.journal.entries({ kind: 'http', ...filter }) as HttpEntry[];
}

t.test('an entry has headers and the answer, without secrets', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  const { lab } = api.simulator;
  lab.journal.clear();
  const token = await api.login('jane');
  await api.ask('GET', '/version', { token, headers: { accept: 'application/json', 'x-trace': 'abc' } });
  const [login, version] = requests(api);
  t.match(login, { answerHeaders: { 'content-type': 'application/json', 'ziti-instance-id': /./ } });
  const { data } = JSON.parse(login?.answer ?? '') as { data: { token: string; identity: { name: string } } };
  t.match(data, { token: '…', identity: { name: 'jane' } });
  t.match(version?.headers, { accept: 'application/json', 'x-trace': '…', 'zt-session': '…' });
  t.notMatch(JSON.stringify(requests(api)), token);
  await api.manage('POST', '/services', { name: 'x' });
  t.match(requests(api).at(-1), { code: 'COULD_NOT_VALIDATE', answer: undefined }, 'an error may repeat what was sent');
  for (let i = 0; i < 20; i++) await api.create('/services', { name: `s${i}`, encryptionRequired: true });
  await api.get('/services?limit=100');
  t.match(requests(api).at(-1), { status: 200, answer: undefined }, 'a large answer is not kept');
});

t.test('a wait answers with the entry that came, or with what is missing', async (t) => {
  await using api = await ApiClient.start();
  await api.manage('GET', '/version');
  const after = api.simulator.lab.journal.last;
  const wait = (body: object) => api.manage('POST', `${JOURNAL}/wait`, body);
  const waiting = wait({ operation: 'listVersion', after, timeout: '50s' });
  await api.ask('GET', '/version');
  t.match(await waiting, { status: 200, data: { entry: { operation: 'listVersion', status: 200 } } });
  t.match(await wait({ operation: 'listVersion', status: 404, timeout: '0s' }), {
    status: 200,
    data: { entry: undefined, message: /at least 1 entry .*the nearest:\n {2}#\d+ GET .*version 200/ },
  });
  t.match(await wait({ timeout: '2m' }), { status: 400, cause: { field: 'timeout' } });
});

t.test('a request that a fault answered, cut or truncated has its caller', async (t) => {
  await using api = await ApiClient.start();
  const person = await api.person('jane');
  const token = await api.login('jane');
  const { lab } = api.simulator;
  for (const effect of [{ status: 429 }, { close: true }, { truncate: true }] as const) {
    lab.faults.add({ kind: 'http', operation: 'listServices', times: 1, ...effect });
    await api.ask('GET', '/services', { token }).catch(() => undefined);
    const entry = await lab.journal.waitFor({
      operation: 'listServices',
      identity: 'jane',
      after: lab.journal.last - 1,
    });
    t.match(entry, { fault: /^f\d+$/, identity: { id: person, name: 'jane' } }, JSON.stringify(effect));
  }
  lab.faults.add({ kind: 'http', operation: 'listServices', times: 1, status: 429 });
  await api.ask('GET', '/services', { token: 'unknown' });
  t.equal(requests(api).at(-1)?.identity, undefined, 'no valid session');
});

t.test('the lab API rejects unknown query parameters and fields', async (t) => {
  await using api = await ApiClient.start();
  for (const [method, path, body, reason] of [
    ['GET', '/journal?metod=GET', undefined, 'metod is unknown; did you mean method?'],
    ['GET', '/clock?x=1', undefined, 'x is unknown; detailClock has no query parameters'],
    ['POST', '/seed?aply=true', {}, 'aply is unknown; did you mean apply?'],
    ['POST', '/what-if?plan=true', {}, 'plan is unknown; known are prune'],
    ['POST', '/snapshots', { name: 'a', credentials: true }, 'credentials is unknown; known are name'],
    ['POST', '/clock/advance', { duration: '1h', rate: 2 }, 'rate is unknown; known are duration'],
    ['PATCH', '/clock', { tim: '2030-01-01' }, 'tim is unknown; did you mean time?'],
    ['POST', '/why/login', { identity: 'a', service: 'b' }, 'service is unknown; known are identity'],
  ] as const)
    t.match(await api.manage(method, `/lab/v1${path}`, body), { status: 400, cause: { reason } }, `${method} ${path}`);
  t.equal((await api.manage('GET', '/edge/management/v1/services?unknown=1')).status, 200, 'as in the reference');
});

t.test('a request has its operation, answer, caller and body', async (t) => {
  await using api = await ApiClient.start();
  const person = await api.person('jane');
  const token = await api.login('jane');
  const { lab } = api.simulator;
  lab.journal.clear();
  await api.ask('GET', '/services?filter=name%3D%22a%22&limit=3', { token });
  const [entry, ...others] = requests(api);
  t.equal(others.length, 0);
  t.match(entry, {
    kind: 'http',
    method: 'GET',
    path: '/edge/client/v1/services',
    query: 'filter=name%3D%22a%22&limit=3',
    api: 'client',
    operation: 'listServices',
    status: 200,
    source: '127.0.0.1',
    identity: { id: person, name: 'jane' },
  });
  t.ok((entry?.bytes ?? 0) > 20);
  await api.manage('POST', '/services', { name: 'x' });
  const [rejected] = requests(api, { failed: true });
  t.match(rejected, {
    operation: 'createService',
    status: 400,
    code: 'COULD_NOT_VALIDATE',
    reason: /encryptionRequired/,
    body: '{"name":"x"}',
  });
});

t.test('unknown paths, methods, OIDC, preflights and broken bodies count', async (t) => {
  await using api = await ApiClient.start();
  const { journal } = api.simulator.lab;
  await api.ask('GET', '/edge/client/v1/nothing');
  await api.ask('PATCH', '/edge/client/v1/version');
  await api.ask('GET', '/oidc/.well-known/openid-configuration');
  await api.ask('POST', '/oidc/oauth/token', { body: 'grant_type=unknown', type: 'application/x-www-form-urlencoded' });
  await api.ask('OPTIONS', '/edge/client/v1/version');
  await api.ask('POST', '/authenticate?method=password', { body: '{"username":' });
  await api.ask('GET', '/edge/client/v1/%zz');
  const shown = requests(api).map(({ method, path, status, code }) => [method, path, status, code]);
  t.same(shown, [
    ['GET', '/edge/client/v1/nothing', 404, 'NOT_FOUND'],
    ['PATCH', '/edge/client/v1/version', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', '/oidc/.well-known/openid-configuration', 200, undefined],
    ['POST', '/oidc/oauth/token', 400, 'unsupported_grant_type'],
    ['OPTIONS', '/edge/client/v1/version', 200, undefined],
    ['POST', '/edge/client/v1/authenticate', 400, 'COULD_NOT_PARSE_BODY'],
    ['GET', '/edge/client/v1/%zz', 404, 'NOT_FOUND'],
  ]);
  t.same(
    journal.entries().map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5, 6, 7],
  );
});

t.test('a client that goes away before the answer is recorded without a status', async (t) => {
  await using api = await ApiClient.start();
  const { baseUrl, ca, lab } = api.simulator;
  const leaving = httpsRequest(`${baseUrl}/edge/client/v1/authenticate?method=password`, {
    method: 'POST',
    ca,
    headers: { 'content-type': 'application/json', 'content-length': 1_000 },
  });
  leaving.on('error', () => undefined);
  leaving.write('{"username":', () => setImmediate(() => leaving.destroy()));
  const entry = await lab.journal.waitFor({ path: '/edge/client/v1/authenticate' });
  t.match(entry, { kind: 'http', method: 'POST' });
  t.notOk((entry as HttpEntry).status === 200);
});

t.test('the API lists, filters and clears; its own requests are not recorded', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  const token = await api.login('jane');
  for (const _ of Array(3)) await api.ask('GET', '/current-identity', { token });
  await api.ask('GET', '/missing/path');
  const list = async (query: string) => {
    const { status, data } = await api.manage('GET', `${JOURNAL}?${query}`);
    t.equal(status, 200, query);
    return data as (HttpEntry & { time: string })[];
  };
  t.equal((await list('identity=jane')).length, 3);
  t.equal((await list('identity=jane&limit=2')).length, 2);
  t.same(
    (await list('failed=true&path=/edge/client/v1/missing')).map(({ path }) => path),
    ['/edge/client/v1/missing/path'],
  );
  t.same(await list('kind=control'), []);
  t.notOk((await list('limit=1000')).some(({ path }) => path.startsWith('/lab')));
  const all = await list('limit=1000');
  t.ok(all.every(({ time }) => !Number.isNaN(Date.parse(time))));
  const { sequence = 0 } = all[2] ?? {};
  t.same(
    (await list(`after=${sequence}&limit=2`)).map((each) => each.sequence),
    [sequence + 1, sequence + 2],
    'with `after`, the first ones: a reader misses none',
  );
  for (const query of ['limit=x', 'limit=-1', 'kind=https', 'failed=maybe', 'after=1.5'])
    t.equal((await api.manage('GET', `${JOURNAL}?${query}`)).status, 400, query);
  t.equal((await api.ask('GET', JOURNAL, { token })).status, 401, 'administrators only');
  t.equal((await api.manage('DELETE', JOURNAL)).status, 200);
  t.same(await list('limit=1000'), []);
});

t.test('a test waits for an entry', async (t) => {
  await using api = await ApiClient.start();
  const { journal } = api.simulator.lab;
  const waiting = journal.waitFor({ path: '/edge/client/v1/version' });
  await api.ask('GET', '/version');
  const first = await waiting;
  t.match(first, { status: 200 });
  t.equal((await journal.waitFor((entry) => entry.kind === 'http' && entry.status === 200)).sequence, first.sequence);
  const later = journal.waitFor({ path: '/edge/client/v1/version', after: journal.last }, { timeout: 5_000 });
  await api.ask('GET', '/version');
  t.equal((await later).sequence, first.sequence + 1);
  const never = journal.waitFor({ path: '/edge/client/v1/specs' }, { timeout: 1_000 });
  never.catch(() => undefined);
  await api.clock.advance(1_001);
  await t.rejects(never, { code: 'TIMEOUT' });
  await t.rejects(journal.waitFor({ pth: '/x' } as object), /did you mean path\?/);
  await t.rejects(journal.waitFor({ path: '/edge/client/v1/servicse' }), /no operation has the path .*services\?/);
  await t.rejects(journal.verify({ path: '/none' }, { times: 0 }), /no operation has the path/);
  t.throws(
    () => api.simulator.lab.faults.add({ kind: 'http', path: '/none', close: true }),
    /no operation has the path/,
  );
  const closing = journal.waitFor({ path: '/edge/client/v1/specs' });
  closing.catch(() => undefined);
  await api.simulator.close();
  await t.rejects(closing, { code: 'CLOSED' });
});

t.test('subscribers receive entries; one that throws harms nobody', async (t) => {
  await using api = await ApiClient.start();
  const { journal } = api.simulator.lab;
  const seen: string[] = [];
  journal.subscribe(() => {
    throw new Error('broken listener');
  });
  const stop = journal.subscribe((entry) => seen.push(entry.kind === 'http' ? entry.path : entry.kind));
  t.equal((await api.ask('GET', '/version')).status, 200);
  stop();
  stop();
  await api.ask('GET', '/protocols');
  t.same(seen, ['/edge/client/v1/version']);
});

t.test('a reset clears the journal', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  t.equal((await api.manage('POST', '/lab/v1/reset')).status, 200);
  t.equal(api.simulator.lab.journal.size, 0);
});

t.test('the journal keeps the latest entries of a flood, and drops large ones first', async (t) => {
  await using api = await ApiClient.start();
  const { journal } = api.simulator.lab;
  const name = 'x'.repeat(2_000);
  const as = api.connect(undefined, 1);
  for (let sent = 0; sent < 5; sent++)
    await api.ask('POST', '/authenticate?method=password', { as, body: { username: name, password: PASSWORD } });
  t.equal(journal.size, 5);
  await api.ask('POST', '/authenticate?method=password', {
    as,
    body: { username: 'x'.repeat(900_000), password: 'y' },
  });
  const [last] = requests(api, { limit: 1 });
  t.ok((last?.body?.length ?? 0) < 5_000, 'a large body is cut');
  await api.ask('GET', `/${'y'.repeat(9_000)}`, { as });
  const [long] = requests(api, { limit: 1 });
  t.ok((long?.path.length ?? 0) < 2_000, 'a long path is cut');
});

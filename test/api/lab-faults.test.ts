// Faults of the lab at the APIs: the clients' view of each effect, the conditions, the counts, and the limits.

import { get } from 'node:https';
import t from 'tap';
import { systemRandom } from '#lib/random.ts';
import type { HttpFault } from '../../controller-sim/lab/faults/fault.ts';
import type { HttpEntry } from '../../controller-sim/lab/journal/journal-entry.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { httpClient } from '../support/clients/http.ts';

const FAULTS = '/lab/v1/faults';

function lastEntry(api: ApiClient): HttpEntry {
  return api.simulator.lab.journal.entries({ kind: 'http', limit: 1 })[0] as HttpEntry;
}

t.test('a status is answered in place of the handler, as often as the fault says', async (t) => {
  await using api = await ApiClient.start();
  const { faults } = api.simulator.lab;
  const { id } = faults.add({ kind: 'http', operation: 'createService', status: 503, times: 2 });
  for (let sent = 0; sent < 2; sent++) {
    const answer = await api.manage('POST', '/services', { name: 'x', encryptionRequired: true });
    t.match(answer, {
      status: 503,
      code: 'STORE_UNAVAILABLE',
      cause: { message: `the fault ${id} of the lab answers` },
    });
    t.match(lastEntry(api), { status: 503, fault: id, operation: 'createService' });
  }
  t.same(await api.names('/services'), [], 'nothing was created');
  t.equal((await api.manage('POST', '/services', { name: 'x', encryptionRequired: true })).status, 201);
  t.match(faults.list(), [{ id, hits: 2, times: 2 }]);
});

t.test('codes have the status and the text of the table', async (t) => {
  await using api = await ApiClient.start();
  const { faults } = api.simulator.lab;
  const table: [fault: Partial<HttpFault>, status: number, code: string][] = [
    [{ code: 'NOT_FOUND' }, 404, 'NOT_FOUND'],
    [{ code: 'MFA_EXISTS' }, 409, 'MFA_EXISTS'],
    [{ code: 'NOT_FOUND', status: 410 }, 410, 'NOT_FOUND'],
    [{ status: 429 }, 429, 'RATE_LIMITED'],
    [{ status: 418 }, 418, 'UNHANDLED'],
  ];
  for (const [fault, status, code] of table) {
    faults.clear();
    faults.add({ kind: 'http', ...fault });
    t.match(await api.ask('GET', '/version'), { status, code }, JSON.stringify(fault));
  }
  faults.clear();
  faults.add({ kind: 'http', path: '/oidc', status: 500 });
  const { status, text } = await api.ask('GET', '/oidc/keys');
  t.match({ status, body: JSON.parse(text) }, { status: 500, body: { error: 'server_error' } });
});

t.test('conditions select the requests', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  await api.person('john');
  const [jane, john] = [await api.login('jane'), await api.login('john')];
  const { faults } = api.simulator.lab;
  const isHit = async (fault: Partial<HttpFault>, method: string, path: string, token?: string) => {
    faults.clear();
    faults.add({ kind: 'http', status: 418, ...fault });
    return (await api.ask(method, path, { token })).status === 418;
  };
  const table: [fault: Partial<HttpFault>, method: string, path: string, token: string | undefined, hit: boolean][] = [
    [{ method: 'get' }, 'GET', '/services', jane, true],
    [{ method: 'POST' }, 'GET', '/services', jane, false],
    [{ path: '/edge/client/v1/ser' }, 'GET', '/services', jane, true],
    [{ path: '/edge/client/v1/ser' }, 'GET', '/edge/client/v1//services/', jane, true],
    [{ path: '/edge/management' }, 'GET', '/services', jane, false],
    [{ path: '/edge/*/services/*/terminators' }, 'GET', '/services/x/terminators', jane, true],
    [{ path: '/edge/*/services/*/terminators' }, 'GET', '/services/x', jane, false],
    [{ operation: 'listServices' }, 'GET', '/services?limit=1', jane, true],
    [{ operation: 'listServices' }, 'GET', '/services/x', jane, false],
    [{ identity: 'jane' }, 'GET', '/services', jane, true],
    [{ identity: 'jane' }, 'GET', '/services', john, false],
    [{ identity: 'jane' }, 'GET', '/services', undefined, false],
    [{ identity: 'jane' }, 'GET', '/services', 'invalid', false],
    [{ path: '/oidc/other' }, 'GET', '/oidc/unknown', undefined, false],
    [{ path: '/oidc/unknown' }, 'GET', '/oidc/unknown', undefined, true],
    [{}, 'OPTIONS', '/services', undefined, false],
  ];
  for (const [fault, method, path, token, hit] of table)
    t.equal(await isHit(fault, method, path, token), hit, `${JSON.stringify(fault)} ${method} ${path}`);
});

t.test('a connection is closed without an answer, or after half of it', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  const as = api.connect();
  lab.faults.add({ kind: 'http', path: '/edge/client/v1/version', close: true, times: 1 });
  lab.faults.add({ kind: 'http', path: '/edge/client/v1/version', truncate: true, times: 1 });
  lab.faults.add({ kind: 'http', operation: 'createIdentity', truncate: true, times: 1 });
  await t.rejects(api.ask('GET', '/version', { as }), { code: /UND_ERR_SOCKET|ECONNRESET/ });
  t.match(lastEntry(api), { status: null, fault: 'f1' });
  await t.rejects(api.ask('GET', '/version', { as, headers: { 'accept-encoding': 'gzip' } }));
  t.match(lastEntry(api), { status: 200, fault: 'f2' });
  const body = { name: 'kept', type: 'Device', isAdmin: false };
  const token = await api.login(api.simulator.username, api.simulator.password);
  await t.rejects(api.ask('POST', '/edge/management/v1/identities', { as, token, body }));
  t.ok((await api.names('/identities')).includes('kept'), 'the request was handled');
  t.equal((await api.ask('GET', '/version', { as })).status, 200);
});

t.test('a client receives exactly half of a truncated answer, large ones too', async (t) => {
  await using api = await ApiClient.start();
  const { baseUrl, ca, lab } = api.simulator;
  for (const path of ['/edge/client/v1/version', '/edge/client/v1/specs/edge-client/spec', '/edge/client/v1/unknown']) {
    lab.faults.clear();
    lab.faults.add({ kind: 'http', truncate: true });
    const [announced, received, end] = await new Promise<[number, number, string]>((resolve, reject) => {
      get(`${baseUrl}${path}`, { ca, agent: false }, (answer) => {
        let length = 0;
        answer.on('data', (part: Buffer) => {
          length += part.length;
        });
        answer.on('end', () => resolve([Number(answer.headers['content-length']), length, 'end']));
        answer.on('error', (error: NodeJS.ErrnoException) =>
          resolve([Number(answer.headers['content-length']), length, error.code ?? '']),
        );
      }).on('error', reject);
    });
    t.ok(announced > 100, path);
    t.same([received, end], [Math.floor(announced / 2), 'ECONNRESET'], path);
  }
});

t.test('a test makes the answer: status, headers, body, sequences', async (t) => {
  await using api = await ApiClient.start();
  const { faults } = api.simulator.lab;
  const path = '/edge/client/v1/version';
  const read = async () => {
    const { status, text, headers } = await api.ask('GET', '/version');
    return { status, text, retry: headers['retry-after'], type: headers['content-type'] };
  };
  faults.add({
    kind: 'http',
    path,
    answers: [
      { status: 429, headers: { 'Retry-After': '2' } },
      {},
      { body: { data: { version: 'v9' } } },
      { status: 502, body: '<html>bad gateway</html>', headers: { 'Content-Type': 'text/html' } },
      { status: 204 },
    ],
  });
  const limited = await read();
  t.match(limited, { status: 429, retry: '2', text: /RATE_LIMITED/ });
  t.match(await read(), { status: 200, text: /apiVersions/ }, 'an empty answer lets the request pass');
  t.match(await read(), { status: 200, text: '{"data":{"version":"v9"}}', type: /^application\/json/ });
  t.match(await read(), { status: 502, text: '<html>bad gateway</html>', type: 'text/html' });
  t.match(lastEntry(api), { status: 502, fault: 'f1' });
  t.match(await read(), { status: 204 });
  t.match(await read(), { status: 200, text: /apiVersions/, retry: undefined }, 'the sequence is used up');
});

t.test('the store is slow, fails or is full; a reset ends that', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  const create = (name: string) => api.manage('POST', '/services', { name, encryptionRequired: true });
  await api.manage('GET', '/services'); // its session is stored before
  lab.faults.add({ kind: 'store', full: true, times: 1 });
  t.match(await create('a'), { status: 503, code: 'STORE_UNAVAILABLE', cause: { message: /fault f1 .*disk is full/ } });
  t.match(await create('a'), { status: 201 });
  lab.faults.add({ kind: 'store', fail: true });
  t.match(await create('b'), { status: 503, cause: { message: /the store fails/ } });
  t.same(await api.names('/services'), ['a'], 'reads go on');
  await t.rejects(lab.restore('start', { keep: ['faults'] }), /the store fails/);
  await lab.reset();
  t.same(lab.faults.list(), []);
  lab.faults.add({ kind: 'store', delay: '5s' });
  const slow = create('c');
  for (let turn = 0; !api.clock.timers().includes('store fault'); turn++) {
    if (turn > 10_000) return t.fail('the change does not wait');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await api.clock.advance(5_000);
  t.match(await slow, { status: 201 });
});

t.test('a delay ends with the clock, with its client, and with the simulator', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  lab.faults.add({ kind: 'http', path: '/edge/client/v1/version', delay: '20s' });
  const isWaiting = (count: number) => api.clock.timers().filter((name) => name === 'fault delay').length === count;
  const turns = async (done: () => boolean) => {
    for (let turn = 0; turn < 1_000 && !done(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
    return done();
  };
  const slow = api.ask('GET', '/version', { as: api.connect() });
  t.ok(await turns(() => isWaiting(1)));
  await api.clock.advance(20_000);
  t.equal((await slow).status, 200);
  t.match(lastEntry(api), { status: 200, duration: 20_000, fault: 'f1' });

  const leaving = httpClient({ ca: api.simulator.ca }); // its end is part of the test
  const left = Promise.allSettled(Array.from({ length: 50 }, () => api.ask('GET', '/version', { as: leaving })));
  t.ok(await turns(() => isWaiting(50)));
  await leaving.destroy();
  await left;
  t.ok(await turns(() => isWaiting(0)), 'no timer is left');
  t.match(lastEntry(api), { status: null, fault: 'f1' });

  const late = api.ask('GET', '/version', { as: api.connect() });
  late.catch(() => undefined);
  t.ok(await turns(() => isWaiting(1)));
  await api.simulator.close();
  await t.rejects(late);
  t.ok(await turns(() => isWaiting(0)));
});

t.test('probability uses the random numbers of the simulator', async (t) => {
  let next = 0.7;
  const random = { next: () => next, bytes: systemRandom.bytes };
  await using api = await ApiClient.start({ random });
  const { faults } = api.simulator.lab;
  faults.add({ kind: 'http', path: '/edge/client/v1/version', status: 500, probability: 0.5 });
  t.equal((await api.ask('GET', '/version')).status, 200);
  next = 0.3;
  t.equal((await api.ask('GET', '/version')).status, 500);
  t.equal(faults.list()[0]?.hits, 1);
});

t.test('the lab and its logins are never affected', async (t) => {
  await using api = await ApiClient.start();
  const { username, password } = api.simulator;
  api.simulator.lab.faults.add({ kind: 'http', close: true });
  await t.rejects(api.ask('GET', '/version'));
  const login = await api.ask('POST', '/lab/v1/authenticate?method=password', { body: { username, password } });
  t.equal(login.status, 200);
  const { token } = login.data;
  for (const path of [FAULTS, '/lab/v1//faults', '/lab/v1/faults/', '/lab/v1/clock'])
    t.equal((await api.ask('GET', path, { token })).status, 200, path);
  t.equal((await api.ask('GET', '/lab/v1/unknown', { token })).status, 404);
  t.equal((await api.ask('DELETE', FAULTS, { token })).status, 200);
  t.equal((await api.ask('GET', '/version')).status, 200);
  t.equal((await api.ask('DELETE', '/lab/v1/current-api-session', { token })).status, 200);
  t.notOk(await api.isOpen(token));
});

t.test('while the store takes no changes, only administrators log in, and only at the lab', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const { username, password } = api.simulator;
  api.simulator.lab.faults.add({ kind: 'store', fail: true });
  const login = (path: string, name: string, secret = PASSWORD) =>
    api.ask('POST', `${path}/authenticate?method=password`, { body: { username: name, password: secret } });
  t.equal((await login('/edge/client/v1', username, password)).status, 503);
  t.equal((await login('/edge/management/v1', username, password)).status, 503);
  t.equal((await login('/lab/v1', 'anna')).status, 503);
  t.equal((await login('/lab/v1', 'anna', 'wrong')).status, 401);
  const { status, data } = await login('/lab/v1', username, password);
  t.equal(status, 200);
  t.equal((await api.ask('GET', FAULTS, { token: data.token })).status, 200, 'its session is in memory');
  t.equal((await api.ask('DELETE', '/lab/v1/current-api-session', { token: data.token })).status, 200);
  t.equal((await api.ask('GET', FAULTS, { token: data.token })).status, 401);
});

t.test('the API adds, lists and removes faults, and rejects mistakes with a remedy', async (t) => {
  await using api = await ApiClient.start();
  await api.person('jane');
  const jane = await api.login('jane');
  const body = { kind: 'http', path: '/edge/client', delay: '1m', times: 3 };
  t.match(await api.manage('POST', FAULTS, body), { status: 400, cause: { field: 'delay', reason: /up to 50s/ } });
  const added = await api.manage('POST', FAULTS, { ...body, delay: '1.5s', identity: null });
  t.match(added, { status: 201, data: { id: 'f1', hits: 0, kind: 'http', delay: '1.5s', times: 3 } });
  await api.manage('POST', '/edge-routers', { name: 'a' });
  const control = { kind: 'control', message: 'Route', direction: 'out', drop: true, router: 'a' };
  t.match(await api.manage('POST', FAULTS, control), { status: 201, data: { ...control, id: 'f2' } });
  t.match(await api.get(FAULTS), [{ id: 'f1' }, { id: 'f2' }]);
  const mistakes: [fault: object, reason: RegExp][] = [
    [{}, /kind/],
    [{ kind: 'htp' }, /kind|http/],
    [{ kind: 'http' }, /no effect/],
    [{ kind: 'http', status: 199 }, /200 to 599/],
    [{ kind: 'http', status: 200, code: 'NOT_FOUND' }, /own body and an error status/],
    [{ kind: 'http', headers: { 'retry-after': '2' } }, /belong to an answer/],
    [{ kind: 'http', status: 503, headers: { 'content-length': '2' } }, /cannot be set/],
    [{ kind: 'http', status: 503, headers: { x: 'a\r\nb' } }, /without line breaks/],
    [{ kind: 'http', answers: [] }, /1 to 100 answers/],
    [{ kind: 'http', answers: [{ statsu: 503 }] }, /did you mean status\?/],
    [{ kind: 'http', answers: [{ status: 503 }], close: true }, /one form/],
    [{ kind: 'http', status: 503, lasts: '2h' }, /up to 3600s/],
    [{ kind: 'http', code: 'NOT_FUOND' }, /did you mean NOT_FOUND\?/],
    [{ kind: 'http', close: true, operation: 'listService' }, /did you mean listServices\?/],
    [{ kind: 'http', close: true, operation: 'listFaults' }, /unknown/],
    [{ kind: 'http', close: true, truncate: true }, /use one of/],
    [{ kind: 'http', close: true, status: 500 }, /use one of/],
    [{ kind: 'http', close: true, path: 'edge' }, /begin with \//],
    [{ kind: 'http', close: true, path: `/${'x'.repeat(2_000)}` }, /1 to 1000/],
    [{ kind: 'http', close: true, method: 'FETCH' }, /did you mean PATCH/],
    [{ kind: 'http', close: true, operaton: 'x' }, /did you mean operation\?/],
    [{ kind: 'http', close: true, times: 0 }, /at least 1/],
    [{ kind: 'http', close: true, probability: 2 }, /0 to 1/],
    [{ kind: 'http', delay: 'soon' }, /duration/],
    [{ kind: 'http', delay: '-1s' }, /duration/],
    [{ kind: 'http', close: true, router: 'a' }, /no router/],
    [{ kind: 'control', message: 'Rout', drop: true }, /did you mean Route\?/],
    [{ kind: 'control', drop: true, delay: '1s' }, /use one of/],
    [{ kind: 'control', reject: true, message: 'Route' }, /connections/],
    [{ kind: 'control', reject: true, direction: 'in' }, /connections/],
    [{ kind: 'control', drop: true, direction: 'up' }, /use in .* or out/],
    [{ kind: 'link', jitter: '5ms' }, /no effect/],
    [{ kind: 'link', cut: true, jitter: '5ms' }, /use latency too/],
    [{ kind: 'link', slice: 0 }, /whole number from 1/],
    [{ kind: 'sdk', peer: 'a', cut: true }, /no peer/],
    [{ kind: 'proxy', cut: true, direction: 'in' }, /use up .* or down/],
    [{ kind: 'store' }, /use delay, fail or full/],
    [{ kind: 'store', fail: true, full: true }, /one of fail and full/],
    [{ kind: 'control' }, /use one of/],
  ];
  for (const [fault, reason] of mistakes) {
    const { status, text } = await api.manage('POST', FAULTS, fault);
    t.equal(status, 400, JSON.stringify(fault));
    t.match(text, reason, JSON.stringify(fault));
  }
  for (const [method, path] of [
    ['GET', FAULTS],
    ['POST', FAULTS],
    ['DELETE', FAULTS],
    ['DELETE', `${FAULTS}/f1`],
    ['POST', '/lab/v1/routers/a/disconnect'],
  ] as const)
    t.equal((await api.ask(method, path, { token: jane, ...(method === 'POST' && { body: {} }) })).status, 401, path);
  t.match(await api.manage('DELETE', `${FAULTS}/f9`), { status: 404, cause: { message: /known are f1, f2/ } });
  t.equal((await api.manage('DELETE', `${FAULTS}/f1`)).status, 200);
  t.match(await api.get(FAULTS), [{ id: 'f2' }]);
  t.match(await api.manage('POST', '/lab/v1/routers/a/disconnect'), {
    status: 404,
    cause: { message: /not connected/ },
  });
  t.equal((await api.manage('POST', '/lab/v1/reset')).status, 200);
  t.same(api.simulator.lab.faults.list(), [], 'a reset removes them');
  const { router: _router, ...forAll } = control;
  for (let added = 0; added < 100; added++) await api.manage('POST', FAULTS, forAll);
  t.match(await api.manage('POST', FAULTS, forAll), { status: 400, cause: { reason: /remove one first/ } });
});

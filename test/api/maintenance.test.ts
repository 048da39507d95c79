// Administration of all data and single identities: checks and repairs, snapshots, counts, advice, traces.

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connect } from 'node:tls';
import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { allKinds } from '../support/kinds/all.ts';
import { known, LOGINS } from '../support/kinds/kind.ts';
import { until } from '../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true }));

interface Report {
  readonly inProgress: boolean;
  readonly fixingErrors: boolean;
  readonly tooManyErrors: boolean;
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly error: string | null;
  readonly results: readonly { readonly description: string; readonly fixed: boolean }[] | null;
}

/** Runs a check or a repair to its end. */
async function run(api: ApiClient, what: 'check' | 'fix'): Promise<Report> {
  t.equal((await api.manage('POST', `/database/${what}-data-integrity`)).status, 202);
  let report: Report | undefined;
  await until('the end of the check', async () => {
    report = await api.get<Report>('/database/data-integrity-results');
    return !report.inProgress;
  });
  return report as Report;
}

/** Changes the content of a data file without any rules. */
function edit(file: string, kind: string, id: string, change: Readonly<Record<string, unknown>> | undefined): void {
  const database = new DatabaseSync(file);
  if (change) {
    const { body } = database.prepare('SELECT body FROM entity WHERE kind = ? AND id = ?').get(kind, id) as {
      body: string;
    };
    const text = JSON.stringify({ ...JSON.parse(body), ...change });
    database.prepare('UPDATE entity SET body = ? WHERE kind = ? AND id = ?').run(text, kind, id);
  } else {
    database.prepare('DELETE FROM entity WHERE kind = ? AND id = ?').run(kind, id);
  }
  database.close();
}

t.test('references to missing entities are reported, repaired on request, and gone afterwards', async (t) => {
  const data = join(directory, 'broken.db');
  const api = await ApiClient.start({ data });
  const before = await api.get<Report>('/database/data-integrity-results');
  const { meta } = await api.manage('GET', '/database/data-integrity-results');
  t.match(meta, { pagination: { limit: -1, offset: 0, totalCount: 0 } });
  t.same(before, {
    inProgress: false,
    fixingErrors: false,
    tooManyErrors: false,
    startTime: null,
    endTime: null,
    error: null,
    results: null,
  });
  const ids = await known(api);
  const roles = [`@${ids.identity}`, '#kept'];
  const policy = await api.create('/service-policies', {
    name: 'p',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: roles,
  });
  await api.change('PATCH', `/services/${ids.service}`, { configs: [ids.config] });
  await api.create('/terminators', { service: ids.service, router: ids.edgeRouter, binding: 'edge', address: 'a' });
  const user = await api.person('user');
  const token = await api.login('user');
  const other = await api.create('/services', { name: 'other', encryptionRequired: true });
  const [hostType] = await api.get<{ id: string }[]>('/config-types?filter=name="host.v1"');
  const hosted = { protocol: 'tcp', address: 'a', port: 1 };
  const left = await api.create('/configs', { name: 'left', configTypeId: hostType?.id, data: hosted });
  const required = await api.create('/auth-policies', {
    name: 'requires',
    primary: { ...LOGINS.primary, extJwt: { allowed: true, allowedSigners: [ids.signer] } },
    secondary: { requireTotp: false, requireExtJwtSigner: ids.signer },
  });
  t.same((await run(api, 'check')).results, null, 'no errors yet');
  await api.close();
  edit(data, 'identity', ids.identity, undefined);
  edit(data, 'configType', ids.configType, undefined);
  edit(data, 'router', ids.edgeRouter, undefined);
  edit(data, 'externalJwtSigner', ids.signer, undefined);
  edit(data, 'identity', user, {
    authPolicyId: 'lost',
    serviceConfigs: { [ids.service]: ['lost', ids.config, left], [other]: ['lost'] },
  });

  const again = await ApiClient.start({ data });
  const wrong = [
    `servicePolicy ${policy} refers in identityRoles to identity ${ids.identity}, which does not exist`,
    `config ${ids.config} refers in configTypeId to configType ${ids.configType}, which does not exist`,
    `identity ${user} refers in authPolicyId to authPolicy lost, which does not exist`,
    `identity ${user} refers in serviceConfigs to config lost, lost, which does not exist`,
    `authPolicy ${required} refers in primary.extJwt.allowedSigners to externalJwtSigner ${ids.signer}, which does not exist`,
    `authPolicy ${required} refers in secondary.requireExtJwtSigner to externalJwtSigner ${ids.signer}, which does not exist`,
  ];
  const unmended = wrong.at(-1);
  const checked = await run(again, 'check');
  t.match(checked, { fixingErrors: false, error: null, startTime: /^\d{4}-/, endTime: /^\d{4}-/ });
  const reported = new Set(checked.results?.map(({ description }) => description));
  for (const each of wrong) t.ok(reported.has(each), each);
  t.ok([...reported].some((each) => /^terminator .* to router/.test(each)));
  t.ok(
    checked.results?.every(({ fixed }) => !fixed),
    'a check changes nothing',
  );
  t.equal((await run(again, 'check')).results?.length, checked.results?.length);

  const fixed = await run(again, 'fix');
  t.match(fixed, { fixingErrors: true, error: null });
  t.ok(fixed.results?.every(({ description, fixed: isFixed }) => isFixed === (description !== unmended)));
  t.ok(
    fixed.results?.some(({ description }) => /^service .* refers in configs/.test(description)),
    'consequences of a repair are repaired, too',
  );
  t.same((await run(again, 'check')).results, [{ description: unmended, fixed: false }]);
  t.match(await again.get(`/service-policies/${policy}`), { identityRoles: ['#kept'] });
  t.match(await again.get(`/services/${ids.service}`), { configs: null });
  t.match(await again.get(`/identities/${user}`), { authPolicyId: 'default' });
  t.match(await again.get(`/identities/${user}/service-configs`), [{ serviceId: ids.service, configId: left }]);
  const exported = again.simulator.lab.export().identities?.find((each) => each.name === 'user');
  t.same(
    exported?.serviceSettings,
    [{ service: '@known', configs: ['@left'] }],
    'a service without configs is not left',
  );
  t.same(await again.get('/terminators'), []);
  t.equal((await again.ask('GET', '/current-identity', { token })).status, 200, 'sessions survive');
  await again.close();
});

t.test('one check at a time: a second start while one runs is rejected', async (t) => {
  await using api = await ApiClient.start();
  const { port, ca } = api.simulator;
  const token = await api.login('admin');
  const socket = connect({ port, host: '127.0.0.1', ca });
  const ask = (path: string) => `POST ${path} HTTP/1.1\r\nHost: x\r\nzt-session: ${token}\r\n`;
  // Both arrive in one write, so that the second is parsed before the first has started.
  socket.write(
    `${ask('/edge/management/v1/database/check-data-integrity')}\r\n${ask('/fabric/v1/database/fix-data-integrity')}connection: close\r\n\r\n`,
  );
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  t.match(text, /^HTTP\/1\.1 202 [\s\S]*HTTP\/1\.1 429 [\s\S]*"code":"RATE_LIMITED"/);
  t.match(await run(api, 'fix'), { fixingErrors: true, results: null }, 'afterwards another one may start');
});

t.test('a snapshot is a data file with the same entities, readable only by its owner', async (t) => {
  const place = mkdtempSync(join(directory, 'snapshots-'));
  const data = join(place, 'sim.db');
  const api = await ApiClient.start({ data });
  const { clock } = api;
  for (const name of ['one', 'two']) await api.create('/services', { name, encryptionRequired: true });
  await api.create('/identities', { name: 'user', type: 'User', isAdmin: false, enrollment: { ott: true } });
  t.equal((await api.manage('POST', '/database/snapshot')).status, 200);
  const limited = { status: 429, code: 'RATE_LIMITED' };
  t.match(await api.manage('POST', '/database/snapshot'), limited);
  t.match(await api.manage('POST', '/fabric/v1/database'), limited);
  t.match(await api.manage('POST', '/fabric/v1/database/snapshot', { path: join(place, 'b.db') }), limited);
  await clock.advance(59_999);
  t.match(await api.manage('POST', '/database/snapshot'), limited);
  await clock.advance(1);

  writeFileSync(join(place, 'existing'), 'mine');
  for (const path of [join(place, 'no', 'such', 'place.db'), place, join(place, 'existing'), data, '/dev/null/x']) {
    const rejected = await api.manage('POST', '/fabric/v1/database/snapshot', { path });
    t.match(rejected, { status: 400, code: 'INVALID_FIELD', cause: { message: "for 'path' is invalid" } }, path);
  }
  const path = join(place, 'copy.db');
  t.match(await api.manage('POST', '/fabric/v1/database/snapshot', { path }), { status: 200, data: { path } });
  const files = readdirSync(place).filter((file) => file.endsWith('.db') && file !== 'sim.db');
  t.equal(files.length, 2);
  for (const file of files) t.equal(statSync(join(place, file)).mode & 0o777, 0o600, file);
  t.notOk(existsSync(`${path}-wal`));

  const lists = ['services', 'identities', 'authenticators', 'enrollments', 'config-types', 'auth-policies'];
  const all = async (from: ApiClient) =>
    await Promise.all(lists.map((list) => from.get(`/${list}?filter=true%20limit%20none`)));
  const timelineOf = async (from: ApiClient) => {
    const wanted = { appRegex: from.simulator.controllerId, requestedValues: ['data-model-index'] };
    return JSON.parse((await from.manage('POST', '/fabric/v1/inspections', wanted)).text).values[0].value.timeline;
  };
  const entities = await all(api);
  const timelines = [await timelineOf(api)];
  await api.create('/services', { name: 'later', encryptionRequired: true });
  await api.close();
  for (const file of files) {
    await using copy = await ApiClient.start({ data: join(place, file) });
    timelines.push(await timelineOf(copy));
    const same = (found: unknown) => JSON.stringify(found).replaceAll(/"updatedAt":"[^"]*"/g, '');
    t.equal(same(await all(copy)), same(entities), file);
  }
  t.equal(new Set(timelines).size, 3, 'each has its own history: routers fetch the whole data model');
  await using again = await ApiClient.start({ data });
  t.equal(await timelineOf(again), timelines[0], 'a restart continues the history');
});

t.test('counts follow creations and deletions', async (t) => {
  await using api = await ApiClient.start();
  const NAMES: Readonly<Record<string, string>> = {
    '/identities': 'identities',
    '/edge-routers': 'routers.edge',
    '/routers': 'routers',
    '/transit-routers': 'routers',
    '/fabric/v1/routers': 'routers',
    '/services': 'services',
    '/fabric/v1/services': 'services',
    '/config-types': 'configTypes',
    '/configs': 'configs',
    '/terminators': 'terminators',
    '/fabric/v1/terminators': 'terminators',
    '/edge-router-policies': 'edgeRouterPolicies',
    '/service-edge-router-policies': 'serviceEdgeRouterPolicies',
    '/service-policies': 'servicePolicies',
    '/posture-checks': 'postureChecks',
    '/auth-policies': 'authPolicies',
    '/cas': 'cas',
    '/external-jwt-signers': 'externalJwtSigners',
    '/authenticators': 'authenticators',
    '/enrollments': 'enrollments',
  };
  const count = async (name: string) => (await api.get<Record<string, number>>('/summary'))[name] ?? Number.NaN;
  for (const { path, create } of allKinds(await known(api))) {
    const name = NAMES[path] ?? path;
    const before = await count(name);
    const id = await api.create(path, create);
    t.equal(await count(name), before + 1, `${path} created`);
    await api.change('DELETE', `${path}/${id}`);
    t.equal(await count(name), before, `${path} deleted`);
  }
});

t.test('advice lists the permissions of an identity for a service, and the routers', async (t) => {
  await using api = await ApiClient.start();
  const identity = await api.create('/identities', {
    name: 'user',
    type: 'User',
    isAdmin: false,
    roleAttributes: ['a'],
  });
  const service = await api.create('/services', { name: 'web', encryptionRequired: true, roleAttributes: ['a'] });
  const routers = [];
  for (const name of ['one', 'two', 'three'])
    routers.push(await api.create('/edge-routers', { name, roleAttributes: [name] }));
  const advice = () => api.get(`/identities/${identity}/policy-advice/${service}`);
  const own = { identityId: identity, serviceId: service, identity: { name: 'user' }, service: { name: 'web' } };
  const nothing = await advice();
  t.match(nothing, { ...own, commonRouters: null });
  for (const key of ['isBindAllowed', 'isDialAllowed', 'identityRouterCount', 'serviceRouterCount'])
    t.notOk(key in nothing, key);
  const policy = { semantic: 'AnyOf', identityRoles: ['#a'], serviceRoles: ['#a'] };
  const bind = await api.create('/service-policies', { name: 'bind', type: 'Bind', ...policy });
  t.match(await advice(), { isBindAllowed: true, isDialAllowed: undefined });
  await api.create('/service-policies', { name: 'dial', type: 'Dial', ...policy });
  t.match(await advice(), { isBindAllowed: true, isDialAllowed: true });
  await api.change('DELETE', `/service-policies/${bind}`);
  t.match(await advice(), { isBindAllowed: undefined, isDialAllowed: true });
  await api.create('/edge-router-policies', { name: 'r', ...policy, edgeRouterRoles: ['#one', '#two'] });
  await api.create('/service-edge-router-policies', { name: 'r', ...policy, edgeRouterRoles: ['#two', '#three'] });
  t.match(await advice(), {
    identityRouterCount: 2,
    serviceRouterCount: 2,
    commonRouters: [{ id: routers[1], name: 'two', entity: 'edge-routers', isOnline: false }],
  });
  t.equal((await api.manage('GET', `/identities/${identity}/policy-advice/none`)).status, 404);
  t.equal((await api.manage('GET', `/identities/none/policy-advice/${service}`)).status, 404);
});

t.test('traces run for a time, and stop on request', async (t) => {
  await using api = await ApiClient.start();
  const start = api.clock.now();
  const id = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false });
  const trace = (body: object) => api.manage('PUT', `/identities/${id}/trace`, body);
  const on = { enabled: true, duration: '90s', traceId: 'mine', channels: ['all'] };
  t.same((await trace(on)).data, { enabled: true, traceId: 'mine', until: new Date(start + 90_000).toISOString() });
  t.match(await trace({ enabled: true, duration: '10m' }), {
    status: 200,
    data: { enabled: true, traceId: /./, until: new Date(start + 600_000).toISOString() },
  });
  const noDuration = { field: 'duration', reason: 'time: invalid duration ""' };
  t.match(await trace({ enabled: true }), { status: 400, code: 'COULD_NOT_VALIDATE', cause: noDuration });
  t.same((await trace({ enabled: false, duration: 'soon' })).data, { until: '0001-01-01T00:00:00.000Z' });
  t.match(await trace({ ...on, duration: 'soon' }), {
    status: 400,
    code: 'COULD_NOT_VALIDATE',
    cause: { field: 'duration' },
  });
  t.match(await trace({ ...on, duration: '2562047h' }), { status: 200 }, 'the longest duration');
  t.equal((await api.manage('PUT', '/identities/none/trace', on)).status, 404);
});

// The lab: the simulator's time and snapshots, through its API and its library.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parsePemCertificates } from '#pki/certificates.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { httpClient } from '../support/clients/http.ts';

const MINUTE = 60_000;

/** A simulator in real time. */
async function open(options: object = {}) {
  const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST, ...options });
  const api = new ApiClient(simulator);
  const close = async () => {
    await api.close();
    await simulator.close();
  };
  return { simulator, api, lab: simulator.lab, [Symbol.asyncDispose]: close };
}

const statusWith = async (api: ApiClient, token: string) =>
  (await api.ask('GET', '/current-identity', { token })).status;

t.test('the authorities of a network are valid for longer than its clock goes ahead', async (t) => {
  await using parts = await open();
  const { simulator, lab } = parts;
  await lab.clock.advance('3650d');
  await t.rejects(lab.clock.advance('1d'), /ten years in total/);
  for (const each of parsePemCertificates(simulator.ca)) t.ok(each.validToDate > lab.clock.now(), each.subject);
});

t.test('an advance ends sessions, one-time tokens and locks; connections stay open', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  const id = await api.person('user');
  const token = await api.login('user');
  const enrollment = { enrollment: { ott: true }, name: 'new', type: 'Device', isAdmin: false };
  const { ott } = (await api.get(`/identities/${await api.create('/identities', enrollment)}`)).enrollment;
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 20 });
  let connects = 0;
  await using connection = httpClient({ ca: api.simulator.ca }, { openSocket: async () => void connects++ });
  const clockPath = '/lab/v1/clock';
  const before = await api.get(clockPath);
  t.equal(before.advanced, '0s');
  t.equal((await api.ask('GET', '/version', { as: connection })).status, 200);

  const after = (await api.manage('POST', `${clockPath}/advance`, { duration: '21m' })).data;
  t.equal(after.advanced, '21m0s');
  t.ok(Date.parse(after.now) - Date.parse(before.now) >= 21 * MINUTE);
  t.same((await api.get(`/identities/${id}`)).disabled, false, 'the lock expired');
  await api.login('user');

  await lab.clock.advance(10 * MINUTE);
  t.equal(await statusWith(api, token), 401, 'the session expired');
  await lab.clock.advance('3h');
  const late = await api.ask('POST', `/enroll?method=ott&token=${ott.token}`, { body: 'x', type: 'text/plain' });
  t.equal(late.code, 'ENROLLMENT_EXPIRED');
  t.equal((await api.ask('GET', '/version', { as: connection })).status, 200);
  t.equal(connects, 1, 'on the same connection');
});

t.test('an advance ends a session at once that was used just before', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  await api.person('user');
  const token = await api.login('user');
  t.equal(await statusWith(api, token), 200);
  await lab.clock.advance('31m');
  const owners = ((await api.get('/api-sessions?limit=100')) as { identity: { name: string } }[]).map(
    ({ identity }) => identity.name,
  );
  t.notOk(owners.includes('user'), 'its routers learn of it without a request');
});

t.test('a restore returns enrollments that were deleted since', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  const id = await api.create('/identities', {
    name: 'new',
    type: 'Device',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const waiting = await api.get('/enrollments');
  lab.snapshots.take('open');
  await api.change('DELETE', `/enrollments/${waiting[0].id}`);
  t.same(await api.get('/enrollments'), []);
  await lab.snapshots.restore('open');
  t.same(await api.get('/enrollments'), waiting);
  const { ott } = (await api.get(`/identities/${id}`)).enrollment;
  t.equal(ott.token, waiting[0].token);
});

t.test('the time can be set, in the past too, stand still, and run faster; restore and reset return it', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  const clockPath = '/lab/v1/clock';
  const change = async (body: object) => (await api.manage('PATCH', clockPath, body)).data;
  const past = '2020-02-29T12:00:00.000Z';
  t.match(await change({ time: past, rate: 0 }), { now: past, advanced: /^-\d+h\d+m/, rate: 0 });
  lab.snapshots.take('leap-day');
  const id = await api.create('/services', { name: 'early', encryptionRequired: true });
  t.equal((await api.get(`/services/${id}`)).createdAt, past);
  await lab.clock.advance('30d');
  t.equal((await api.get(clockPath)).now, '2020-03-30T12:00:00.000Z');
  t.match(await change({ rate: 60 }), { rate: 60 });
  const device = await api.device('device');
  t.equal(
    (await api.ask('POST', '/authenticate?method=cert', { as: api.connect(device), body: {} })).status,
    200,
    'certificates are valid at the real time and at the simulated one',
  );
  await lab.snapshots.restore('leap-day');
  t.same((await api.get(clockPath)).now, past);
  await lab.reset();
  t.match(await api.get(clockPath), { advanced: '0s', rate: 1 });
  t.ok(Math.abs(lab.clock.now().getTime() - Date.now()) < MINUTE);
  await lab.clock.set(Date.now() + 48 * 60 * MINUTE);
  t.ok(lab.clock.advanced > 47 * 60 * MINUTE);
  lab.clock.freeze();
  const { now } = await api.get(clockPath);
  await new Promise((resolve) => setTimeout(resolve, 5));
  t.equal((await api.get(clockPath)).now, now);
  lab.clock.run();
  t.equal(lab.clock.rate, 1);
});

t.test(
  'a restore and a reset return state, clock, faults and journal in one call; keep names exceptions',
  async (t) => {
    await using parts = await open();
    const { api, lab } = parts;
    const { faults, journal } = lab;
    const configs = '/edge/management/v1/configs';
    const listed = async () => (await api.ask('GET', configs, { token: api.token })).status;
    faults.add({ kind: 'http', operation: 'listConfigs', status: 503, times: 2 });
    t.equal(await listed(), 503);
    lab.snapshots.take('base');
    const change = async () => {
      await api.create('/services', { name: 'new', encryptionRequired: true });
      await lab.clock.advance('5m');
      await listed();
      faults.clear();
      faults.add({ kind: 'http', operation: 'listServices', status: 500 });
    };
    const view = async () => ({
      services: (await api.get('/identities')).length > 0 && lab.export().services?.length,
      advanced: lab.clock.advanced,
      faults: faults.list().map(({ id, hits }) => `${id} ${hits}`),
      hasPast: journal.entries({ path: configs }).length > 0,
    });
    await change();
    await lab.restore('base');
    t.strictSame(await view(), { services: 0, advanced: 0, faults: ['f1 1'], hasPast: false });
    t.equal(await listed(), 503, 'the fault has one hit left');
    t.equal(await listed(), 200);

    await change();
    await api.manage('POST', '/lab/v1/snapshots/base/restore', { keep: ['clock', 'faults', 'journal'] });
    t.strictSame(await view(), { services: 0, advanced: 5 * MINUTE, faults: ['f3 0'], hasPast: true });
    await lab.reset({ keep: ['state'] });
    t.strictSame(await view(), { services: 0, advanced: 0, faults: [], hasPast: false });
    await change();
    await lab.reset({ keep: ['state', 'faults'] });
    t.strictSame(await view(), { services: 1, advanced: 0, faults: ['f4 0'], hasPast: false });
    const wrong = await api.manage('POST', '/lab/v1/reset', { keep: ['clocks'] });
    t.equal(wrong.status, 400);
    await t.rejects(lab.reset({ keep: ['clocks' as 'clock'] }), /clocks is unknown; did you mean clock/);
  },
);

t.test('the lab token is valid at the lab only, and an advance does not end it', async (t) => {
  await using parts = await open();
  const { api, lab, simulator } = parts;
  const token = simulator.labToken ?? '';
  await lab.clock.advance('400d');
  t.equal((await api.ask('GET', '/lab/v1/clock', { token })).status, 200);
  t.equal((await api.ask('GET', '/lab/v1/clock', { headers: { authorization: `Bearer ${token}` } })).status, 200);
  t.equal((await api.ask('POST', '/lab/v1/snapshots', { token, body: { name: 'later' } })).status, 201);
  t.equal((await api.ask('GET', '/lab/v1/clock', { token: `${token.slice(1)}x` })).status, 401);
  t.equal((await api.ask('DELETE', '/lab/v1/current-api-session', { token })).status, 401, 'it is not a session');
  t.equal((await api.ask('GET', '/edge/management/v1/services', { token })).status, 401);
  t.equal((await api.ask('GET', '/fabric/v1/links', { token })).status, 401);
});

t.test(
  'everybody may read at a path where the simulator is and which authorities to trust, and no secret',
  async (t) => {
    await using parts = await open();
    const { api, simulator } = parts;
    const { status, data } = await api.ask('GET', '/lab/v1/ready');
    t.equal(status, 200);
    t.same(data, {
      event: 'ready',
      management: simulator.managementUrl,
      client: simulator.clientUrl,
      ctrl: simulator.controlAddress,
      controllerId: simulator.controllerId,
      ca: simulator.ca,
      version: packageJson.version,
    });
  },
);

t.test('without a lab API its paths are unknown, and the library still has the lab', async (t) => {
  await using parts = await open({ lab: false });
  const { api, lab, simulator } = parts;
  t.same([simulator.labUrl, simulator.labToken, simulator.dashboardUrl], [undefined, undefined, undefined]);
  t.equal((await api.ask('GET', '/lab/v1/clock')).status, 404);
  t.equal((await api.ask('GET', '/lab/')).status, 404);
  await lab.clock.advance('1h');
  t.equal(lab.clock.advanced, 60 * MINUTE);
});

t.test('the time of the lab is the time of all answers', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  await lab.clock.advance('48h');
  const id = await api.create('/services', { name: 'late', encryptionRequired: true });
  const { createdAt } = await api.get(`/services/${id}`);
  t.ok(Math.abs(Date.parse(createdAt) - lab.clock.now().getTime()) < MINUTE);
  t.ok(Date.parse(createdAt) - Date.now() > 47 * 60 * MINUTE);
});

t.test(
  'a restore brings back what was deleted and changed, with its credentials, and deletes what is new',
  async (t) => {
    await using parts = await open();
    const { api } = parts;
    const device = await api.device('device', { roleAttributes: ['old'] });
    const serviceId = await api.create('/services', { name: 'echo', encryptionRequired: true });
    await api.create('/service-policies', {
      name: 'dial',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#old'],
      serviceRoles: [`@${serviceId}`],
    });
    const asDevice = api.connect(device);
    const loginDevice = async () => {
      const answer = await api.ask('POST', '/authenticate?method=cert', { as: asDevice, body: {} });
      return { status: answer.status, token: answer.data?.token as string };
    };
    const kept = (await loginDevice()).token;
    t.equal((await api.manage('POST', '/lab/v1/snapshots', { name: 'base' })).status, 201);

    await api.change('PATCH', `/identities/${device.identityId}`, { roleAttributes: ['new'] });
    t.same(await api.names('/services', kept), []);
    await api.change('DELETE', `/services/${serviceId}`);
    await api.create('/services', { name: 'echo', encryptionRequired: false }); // takes the name
    await api.person('intruder');
    const ended = await api.login('intruder');
    const admin = api.token;

    const restored = (await api.manage('POST', '/lab/v1/snapshots/base/restore')).data;
    t.match(restored, { created: Number, changed: Number, deleted: Number });
    t.same(await api.names('/services'), ['echo']);
    t.equal((await api.get('/services?filter=name="echo"'))[0].id, serviceId);
    t.same(await api.names('/identities?sort=name'), ['Default Admin', 'device']);
    t.same(await api.names('/services', kept), ['echo'], 'a session goes on with the rights of the snapshot');
    t.equal(await statusWith(api, ended), 401, 'the session of a new identity ended');
    t.equal(api.token, admin, "the administrator's session goes on");

    await api.change('DELETE', `/identities/${device.identityId}`);
    t.equal((await loginDevice()).status, 401);
    await api.manage('POST', '/lab/v1/snapshots/base/restore');
    t.equal((await loginDevice()).status, 200, 'the certificate is valid again');
  },
);

t.test('a restore is one change of the state, and has its author in the events', async (t) => {
  await using parts = await open();
  const { api, simulator, lab } = parts;
  for (const name of ['one', 'two', 'three']) await api.create('/services', { name, encryptionRequired: true });
  const events: Record<string, unknown>[] = [];
  simulator.events.subscribe((event) => void events.push(event), ['entityChange']);
  await api.change('POST', '/lab/v1/reset');
  const deleted = events.filter(({ eventType }) => eventType === 'deleted');
  t.equal(deleted.length, 3);
  t.equal(new Set(deleted.map(({ metadata }) => JSON.stringify(metadata))).size, 1);
  t.match(deleted[0], { metadata: { author: { name: 'Default Admin' } } });
  events.length = 0;
  t.same(await lab.reset(), { created: 0, changed: 0, deleted: 0 });
  t.same(events, []);
});

t.test('names and usernames that changed hands return to their owners', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  const [a, b] = [await api.person('a'), await api.person('b')];
  lab.snapshots.take('before');
  await api.change('PATCH', `/identities/${a}`, { name: 'x' });
  await api.change('PATCH', `/identities/${b}`, { name: 'a' });
  await api.change('PATCH', `/identities/${a}`, { name: 'b' });
  await lab.snapshots.restore('before');
  for (const [id, name] of [
    [a, 'a'],
    [b, 'b'],
  ]) {
    t.equal((await api.get(`/identities?filter=name="${name}"`))[0].id, id);
    t.equal((await api.manage('POST', '/identities', { name, type: 'Device', isAdmin: false })).status, 400);
  }
});

t.test('a changed password of the administrator is reset as well', async (t) => {
  await using parts = await open();
  const { api } = parts;
  await api.login('admin');
  const [{ id }] = await api.get('/authenticators?filter=method="updb"');
  await api.change('PATCH', `/authenticators/${id}`, { password: 'another secret' });
  t.equal((await api.tryLogin('admin')).status, 401);
  await api.change('POST', '/lab/v1/reset');
  t.equal((await api.tryLogin('admin')).status, 200);
});

t.test('a restore survives a restart, and the data as of a start is its first snapshot', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const data = join(directory, 'sim.db');
  {
    await using parts = await open({ data });
    await parts.api.create('/services', { name: 'kept', encryptionRequired: true });
    parts.lab.snapshots.take('base');
    await parts.api.create('/services', { name: 'removed', encryptionRequired: true });
    await parts.lab.snapshots.restore('base');
  }
  await using parts = await open({ data });
  t.same(await parts.api.names('/services'), ['kept']);
  t.same(
    parts.lab.snapshots.list().map(({ name }) => name),
    ['start'],
  );
  await parts.api.create('/services', { name: 'new', encryptionRequired: true });
  await parts.lab.reset();
  t.same(await parts.api.names('/services'), ['kept']);
});

t.test('a proxy is opened, listed and removed by its name', async (t) => {
  await using api = await ApiClient.start();
  const path = '/lab/v1/proxies';
  const names = async () => (await api.get<{ name: string }[]>(path)).map(({ name }) => name);
  for (const name of ['first', 'second']) {
    const opened = await api.manage('POST', path, { name, to: '127.0.0.1:9' });
    t.match(opened.data, { name, to: '127.0.0.1:9', host: '127.0.0.1', port: Number, connections: 0 });
  }
  t.same(await names(), ['first', 'second']);
  t.match(await api.manage('DELETE', `${path}/third`), { status: 404 });
  t.match(await api.manage('DELETE', `${path}/first`), { status: 200, data: {} });
  t.same(await names(), ['second']);
});

t.test('wrong use is answered with a reason', async (t) => {
  await using parts = await open();
  const { api, lab } = parts;
  const snapshots = '/lab/v1/snapshots';
  await api.manage('POST', snapshots, { name: 'base' });
  const advance = '/lab/v1/clock/advance';
  for (const [method, path, body, status, reason] of [
    ['POST', advance, { duration: '-1m' }, 400, /an advance adds time/],
    ['POST', advance, { duration: '5' }, 400, /unit/],
    ['POST', advance, { duration: '90000h' }, 400, /ten years/],
    ['PATCH', '/lab/v1/clock', { time: 'noon' }, 400, /use a time such as/],
    ['PATCH', '/lab/v1/clock', { time: '1999-01-01T00:00:00Z' }, 400, /ten years/],
    ['PATCH', '/lab/v1/clock', { rate: -1 }, 400, /from 0 to 100000/],
    ['POST', advance, { duration: 5 }, 400, /must be of type string/],
    ['POST', advance, {}, 400, /required/],
    ['POST', snapshots, { name: 'a/b' }, 400, /letters, digits/],
    ['POST', snapshots, { name: 'a'.repeat(101) }, 400, /1 to 100/],
    ['POST', snapshots, { name: 'start' }, 400, /choose another/],
    ['DELETE', `${snapshots}/start`, undefined, 400, /cannot be deleted/],
    ['DELETE', `${snapshots}/none`, undefined, 404, /known are start, base/],
    ['POST', `${snapshots}/bas/restore`, undefined, 404, /did you mean base/],
    ['PUT', '/lab/v1/reset', undefined, 405, /method/],
  ] as const) {
    const answer = await api.manage(method, path, body);
    t.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)}`);
    t.match(JSON.stringify(answer.cause), reason);
  }
  t.equal(lab.clock.advanced, 0);
  t.equal((await api.ask('GET', '/lab/v1/clock')).status, 401);
  for (let count = 1; count < 100; count++) lab.snapshots.take(`s${count}`);
  t.equal((await api.manage('POST', snapshots, { name: 'one.more' })).status, 400);
  t.equal((await api.manage('POST', snapshots, { name: 's1' })).status, 201, 'replaces one');
  await api.change('DELETE', `${snapshots}/s2`);
  t.equal((await api.manage('POST', snapshots, { name: 'one.more' })).status, 201);
});

t.test('the time of a test that brings its own clock is advanced in the same way', async (t) => {
  await using api = await ApiClient.start();
  const before = api.clock.now();
  await api.simulator.lab.clock.advance('1m');
  t.equal(api.clock.now() - before, MINUTE);
});

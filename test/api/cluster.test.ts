// Several controllers: sessions, tokens and changes of one are those of all; members and leader in the APIs and events.

import { Secret, TOTP } from 'otpauth';
import t, { type Test } from 'tap';
import { type Log, silentLog } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { type SimulatorCluster, startCluster } from '../../controller-sim/assembly/nodes.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import type { Simulator } from '../../controller-sim/interface/simulator.ts';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { type Issued, issue, makeAuthority } from '../support/clients/certificates.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { until } from '../support/until.ts';

interface Parts extends AsyncDisposable {
  readonly cluster: SimulatorCluster;
  readonly one: ApiClient;
  readonly two: ApiClient;
}

async function open(): Promise<Parts> {
  const cluster = await startCluster({ nodes: 2, password: PASSWORD, passwordCost: TEST_COST });
  const [one, two] = cluster.nodes.map((node) => new ApiClient(node)) as [ApiClient, ApiClient];
  const close = async () => {
    await one.close();
    await two.close();
    await cluster.close();
  };
  return { cluster, one, two, [Symbol.asyncDispose]: close };
}

t.test('a session of one controller is one of the other, until it ends at either', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  await one.person('anna');
  const token = await one.login('anna');
  t.equal((await two.ask('GET', '/current-identity', { token })).data.name, 'anna');
  t.equal((await two.ask('DELETE', '/current-api-session', { token })).status, 200);
  t.equal((await one.ask('GET', '/current-identity', { token })).status, 401);
});

t.test('tokens of one controller are accepted, refreshed and revoked at the other', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  await one.person('anna');
  const [first, second] = [new OidcClient(one), new OidcClient(two)];
  const { body } = await first.login('anna', PASSWORD);
  const statusAt = async (api: ApiClient, token: unknown) =>
    (await api.ask('GET', '/current-identity', { headers: { authorization: `Bearer ${token}` } })).status;
  t.equal(await statusAt(two, body.access_token), 200);
  const refreshed = await second.refresh(String(body.refresh_token));
  t.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  t.equal(await statusAt(one, refreshed.body.access_token), 200);
  await second.revoke(String(refreshed.body.access_token));
  t.equal(await statusAt(one, refreshed.body.access_token), 401);
});

t.test('wrong passwords at all controllers count together', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const authPolicyId = await one.authPolicy('locks', { updb: { maxAttempts: 3, lockoutDurationMinutes: 10 } });
  await one.person('anna', { authPolicyId });
  const logIn = async (api: ApiClient, password: string) =>
    (await api.ask('POST', '/authenticate?method=password', { body: { username: 'anna', password } })).status;
  const attempts = async (...attempted: (readonly [ApiClient, string])[]) => {
    const statuses: number[] = [];
    for (const [api, password] of attempted) statuses.push(await logIn(api, password));
    return statuses;
  };
  t.same(await attempts([one, 'wrong'], [two, 'wrong'], [two, PASSWORD]), [401, 401, 200], 'it begins again');
  t.same(await attempts([one, 'wrong'], [two, 'wrong'], [one, 'wrong'], [two, PASSWORD]), [401, 401, 401, 401]);
  t.equal(await logIn(one, PASSWORD), 401, 'locked');
});

t.test('a correct password at one begins the count of the other again', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const authPolicyId = await one.authPolicy('locks', { updb: { maxAttempts: 3, lockoutDurationMinutes: 10 } });
  await one.person('anna', { authPolicyId });
  const statuses: number[] = [];
  for (const [api, password] of [
    [one, 'wrong'],
    [one, 'wrong'],
    [two, PASSWORD],
    [one, 'wrong'],
    [one, 'wrong'],
    [one, PASSWORD],
  ] as const)
    statuses.push(
      (await api.ask('POST', '/authenticate?method=password', { body: { username: 'anna', password } })).status,
    );
  t.same(statuses, [401, 401, 200, 401, 401, 200]);
});

t.test('each step of a login may be at another controller', async (t) => {
  await using parts = await open();
  const { one, two, cluster } = parts;
  await one.person('anna');
  const steps = (...apis: ApiClient[]) =>
    new OidcClient(one, undefined, (step) => apis[step % apis.length] as ApiClient);
  for (const order of [
    [one, two],
    [two, one],
    [one, one, two],
    [two, two, one],
    [one, two, two],
  ])
    t.equal((await steps(...order).login('anna', PASSWORD)).status, 200);
  const wrong = await steps(one, two).login('anna', 'wrong password');
  t.not(wrong.status, 200);
  const code = await steps(one).code('anna', PASSWORD);
  const foreign = { ...code, code_verifier: 'x'.repeat(43) };
  t.equal((await steps(two).redeem(foreign)).status, 400, 'another client');
  t.equal((await steps(two).redeem(code)).status, 200, 'its own client, afterwards');
  t.equal((await steps(one).redeem(code)).status, 400, 'twice');
  const lost = await steps(one).code('anna', PASSWORD);
  await cluster.nodes[0].close();
  t.equal((await steps(two).redeem(lost)).status, 400, 'its controller is away');
  t.equal((await steps(two).redeem({ ...lost, code: `${'0'.repeat(64)}.nobody` })).status, 400);
});

t.test('an identity that one controller created enrolls at the other', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const body = { name: 'device', type: 'Device', isAdmin: false, enrollment: { ott: true } };
  const id = await one.create('/identities', body);
  const { enrollment } = await two.get(`/identities/${id}`);
  const claims = JSON.parse(Buffer.from(enrollment.ott.jwt.split('.')[1], 'base64url').toString());
  t.same(claims.ctrls, [one.simulator.controlAddress, two.simulator.controlAddress]);
  t.equal(claims.iss, one.simulator.baseUrl);
});

t.test('both list both controllers, their addresses and the leader', async (t) => {
  await using parts = await open();
  for (const api of [parts.one, parts.two]) {
    const listed = await api.get('/controllers?sort=name');
    t.match(listed, [
      { id: 'ctrl1', isOnline: true, ctrlAddress: parts.one.simulator.controlAddress },
      { id: 'ctrl2', isOnline: true, ctrlAddress: parts.two.simulator.controlAddress },
    ]);
    t.equal(listed[1].apiAddresses['edge-client'][0].url, parts.two.simulator.clientUrl);
    t.not(listed[0].fingerprint, listed[1].fingerprint);
    t.equal((await api.get('/summary')).controllers, 2);
  }
  await using alone = await ApiClient.start();
  t.equal((await alone.get('/summary')).controllers, 0, 'a controller without a cluster is not a member');
});

t.test('an inspection asks the controllers that it names, whichever of them gets it', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const inspect = async (api: ApiClient, appRegex: string) => {
    const requestedValues = ['connected-peers', 'data-model-index', 'unknown'];
    const { text } = await api.manage('POST', '/fabric/v1/inspections', { appRegex, requestedValues });
    return JSON.parse(text) as { success: boolean; values: { appId: string; name: string; value: unknown }[] };
  };
  for (const api of [one, two]) {
    const { success, values } = await inspect(api, '.*');
    t.equal(success, true);
    t.same(values.map(({ appId, name }) => `${appId} ${name}`).sort(), [
      'ctrl1 connected-peers',
      'ctrl1 data-model-index',
      'ctrl2 connected-peers',
      'ctrl2 data-model-index',
    ]);
    for (const { appId, value } of values.filter(({ name }) => name === 'connected-peers'))
      t.match(
        value,
        ['ctrl1', 'ctrl2'].map((id, index) => ({
          id,
          addr: [one, two][index]?.simulator.controlAddress,
          isVoter: true,
          isLeader: id === 'ctrl1',
          isPreferredLeader: false,
          isConnected: true,
          isSelf: appId === id,
          raftConnCount: 0,
        })),
      );
    const named = await inspect(api, '^ctrl2$');
    t.same([...new Set(named.values.map(({ appId }) => appId))], ['ctrl2']);
  }
  await two.simulator.close();
  await until('one is asked alone', async () => {
    const { success, values } = await inspect(one, '.*');
    return success && values.every(({ appId }) => appId === 'ctrl1');
  });
});

t.test('only a controller of the network is one of its peers', async (t) => {
  await using parts = await open();
  const { one } = parts;
  const device = await one.device('device');
  const clock = new SystemClock();
  const presented = ({ pem, key }: Issued) => ({
    cert: pem,
    key: String(key.export({ type: 'pkcs8', format: 'pem' })),
  });
  const dial = async (id: string, own: { cert: string; key: string } | undefined) => {
    const [address, context] = [parseAddress(one.simulator.controlAddress), { ...own, ca: one.simulator.ca }];
    const socket = await dialTls({ address, alpn: [Alpn.Control], context, timeout: 5_000, clock });
    const underlay = new Underlay({ socket, io: new IoContext({ clock }) });
    try {
      await sendHello(underlay, id, [[ChannelHeader.UnderlayType, 'ctrl.mesh']], 5_000);
      return 'answered';
    } catch {
      return 'closed';
    } finally {
      underlay.close();
    }
  };
  t.equal(await dial('ctrl2', undefined), 'closed', 'no certificate');
  t.equal(await dial('ctrl2', presented(device)), 'closed', 'one of an identity');
  const authority = await makeAuthority('Stranger');
  const stranger = await issue(authority, 'ctrl2', { uris: ['spiffe://x/controller/ctrl2'] });
  t.equal(await dial('ctrl2', presented(stranger)), 'closed', 'one of another authority');
});

t.test('members are removed once they have stopped; leadership moves only to running ones', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const listed = async () => JSON.parse((await two.manage('GET', '/fabric/v1/cluster/list-members')).text).data;
  const ask = (path: string, body: object) => two.manage('POST', `/fabric/v1/cluster/${path}`, body);
  const leader = async () => (await listed()).find((each: { leader: boolean }) => each.leader)?.id;
  t.match(JSON.stringify((await ask('remove-member', { id: 'ctrl1' })).cause), /it runs; stop it first/);
  t.match(JSON.stringify((await ask('remove-member', { id: 'ctrl9' })).cause), /no cluster node found/);
  t.equal((await ask('add-member', { address: one.simulator.controlAddress, isVoter: true })).status, 200);
  t.equal((await ask('add-member', { address: 'tls:nowhere:1', isVoter: true })).status, 400);
  t.match((await ask('transfer-leadership', { newLeaderId: 'ctrl1' })).cause.message, /to itself/);
  t.match((await ask('transfer-leadership', { newLeaderId: 'ctrl9' })).cause.message, /ctrl9/);
  t.equal((await ask('transfer-leadership', { newLeaderId: '' })).status, 200);
  await until('the leader', async () => (await leader()) === 'ctrl2');
  t.equal((await ask('transfer-leadership', { newLeaderId: 'ctrl1' })).status, 200);
  await until('the leader', async () => (await leader()) === 'ctrl1');
  await one.simulator.close();
  await until('another leader', async () => (await leader()) === 'ctrl2');
  t.equal((await ask('transfer-leadership', { newLeaderId: 'ctrl1' })).status, 500, 'it does not run');
  t.equal((await ask('remove-member', { id: 'ctrl1' })).status, 200);
  await until('one member', async () => (await listed()).length === 1);
  t.match(JSON.stringify((await ask('remove-member', { id: 'ctrl2' })).cause), /only member/);
});

t.test('each controller reports the changes of the cluster as events', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const seen: unknown[] = [];
  const types = () => seen.map((event) => (event as { eventType: string }).eventType);
  two.simulator.events.subscribe((event) => seen.push(event), ['cluster']);
  await until('the leader', () => types().includes('state.has_leader'));
  t.same(types(), ['state.has_leader']);
  seen.length = 0;
  await one.simulator.close();
  await until('the end of the leader', () => types().includes('state.has_leader'));
  t.same(types(), ['peer.disconnected', 'leadership.gained', 'state.has_leader']);
  t.match(seen, [
    { event_src_id: 'ctrl2', peers: [{ id: 'ctrl1', addr: one.simulator.controlAddress }] },
    { peers: [{ id: 'ctrl1' }, { id: 'ctrl2' }] },
    { leaderId: 'ctrl2' },
  ]);
});

t.test('the labs of one process share the time, and a restored snapshot is one of all', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  one.simulator.lab.snapshots.take('base');
  await two.create('/services', { name: 'new', encryptionRequired: true });
  await one.simulator.lab.snapshots.restore('base');
  t.same(await two.get('/services'), []);
  const before = two.simulator.lab.clock.now().getTime();
  await one.simulator.lab.clock.advance('1h');
  t.ok(two.simulator.lab.clock.now().getTime() - before >= 3_600_000);
  t.equal(two.simulator.lab.clock.advanced, 3_600_000);
  await t.rejects(two.simulator.lab.clock.advance(10 * 365 * 24 * 3_600_000), /ten years in total/);
});

t.test('posture and one-time passwords of one controller count at the other', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  await one.create('/edge-routers', { name: 'router' });
  const serviceId = await one.create('/services', { name: 'service', encryptionRequired: true });
  await one.openPolicies({ semantic: 'AllOf', postureCheckRoles: ['#check'] });
  const checks = [
    { typeId: 'DOMAIN', domains: ['corp.example'] },
    { typeId: 'MFA', timeoutSeconds: 600, promptOnWake: false, promptOnUnlock: false },
  ];
  const ids: string[] = [];
  for (const check of checks)
    ids.push(await one.create('/posture-checks', { name: check.typeId, roleAttributes: ['check'], ...check }));
  await one.person('anna');
  const token = await one.login('anna');
  const dial = async (api: ApiClient) =>
    (await api.ask('POST', '/sessions', { body: { serviceId, type: 'Dial' }, token })).status;
  await two.create('/current-identity/mfa', {}, token);
  const { provisioningUrl } = await one.get('/current-identity/mfa', token);
  const secret = Secret.fromBase32(new URL(provisioningUrl).searchParams.get('secret') ?? '');
  const code = new TOTP({ secret }).generate({ timestamp: one.simulator.lab.clock.now().getTime() });
  t.equal((await one.ask('POST', '/current-identity/mfa/verify', { body: { code }, token })).status, 200);
  const respond = (api: ApiClient, domain: string) =>
    api.ask('POST', '/posture-response', { body: { id: ids[0], typeId: 'DOMAIN', domain }, token });
  t.same([await dial(one), await dial(two)], [409, 409], 'without posture data');
  await respond(one, 'corp.example');
  t.same([await dial(one), await dial(two)], [201, 201]);
  const sessions = () => two.get<unknown[]>('/sessions');
  const { length } = await sessions();
  await one.create('/posture-checks', { name: 'other', typeId: 'DOMAIN', domains: ['elsewhere'] }); // both look again
  t.equal((await sessions()).length, length, 'neither ends the sessions of the other');
  await respond(two, 'home');
  await until('the end of the sessions', async () => (await sessions()).length === 0);
  t.same([await dial(one), await dial(two)], [409, 409]);
});

t.test('each controller reports a change once', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const seen = [one, two].map(({ simulator }) => {
    const events: string[] = [];
    simulator.events.subscribe(
      (event) => {
        const { eventType, event_type, entityType } = event as Readonly<Record<string, unknown>>;
        events.push(`${event.namespace} ${entityType ?? ''} ${eventType ?? event_type}`);
      },
      ['entityChange', 'apiSession', 'authentication'],
    );
    return events;
  });
  await one.create('/services', { name: 'first', encryptionRequired: true });
  await one.person('anna');
  await two.get('/services'); // the administrator logs in
  for (const events of seen) events.length = 0;
  const id = await two.create('/services', { name: 'second', encryptionRequired: true });
  await one.change('PATCH', `/services/${id}`, { name: 'renamed' });
  await two.login('anna');
  await one.change('DELETE', `/services/${id}`);
  const wanted = ['created', 'updated', 'deleted'].map((type) => `entityChange services ${type}`);
  for (const [member, events] of seen.entries()) {
    await until(`the events of controller ${member + 1}`, () => events.includes('entityChange services deleted'));
    t.same(
      events.filter((event) => event.startsWith('entityChange services')),
      wanted,
    );
    t.equal(events.filter((event) => event === 'apiSession  created').length, 1, 'the session of all');
  }
  const logins = seen.map((events) => events.filter((event) => event === 'authentication  success').length);
  t.same(logins, [0, 1], 'the login where it was');
});

/** `two` has the snapshot `base`; requests go to `one`. */
async function snapshotsOfAll(
  t: Test,
  api: ApiClient,
  { one, two }: { one: Simulator; two: Simulator },
): Promise<void> {
  const SNAPSHOTS = '/lab/v1/snapshots';
  const namesOf = ({ lab }: Simulator) => lab.snapshots.list().map(({ name }) => name);
  const listed = async () =>
    (await api.manage('GET', SNAPSHOTS)).data.map(
      (each: { name: string; controllerId: string }) => `${each.name} at ${each.controllerId}`,
    );
  t.same(await listed(), ['start at one', 'base at two'], 'without the starts of others');
  const file = (await api.manage('GET', `${SNAPSHOTS}/base/file?credentials=true`)).data;
  t.match(file, { name: 'base', credentials: true });
  for (const { lab } of [one, two]) lab.faults.add({ kind: 'http', path: '/oidc/nowhere', status: 503 });
  t.match(await api.manage('POST', SNAPSHOTS, { name: 'base' }), { status: 201, data: { controllerId: 'one' } });
  for (const { lab } of [one, two]) lab.faults.clear();
  t.match(await api.manage('POST', `${SNAPSHOTS}/base/restore`), { status: 200 });
  t.same(
    [one, two].map(({ lab }) => lab.faults.list().length),
    [1, 1],
    'the faults of all belong to it',
  );
  t.same([namesOf(one), namesOf(two)], [['start', 'base'], ['start']], 'the newest one has the name');
  t.equal((await api.manage('POST', `${SNAPSHOTS}/load`, { name: 'file', file, credentials: true })).status, 201);
  two.lab.snapshots.take('theirs');
  t.match(await api.manage('POST', `${SNAPSHOTS}/theirs/restore`), { status: 200 });
  t.equal((await api.manage('DELETE', `${SNAPSHOTS}/theirs`)).status, 200);
  t.same(namesOf(two), ['start']);
  t.match(await api.manage('DELETE', `${SNAPSHOTS}/theirs`), { status: 404 });
  t.match(await api.manage('DELETE', `${SNAPSHOTS}/start`), { status: 400 });
  t.match(await api.manage('GET', `${SNAPSHOTS}/theirs/file`), { status: 404 });
  two.lab.snapshots.load('loaded', file, { credentials: true });
  t.same(await listed(), ['start at one', 'base at one', 'file at one', 'loaded at two']);
}

t.test('labs of several processes have one time, and each restores for all', async (t) => {
  await using store = new AsyncDisposableStack();
  const memory = new SharedMemory();
  // Each with a clock of its own, as a process has.
  const start = async (member: string) =>
    store.use(
      await startSimulator({ store: memory, member, username: 'admin', password: PASSWORD, passwordCost: TEST_COST }),
    );
  const [one, two] = [await start('one'), await start('two')];
  const labs = [one.lab, two.lab];
  const near = (lab: typeof one.lab, advanced: number) => Math.abs(lab.clock.advanced - advanced) < 60_000;
  await one.lab.clock.advance('1h');
  t.same(
    labs.map(({ clock }) => clock.advanced),
    [3_600_000, 3_600_000],
  );
  const three = await start('three');
  t.equal(three.lab.clock.advanced, 3_600_000, 'one that starts later');
  await two.lab.clock.set(new Date(Date.now() + 7_200_000));
  for (const lab of [one.lab, three.lab]) t.ok(near(lab, 7_200_000), `${lab.clock.advanced}`);
  const api = new ApiClient(one);
  store.defer(() => api.close());
  t.equal((await api.manage('PATCH', '/lab/v1/clock', { rate: 0 })).status, 200);
  t.equal(two.lab.clock.rate, 0);
  t.ok(Math.abs(two.lab.clock.now().getTime() - one.lab.clock.now().getTime()) <= 1, 'both stand still');

  two.lab.snapshots.take('base');
  await one.admin.services.create({ name: 'later', encryptionRequired: true });
  await one.lab.clock.advance('30m');
  for (const lab of labs) lab.faults.add({ kind: 'http', path: '/oidc/nowhere', status: 503 });
  t.match(await one.lab.restore('base'), { deleted: 1 }, 'two has taken it');
  for (const lab of labs) {
    t.same(lab.faults.list(), []);
    t.ok(near(lab, 7_200_000), `${lab.clock.advanced}`);
  }
  t.same((await two.admin.services.list()).length, 0);
  await t.rejects(one.lab.restore('nothing'), /there is no snapshot nothing/);
  await snapshotsOfAll(t, api, { one, two });
  await three.lab.reset();
  t.same(
    [one, two, three].map(({ lab }) => lab.clock.rate),
    [1, 1, 1],
  );
});

t.test('a member that is cut off says so, serves what it knows, and has everything once it is healed', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  const fault = (id: string, name: string, body?: object) =>
    one.manage('POST', `/lab/v1/cluster/members/${id}/${name}`, body);
  const known = await one.create('/services', { name: 'known', encryptionRequired: true });
  await two.get('/services');
  t.equal((await fault('ctrl2', 'partition')).status, 200);
  const newer = await one.create('/services', { name: 'newer', encryptionRequired: true });
  t.equal((await two.manage('GET', `/services/${known}`)).status, 200);
  t.match(await two.manage('GET', `/services/${newer}`), { status: 503, code: 'DATA_NOT_REACHED' });
  const rejected = await two.manage('POST', '/services', { name: 'other', encryptionRequired: true });
  t.match(rejected, { status: 503, code: 'STORE_UNAVAILABLE' });
  t.match(JSON.stringify(rejected.cause), /sim cluster heal/);
  const members = async (api: ApiClient) =>
    JSON.parse((await api.manage('GET', '/fabric/v1/cluster/list-members')).text).data;
  t.match(await members(one), [{ connected: true }, { connected: false }]);
  t.match(await members(two), [
    { connected: true },
    { connected: true, readOnly: true, problem: /cut this controller off/ },
  ]);
  t.equal((await fault('ctrl2', 'heal')).status, 200);
  await until('the change', async () => (await two.manage('GET', `/services/${newer}`)).status === 200);
  t.equal((await two.manage('POST', '/services', { name: 'other', encryptionRequired: true })).status, 201);
  t.same((await one.names('/services?sort=name')).sort(), ['known', 'newer', 'other']);
  t.match(await members(one), [{ connected: true }, { connected: true, readOnly: false }]);
  t.equal((await fault('ctrl1', 'partition')).status, 200, 'a member causes faults of its own');
  t.match(await members(one), [{ readOnly: true, problem: /cut this controller off/ }, { connected: true }]);
  t.match(await members(two), [{ connected: false }, { connected: true, readOnly: false }]);
  t.equal((await fault('ctrl1', 'heal')).status, 200);
  const isHealed = async () =>
    (await one.manage('POST', '/services', { name: 'healed', encryptionRequired: true })).status;
  await until('changes at the member', async () => (await isHealed()) === 201);
  t.match(await fault('ctrl9', 'heal'), { status: 404 });
  t.match(await fault('ctrl2', 'pause', { duration: '1s' }), { status: 400 });
  t.equal((await fault('ctrl2', 'kill')).status, 200);
  await until('its end', async () => (await members(one))[1].connected === false);
});

t.test('creations at both at the same time never share a name', async (t) => {
  await using parts = await open();
  const { one, two } = parts;
  for (let count = 0; count < 10; count++) {
    const body = { name: `s${count}`, encryptionRequired: true };
    const statuses = await Promise.all([one, two, one, two].map((api) => api.manage('POST', '/services', body)));
    t.same(statuses.map(({ status }) => status).sort(), [201, 400, 400, 400]);
  }
  t.equal((await one.get('/services')).length, 10);
});

t.test('of two controllers with one id, the second one does not start, and the first one keeps its port', async (t) => {
  const store = new SharedMemory();
  const options = { store, password: PASSWORD, passwordCost: TEST_COST, member: 'one' };
  const one = await startSimulator(options);
  await t.rejects(startSimulator(options), /id one runs already .*; stop it, or choose another id/);
  await one.close();
  await using again = await startSimulator(options);
  t.equal(again.port, one.port);
});

t.test(
  'a start with the known password changes nothing, and one with another password changes it for all',
  async (t) => {
    const options = { store: new SharedMemory(), password: PASSWORD, passwordCost: TEST_COST };
    await using one = await startSimulator({ ...options, member: 'one' });
    const indexOf = () => {
      one.lab.snapshots.take('now');
      return one.lab.snapshots.list().at(-1)?.index;
    };
    const before = indexOf();
    const two = await startSimulator({ ...options, member: 'two' });
    t.equal(indexOf(), before);
    await two.close();
    const warnings: object[] = [];
    const warn = (fields: object, message: string) =>
      void (/has replaced the administrator of a network/.test(message) && warnings.push(fields));
    const log = { ...silentLog, warn, child: () => log } as Log;
    await using three = await startSimulator({ ...options, member: 'three', password: 'another one', log });
    t.same(warnings, [{ controllers: ['one'] }], 'it may be another network by mistake');
    const alone = { store: new SharedMemory(), passwordCost: TEST_COST, log };
    for (const password of [PASSWORD, 'another one']) await (await startSimulator({ ...alone, password })).close();
    t.equal(warnings.length, 1, 'none for a restart, where nobody else runs');
    const api = new ApiClient(one);
    t.equal((await api.tryLogin('admin')).status, 401);
    t.equal((await api.tryLogin('admin', three.password)).status, 200);
    await api.close();
  },
);

t.test('a mistake in the options starts nothing', async (t) => {
  await t.rejects(startCluster({ nodes: 0 }), /whole number from 1 to 9/);
  await t.rejects(startCluster({ nodes: 2, port: 65_535 }), /end at 65535/);
  await t.rejects(startCluster({ data: 'sim.db' } as never), /unknown option data/);
});

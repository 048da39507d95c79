// Protections while the store takes no changes, or while a controller is cut off the others: nothing fails open.

import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { AdvancingClock } from '#lib/time/advancing-clock.ts';
import { startCluster } from '../../controller-sim/assembly/nodes.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { startSimulator } from '../../entry/sim.ts';
import { type ApiAnswer, ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { until } from '../support/until.ts';

const WRONG = 'a wrong secret';
const MINUTE = 60_000;
const MAX_ATTEMPTS = 3;
/** More than the time for which data counts as current. */
const TOO_OLD = 12_000;

/** A user who is locked for ten minutes after three wrong passwords. */
async function lockable(api: ApiClient, name: string): Promise<string> {
  const updb = { maxAttempts: MAX_ATTEMPTS, lockoutDurationMinutes: 10 };
  return api.person(name, { authPolicyId: await api.authPolicy(`locks ${name}`, { updb }) });
}

const oidcStatus = async (api: ApiClient, username: string, password = PASSWORD) =>
  (await new OidcClient(api).login(username, password)).status;

t.test('wrong passwords count while the store rejects changes', async (t) => {
  await using api = await ApiClient.start();
  const id = await lockable(api, 'anna');
  const { faults } = api.simulator.lab;
  const fault = faults.add({ kind: 'store', fail: true });
  t.equal(await oidcStatus(api, 'anna'), 200, 'this login needs no change');
  const statuses = new Set<number>();
  for (let count = 0; count < 40; count++) statuses.add((await api.tryLogin('anna', WRONG)).status);
  t.same([...statuses], [401]);
  t.equal((await api.tryLogin('anna')).status, 401, 'the right one is too late');
  t.not(await oidcStatus(api, 'anna'), 200);

  t.equal((await api.get(`/identities/${id}`)).disabled, false, 'the lock is in memory only');
  faults.remove(fault.id);
  await until('the lock in the store', async () => {
    await api.clock.advance(2_000);
    return (await api.get(`/identities/${id}`)).disabled;
  });
  t.equal((await api.tryLogin('anna')).status, 401);
  await api.clock.advance(10 * MINUTE);
  t.equal((await api.tryLogin('anna')).status, 200, 'it ends by itself');
});

t.test('a lock in memory ends in time, also if the store never comes back', async (t) => {
  await using api = await ApiClient.start();
  await lockable(api, 'anna');
  await api.login('anna');
  api.simulator.lab.faults.add({ kind: 'store', fail: true });
  for (let count = 0; count < MAX_ATTEMPTS; count++) await api.tryLogin('anna', WRONG);
  t.not(await oidcStatus(api, 'anna'), 200);
  await api.clock.advance(10 * MINUTE + 1);
  t.equal(await oidcStatus(api, 'anna'), 200);
});

t.test('a reset ends locks that are not stored yet', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  const { primary } = await api.get('/auth-policies/default');
  const updb = { ...primary.updb, maxAttempts: MAX_ATTEMPTS, lockoutDurationMinutes: 0 };
  await api.change('PATCH', '/auth-policies/default', { primary: { ...primary, updb } });
  lab.faults.add({ kind: 'store', fail: true });
  for (let count = 0; count < MAX_ATTEMPTS; count++) await api.tryLogin('admin', WRONG);
  t.equal((await api.tryLogin('admin')).status, 401);
  await lab.reset();
  t.equal((await api.tryLogin('admin')).status, 200);
  await api.clock.advance(5_000);
  t.equal((await api.tryLogin('admin')).status, 200, 'the lock is not stored later');
});

t.test('a wrong current password counts in a change of the password, too', async (t) => {
  await using api = await ApiClient.start();
  await lockable(api, 'anna');
  const token = await api.login('anna');
  const [own] = await api.get('/current-identity/authenticators', token);
  api.simulator.lab.faults.add({ kind: 'store', fail: true });
  const change = (currentPassword: string) =>
    api.ask('PUT', `/current-identity/authenticators/${own.id}`, {
      token,
      body: { username: 'anna', currentPassword, password: 'another secret' },
    });
  for (let count = 0; count < MAX_ATTEMPTS; count++) t.equal((await change(WRONG)).status, 401);
  t.equal((await change(PASSWORD)).status, 401, 'locked, so the answer does not tell that it is right');
  t.not(await oidcStatus(api, 'anna'), 200);
});

t.test('while the store hangs, the right password does not overtake the lock', async (t) => {
  await using api = await ApiClient.start();
  await lockable(api, 'anna');
  const { faults } = api.simulator.lab;
  for (let count = 1; count < MAX_ATTEMPTS; count++) await api.tryLogin('anna', WRONG);
  const fault = faults.add({ kind: 'store', delay: '1s', fail: true });
  const last = api.tryLogin('anna', WRONG);
  await until('the change that hangs', () => faults.list().some(({ hits }) => hits > 0));
  t.not(await oidcStatus(api, 'anna'), 200);
  await api.clock.advance(1_000);
  t.equal((await last).status, 401);
  t.not(await oidcStatus(api, 'anna'), 200, 'and afterwards');
  faults.remove(fault.id);
});

t.test('codes, tokens and sessions that could not be used up are not accepted', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  await api.person('anna');
  const { body: tokens } = await oidc.login('anna', PASSWORD, {});
  const token = await api.login('anna');
  await api.create('/current-identity/mfa', {}, token);
  const { provisioningUrl } = await api.get('/current-identity/mfa', token);
  const secret = Secret.fromBase32(new URL(provisioningUrl).searchParams.get('secret') ?? '');
  const code = (): string => new TOTP({ secret }).generate({ timestamp: api.clock.now() });
  const verified = await api.ask('POST', '/current-identity/mfa/verify', { token, body: { code: code() } });
  t.equal(verified.status, 200);
  const partial = await api.login('anna');
  const person = await api.create('/identities', {
    name: 'berta',
    type: 'User',
    isAdmin: false,
    enrollment: { updb: 'berta' },
  });
  const { enrollment } = await api.get(`/identities/${person}`);

  const { faults } = api.simulator.lab;
  const fault = faults.add({ kind: 'store', fail: true });
  const enroll = () =>
    api.ask('POST', `/enroll?method=updb&token=${enrollment.updb.token}`, {
      body: { username: 'berta', password: PASSWORD },
    });
  const complete = (given: string) => api.ask('POST', '/authenticate/mfa', { token: partial, body: { code: given } });
  const table: [what: string, answer: { readonly status: number }][] = [
    ['an enrollment', await enroll()],
    ['a session', await api.tryLogin('anna')],
    ['a one-time password', await complete(code())],
    ['a refresh token', await oidc.refresh(String(tokens.refresh_token))],
    ['a logout', await api.ask('DELETE', '/current-api-session', { token })],
  ];
  for (const [what, { status }] of table) t.equal(status, 503, what);
  t.equal((await api.ask('GET', '/services', { token: partial })).status, 401, 'it is still partial');
  const guesses: ApiAnswer[] = [];
  for (let count = 0; count < 20; count++) guesses.push(await complete('000000'));
  t.match(guesses.at(-1), { status: 429 }, 'wrong codes count');

  faults.remove(fault.id);
  t.equal((await enroll()).status, 200, 'nothing was used up');
  t.equal((await oidc.refresh(String(tokens.refresh_token))).status, 200);
});

t.test('a controller that is cut off decides nothing about persons after ten seconds', async (t) => {
  const clock = new AdvancingClock();
  const cluster = await startCluster({ nodes: 2, password: PASSWORD, passwordCost: TEST_COST, clock });
  const [one, two] = cluster.nodes.map((node) => new ApiClient(node)) as [ApiClient, ApiClient];
  t.teardown(async () => {
    await Promise.all([one.close(), two.close()]);
    await cluster.close();
  });
  const [, far] = cluster.nodes;
  if (!far) throw new Error('one controller is missing');
  await one.person('anna');
  const admin = await one.person('berta', { isAdmin: true });
  await lockable(one, 'carla');
  const token = await one.login('anna');
  const { body: tokens } = await new OidcClient(one).login('anna', PASSWORD);
  const bearer = { authorization: `Bearer ${tokens.access_token}` };

  far.lab.member.partition();
  t.equal((await one.manage('DELETE', `/identities/${admin}`)).status, 200);
  await clock.advance(TOO_OLD);
  const login = (path: string, username = 'berta', password = PASSWORD) => two.tryLogin(username, password, path);
  const refused: [what: string, answer: Promise<ApiAnswer>][] = [
    ['a login', login('/authenticate')],
    ['a login of an administrator', login('/edge/management/v1/authenticate')],
    ['a login at the lab', login('/lab/v1/authenticate')],
    ['a login with a wrong password', login('/authenticate', 'berta', WRONG)],
    ['a session', two.ask('GET', '/current-identity', { token })],
    ['a token', two.ask('GET', '/current-identity', { headers: bearer })],
  ];
  for (const [what, answer] of refused)
    t.match(await answer, { status: 503, code: 'DATA_NOT_REACHED', cause: { message: /another controller/ } }, what);
  const oauth = { status: 503, body: { error: 'temporarily_unavailable' } };
  t.match(await new OidcClient(two).refresh(String(tokens.refresh_token)), oauth);
  t.match(await new OidcClient(two).exchange('native', String(tokens.access_token), 'access_token', 'id_token'), oauth);
  t.not(await oidcStatus(two, 'berta'), 200);
  t.equal((await two.ask('GET', '/oidc/userinfo', { headers: bearer })).status, 503);

  for (const path of ['/edge/client/v1/version', '/oidc/.well-known/openid-configuration', '/lab/v1/ready'])
    t.equal((await two.ask('GET', path)).status, 200, path);
  const lab = { headers: { authorization: `Bearer ${far.labToken}` } };
  t.equal((await two.ask('GET', '/lab/v1/faults', lab)).status, 200, 'no change takes the lab token away');
  for (let count = 0; count < MAX_ATTEMPTS; count++) await login('/authenticate', 'carla', WRONG);

  far.lab.member.heal();
  await until('its return', async () => (await two.ask('GET', '/current-identity', { token })).status === 200);
  t.equal((await login('/edge/management/v1/authenticate')).status, 401, 'she is gone');
  t.equal((await two.ask('GET', '/current-identity', { headers: bearer })).status, 200);
  t.equal((await login('/authenticate', 'carla')).status, 401, 'wrong passwords have counted meanwhile');
});

t.test(
  'a controller without a request for an hour asks the database',
  { skip: postgresObstacle() ?? false },
  async (t) => {
    await using postgres = await Postgres.start();
    const clock = new AdvancingClock();
    const options = { password: PASSWORD, passwordCost: TEST_COST, clock, store: await postgres.database('network') };
    await using simulator = await startSimulator({ ...options, member: 'one', sessionLifetime: 24 * 60 * MINUTE });
    await using api = new ApiClient(simulator);
    await api.person('anna');
    const token = await api.login('anna');
    await clock.advance(60 * MINUTE);
    t.equal((await api.ask('GET', '/current-identity', { token })).status, 200);
    await postgres.kill();
    t.equal((await api.ask('GET', '/current-identity', { token })).status, 200, 'what it knew a moment ago is current');
    await clock.advance(TOO_OLD);
    t.match(await api.ask('GET', '/current-identity', { token }), { status: 503, code: 'DATA_NOT_REACHED' });
    await postgres.restart();
    await until('its return', async () => (await api.ask('GET', '/current-identity', { token })).status === 200);
  },
);

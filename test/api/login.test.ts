// Logins with a password, and the life cycle of an API session: acceptance, locks and their duration, expiry.

import { decodeJwt } from 'jose';
import t from 'tap';
import { type ApiAnswer, ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';

const MINUTE = 60_000;
const WRONG = 'a wrong secret';
const MANAGEMENT = '/edge/management/v1/authenticate';

/** The comparable parts of a rejection: the request id always differs. */
function said({ status, text, headers }: ApiAnswer): object {
  const { date: _date, ...others } = headers;
  return { status, text: text.replace(/"requestId":"[^"]*"/, ''), headers: others };
}

/** A user who is locked for some minutes after two wrong passwords. */
async function lockable(api: ApiClient, name: string, minutes: number): Promise<string> {
  const updb = { maxAttempts: 2, lockoutDurationMinutes: minutes };
  return api.person(name, { authPolicyId: await api.authPolicy(`locks ${name}`, { updb }) });
}

async function lockOut(api: ApiClient, name: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) await api.tryLogin(name, WRONG);
}

t.test('a password opens a session in both APIs, with its token in the answer and in a header', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('anna');
  for (const path of ['/authenticate', MANAGEMENT, '/edge/v1/authenticate']) {
    const { status, data, headers } = await api.tryLogin('anna', PASSWORD, path);
    t.equal(status, 200, path);
    t.match(data, {
      identityId: id,
      isMfaRequired: false,
      isMfaComplete: false,
      isCertExtendable: false,
      authQueries: [],
      ipAddress: '127.0.0.1',
      expirationSeconds: 1800,
      expiresAt: new Date(api.clock.now() + 30 * MINUTE).toISOString(),
    });
    t.equal(headers['zt-session'], data.token);
    t.equal(headers['expiration-seconds'], '1800');
    t.ok(await api.isOpen(data.token));
  }
});

t.test('a rejected login does not reveal the reason', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  await api.manage('POST', `/identities/${await api.person('disabled')}/disable`, { durationMinutes: 0 });
  await api.person('barred', { authPolicyId: await api.authPolicy('no passwords', { updb: { allowed: false } }) });
  await lockable(api, 'locked', 5);
  await lockOut(api, 'locked');
  const expected = said(await api.tryLogin('nobody'));
  t.match(expected, { status: 401, text: /"code":"INVALID_AUTH"/ });
  const table: [string, string, string][] = [
    ['a wrong password', 'anna', WRONG],
    ['a name in capitals', 'ANNA', PASSWORD],
    ['a disabled identity', 'disabled', PASSWORD],
    ['a disabled identity and a wrong password', 'disabled', WRONG],
    ['an auth policy without passwords', 'barred', PASSWORD],
    ['a locked identity', 'locked', PASSWORD],
    ['a locked identity and a wrong password', 'locked', WRONG],
  ];
  for (const path of ['/authenticate', MANAGEMENT])
    for (const [name, username, password] of table)
      t.same(said(await api.tryLogin(username, password, path)), expected, name);
});

t.test('consecutive wrong passwords lock an identity until the minute has passed', async (t) => {
  await using api = await ApiClient.start();
  await lockable(api, 'anna', 5);
  const before = await api.login('anna');
  await lockOut(api, 'anna');
  t.notOk(await api.isOpen(before), 'sessions end with the lock');
  await api.clock.advance(5 * MINUTE - 1);
  t.equal((await api.tryLogin('anna')).status, 401, 'a correct password, one millisecond too early');
  await api.clock.advance(1);
  t.equal((await api.tryLogin('anna')).status, 200);

  await api.tryLogin('anna', WRONG);
  await api.login('anna');
  await api.tryLogin('anna', WRONG);
  t.equal((await api.tryLogin('anna')).status, 200, 'a correct password resets the count');
});

t.test('guesses during a lock neither prolong nor shorten it, and are not counted', async (t) => {
  await using api = await ApiClient.start();
  const ann = await lockable(api, 'anna', 5);
  await lockOut(api, 'anna');
  await api.clock.advance(3 * MINUTE);
  for (let attempt = 0; attempt < 5; attempt++) await api.tryLogin('anna', WRONG);
  await api.clock.advance(2 * MINUTE);
  t.equal((await api.tryLogin('anna')).status, 200, 'unlocked at the announced time');

  await api.manage('POST', `/identities/${ann}/disable`, { durationMinutes: 0 });
  await lockOut(api, 'anna');
  await api.clock.advance(60 * MINUTE);
  t.equal((await api.tryLogin('anna')).status, 401, 'an identity that an administrator disabled remains disabled');
});

t.test('a permanent lock lasts until an administrator enables the identity', async (t) => {
  await using api = await ApiClient.start();
  const ann = await lockable(api, 'anna', 0);
  await lockOut(api, 'anna');
  await api.clock.advance(24 * 60 * MINUTE);
  t.equal((await api.tryLogin('anna')).status, 401);
  t.match(await api.get(`/identities/${ann}`), { disabled: true, disabledAt: String });
  await api.manage('POST', `/identities/${ann}/enable`);
  t.equal((await api.tryLogin('anna')).status, 200);
});

t.test('concurrent guesses lock an identity as consecutive ones do', async (t) => {
  await using api = await ApiClient.start();
  const ann = await lockable(api, 'anna', 5);
  await Promise.all(Array.from({ length: 40 }, () => api.tryLogin('anna', WRONG)));
  t.equal((await api.tryLogin('anna')).status, 401);
  const { disabledUntil } = await api.get(`/identities/${ann}`);
  t.equal(disabledUntil, new Date(api.clock.now() + 5 * MINUTE).toISOString());
});

t.test('wrong current passwords in password changes lock an identity as wrong passwords in logins do', async (t) => {
  await using api = await ApiClient.start();
  await lockable(api, 'anna', 1);
  const token = await api.login('anna');
  const [own] = await api.get('/current-identity/authenticators', token);
  const change = (currentPassword: string) => {
    const body = { username: 'anna', currentPassword, password: PASSWORD };
    return api.ask('PUT', `/current-identity/authenticators/${own.id}`, { token, body });
  };
  for (const password of [WRONG, PASSWORD, WRONG]) await change(password);
  t.equal((await api.tryLogin('anna')).status, 200, 'a correct one ends the count');
  await change(WRONG);
  t.match(await change(WRONG), { status: 401, code: 'UNAUTHORIZED' });
  t.equal((await api.tryLogin('anna')).status, 401);
  t.notOk(await api.isOpen(token));
  await api.clock.advance(MINUTE);
  t.equal((await api.tryLogin('anna')).status, 200);
});

t.test('a disabled identity is rejected until its time has passed or it is enabled; its sessions end', async (t) => {
  await using api = await ApiClient.start();
  const ann = await api.person('anna');
  const token = await api.login('anna');
  const disable = (durationMinutes: number) => api.manage('POST', `/identities/${ann}/disable`, { durationMinutes });
  const show = async () => await api.get(`/identities/${ann}`);
  const at = (minutes: number) => new Date(api.clock.now() + minutes * MINUTE).toISOString();

  t.match(await disable(10), { status: 200, data: {} });
  t.match(await show(), { disabled: true, disabledAt: at(0), disabledUntil: at(10), hasApiSession: false });
  t.notOk(await api.isOpen(token));
  await api.clock.advance(10 * MINUTE - 1);
  t.equal((await api.tryLogin('anna')).status, 401);
  await api.clock.advance(1);
  t.equal((await api.tryLogin('anna')).status, 200);
  t.match(await show(), { disabled: false }, 'an expired lock is omitted');
  t.notOk(await api.isOpen(token), 'old sessions remain ended');

  await disable(0);
  const { disabledUntil } = await show();
  t.equal(disabledUntil, undefined, 'permanent');
  await api.clock.advance(24 * 60 * MINUTE);
  t.equal((await api.tryLogin('anna')).status, 401);
  t.match(await api.manage('POST', `/identities/${ann}/enable`), { status: 200, data: {} });
  const enabled = await show();
  t.same([enabled.disabled, enabled.disabledAt, enabled.disabledUntil], [false, undefined, undefined]);
  t.equal((await api.tryLogin('anna')).status, 200);
});

t.test('an unused session expires; each request renews it', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const used = await api.login('anna');
  const unused = await api.login('anna');
  await api.clock.advance(30 * MINUTE);
  t.ok(await api.isOpen(used), 'until the last millisecond');
  await api.clock.advance(1);
  t.notOk(await api.isOpen(unused), 'one millisecond later');
  await api.clock.advance(30 * MINUTE - 1);
  const mistaken = await api.ask('POST', '/sessions', { token: used, body: { type: 7 } });
  t.equal(mistaken.status, 400);
  await api.clock.advance(30 * MINUTE);
  t.ok(await api.isOpen(used), 'an invalid request counts as activity');
  await api.clock.advance(2 * MINUTE);
  const kept = await api.get<{ token: string }[]>('/api-sessions?filter=true%20limit%20none');
  const tokens = kept.map(({ token }) => token);
  t.same([tokens.includes(used), tokens.includes(unused)], [true, false], 'ended sessions are removed');
  t.notOk(await api.isOpen(unused));
});

t.test('activity keeps a session whose lifetime is shorter than the interval of storing activity', async (t) => {
  await using api = await ApiClient.start({ sessionLifetime: 10_000 });
  await api.person('anna');
  const token = await api.login('anna');
  for (let step = 0; step < 40; step++) {
    await api.clock.advance(9_000);
    if (!(await api.isOpen(token))) t.fail(`ended after ${step} steps`);
  }
  await api.clock.advance(10_001);
  t.notOk(await api.isOpen(token));
});

t.test('a logout ends its own session only', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const [first, second] = [await api.login('anna'), await api.login('anna')];
  t.match(await api.ask('DELETE', '/current-api-session', { token: first }), { status: 200, data: {} });
  t.notOk(await api.isOpen(first));
  t.equal((await api.ask('DELETE', '/current-api-session', { token: first })).status, 401);
  t.ok(await api.isOpen(second));
});

t.test('a session in token form is valid until the token expires or is revoked', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const asBearer = (token: string) =>
    api.ask('GET', '/current-identity', { headers: { authorization: `Bearer ${token}` } });
  const oidc = new OidcClient(api);
  const signIn = async () => String((await oidc.login('anna', PASSWORD)).body.access_token);
  const token = await signIn();
  t.equal((await asBearer(token)).data.name, 'anna');
  const { exp = 0 } = decodeJwt(token);
  await api.clock.advance(exp * 1000 - api.clock.now() - 1);
  t.equal((await asBearer(token)).status, 200, 'until the last millisecond');
  await api.clock.advance(1);
  t.equal((await asBearer(token)).status, 401);
  const other = await signIn();
  await oidc.revoke(other);
  t.equal((await asBearer(other)).status, 401);
});

t.test('the bearer token of a disabled identity is rejected', async (t) => {
  await using api = await ApiClient.start();
  const ann = await api.person('anna');
  const { body } = await new OidcClient(api).login('anna', PASSWORD);
  const bearer = { headers: { authorization: `Bearer ${body.access_token}` } };
  t.equal((await api.ask('GET', '/current-identity', bearer)).status, 200);
  await api.manage('POST', `/identities/${ann}/disable`, { durationMinutes: 1 });
  t.equal((await api.ask('GET', '/current-identity', bearer)).status, 401);
});

t.test(
  'a flood of logins fills a limited queue; other requests are answered meanwhile, and all afterwards',
  async (t) => {
    const passwordCost = { memory: 65_536, passes: 3 };
    await using api = await ApiClient.start({ passwordCost, passwordsWaiting: 2 });
    const flood = Promise.all(Array.from({ length: 30 }, () => api.tryLogin('nobody', WRONG)));
    t.equal((await api.ask('GET', '/version')).status, 200);
    const answers = await flood;
    const rejected = answers.filter(({ status }) => status === 429);
    t.ok(
      rejected.length > 0 && rejected.every(({ code }) => code === 'RATE_LIMITED'),
      `${rejected.length} are rejected`,
    );
    t.ok(answers.filter(({ status }) => status === 401).length >= 3, 'some are checked');
    t.equal(answers.length, rejected.length + answers.filter(({ status }) => status === 401).length);
    t.equal((await api.tryLogin('admin')).status, 200);
  },
);

// Attacks on single-use values and on names: concurrent use of one password, code or token, requests that fail half
// way, and names that every object inherits.

import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { ApiClient, filtered, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { TokenIssuer } from '../support/clients/token-issuer.ts';

const FUTURE = '2099-01-01T00:00:00Z';
const TRIES = 20;

/** Makes concurrent attempts. Returns the number of answers by status. */
async function atOnce(attempt: (index: number) => Promise<{ status: number }>, tries = TRIES): Promise<object> {
  const answers = await Promise.all(Array.from({ length: tries }, (_, index) => attempt(index)));
  const counts = new Map<string, number>();
  for (const { status } of answers) counts.set(`s${status}`, (counts.get(`s${status}`) ?? 0) + 1);
  return Object.fromEntries(counts);
}

t.test('one of many concurrent password changes with the current password succeeds', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const token = await api.login('anna');
  const [own] = await api.get('/current-identity/authenticators', token);
  const path = `/current-identity/authenticators/${own.id}`;
  const change = (currentPassword: string, index: number) =>
    api.ask('PUT', path, { token, body: { username: 'anna', currentPassword, password: `new secret ${index}` } });
  t.same(await atOnce((index) => change(PASSWORD, index)), { s200: 1, s401: TRIES - 1 });
  t.equal((await api.tryLogin('anna')).status, 401, 'the old password is invalid');
  const valid = await Promise.all(Array.from({ length: TRIES }, (_, n) => api.tryLogin('anna', `new secret ${n}`)));
  t.equal(valid.filter(({ status }) => status === 200).length, 1, 'one new password is valid');
  const both = { password: 'by an administrator' };
  await Promise.all([
    change(`new secret ${valid.findIndex(({ status }) => status === 200)}`, TRIES),
    api.change('PATCH', `/authenticators/${own.id}`, both),
  ]);
  t.equal((await api.tryLogin('anna', both.password)).status, 200, 'a change by an administrator is not undone');
});

t.test('one-time passwords, codes and tokens are valid once, even for concurrent use', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  const id = await api.person('anna');
  let token = await api.login('anna');
  await api.create('/current-identity/mfa', {}, token);
  const mfa = await api.get('/current-identity/mfa', token);
  const totp = new TOTP({ secret: Secret.fromBase32(new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '') });
  const code = async () => {
    await api.clock.advance(60_000);
    return totp.generate({ timestamp: api.clock.now() });
  };
  const five = { s200: 1, s400: 4 };
  let current = await code();
  const verify = (session: string) =>
    api.ask('POST', '/current-identity/mfa/verify', { token: session, body: { code: current } });
  const early = await Promise.all(Array.from({ length: 5 }, () => api.login('anna')));
  t.match(await atOnce((index) => verify(early[index] as string), 5), { s200: 1 }, 'verification in several sessions');
  t.equal((await verify(token)).status, 404, 'a second verification');
  const sessions = await Promise.all(Array.from({ length: 5 }, () => api.login('anna')));
  current = await code();
  const give = (index: number) =>
    api.ask('POST', '/authenticate/mfa', { token: sessions[index] as string, body: { code: current } });
  t.same(await atOnce(give, 5), five, 'one-time password in several sessions');
  current = mfa.recoveryCodes[0];
  t.same(await atOnce(give, 5), five, 'recovery code in several sessions');
  await api.clock.advance(60_000);
  current = await code();
  token = sessions[0] as string;
  t.equal((await give(0)).status, 200);
  await api.clock.advance(30_000);
  t.equal((await give(1)).status, 400, 'again later, before it expires');
  current = await code();
  const remove = () =>
    api.ask('DELETE', '/current-identity/mfa', { token, headers: { 'mfa-validation-code': current } });
  const removed = (await atOnce(remove, 5)) as Record<string, number>;
  t.equal(removed.s200, 1, 'deletion of a second factor');

  const redeemed = await oidc.code('anna', PASSWORD);
  t.same(await atOnce(() => oidc.redeem(redeemed)), { s200: 1, s400: TRIES - 1 }, 'authorization code');

  const { csr } = newRequest('x');
  const tokenOf = async (fields: object) => {
    const person = await api.create('/identities', {
      name: `of ${JSON.stringify(fields)}`,
      type: 'User',
      isAdmin: false,
    });
    const enrollment = await api.create('/enrollments', { identityId: person, expiresAt: FUTURE, ...fields });
    return (await api.get(`/enrollments/${enrollment}`)).token as string;
  };
  const ott = await tokenOf({ method: 'ott' });
  const body = { token: ott, clientCsr: csr };
  t.same(await atOnce(() => api.ask('POST', '/enroll/ott', { body })), { s200: 1, s400: TRIES - 1 }, 'ott');
  const updb = await tokenOf({ method: 'updb', username: 'berta' });
  const choose = (index: number) =>
    api.ask('POST', `/enroll/updb?token=${updb}`, { body: { username: `berta${index}`, password: PASSWORD } });
  t.same(await atOnce(choose), { s200: 1, s400: TRIES - 1 }, 'updb');
  const router = await api.create('/edge-routers', { name: 'router' });
  const { enrollmentToken } = await api.get(`/edge-routers/${router}`);
  const own = newRequest(router);
  const both = { certCsr: own.csr, serverCertCsr: own.csr };
  const enroll = () => api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body: both });
  t.same(await atOnce(enroll), { s200: 1, s400: TRIES - 1 }, 'erott');
  t.equal(
    (await api.get<object[]>(filtered('/authenticators', `identity = "${id}"`))).length,
    1,
    'no other entities were created',
  );
});

t.test('a proof that is revoked during its check does not open a session', async (t) => {
  await using api = await ApiClient.start();
  const revocations: [string, (id: string, authenticator: string) => Promise<unknown>][] = [
    ['deleted', (_id, authenticator) => api.manage('DELETE', `/authenticators/${authenticator}`)],
    [
      'changed',
      (_id, authenticator) => api.manage('PATCH', `/authenticators/${authenticator}`, { password: 'another' }),
    ],
    ['disabled', (id) => api.manage('POST', `/identities/${id}/disable`, { durationMinutes: 0 })],
    ['gone', (id) => api.manage('DELETE', `/identities/${id}`)],
  ];
  for (const [name, act] of revocations) {
    const id = await api.person(name);
    const [{ id: authenticator }] = await api.get(`/identities/${id}/authenticators`);
    const logins = Array.from({ length: 10 }, () => api.tryLogin(name));
    await act(id, authenticator);
    const after = name === 'changed' ? [] : (await Promise.all(logins)).filter(({ status }) => status === 200);
    for (const { data } of after) t.equal(await api.isOpen(data.token), false, name);
    await Promise.all(logins);
    t.equal((await api.tryLogin(name)).status, 401, name);
  }
});

t.test('a right that ends while a session is created leaves no session', async (t) => {
  await using api = await ApiClient.start();
  await api.create('/edge-routers', { name: 'router' });
  const policy = await api.openPolicies({ serviceRoles: ['#dialed'] });
  await api.person('anna');
  let count = 0;
  await api.create('/posture-checks', { name: 'domain', typeId: 'DOMAIN', domains: ['x'], roleAttributes: ['domain'] });
  const ends: [string, (serviceId: string) => Promise<unknown>][] = [
    ['the service is deleted', (serviceId) => api.manage('DELETE', `/services/${serviceId}`)],
    ['the service has no policy', (serviceId) => api.manage('PATCH', `/services/${serviceId}`, { roleAttributes: [] })],
    [
      'the policy has a check',
      () => api.manage('PATCH', `/service-policies/${policy}`, { postureCheckRoles: ['#domain'] }),
    ],
    ['the policy is deleted', () => api.manage('DELETE', `/service-policies/${policy}`)],
  ];
  const tokens = await Promise.all(Array.from({ length: 2 * TRIES }, () => api.login('anna')));
  for (const [what, end] of [...ends.slice(0, 3), ...ends]) {
    await api.manage('PATCH', `/service-policies/${policy}`, { postureCheckRoles: ['#none'] });
    const name = `${what} ${count++}`;
    const serviceId = await api.create('/services', { name, encryptionRequired: true, roleAttributes: ['dialed'] });
    const body = { serviceId, type: 'Dial' };
    const create = (token: string) => api.ask('POST', '/sessions', { token, body });
    const early = tokens.slice(TRIES).map(create);
    await Promise.all([...early, end(serviceId), ...tokens.slice(0, TRIES).map(create)]);
    t.same(await api.get(filtered('/sessions', `service = "${serviceId}"`)), [], what);
  }
});

t.test('concurrent guesses of passwords do not bypass the lock', async (t) => {
  await using api = await ApiClient.start();
  const authPolicyId = await api.authPolicy('strict', { updb: { maxAttempts: 3, lockoutDurationMinutes: 5 } });
  const as = api.connect(undefined, 1);
  for (const right of [6, 8, 12, 40]) {
    const name = `anna ${right}`;
    const id = await api.person(name, { authPolicyId });
    const guesses = Array.from({ length: 60 }, (_, index) => (index === right ? PASSWORD : `wrong ${index}`));
    // Connections are already open, so that the guesses arrive together.
    await Promise.all(guesses.map(() => api.ask('GET', '/version', { as })));
    const guess = (password: string) =>
      api.ask('POST', '/authenticate?method=password', { body: { username: name, password }, as });
    const answers = await Promise.all(guesses.map(guess));
    t.same(
      answers.filter(({ status }) => status !== 401),
      [],
      `the correct password is guess ${right}`,
    );
    t.equal((await api.get(`/identities/${id}`)).disabled, true);
  }
});

t.test('a bad certificate request does not use a code, a token or an enrollment', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  await api.person('anna');
  const { csr, key } = newRequest('x');
  const bad = ['nonsense', csr.replace(/[A-Z]{4}/, 'AAAA'), `${csr.slice(0, 300)}-----END CERTIFICATE REQUEST-----`];
  const rejected = { status: 400, body: { error: 'invalid_request' } };
  const { refresh_token: refresh, session_cert: pem } = (await oidc.login('anna', PASSWORD, { csrPem: csr })).body;
  const bound = new OidcClient(api, api.connect({ pem: String(pem), key }));
  for (const each of bad) t.match(await bound.refresh(String(refresh), { csr_pem: each }), rejected);
  await api.clock.advance(60_000);
  const next = await bound.refresh(String(refresh), { csr_pem: csr });
  t.match(next, { status: 200, body: { session_cert: String } }, 'the refresh token is still valid');
  await api.clock.advance(60_000);
  t.match(await bound.refresh(String(refresh)), { status: 400, body: { error: 'invalid_grant' } }, 'now used');

  const code = await oidc.code('anna', PASSWORD);
  for (const wrong of [{ code_verifier: 'x' }, { redirect_uri: 'http://localhost:1/' }, { client_id: 'openziti' }])
    t.match(await oidc.redeem({ ...code, ...wrong }), { status: 400, body: { error: 'invalid_grant' } });
  t.equal((await oidc.redeem(code)).status, 200, 'the code is still valid');

  const id = await api.create('/identities', {
    name: 'device',
    type: 'User',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const { token } = (await api.get(`/identities/${id}`)).enrollment.ott;
  for (const each of bad)
    t.equal((await api.ask('POST', '/enroll/ott', { body: { token, clientCsr: each } })).status, 400);
  t.equal((await api.ask('POST', '/enroll/ott', { body: { token, clientCsr: csr } })).status, 200);
  const router = await api.create('/edge-routers', { name: 'router' });
  const { enrollmentToken } = await api.get(`/edge-routers/${router}`);
  const own = newRequest(router);
  const enroll = (certCsr: string, serverCertCsr: string) =>
    api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body: { certCsr, serverCertCsr } });
  for (const each of bad) {
    t.equal((await enroll(each, own.csr)).status, 400);
    t.equal((await enroll(own.csr, each)).status, 400);
  }
  t.equal((await enroll(own.csr, own.csr)).status, 200);
});

const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];

t.test('names that every object inherits are unknown like other names', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  await api.create('/services', { name: 'service', encryptionRequired: true, tags: { own: 'yes' } });
  for (const name of INHERITED) {
    const login = await api.ask('POST', `/authenticate?method=${name}`, {
      body: { username: 'anna', password: PASSWORD },
    });
    t.match(login, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: 'method' } }, name);
    const body = new URLSearchParams({ grant_type: name, client_id: 'native' }).toString();
    const grant = await api.ask('POST', '/oidc/oauth/token', { body, type: 'application/x-www-form-urlencoded' });
    t.same([grant.status, JSON.parse(grant.text).error], [400, 'unsupported_grant_type'], name);
    const json = await api.ask('POST', '/oidc/oauth/token', { body: `{"grant_type":"${name}","__proto__":{"a":1}}` });
    t.equal(json.status, 400, name);
    for (const path of ['/enroll', '/enroll/ott']) {
      const answer = await api.ask('POST', `${path}?method=${name}&token=x`, { body: {} });
      t.ok(answer.status >= 400 && answer.status < 500, `${path} ${name} ${answer.status}`);
    }
    for (const filter of [`${name} = "x"`, `${name}(name) = 1`, `name.${name} = "x"`, `${name}.name = "x"`]) {
      const answer = await api.manage('GET', filtered('/identities', filter));
      t.equal(answer.status, 400, `${filter} ${answer.status}`);
    }
    for (const filter of [`tags.${name} != null`, `tags.${name} contains "o"`])
      t.same((await api.manage('GET', filtered('/services', filter))).data, [], filter);
    const sorted = await api.manage('GET', `/identities?sort=${name}`);
    t.equal(sorted.status, 400, `sort by ${name}`);
    for (const path of [`/posture-check-types/${name}`, `/identity-types/${name}`, `/specs/${name}/spec`])
      t.equal((await api.manage('GET', path)).status, 404, path);
    const check = await api.manage('POST', '/posture-checks', { name, typeId: name, roleAttributes: [] });
    t.equal(check.status, 400, `posture check of the type ${name}`);
    const semantic = { typeId: 'PROCESS_MULTI', semantic: name, processes: [{ osType: 'Linux', path: '/a' }] };
    t.equal((await api.manage('POST', '/posture-checks', { name, ...semantic })).status, 400, `semantic ${name}`);
    const costs = `{"name":"${name}","type":"User","isAdmin":false,"serviceHostingCosts":{"${name}":1}}`;
    t.equal((await api.manage('POST', '/identities', costs)).status, 404, `cost of the service ${name}`);
    const inspected = await api.manage('POST', '/fabric/v1/inspections', { appRegex: '.*', requestedValues: [name] });
    t.same([inspected.status, JSON.parse(inspected.text).values], [200, null], `inspect ${name}`);
  }
});

t.test('a claim that a token lacks identifies no identity, and neither does a name format', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  const authority = await makeAuthority('elsewhere');
  await idp.addKey('k1');
  for (const externalId of ['Object', 'String', '3']) await api.person(`known as ${externalId}`, { externalId });
  const common = { name: 'idp', issuer: idp.name, audience: 'edge', enabled: true, jwksEndpoint: idp.endpoint };
  const signer = await api.create('/external-jwt-signers', { ...common, useExternalId: true });
  for (const claimsProperty of ['/constructor/name', '/sub/constructor/name', '/__proto__/constructor/name']) {
    await api.change('PATCH', `/external-jwt-signers/${signer}`, { claimsProperty });
    const headers = { authorization: `Bearer ${await idp.token('k1', { sub: 'abc' })}` };
    const answer = await api.ask('POST', '/authenticate?method=ext-jwt', { headers, body: {} });
    t.equal(answer.status, 401, claimsProperty);
  }
  await api.addAuthority('elsewhere', authority, { identityNameFormat: '[constructor]-[__proto__]-[commonName]' });
  const device = api.connect(await issue(authority, 'device'));
  t.equal((await api.ask('POST', '/enroll/ca', { as: device })).status, 200);
  const names = await api.names(filtered('/identities', 'name contains "device"'));
  t.same(names, ['[constructor]-[__proto__]-device']);
});

// Tokens of other issuers: for logins, in place of a session, and as a second factor. The simulator tolerates every
// behaviour of an issuer.

import { createPublicKey, type webcrypto } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import t from 'tap';
import { type ApiAnswer, ApiClient, filtered, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { TokenIssuer } from '../support/clients/token-issuer.ts';

const ISSUER = 'https://idp.example';
const REJECTED = { status: 401, code: 'UNAUTHORIZED' };
const SECOND = 1_000;

function bearer(...tokens: string[]): { headers: Record<string, string> } {
  return { headers: { authorization: tokens.map((token) => `Bearer ${token}`).join(', ') } };
}

function login(api: ApiClient, ...tokens: string[]): Promise<ApiAnswer> {
  return api.ask('POST', '/authenticate?method=ext-jwt', { body: {}, ...bearer(...tokens) });
}

function addSigner(api: ApiClient, fields: object): Promise<string> {
  const signer = {
    name: 'idp',
    issuer: ISSUER,
    audience: 'edge',
    enabled: true,
    claimsProperty: 'email',
    useExternalId: true,
  };
  return api.create('/external-jwt-signers', { ...signer, ...fields });
}

function addPerson(api: ApiClient, fields: object = {}): Promise<string> {
  return api.person('anna', { externalId: 'anna@example', ...fields });
}

t.test('a token that a certificate verifies opens a session for the identity in its claim', async (t) => {
  await using api = await ApiClient.start();
  const anna = await addPerson(api);
  const signed = await issue(await makeAuthority('idp'), 'idp');
  const id = await addSigner(api, { certPem: signed.pem, kid: 'k1' });
  const now = Math.floor(api.clock.now() / 1000);
  const sign = (kid: string | undefined, claims: JWTPayload = {}) =>
    new SignJWT({ iss: ISSUER, aud: 'edge', exp: now + 60, email: 'anna@example', ...claims })
      .setProtectedHeader({ alg: 'ES256', ...(kid && { kid }) })
      .sign(signed.key);
  const { status, data, headers } = await login(api, await sign('k1'));
  t.equal(status, 200);
  t.match(data, { identityId: anna, authenticatorId: '', authQueries: [], isMfaRequired: false });
  t.equal(headers['zt-session'], data.token);
  t.ok(await api.isOpen(data.token));
  t.equal((await login(api, await sign('k1', { aud: ['other', 'edge'] }))).status, 200, 'one of several audiences');
  t.match(await login(api, await sign('k2')), REJECTED, 'another key id');

  const pointers: [string, JWTPayload, number][] = [
    ['/email', {}, 200],
    ['/user/mails/1', { user: { mails: ['x', 'anna@example'] } }, 200],
    ['/user~1mail', { 'user/mail': 'anna@example' }, 200],
    ['user/mail', { user: { mail: 'anna@example' } }, 200],
    ['user~1mail', { 'user/mail': 'anna@example' }, 200],
    ['user/mail', { 'user/mail': 'anna@example' }, 401],
    ['/user/mails', { user: { mails: ['anna@example'] } }, 401],
    ['/nothing/at/all', {}, 401],
    ['number', { number: 7 }, 401],
  ];
  for (const [claimsProperty, claims, expected] of pointers) {
    await api.manage('PATCH', `/external-jwt-signers/${id}`, { claimsProperty });
    t.equal((await login(api, await sign('k1', claims))).status, expected, claimsProperty);
  }
  await api.manage('PATCH', `/external-jwt-signers/${id}`, { claimsProperty: '/sub', useExternalId: false });
  t.equal((await login(api, await sign('k1', { sub: anna }))).status, 200, 'the id of an identity');
  t.match(
    await login(api, await sign('k1', { sub: 'anna@example' })),
    REJECTED,
    'an external id where an id is required',
  );
  await api.manage('PATCH', `/external-jwt-signers/${id}`, { enabled: false });
  t.match(await login(api, await sign('k1', { sub: anna })), REJECTED, 'the signer is disabled');
  await api.manage('PATCH', `/external-jwt-signers/${id}`, { enabled: true });
  await api.manage('DELETE', `/external-jwt-signers/${id}`);
  t.match(await login(api, await sign('k1', { sub: anna })), REJECTED, 'the signer is deleted');
});

t.test('each of the usual algorithms is accepted, with one set of keys that is fetched once', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  t.equal(idp.requests, 0, 'no fetch before the first token');
  const algorithms = ['RS256', 'RS512', 'PS256', 'ES256', 'ES384'];
  for (const alg of algorithms) await idp.addKey(alg, alg);
  const { kid: _kid, ...unnamed } = await idp.addKey('for encryption');
  idp.published.push(
    null,
    { kty: 'EC', crv: 'P-999', kid: 'of a kind to come', x: 'AA', y: 'AA' },
    { kty: 'oct', k: 'c2VjcmV0', kid: 'a secret' },
    { ...unnamed, kid: 'wrong use', use: 'enc' },
  );
  const claims = { email: 'anna@example' };
  for (const alg of algorithms) t.equal((await login(api, await idp.token(alg, claims))).status, 200, alg);
  t.equal(idp.requests, 1);
  t.match(
    await login(api, await idp.token('for encryption', claims, { kid: 'wrong use' })),
    REJECTED,
    'a key for encryption',
  );
});

t.test('tokens that are forged, for another audience, or not valid now are rejected', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  const jwk = await idp.addKey('k1');
  const claims = { email: 'anna@example' };
  const now = Math.floor(api.clock.now() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [head = '', body = '', signature = ''] = (await idp.token('k1', claims)).split('.');
  const all = { iss: ISSUER, aud: 'edge', exp: now + 60, ...claims };
  const hmac = (secret: string | Buffer) =>
    new SignJWT(all).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(new Uint8Array(Buffer.from(secret)));
  const publicKey = createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
  const table: [string, string | Promise<string>][] = [
    ['no algorithm', `${encode({ alg: 'none', kid: 'k1' })}.${encode(all)}.`],
    ['the public key as a secret', hmac(publicKey.export({ type: 'spki', format: 'pem' }))],
    ['the published key as an HMAC secret', hmac(JSON.stringify(jwk))],
    ['another body', `${head}.${encode(all)}.${signature}`],
    ['another head', `${encode({ alg: 'ES384', kid: 'k1' })}.${body}.${signature}`],
    ['no signature', `${head}.${body}.`],
    ['no token', 'nonsense'],
    ['wrong audience', idp.token('k1', { ...claims, aud: 'another network' })],
    ['no audience', idp.token('k1', { ...claims, aud: undefined })],
    ['wrong issuer', idp.token('k1', { ...claims, iss: 'https://other.example' })],
    ['no issuer', idp.token('k1', { ...claims, iss: undefined })],
    ['expired', idp.token('k1', { ...claims, exp: now })],
    ['without an expiry', idp.token('k1', { ...claims, exp: undefined })],
    ['not yet valid', idp.token('k1', { ...claims, nbf: now + 2 })],
    ['without the claim', idp.token('k1', {})],
    ['an empty claim', idp.token('k1', { email: '' })],
    ['nobody', idp.token('k1', { email: 'nobody@example' })],
  ];
  const expected = (await login(api)).text.replace(/"requestId":"[^"]*"/, '');
  for (const [name, token] of table) {
    const answer = await login(api, await token);
    t.match(answer, REJECTED, name);
    t.equal(answer.text.replace(/"requestId":"[^"]*"/, ''), expected, name);
  }
  t.equal((await login(api, await idp.token('k1', claims))).status, 200);
  t.equal(
    (await login(api, 'nonsense', await idp.token('k1', claims))).status,
    200,
    'one valid token of several suffices',
  );
});

t.test('a new key is fetched on first use; unknown ids do not cause repeated fetches', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  const claims = { email: 'anna@example' };
  await idp.addKey('old');
  const status = async (kid: string, header = {}) => (await login(api, await idp.token(kid, claims, header))).status;
  t.equal(await status('old'), 200);
  await api.clock.advance(60 * SECOND);
  await idp.addKey('new');
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, index) => idp.token('new', { ...claims, jti: `${index}` })),
  );
  t.equal((await login(api, ...tokens)).status, 200);
  t.equal(idp.requests, 2, 'concurrent requests share one fetch');

  await api.clock.advance(60 * SECOND);
  for (let count = 0; count < 50; count++) t.equal(await status('old', { kid: `made up ${count}` }), 401);
  t.equal(idp.requests, 3, 'one fetch for all unknown ids');
  t.equal(await status('old'), 200, 'known keys still verify');
  await api.clock.advance(5 * SECOND);
  idp.published.shift();
  t.equal(await status('old', { kid: 'made up' }), 401);
  t.equal(idp.requests, 4);
  t.equal(await status('old'), 401, 'a key that is no longer published is removed');
  t.equal(await status('new', { kid: undefined }), 200, 'the only key needs no id');
  await idp.addKey('newest');
  idp.published.shift();
  await api.clock.advance(30 * 86_400 * SECOND);
  t.equal(await status('new'), 401, 'nor is a key accepted once more that was withdrawn in a month without logins');
});

t.test('a key that was replaced under the same id is fetched, at most once a second', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  const claims = { email: 'anna@example' };
  const status = async (fields = {}, header = {}) =>
    (await login(api, await idp.token('k1', { ...claims, ...fields }, header))).status;
  await idp.addKey('k1');
  t.equal(await status(), 200);
  for (const alg of ['ES256', 'RS256']) {
    await api.clock.advance(60 * SECOND);
    idp.published = [];
    await idp.addKey('k1', alg);
    const tokens = await Promise.all(Array.from({ length: 5 }, (_, index) => idp.token('k1', { ...claims, n: index })));
    const logins = await Promise.all(tokens.map((token) => login(api, token)));
    t.same(
      logins.map((each) => each.status),
      Array(5).fill(200),
      alg,
    );
  }
  t.equal(idp.requests, 3, 'concurrent requests share one fetch');
  await api.clock.advance(60 * SECOND);
  t.equal(await status({}, { kid: undefined }), 200, 'without an id');
  for (const wrong of [{ aud: 'another network' }, { exp: 1 }]) t.equal(await status(wrong), 401);
  t.equal(idp.requests, 3, 'the signature is right, so the key is not fetched');
  const { published } = idp;
  await idp.addKey('k1');
  idp.published = published.slice(0, 1);
  for (let count = 0; count < 20; count++) t.equal(await status(), 401, 'a forged token');
  t.equal(idp.requests, 4);
});

t.test('an issuer that is down, slow or sends invalid data causes rejections only for its own tokens', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  const id = await addSigner(api, { jwksEndpoint: idp.endpoint });
  await idp.addKey('k1');
  const token = await idp.token('k1', { email: 'anna@example' });
  const answers: [string, TokenIssuer['answer']][] = [
    ['an error', (response) => response.writeHead(500).end(JSON.stringify({ keys: idp.published }))],
    ['somewhere unknown', (response) => response.writeHead(302).end()],
    ['a blocked address', (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end()],
    ['a file', (response) => response.writeHead(302, { location: 'file:///etc/hosts' }).end()],
    ['nowhere', (response) => response.writeHead(302, { location: 'http://' }).end()],
    ['nonsense', (response) => response.end('<html>')],
    ['null', (response) => response.end('null')],
    ['no keys', (response) => response.end('{"keys":{}}')],
    ['the end of the connection', (response) => response.destroy()],
    ['a partial answer', (response) => response.write('{"keys":[', () => response.destroy())],
    ['too much', (response) => response.end(JSON.stringify({ keys: idp.published, more: 'x'.repeat(2 << 20) }))],
  ];
  for (const [name, answer] of answers) {
    idp.answer = answer;
    t.match(await login(api, token), REJECTED, name);
    await api.clock.advance(5 * SECOND);
  }
  t.equal(idp.requests, answers.length, 'one fetch for each login');
  idp.answer = () => undefined;
  const [waiting] = [login(api, token), await idp.nextRequest()];
  t.equal((await api.tryLogin('anna')).status, 200, 'others are served meanwhile');
  await api.clock.advance(10 * SECOND);
  t.match(await waiting, REJECTED, 'it does not answer');
  idp.answer = undefined;
  t.match(await login(api, token), REJECTED, 'no fetch during the pause');
  await api.clock.advance(5 * SECOND);
  t.equal((await login(api, token)).status, 200, 'it is available again');

  const { endpoint } = idp;
  await idp.close();
  t.equal((await login(api, token)).status, 200, 'it is down; its keys are cached');
  await api.manage('PATCH', `/external-jwt-signers/${id}`, { jwksEndpoint: `${endpoint}/moved` });
  t.match(await login(api, token), REJECTED, 'it is down, and its keys are unknown');
});

t.test('keys are fetched from the address to which an issuer redirects, in up to five steps', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  const id = await addSigner(api, { jwksEndpoint: idp.endpoint });
  await idp.addKey('k1');
  for (const [statusCode, steps, expected] of [
    [301, 1, 200],
    [308, 5, 200],
    [302, 6, 401],
    [304, 1, 401],
  ] as const) {
    const before = idp.requests;
    idp.answer = (response, path) => {
      const step = Number(/\d+$/.exec(path)?.[0]);
      if (step === 0) response.end(JSON.stringify({ keys: idp.published }));
      else response.writeHead(statusCode, { location: `step-${step - 1}` }).end();
    };
    const jwksEndpoint = new URL(`/${statusCode}/step-${steps}`, idp.endpoint).href;
    await api.change('PATCH', `/external-jwt-signers/${id}`, { jwksEndpoint });
    t.equal((await login(api, await idp.token('k1', { email: 'anna@example' }))).status, expected, jwksEndpoint);
    t.equal(idp.requests - before, statusCode === 304 ? 1 : Math.min(steps, 5) + 1, jwksEndpoint);
  }
});

t.test('an auth policy decides which tokens are accepted', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  const anna = await addPerson(api);
  const id = await addSigner(api, { jwksEndpoint: idp.endpoint });
  const other = await addSigner(api, {
    name: 'other',
    issuer: 'https://other.example',
    jwksEndpoint: `${idp.endpoint}/other`,
  });
  await idp.addKey('k1');
  const claims = { email: 'anna@example' };
  const table: [string, object, number][] = [
    ['any', { allowedSigners: [] }, 200],
    ['this one', { allowedSigners: [id] }, 200],
    ['another one', { allowedSigners: [other] }, 401],
    ['none', { allowed: false }, 401],
  ];
  for (const [name, extJwt, status] of table) {
    await api.manage('PATCH', `/identities/${anna}`, { authPolicyId: await api.authPolicy(name, { extJwt }) });
    const token = await idp.token('k1', claims);
    t.equal((await login(api, token)).status, status, name);
    t.equal(
      (await api.ask('GET', '/current-identity', bearer(token))).status,
      status,
      `${name}, in place of a session`,
    );
  }
  await api.manage('PATCH', `/identities/${anna}`, { authPolicyId: 'default' });
  await api.manage('POST', `/identities/${anna}/disable`, { durationMinutes: 1 });
  const token = await idp.token('k1', claims);
  t.equal((await login(api, token)).status, 401, 'a disabled identity');
  t.equal((await api.ask('GET', '/current-identity', bearer(token))).status, 401);
});

t.test('a token replaces a session while it is valid', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  const anna = await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  await idp.addKey('k1');
  const exp = Math.floor(api.clock.now() / 1000) + 120;
  const withToken = bearer(await idp.token('k1', { email: 'anna@example', exp }));
  const { data } = await api.ask('GET', '/current-api-session', withToken);
  t.match(data, { identityId: anna, isMfaRequired: false, authQueries: [], ipAddress: '127.0.0.1' });
  t.equal((await api.ask('GET', '/current-api-session', withToken)).data.id, data.id, 'one token, one session');
  t.match(await api.ask('GET', '/services', withToken), { status: 200, data: [] });
  t.equal(
    (await api.ask('GET', '/edge/management/v1/services', withToken)).status,
    401,
    'it adds no rights to those of the identity',
  );
  await api.clock.advance(exp * SECOND - api.clock.now() - 1);
  t.equal((await api.ask('GET', '/services', withToken)).status, 200);
  await api.clock.advance(1);
  t.equal((await api.ask('GET', '/services', withToken)).status, 401, 'expired');
});

t.test('a token as second factor: the session is partial in every request without it', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  const fields = {
    jwksEndpoint: idp.endpoint,
    externalAuthUrl: 'https://idp.example/auth',
    clientId: 'cli',
    scopes: ['openid'],
  };
  const id = await addSigner(api, fields);
  await addSigner(api, { name: 'other', issuer: 'https://other.example', jwksEndpoint: idp.endpoint });
  await idp.addKey('k1');
  const authPolicyId = await api.authPolicy('two', { secondary: { requireExtJwtSigner: id } });
  await addPerson(api, { authPolicyId });
  await api.person('eve1', { externalId: 'eve@example' });
  const { data } = await api.tryLogin('anna');
  const { token } = data;
  const query = { typeId: 'EXT-JWT', id, httpUrl: 'https://idp.example/auth', clientId: 'cli', scopes: ['openid'] };
  t.match(data, { isMfaRequired: false, authQueries: [query] });

  const own = await idp.token('k1', { email: 'anna@example' });
  const open = ['/current-api-session', '/current-identity/mfa'];
  const closed = ['/services', '/sessions', '/current-identity/authenticators', '/current-identity/edge-routers'];
  for (const path of open) t.not((await api.ask('GET', path, { token })).status, 401, path);
  for (const path of closed) {
    t.match(await api.ask('GET', path, { token }), REJECTED, path);
    t.equal((await api.ask('GET', path, { token, ...bearer(own) })).status, 200, `${path} with it`);
    t.match(await api.ask('GET', path, { token }), REJECTED, `${path} without it again`);
  }
  const others: [string, string][] = [
    ["somebody else's", await idp.token('k1', { email: 'eve@example' })],
    ['from another issuer', await idp.token('k1', { email: 'anna@example', iss: 'https://other.example' })],
    ['expired', await idp.token('k1', { email: 'anna@example', exp: 1 })],
  ];
  for (const [name, each] of others)
    t.match(await api.ask('GET', '/services', { token, ...bearer(each) }), REJECTED, name);
  t.match((await api.ask('GET', '/current-api-session', { token, ...bearer(own) })).data, { authQueries: [] });
  t.match(
    await api.ask('DELETE', '/current-api-session', { token }),
    { status: 200 },
    'logging out needs no second factor',
  );
});

t.test('rights that end while the key of a second token is fetched are not used', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  const id = await addSigner(api, { jwksEndpoint: idp.endpoint });
  const authPolicyId = await api.authPolicy('two', { secondary: { requireExtJwtSigner: id } });
  const anna = await addPerson(api, { authPolicyId, isAdmin: true });
  const login = async () => (await api.tryLogin('anna')).data.token as string;
  const endings: [name: string, status: number, act: (token: string) => Promise<unknown>][] = [
    ['nothing', 200, async () => undefined],
    ['another name', 200, () => api.change('PATCH', `/identities/${anna}`, { name: 'annabel' })],
    ['a logout', 401, (token) => api.ask('DELETE', '/current-api-session', { token })],
    ['a disabled identity', 401, () => api.change('POST', `/identities/${anna}/disable`, { durationMinutes: 0 })],
    ['the loss of rights', 401, () => api.change('PATCH', `/identities/${anna}`, { isAdmin: false })],
  ];
  for (const [name, status, act] of endings) {
    await api.change('POST', `/identities/${anna}/enable`, {});
    const token = await login();
    await api.clock.advance(2 * SECOND);
    await idp.addKey(name);
    const second = bearer(await idp.token(name, { email: 'anna@example' }));
    const { promise: asked, resolve } = Promise.withResolvers<() => void>();
    idp.answer = (response) => resolve(() => response.end(JSON.stringify({ keys: idp.published })));
    const answer = api.ask('GET', '/edge/management/v1/identities', { token, ...second });
    const answerKeys = await asked;
    await act(token);
    answerKeys();
    t.equal((await answer).status, status, name);
  }
});

t.test('keys may also be published as certificates', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await addPerson(api);
  await addSigner(api, { jwksEndpoint: idp.endpoint });
  const signed = await issue(await makeAuthority('idp'), 'idp');
  const der = signed.pem.split('-----')[2]?.replaceAll('\n', '');
  idp.published.push({ kid: 'k1', x5c: [der] }, { kid: 'k2', x5c: ['AAAA'] }, { kid: 'k3', x5c: [7] });
  const exp = Math.floor(api.clock.now() / 1000) + 60;
  const token = (kid: string) =>
    new SignJWT({ iss: ISSUER, aud: 'edge', exp, email: 'anna@example' })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(signed.key);
  t.equal((await login(api, await token('k1'))).status, 200);
  t.match(await login(api, await token('k2')), REJECTED);
});

t.test('rejections and sessions that lack a token name it in a challenge', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await idp.addKey('k1');
  const signerId = await addSigner(api, { jwksEndpoint: idp.endpoint, issuer: ISSUER });
  await addSigner(api, { name: 'quoted', jwksEndpoint: idp.endpoint, issuer: 'a "quoted"\r\nissuer é' });
  const authPolicyId = await api.authPolicy('second', {
    extJwt: { allowed: false },
    secondary: { requireExtJwtSigner: signerId },
  });
  await addPerson(api, { authPolicyId });
  const claims = { email: 'anna@example' };
  const [right, expired, unsigned] = [
    await idp.token('k1', claims),
    await idp.token('k1', { ...claims, exp: 1 }),
    `${(await idp.token('k1', claims)).slice(0, -8)}AAAAAAAA`,
  ];
  const sessionOf = (realm: string, error: string) => ({
    'www-authenticate': new RegExp(`^${realm === 'zt-session' ? realm : 'Bearer'} realm="${realm}" error="${error}"`),
  });
  const current = (headers: Record<string, string>) => api.ask('GET', '/current-identity', { headers });
  const anonymous = await current({});
  t.match(anonymous.headers, sessionOf('zt-session', 'missing'));
  t.match(anonymous.headers['www-authenticate'], /,Bearer realm="openziti-oidc" error="missing"/);
  t.match((await current({ 'zt-session': 'x' })).headers, sessionOf('zt-session', 'invalid'));
  t.match((await current(bearer('x').headers)).headers, sessionOf('openziti-oidc', 'invalid'));
  t.equal((await api.ask('GET', '/version', bearer('x'))).headers['www-authenticate'], undefined, 'a public operation');

  for (const [token, error] of [
    ['x', 'missing'],
    [expired, 'expired'],
    [unsigned, 'invalid'],
    [right, 'missing'],
  ] as const) {
    const { status, headers } = await login(api, token);
    t.equal(status, 401);
    t.match(headers, sessionOf('openziti-primary-ext-jwt', error), error);
    t.match(headers['www-authenticate'], new RegExp(`id="[^"]*${signerId}[^"]*" issuer="[^"]*${ISSUER}[^"]*"`));
  }
  const byPassword = (given: object) =>
    api.ask('POST', '/authenticate?method=password', { body: { username: 'anna', password: PASSWORD }, ...given });
  for (const [given, error] of [
    [{}, 'missing'],
    [bearer(expired), 'expired'],
    [bearer(unsigned), 'invalid'],
  ] as const) {
    const { status, headers, data } = await byPassword(given);
    t.equal(status, 200);
    t.match(headers, sessionOf('openziti-secondary-ext-jwt', error), error);
    t.match(data.authQueries, [{ typeId: 'EXT-JWT', id: signerId }]);
  }
  const complete = await byPassword(bearer(right));
  t.same(complete.data.authQueries, [], 'the token was sent with the login');
  t.equal(complete.headers['www-authenticate'], undefined);
  const services = (headers: Record<string, string>) =>
    api.ask('GET', '/services', { headers: { 'zt-session': complete.data.token, ...headers } });
  t.match(await services({}), { status: 401, headers: sessionOf('openziti-secondary-ext-jwt', 'missing') });
  t.equal((await services(bearer(right).headers)).status, 200);
});

t.test('a token enrolls once, and only if the auth policy permits later logins', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await idp.addKey('k1');
  const enrollAuthPolicyId = await api.authPolicy('enrolled', {});
  const enroll = { enrollToCertEnabled: true, enrollToTokenEnabled: true, enrollAuthPolicyId };
  await addSigner(api, { jwksEndpoint: idp.endpoint, ...enroll });
  const ask = async (email: string, body: object) =>
    api.ask('POST', '/enroll/token', { body, ...bearer(await idp.token('k1', { email, sub: email })) });
  const { csr: clientCsr } = newRequest('x');
  t.equal((await ask('anna', { clientCsr })).status, 200);
  const twice = { status: 409, code: 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED' };
  t.match(await ask('anna', { clientCsr }), twice);
  t.match(await ask('anna', {}), twice);
  const closed = { status: 409, code: 'INVALID_ENROLLMENT_NOT_ALLOWED' };
  const path = `/auth-policies/${enrollAuthPolicyId}`;
  await api.change('PATCH', path, { primary: { cert: { allowed: false } } });
  t.match(await ask('berta', { clientCsr }), closed);
  t.equal((await ask('berta', {})).status, 200, 'tokens still log in');
  await api.change('PATCH', path, { primary: { extJwt: { allowed: false } } });
  t.match(await ask('clara', {}), closed);
});

t.test('a token enrolls only if its signer may log its identity in', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await idp.addKey('k1');
  const other = { name: 'other', issuer: 'https://other.example', jwksEndpoint: `${idp.endpoint}/other` };
  const allowedSigners = [await addSigner(api, other)];
  const extJwt = { allowed: true, allowedSigners };
  const enrollAuthPolicyId = await api.authPolicy('enrolled', { extJwt });
  const id = await addSigner(api, { jwksEndpoint: idp.endpoint, enrollToTokenEnabled: true, enrollAuthPolicyId });
  const enroll = async () =>
    api.ask('POST', '/enroll/token', { body: {}, ...bearer(await idp.token('k1', { email: 'anna', sub: 'anna' })) });
  t.match(await enroll(), { status: 409, code: 'INVALID_ENROLLMENT_NOT_ALLOWED' });
  const both = { extJwt: { allowed: true, allowedSigners: [...allowedSigners, id] } };
  await api.change('PATCH', `/auth-policies/${enrollAuthPolicyId}`, { primary: both });
  t.equal((await enroll()).status, 200);
  t.equal((await login(api, await idp.token('k1', { email: 'anna' }))).status, 200);
});

t.test('selectors find claims as in the reference, and a token without the claims does not enroll', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await idp.addKey('k1');
  await addSigner(api, {
    jwksEndpoint: idp.endpoint,
    enrollToTokenEnabled: true,
    claimsProperty: 'user/id',
    enrollNameClaimsSelector: 'names/0',
    enrollAttributeClaimsSelector: 'access/roles',
  });
  const enroll = async (claims: object) =>
    api.ask('POST', '/enroll/token', { body: {}, ...bearer(await idp.token('k1', { ...claims })) });
  const user = (id: string) => ({ user: { id }, names: [`name of ${id}`] });
  const invalid = { status: 400, code: 'INVALID_ENROLLMENT_TOKEN' };
  for (const claims of [
    { ...user('a'), user: 'a' },
    { ...user('a'), names: [] },
    { ...user('a'), names: [''] },
    { ...user('a'), names: [1] },
    { ...user('a'), access: { roles: 5 } },
    { ...user('a'), access: { roles: ['r', 5] } },
  ])
    t.match(await enroll(claims), invalid, JSON.stringify(claims));
  const table: [string, object, string[]][] = [
    ['several', { access: { roles: ['r', '', 's', 'r'] } }, ['r', 's']],
    ['one', { access: { roles: 'r' } }, ['r']],
    ['nothing', { access: { roles: null } }, []],
    ['missing', {}, []],
    ['elsewhere', { access: 'r' }, []],
  ];
  for (const [id, claims, roleAttributes] of table) {
    t.equal((await enroll({ ...user(id), ...claims })).status, 200, id);
    const [identity] = await api.get(filtered('/identities', `externalId = "${id}"`));
    t.match({ ...identity, roleAttributes: identity.roleAttributes ?? [] }, { name: `name of ${id}`, roleAttributes });
  }
});

t.test('halves of surrogate pairs in claims are replaced, as in bodies', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start(ISSUER, api.clock);
  await idp.addKey('k1');
  const selectors = { enrollNameClaimsSelector: '/name', enrollAttributeClaimsSelector: '/groups' };
  await addSigner(api, {
    jwksEndpoint: idp.endpoint,
    enrollToTokenEnabled: true,
    claimsProperty: '/sub',
    ...selectors,
  });
  const token = await idp.token('k1', { sub: 'u\udc00', name: 'a\ud800', groups: ['g\udc00'] });
  t.equal((await api.ask('POST', '/enroll/token', { body: {}, ...bearer(token) })).status, 200);
  const stored = { name: 'a\ufffd', externalId: 'u\ufffd', roleAttributes: ['g\ufffd'] };
  t.match(await api.get('/identities?filter=name="a%EF%BF%BD"'), [stored]);
  t.match(await api.ask('POST', '/authenticate?method=ext-jwt', { body: {}, ...bearer(token) }), { status: 200 });
});

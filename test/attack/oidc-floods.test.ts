// Floods of logins without a proof: the simulator's memory for them is limited, and they do not end other logins.

import { connect } from 'node:tls';
import t from 'tap';
import type { HttpClient } from '#http/http-client.ts';
import { IdSource } from '#lib/ids.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { AuthRequests } from '../../controller-sim/api/oidc/auth-requests.ts';
import type { Proven } from '../../controller-sim/auth/login-attempt.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';
import { httpClient } from '../support/clients/http.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { holdings, leftSince } from '../support/hostile/leftovers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Posts of a flood: without a limit they would keep more than the memory that is permitted. */
const POSTS = RELEASE ? 3_000 : 1_000;
const FORM = 'application/x-www-form-urlencoded';
const PARAMETERS = {
  client_id: 'native',
  response_type: 'code',
  scope: 'openid offline_access',
  redirect_uri: 'http://localhost:8080/auth/callback',
  state: 's',
  code_challenge: 'x'.repeat(43),
  code_challenge_method: 'S256',
};

/** Starts a login and returns its id. */
async function begin(api: ApiClient, fields: Record<string, string> = {}, as?: HttpClient): Promise<string> {
  const { headers } = await post(api, fields, as);
  const location = new URL(String(headers.location), api.simulator.baseUrl);
  return location.searchParams.get('authRequestID') ?? '';
}

function post(api: ApiClient, fields: Record<string, string> = {}, as?: HttpClient) {
  const body = new URLSearchParams({ ...PARAMETERS, ...fields }).toString();
  return api.ask('POST', '/oidc/authorize', { type: FORM, body, ...(as && { as }) });
}

/** A client with another loopback address. */
function clientAt(api: ApiClient, localAddress: string): HttpClient {
  return httpClient({ ca: api.simulator.ca }, { localAddress, connections: 20 });
}

t.test('a flood of logins without a proof uses little memory and evicts no login of another address', async (t) => {
  await using api = await ApiClient.start();
  await api.person('ann');
  const mine = await begin(api);
  const flooder = clientAt(api, '127.0.0.2');
  const before = holdings();
  const junk = 'x'.repeat(40_000);
  const flood = async (count: number) => {
    for (let index = 0; index < count; index++)
      await begin(api, { state: `${index}${'s'.repeat(4_000)}`, junk }, flooder);
  };
  await Promise.all(Array.from({ length: 20 }, () => flood(POSTS / 20)));
  await flooder.close();
  const { memory } = await leftSince(before);
  t.ok(memory < 24 * MIB, `${POSTS} posts of 44 kB left ${Math.round(memory / MIB)} MiB`);
  const answer = await api.ask('POST', `/oidc/login/password?id=${mine}`, {
    body: { username: 'ann', password: PASSWORD },
  });
  t.equal(answer.status, 302, 'the login that began before the flood continues');
});

t.test('fields that are too long, too many or of another type are rejected', async (t) => {
  await using api = await ApiClient.start();
  const table: Record<string, string> = {
    state: 's'.repeat(5_000),
    nonce: 'n'.repeat(2_000),
    scope: `openid ${'s'.repeat(2_000)}`,
    redirect_uri: `http://localhost/${'p'.repeat(3_000)}`,
    configTypes: 'c'.repeat(300),
  };
  for (const [name, value] of Object.entries(table)) {
    const { status, text } = await post(api, { [name]: value });
    t.match([status, text], [400, new RegExp(`invalid_request.*${name} has more than`)], name);
  }
  t.equal((await post(api, { junk: 'x'.repeat(70_000) })).status, 413, 'a body above 64 KiB');
  const body = Array.from({ length: 8_000 }, (_, index) => `k${index}`).join('&');
  const many = await api.ask('POST', '/oidc/authorize', { type: FORM, body });
  t.match([many.status, many.text], [400, /more than 100 fields/]);
  for (const state of [{ toString: 1 }, [[{}]], 7])
    t.equal((await api.ask('POST', '/oidc/authorize', { body: { ...PARAMETERS, state } })).status, 302);
});

t.test('client facts are stored once and as texts, for any number of proofs', async (t) => {
  await using api = await ApiClient.start();
  const identityId = await api.person('ann');
  const id = await begin(api);
  const prove = (facts: object) =>
    api.ask('POST', `/oidc/login/password?id=${id}`, { body: { username: 'ann', password: PASSWORD, ...facts } });
  t.equal((await prove({ envInfo: { os: 'linux', deep: [[['x']]] } })).status, 302);
  t.same((await api.get(`/identities/${identityId}`)).envInfo.deep, undefined);
  t.equal((await prove({ configTypes: [{ toString: 1 }] })).status, 400);
  t.equal((await prove({ configTypes: Array.from({ length: 101 }, (_, index) => `type ${index}`) })).status, 400);
  const first = await api.ask('GET', `/oidc/authorize/callback?id=${id}`);
  const second = await api.ask('GET', `/oidc/authorize/callback?id=${id}`);
  const codeOf = ({ headers }: typeof first) => new URL(String(headers.location)).searchParams.get('code') ?? '';
  const tokens = (code: string) =>
    api.ask('POST', '/oidc/oauth/token', {
      body: { grant_type: 'authorization_code', client_id: 'native', code, redirect_uri: PARAMETERS.redirect_uri },
    });
  t.match((await tokens(codeOf(first))).text, /invalid code/, 'a second code replaces the first');
  t.match((await tokens(codeOf(second))).text, /invalid code_verifier/);
});

t.test('the size of client facts is limited, with and without OIDC', async (t) => {
  await using api = await ApiClient.start();
  const identityId = await api.person('annie');
  const login = (facts: object) =>
    api.ask('POST', '/authenticate?method=password', { body: { username: 'annie', password: PASSWORD, ...facts } });
  const { data } = await login({ envInfo: { os: 'linux', junk: 'x'.repeat(500_000), deep: [[1]] }, sdkInfo: { a: 1 } });
  t.same((await api.get(`/identities/${identityId}`)).envInfo, { os: 'linux' });
  const types = Array.from({ length: 101 }, (_, index) => `type ${index}`);
  t.match(await login({ configTypes: types }), { status: 400, cause: { field: 'configTypes' } });
  const report = (domain: string) =>
    api.ask('POST', '/posture-response', { token: data.token, body: { id: 'x', typeId: 'DOMAIN', domain } });
  t.equal((await report('example')).status, 201);
  t.match(await report('x'.repeat(20_000)), { status: 400, cause: { message: /more than 16384 characters/ } });
});

t.test('requests without a proof are evicted before those with one, and the largest share first', async (t) => {
  const requests = new AuthRequests(new VirtualClock(), new IdSource());
  const parameters = { clientId: 'native', redirectUri: 'http://localhost', scope: 'openid', configTypes: [] };
  const add = (remoteAddress: string, state = 's') =>
    requests.add({ ...parameters, state, nonce: undefined, codeChallenge: '', remoteAddress });
  const quiet = add('10.0.0.1');
  const proven = add('10.0.0.2');
  proven.proven = {} as Proven;
  const unproven = add('10.0.0.2');
  for (let index = 0; index < 1_500; index++) add('::ffff:10.0.0.2');
  t.ok(requests.get(proven.id), 'a login with a proof survives a flood from its own address');
  t.notOk(requests.get(unproven.id));
  for (let index = 0; index < 12_000; index++) add(`10.1.${index & 255}.1`, 'x'.repeat(4_000));
  t.ok(requests.get(quiet.id), 'a small share survives a flood from 256 addresses');
  t.ok(requests.get(proven.id));
  for (let index = 0; index < 2_000; index++) add(`2001:db8::${index.toString(16)}`);
  const last = add('2001:db8:0:0:1::');
  t.ok(requests.get(last.id), 'the newest request remains');
});

t.test('incomplete bodies are limited, and small requests continue meanwhile', async (t) => {
  await using api = await ApiClient.start();
  await api.get('/version');
  const before = holdings();
  const head =
    'POST /edge/client/v1/authenticate?method=password HTTP/1.1\r\nhost: x\r\ncontent-type: application/json';
  const half = `${head}\r\ncontent-length: 1000000\r\n\r\n"${'x'.repeat(990_000)}`;
  const answers = { rejected: 0 };
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect({ host: '127.0.0.1', port: api.simulator.port, ca: api.simulator.ca });
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        if (String(data).startsWith('HTTP/1.1 429')) answers.rejected++;
      });
    socket.write(half);
    return socket;
  });
  await until('the bodies above the share of one address to be rejected', () => answers.rejected >= 60);
  t.equal((await api.tryLogin('nobody')).status, 401, 'a small request is answered');
  for (const socket of sockets) socket.destroy();
  const { memory, sockets: left } = await leftSince(before);
  t.equal(left, 0);
  t.ok(memory < 8 * MIB, `${Math.round(memory / MIB)} MiB`);
  const large = { username: 'nobody', password: 'a long secret', junk: 'x'.repeat(900_000) };
  t.equal(
    (await api.ask('POST', '/authenticate?method=password', { body: large })).status,
    401,
    'the budget is restored',
  );
});

t.test('a revocation is stored for tokens of the OIDC API only', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  const ca = await makeAuthority('Third Party');
  const caId = await api.addAuthority('third party', ca);
  const service = await api.create('/services', { name: 'service', encryptionRequired: true });
  await api.create('/edge-routers', { name: 'router' });
  await api.openPolicies();
  await api.person('ann');
  const { body } = await oidc.login('ann', PASSWORD);
  const headers = { authorization: `Bearer ${String(body.access_token)}` };
  const session = await api.ask('POST', '/sessions', { headers, body: { serviceId: service, type: 'Dial' } });
  // Anyone gets a new one each second, and it never expires.
  const network = async () => (await api.ask('GET', '/network-jwts')).data[0].token as string;
  const authority = (await api.manage('GET', `/cas/${caId}/jwt`)).text;
  const others = [await network(), await network(), authority, session.data.token as string];
  for (const token of others) await oidc.revoke(token);
  t.same(await api.get('/revocations'), []);
  for (const name of ['access_token', 'refresh_token', 'id_token']) await oidc.revoke(String(body[name]));
  t.equal((await api.get<object[]>('/revocations')).length, 3);
});

// Uses of a token of the OIDC API: requests, sessions of services, and the requests of current SDKs at a router.

import { X509Certificate } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { decodeJwt } from 'jose';
import t from 'tap';
import {
  CreateTerminatorResult,
  CreateTerminatorV2RequestSchema,
  CreateTerminatorV2ResponseSchema,
  SessionRemovedSchema,
  ValidateSessionsRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType, EdgeErrorCode } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type ApiAnswer, ApiClient, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';

/** A network with a router that the test controls, and a user who may dial and host the service `echo`. */
class Stage implements AsyncDisposable {
  readonly overlay: Overlay;
  readonly api: ApiClient;
  readonly oidc: OidcClient;
  readonly router: RouterPeer;
  readonly userId: string;
  readonly serviceId: string;
  token = '';
  refreshToken = '';

  private constructor(overlay: Overlay, api: ApiClient, router: RouterPeer, userId: string, serviceId: string) {
    this.overlay = overlay;
    this.api = api;
    this.oidc = new OidcClient(api);
    this.router = router;
    this.userId = userId;
    this.serviceId = serviceId;
  }

  static async set(): Promise<Stage> {
    const overlay = await Overlay.start();
    const { configFile } = await overlay.enrollRouter({ name: 'er' });
    const router = await RouterPeer.connect(configFile);
    const api = new ApiClient(overlay.simulator);
    const userId = await api.person('user');
    const all = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
    await api.create('/edge-router-policies', { name: 'all', ...all });
    const serviceId = await overlay.addService('echo', userId, { encrypted: false });
    const stage = new Stage(overlay, api, router, userId, serviceId);
    const { body } = await stage.oidc.login('user', PASSWORD);
    stage.token = String(body.access_token);
    stage.refreshToken = String(body.refresh_token);
    return stage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.router.close();
    await this.api.close();
    await this.overlay.close();
  }

  /** The token of a new session for the service. */
  async session(type: 'Dial' | 'Bind', token = this.token): Promise<string> {
    const headers = { authorization: `Bearer ${token}` };
    const body = { serviceId: this.serviceId, type };
    return (await this.api.ask('POST', '/sessions', { headers, body })).data.token;
  }

  async host(address: string, sessionToken: string, apiSessionToken = this.token) {
    const wanted = create(CreateTerminatorV2RequestSchema, { address, sessionToken, apiSessionToken });
    const answer = await this.router.ask(
      new Message(EdgeControlType.CreateTerminatorV2, [], toBinary(CreateTerminatorV2RequestSchema, wanted)),
      EdgeControlType.CreateTerminatorV2Response,
    );
    return answer.decode(CreateTerminatorV2ResponseSchema);
  }

  dial(sessionToken: string): Promise<Message> {
    const headers = [
      [EdgeControlHeader.SessionToken, sessionToken],
      [EdgeControlHeader.ApiSessionToken, this.token],
    ] as const;
    return this.router.request(new Message(EdgeControlType.CreateCircuitV2, headers));
  }

  dialByName(identityId: string, serviceId = this.serviceId): Promise<Message> {
    const headers = [
      [EdgeControlHeader.ApiSessionToken, this.token],
      [EdgeControlHeader.IdentityId, identityId],
      [EdgeControlHeader.ServiceId, serviceId],
    ] as const;
    return this.router.request(new Message(EdgeControlType.CreateCircuitV3, headers));
  }
}

function codeOf(answer: Message): number | undefined {
  return answer.contentType === EdgeControlType.Error ? answer.uint32(EdgeControlHeader.ErrorCode) : undefined;
}

t.test('a client hosts and dials at a router with tokens only', async (t) => {
  await using stage = await Stage.set();
  t.match(await stage.host('t1', await stage.session('Bind')), {
    terminatorId: 't1',
    result: CreateTerminatorResult.SUCCESS,
  });
  t.match(await stage.overlay.management.fabric.terminators.list(), [{ id: 't1', hostId: stage.userId }]);
  const session = await stage.session('Dial');
  t.equal((await stage.dial(session)).contentType, EdgeControlType.CreateCircuitV2Response);
  t.equal((await stage.dialByName(stage.userId)).contentType, EdgeControlType.CreateCircuitV3Response);
});

t.test('a session is valid only for its own service and type, and only with the token that created it', async (t) => {
  await using stage = await Stage.set();
  const [dial, bind] = [await stage.session('Dial'), await stage.session('Bind')];
  t.match(await stage.host('t1', dial), { errorCode: EdgeErrorCode.WrongSessionType });
  await stage.host('t2', bind);
  t.equal(codeOf(await stage.dial(bind)), EdgeErrorCode.WrongSessionType);
  t.equal(codeOf(await stage.dial(stage.token)), EdgeErrorCode.InvalidSession, 'not a session of a service');
  t.equal(codeOf(await stage.dial(stage.serviceId)), EdgeErrorCode.InvalidSession);
  t.equal(codeOf(await stage.dialByName('another')), EdgeErrorCode.InvalidApiSession);
  t.equal(codeOf(await stage.dialByName(stage.userId, 'none')), EdgeErrorCode.InvalidService);

  const other = String((await stage.oidc.login('user', PASSWORD)).body.access_token);
  t.equal(codeOf(await stage.dial(await stage.session('Dial', other))), EdgeErrorCode.InvalidSession);
  const [head, claims, signature = ''] = stage.token.split('.');
  stage.token = [head, claims, signature.slice(0, -4) + [...signature.slice(-4)].reverse().join('')].join('.');
  t.equal(codeOf(await stage.dial(dial)), EdgeErrorCode.InvalidApiSession, 'an invalid signature');
});

t.test('a revoked token is rejected everywhere', async (t) => {
  await using stage = await Stage.set();
  const session = await stage.session('Bind');
  await stage.oidc.revoke(stage.token);
  t.match(await stage.host('t1', session), { errorCode: EdgeErrorCode.InvalidApiSession });
});

t.test('a router that validates sessions keeps those in token form', async (t) => {
  await using stage = await Stage.set();
  const sessionTokens = [await stage.session('Dial'), 'made-up'];
  const question = create(ValidateSessionsRequestSchema, { sessionTokens });
  const answer = await stage.router.ask(
    new Message(EdgeControlType.ValidateSessions, [], toBinary(ValidateSessionsRequestSchema, question)),
    EdgeControlType.SessionRemoved,
  );
  t.same(answer.decode(SessionRemovedSchema).tokens, ['made-up']);
});

t.test('a login in progress ends when its proof is replaced or its identity disabled', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  const id = await api.person('eve');
  const codes = async () => {
    const code = await oidc.code('eve', PASSWORD);
    await api.clock.advance(1_000);
    return code;
  };
  const disabled = await codes();
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 0 });
  await api.change('POST', `/identities/${id}/enable`);
  await api.clock.advance(2_000);
  t.match((await oidc.redeem(disabled)).body, { error: 'invalid_grant' });
  const valid = await codes();
  t.equal((await oidc.redeem(valid)).status, 200, 'a later login');
  const replaced = await codes();
  const [{ id: authenticator }] = await api.get(`/identities/${id}/authenticators`);
  await api.change('PATCH', `/authenticators/${authenticator}`, { password: 'another secret' });
  t.match((await oidc.redeem(replaced)).body, { error: 'invalid_grant' });
});

t.test('SDKs send their client id in a header when they exchange a token', async (t) => {
  await using stage = await Stage.set();
  const refreshed = await stage.oidc.exchange('native', stage.refreshToken, 'refresh_token', 'refresh_token');
  t.match(refreshed, { status: 200, body: { access_token: /^ey/, refresh_token: /^ey/ } });
  t.match(await stage.oidc.exchange('native', stage.refreshToken, 'refresh_token', 'id_token'), { status: 200 });
  const strange = await stage.oidc.exchange('strange', stage.refreshToken, 'refresh_token', 'id_token');
  t.match(strange, { status: 400, body: { error: 'invalid_client' } });
});

t.test('deleting an authenticator revokes its tokens and ends its sessions', async (t) => {
  await using stage = await Stage.set();
  const { management } = stage.overlay;
  const [authenticator] = await management.call('getIdentityAuthenticators', { params: { id: stage.userId } });
  const session = await stage.session('Bind');
  await management.authenticators.delete(authenticator?.id ?? '');
  t.match(await stage.host('t1', session), { errorCode: EdgeErrorCode.InvalidApiSession });
  t.match(await stage.oidc.refresh(stage.refreshToken), { status: 400, body: { error: 'invalid_grant' } });
});

t.test('a login may start with a form', async (t) => {
  await using stage = await Stage.set();
  const { status, headers } = await stage.api.ask('POST', '/oidc/authorize', {
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({
      client_id: 'native',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'http://localhost:1/callback',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
      method: 'cert',
    }).toString(),
  });
  t.equal(status, 302);
  t.match(headers.location, /^\/oidc\/login\/cert\?authRequestID=/);
});

t.test('a client may repeat a refresh for 30 seconds, until it revokes the token', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const oidc = new OidcClient(api);
  const login = async () => String((await oidc.login('anna', PASSWORD)).body.refresh_token);
  const [used, revoked] = [await login(), await login()];
  const rejected = { status: 400, body: { error: 'invalid_grant', error_description: 'refresh token revoked' } };
  const answers = await Promise.all(Array.from({ length: 5 }, () => oidc.refresh(used)));
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]), 'concurrent requests');
  t.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 5, 'each gets tokens of its own');
  const exchange = () => oidc.exchange('native', used, 'refresh_token', 'access_token');
  t.equal((await exchange()).status, 200, 'an exchange counts as a repetition');

  t.equal((await oidc.refresh(revoked)).status, 200);
  await oidc.revoke(revoked);
  t.match(await oidc.refresh(revoked), rejected, 'revoked');

  await api.clock.advance(30_000);
  t.match(await oidc.refresh(used), rejected, 'too late');
  t.match(await exchange(), { status: 400, body: { error: 'invalid_grant' } });
  t.equal((await oidc.refresh(String(answers[4]?.body.refresh_token))).status, 200, 'the next token is valid');
});

t.test('tokens that are bound to a certificate are valid only with it', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const { csr, key } = newRequest('anna');
  const plain = new OidcClient(api);
  const {
    access_token: access,
    refresh_token: refresh,
    session_cert: pem,
  } = (await plain.login('anna', PASSWORD, { csrPem: csr })).body;
  const as = api.connect({ pem: String(pem), key });
  const bound = new OidcClient(api, as);
  const ofSession = /URI:spiffe:\/\/[^/]+\/identity\/[^/]+\/apiSession\/[^/]+\/apiSessionCertificate\/[\w.-]+$/;
  t.match(new X509Certificate(String(pem)).subjectAltName, ofSession);
  const stranger = await api.device('stranger');
  const headers = { authorization: `Bearer ${access}` };
  const current = (other: object): Promise<ApiAnswer> => api.ask('GET', '/current-identity', { headers, ...other });
  t.equal((await current({ as })).status, 200);
  t.match(await current({}), { status: 401, headers: { 'www-authenticate': /realm="openziti-oidc" error="invalid"/ } });
  t.equal((await current({ as: api.connect(stranger) })).status, 401, 'a certificate of another identity');

  const rejected = { status: 400, body: { error: 'invalid_grant' } };
  t.match(await plain.refresh(String(refresh), { csr_pem: csr }), rejected, 'a request for another does not help');
  t.match(await plain.exchange('native', String(access), 'access_token', 'access_token'), rejected);
  const exchanged = await bound.exchange('native', String(access), 'access_token', 'access_token');
  t.match(exchanged, { status: 200, body: { access_token: /^ey/ } });

  const next = newRequest('anna');
  const { status, body } = await bound.refresh(String(refresh), { csr_pem: next.csr });
  t.equal(status, 200);
  t.match(await bound.refresh(String(body.refresh_token)), rejected, 'the previous certificate is invalid');
  const renewed = new OidcClient(api, api.connect({ pem: String(body.session_cert), key: next.key }));
  t.match(await renewed.refresh(String(body.refresh_token)), { status: 200 });
});

t.test('the token endpoint names the error in a request', async (t) => {
  await using stage = await Stage.set();
  const { oidc, refreshToken } = stage;
  const cases: [string, Record<string, string>, string][] = [
    ['no grant type', { client_id: 'native', grant_type: '' }, 'invalid_request'],
    ['an unknown grant type', { client_id: 'native', grant_type: 'password' }, 'unsupported_grant_type'],
    ['no client', { client_id: '' }, 'invalid_request'],
    ['an unknown client', { client_id: 'other' }, 'invalid_client'],
    ['no refresh token', { refresh_token: '' }, 'invalid_request'],
    ['no code', { grant_type: 'authorization_code', redirect_uri: 'http://localhost/' }, 'invalid_request'],
    ['an unknown code', { grant_type: 'authorization_code', redirect_uri: 'x', code: 'x' }, 'invalid_grant'],
    ['a scope beyond that of the login', { scope: 'openid everything' }, 'invalid_scope'],
    ['the token of another client', { client_id: 'openziti' }, 'invalid_grant'],
  ];
  for (const [name, fields, error] of cases)
    t.match(await oidc.refresh(refreshToken, fields), { status: 400, body: { error } }, name);
  t.equal((await oidc.refresh(refreshToken)).status, 200, 'rejected requests do not use the token');
});

t.test('a refresh may reduce the scope, for all later tokens, and answers with the next refresh token', async (t) => {
  await using stage = await Stage.set();
  const { oidc, refreshToken } = stage;
  const { body } = await oidc.refresh(refreshToken, { scope: 'openid' });
  t.match(body, { scope: 'openid', refresh_token: String });
  t.match(decodeJwt(String(body.access_token)), { scopes: ['openid'] });
  t.match(await oidc.refresh(String(body.refresh_token)), { status: 200, body: { scope: 'openid' } });
  const wider = { scope: 'openid offline_access' };
  t.match(await oidc.refresh(String(body.refresh_token), wider), { status: 400, body: { error: 'invalid_scope' } });
});

t.test('an exchange without a wanted type answers with a refresh token too', async (t) => {
  await using stage = await Stage.set();
  const { status, body } = await stage.oidc.redeem({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: 'native',
    subject_token: stage.refreshToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
  });
  t.equal(status, 200);
  t.match(body, { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token', refresh_token: String });
  t.equal((await stage.oidc.refresh(String(body.refresh_token))).status, 200);
});

t.test('requests without a usable token or user are rejected, not ignored', async (t) => {
  await using api = await ApiClient.start();
  const form = { type: 'application/x-www-form-urlencoded' };
  const errorOf = ({ status, text }: ApiAnswer) => [status, JSON.parse(text).error];
  t.same(errorOf(await api.ask('POST', '/oidc/revoke', { body: 'client_id=native', ...form })), [
    400,
    'invalid_request',
  ]);
  t.equal((await api.ask('POST', '/oidc/revoke', { body: 'token=unknown', ...form })).status, 200);
  t.same(errorOf(await api.ask('GET', '/oidc/end_session?id_token_hint=x')), [400, 'invalid_request']);
  t.equal((await api.ask('GET', '/oidc/end_session')).status, 302);
  const parameters = new URLSearchParams({
    client_id: 'native',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: 'http://localhost:1/auth/callback',
    state: 's',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    prompt: 'none',
  });
  const { headers } = await api.ask('GET', `/oidc/authorize?${parameters}`);
  const { searchParams } = new URL(String(headers.location));
  t.same([searchParams.get('error'), searchParams.get('state')], ['login_required', 's']);
});

t.test('an auth policy that starts to require a second factor applies to tokens issued before', async (t) => {
  await using api = await ApiClient.start();
  const authPolicyId = await api.authPolicy('strict', {});
  await api.person('anna', { authPolicyId });
  const { access_token: access } = (await new OidcClient(api).login('anna', PASSWORD)).body;
  const headers = { authorization: `Bearer ${access}` };
  const services = () => api.ask('GET', '/services', { headers });
  t.equal((await services()).status, 200);
  await api.manage('PATCH', `/auth-policies/${authPolicyId}`, { secondary: { requireTotp: true } });
  t.equal((await services()).status, 401);
  const { data } = await api.ask('GET', '/current-api-session', { headers });
  t.match(data.authQueries, [{ typeId: 'MFA' }]);
});

t.test('routers check the posture of clients with tokens, the controller that of other clients', async (t) => {
  await using stage = await Stage.set();
  const { api, serviceId } = stage;
  const check = { name: 'domain', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['strict'] };
  await api.create('/posture-checks', check);
  for (const { id } of await api.get<{ id: string }[]>('/service-policies'))
    await api.change('PATCH', `/service-policies/${id}`, { postureCheckRoles: ['#strict'] });
  t.match(await stage.session('Dial'), /^ey/);
  const token = await api.login('user');
  const answer = await api.ask('POST', '/sessions', { token, body: { serviceId, type: 'Dial' } });
  t.match(answer, { status: 409, code: 'INVALID_POSTURE' });
});

t.test('a session certificate is stored with its session, and not at all for a token', async (t) => {
  await using api = await ApiClient.start();
  const path = '/current-api-session/certificates';
  await api.person('anna');
  const { csr } = newRequest('anna');
  const { access_token: access } = (await new OidcClient(api).login('anna', PASSWORD)).body;
  const headers = { authorization: `Bearer ${access}` };
  const signed = await api.ask('POST', path, { headers, body: { csr } });
  t.match(signed, { status: 201, data: { certificate: /BEGIN CERTIFICATE/ } });
  t.same((await api.ask('GET', path, { headers })).data, []);
  const stored = async () => (await api.get('/summary')).apiSessionCertificates;
  t.equal(await stored(), 0, 'nothing would delete it');
  const token = await api.login('anna');
  const { data } = await api.ask('POST', path, { token, body: { csr } });
  const [certificate] = await api.get(path, token);
  t.equal(certificate.id, data.id);
  const hours = (Date.parse(certificate.validTo) - api.clock.now()) / 3_600_000;
  t.ok(hours > 11.9 && hours <= 12, 'valid for 12 hours, as those of the reference');
  await api.clock.advance(1_000); // it is the oldest
  for (let index = 0; index < 100; index++) await api.ask('POST', path, { token, body: { csr } });
  t.equal(await stored(), 100, 'the limit of one session');
  t.equal((await api.ask('GET', `${path}/${data.id}`, { token })).status, 404, 'the oldest was replaced');
  await api.change('DELETE', '/current-api-session', undefined, token);
  t.equal(await stored(), 0);
});

t.test('tokens of every grant name their lifetime, their identity and their client', async (t) => {
  await using api = await ApiClient.start();
  const sub = await api.person('anna');
  const oidc = new OidcClient(api);
  const login = await oidc.login('anna', PASSWORD);
  const { access_token: access, refresh_token: refresh } = login.body as Record<string, string>;
  const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
  const bearer = { token_type: 'Bearer', expires_in: 1_799 };
  t.match(login, { status: 200, body: { ...bearer, scope: 'openid offline_access' } });
  t.match(await oidc.refresh(refresh ?? ''), { status: 200, body: bearer });
  const renewed = (await oidc.login('anna', PASSWORD)).body.refresh_token as string;
  for (const [to, tokenType] of [
    ['access_token', 'Bearer'],
    ['refresh_token', 'Bearer'],
    ['id_token', 'N_A'],
  ] as const)
    t.match(await oidc.exchange('native', renewed, 'refresh_token', to), {
      status: 200,
      body: { issued_token_type: type(to), token_type: tokenType, expires_in: 1_799 },
    });
  const lives = (token: unknown) => {
    const { exp = 0, iat = 0, ...claims } = decodeJwt<{ z_asid: string }>(String(token));
    return { lifetime: exp - iat, ...claims };
  };
  const issuer = new URL('/oidc', api.simulator.managementUrl).href;
  const common = { sub, iss: issuer, client_id: 'native' };
  t.match(lives(access), { ...common, lifetime: 30 * 60 });
  t.match(lives(refresh), { ...common, lifetime: 24 * 60 * 60 });
  const own = lives(login.body.id_token);
  t.match(own, { ...common, lifetime: 30 * 60, azp: 'native', name: 'anna', z_asid: lives(access).z_asid });
  t.notOk('nonce' in own || 'z_eid' in own, 'neither a nonce nor an external id was given');
});

t.test('user info is for valid access tokens', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const oidc = new OidcClient(api);
  const { access_token: access, refresh_token: refresh } = (await oidc.login('anna', PASSWORD)).body;
  const ask = async (token?: unknown) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { status, text } = await api.ask('GET', '/oidc/userinfo', { headers });
    return [status, JSON.parse(text)];
  };
  const rejected = [401, { error: 'access_denied', error_description: 'access token invalid' }];
  t.same(await ask(access), [200, {}]);
  for (const token of [undefined, 'x', refresh]) t.same(await ask(token), rejected);
  await oidc.revoke(String(access));
  t.same(await ask(access), rejected);
});

// Attacks on rights: callers with permissions that try to become administrators.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readOperations } from '#schemas/api/operations.ts';
import { ApiClient, filtered, PASSWORD } from '../support/clients/api-client.ts';
import { type Authority, issue, makeAuthority } from '../support/clients/certificates.ts';
import { TokenIssuer } from '../support/clients/token-issuer.ts';

const MANAGEMENT = '/edge/management/v1';
/** ziti-tunneler-client.v1 */
const CLIENT_CONFIG_TYPE = 'f2dd2df0-9c04-4b84-a91e-71437ac229f1';
const FUTURE = '2099-01-01T00:00:00Z';

/** All permissions short of full rights. */
const ALL_PERMISSIONS = [
  ...new Set(
    readOperations()
      .filter(({ access }) => access.includes('.') && !/^(?:admin|authenticator|revocation)\./.test(access))
      .map(({ access }) => access.split('.')[0] as string),
  ),
  'admin_readonly',
];

/** A caller with every permission who tries to become the administrator `boss`, whose external id is `boss@example`. */
class Climber {
  readonly api: ApiClient;
  readonly idp: TokenIssuer;
  readonly authority: Authority;
  bossId = '';
  token = '';

  constructor(api: ApiClient, idp: TokenIssuer, authority: Authority) {
    this.api = api;
    this.idp = idp;
    this.authority = authority;
  }

  async prepare(): Promise<void> {
    this.bossId = await this.api.person('boss', { isAdmin: true, externalId: 'boss@example' });
    await this.api.person('user', { externalId: 'user@example' });
    await this.api.person('climber', { permissions: ALL_PERMISSIONS });
    this.token = await this.api.login('climber');
    await this.idp.addKey('k1');
  }

  ask(method: string, path: string, body?: unknown, type?: string) {
    const options = { token: this.token, ...(body !== undefined && { body }), ...(type && { type }) };
    return this.api.ask(method, `${MANAGEMENT}${path}`, options);
  }

  signer(fields: object = {}) {
    const common = { name: 'idp', issuer: this.idp.name, audience: 'edge', enabled: true };
    return { ...common, jwksEndpoint: this.idp.endpoint, claimsProperty: 'email', useExternalId: true, ...fields };
  }

  ca() {
    const flags = { isAuthEnabled: true, isAutoCaEnrollmentEnabled: false, isOttCaEnrollmentEnabled: false };
    const claim = { location: 'COMMON_NAME', matcher: 'ALL', matcherCriteria: '', parser: 'NONE', parserCriteria: '' };
    const certPem = this.authority.certificate.toString('pem');
    return {
      name: 'ca',
      certPem,
      identityRoles: [],
      identityNameFormat: '[commonName]',
      ...flags,
      externalIdClaim: { ...claim, index: 0 },
    };
  }

  /** Statuses of every use of an issuer's token with this name. */
  async withToken(name: string): Promise<number[]> {
    const headers = { authorization: `Bearer ${await this.idp.token('k1', { email: `${name}@example` })}` };
    const ways = [
      ['POST', '/authenticate?method=ext-jwt', {}],
      ['GET', '/current-identity', undefined],
      ['GET', `${MANAGEMENT}/current-identity`, undefined],
    ] as const;
    const answers = ways.map(([method, path, body]) => this.api.ask(method, path, { headers, body }));
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  /** Status of a login with a certificate of the authority with this name. */
  async withCertificate(name: string): Promise<number> {
    const as = this.api.connect(await issue(this.authority, `${name}@example`));
    return (await this.api.loginWith(as)).status;
  }
}

const GRANTED = [200, 200, 200];
const REJECTED = [401, 401, 401];

t.test(
  'signers and authorities created with a permission cannot vouch for administrators, even after a restart',
  async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    const options = { data: join(directory, 'sim.db') };
    let api = await ApiClient.start(options);
    await using idp = await TokenIssuer.start('https://idp.example', api.clock);
    const authority = await makeAuthority('elsewhere');
    let climber = new Climber(api, idp, authority);
    await climber.prepare();
    const { token } = climber;
    const signer = (await climber.ask('POST', '/external-jwt-signers', climber.signer())).data.id;
    const ca = (await climber.ask('POST', '/cas', climber.ca())).data.id;
    const { verificationToken } = (await climber.ask('GET', `/cas/${ca}`)).data;
    const proof = await issue(authority, verificationToken);
    t.equal((await climber.ask('POST', `/cas/${ca}/verify`, proof.pem, 'text/plain')).status, 200);
    const check = async (expected: number[], what: string) => {
      t.same(await climber.withToken('boss'), expected, `${what}: token for an administrator`);
      t.equal(await climber.withCertificate('boss'), expected[0], `${what}: certificate for an administrator`);
      t.same(await climber.withToken('user'), GRANTED, `${what}: token for another identity`);
      t.equal(await climber.withCertificate('user'), 200, `${what}: certificate for another identity`);
    };
    await check(REJECTED, 'created with a permission');
    for (const [path, fields] of [
      [`/external-jwt-signers/${signer}`, climber.signer({ name: 'other' })],
      [`/cas/${ca}`, { ...climber.ca(), certPem: undefined, name: 'other' }],
    ] as const) {
      t.equal((await climber.ask('PUT', path, fields)).status, 200, 'the caller may change its own');
      t.equal((await climber.ask('PATCH', path, { name: 'another', externalIdClaim: {} })).status, 200);
    }
    await check(REJECTED, 'changed with a permission');
    await api.close();
    api = await ApiClient.start(options);
    climber = Object.assign(new Climber(api, idp, authority), { token });
    await check(REJECTED, 'after a restart');

    await api.change('PATCH', `/external-jwt-signers/${signer}`, { name: 'saved' });
    await api.change('PATCH', `/cas/${ca}`, { name: 'saved', externalIdClaim: {} });
    await check(GRANTED, 'saved by an administrator');
    for (const path of [`/external-jwt-signers/${signer}`, `/cas/${ca}`])
      t.equal(
        (await climber.ask('PATCH', path, { name: 'mine again', externalIdClaim: {} })).status,
        200,
        'permissions stay',
      );
    await check(REJECTED, 'changed after an administrator');
    await api.close();
    rmSync(directory, { recursive: true });
  },
);

t.test('no permission changes an administrator or its auth policy', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  const climber = new Climber(api, idp, await makeAuthority('elsewhere'));
  await climber.prepare();
  // The administrators trust an issuer whose tokens are for others: their auth policy does not list it.
  const signer = await api.create('/external-jwt-signers', climber.signer({ name: 'for others' }));
  const policy = await api.authPolicy('of administrators', { extJwt: { allowed: false } });
  await api.change('PATCH', `/identities/${climber.bossId}`, { authPolicyId: policy });
  await api.addAuthority('for others', climber.authority);
  const { id: _id, _links, createdAt: _at, updatedAt: _until, ...whole } = await api.get(`/auth-policies/${policy}`);
  const { cert, updb } = whole.primary;
  const loose = { primary: { cert, updb, extJwt: { allowed: true, allowedSigners: [signer] } } };
  const data = { hostname: 'elsewhere.example', port: 1 };
  const override = {
    serviceId: await api.create('/services', { name: 'service', encryptionRequired: true }),
    configId: await api.create('/configs', { name: 'c', configTypeId: CLIENT_CONFIG_TYPE, data }),
  };
  const attempts: readonly (readonly [string, string, unknown?])[] = [
    ['PATCH', `/auth-policies/${policy}`, loose],
    ['PATCH', `/auth-policies/${policy}`, { secondary: { requireTotp: false } }],
    ['PUT', `/auth-policies/${policy}`, { ...whole, ...loose }],
    ['DELETE', `/auth-policies/${policy}`],
    ['PATCH', '/auth-policies/default', loose],
    ['PATCH', `/identities/${climber.bossId}`, { authPolicyId: 'default' }],
    ['PATCH', `/identities/${climber.bossId}`, { externalId: 'climber@example' }],
    ['POST', `/identities/${climber.bossId}/service-configs`, [override]],
    ['DELETE', `/identities/${climber.bossId}/service-configs`, [override]],
    ['POST', '/identities', { name: 'new', type: 'User', isAdmin: true }],
    ['POST', '/identities', { name: 'new', type: 'User', isAdmin: false, permissions: ['admin_readonly'] }],
    ['POST', '/enrollments', { identityId: climber.bossId, method: 'ott', expiresAt: FUTURE }],
    ['POST', '/authenticators', { identityId: climber.bossId, method: 'updb', username: 'x', password: PASSWORD }],
  ];
  for (const [method, path, body] of attempts) {
    const answer = await climber.ask(method, path, body);
    t.equal(answer.status, 401, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
  }
  t.same(await climber.withToken('boss'), REJECTED);
  t.equal(await climber.withCertificate('boss'), 401);

  const [{ id: userId }] = await api.get(filtered('/identities', 'name = "user"'));
  const overridden = await climber.ask('POST', `/identities/${userId}/service-configs`, [override]);
  t.equal(overridden.status, 200, 'configs of others may be overridden');
  const own = await climber.ask('POST', '/auth-policies', { ...whole, name: 'own' });
  t.equal(own.status, 201, 'auth policies of others may be created');
  t.equal((await climber.ask('PATCH', `/auth-policies/${own.data.id}`, loose)).status, 200, 'and changed');
  t.equal((await climber.ask('DELETE', `/auth-policies/${own.data.id}`)).status, 200, 'and deleted');
});

t.test('a required second token is rejected if its signer was created with a permission', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  const climber = new Climber(api, idp, await makeAuthority('elsewhere'));
  await climber.prepare();
  const signer = (await climber.ask('POST', '/external-jwt-signers', climber.signer())).data.id;
  const authPolicyId = await api.authPolicy('two', { secondary: { requireExtJwtSigner: signer } });
  await api.change('PATCH', `/identities/${climber.bossId}`, { authPolicyId });
  const session = await api.login('boss');
  const bearer = async () => `Bearer ${await idp.token('k1', { email: 'boss@example' })}`;
  const list = async () =>
    api.ask('GET', `${MANAGEMENT}/identities`, { token: session, headers: { authorization: await bearer() } });
  t.equal((await list()).status, 401);
  await api.change('PATCH', `/external-jwt-signers/${signer}`, { enabled: true });
  t.equal((await list()).status, 200, 'an administrator has saved the signer');
});

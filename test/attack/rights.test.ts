// Attacks on rights: read-only callers that search for secrets of others, certificate requests with names of others,
// and callers with permissions that try to become administrators.

import { createPrivateKey, type KeyObject, webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { leafOf } from '#pki/certificates.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { EnrollmentCertsResponseSchema, EnrollmentExtendRouterRequestSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { BASES } from '../../controller-sim/api/http/bases.ts';
import { x509 } from '../../controller-sim/pki/x509.ts';
import { ApiClient, filtered, PASSWORD } from '../support/api-client.ts';
import { type Authority, issue, makeAuthority } from '../support/certificates.ts';
import { OidcClient } from '../support/oidc-client.ts';
import { Overlay } from '../support/overlay.ts';
import { RouterPeer } from '../support/router-peer.ts';
import { TokenIssuer } from '../support/token-issuer.ts';

const MANAGEMENT = '/edge/management/v1';
/** ziti-tunneler-client.v1 */
const CLIENT_CONFIG_TYPE = 'f2dd2df0-9c04-4b84-a91e-71437ac229f1';
const FUTURE = '2099-01-01T00:00:00Z';

/** Secrets by purpose. The signatures of JWTs are sufficient for a search. */
type Secrets = Map<string, string>;

/** Creates entities of every kind with secrets, of an administrator and of an identity without rights. */
async function secretsOf(api: ApiClient): Promise<Secrets> {
  const secrets: Secrets = new Map();
  const keep = (what: string, text: string) => secrets.set(what, text);
  await api.manage('GET', '/identities');
  keep('session of the default administrator', api.token);
  await api.openPolicies();
  for (const path of ['/edge-routers', '/transit-routers']) await api.create(path, { name: path.slice(1) });
  for (const enrollment of await api.get<Record<string, string>[]>('/enrollments'))
    keepEnrollment(keep, `router ${enrollment.id}:`, enrollment);
  const ca = await api.addAuthority('other', await makeAuthority('other'));
  for (const [name, isAdmin] of [
    ['boss', true],
    ['plain', false],
  ] as const) {
    const id = await api.person(name, { isAdmin });
    const open = { ott: await api.create('/enrollments', { identityId: id, method: 'ott', expiresAt: FUTURE }) };
    const ottca = { identityId: id, method: 'ottca', caId: ca, expiresAt: FUTURE };
    const updb = { identityId: id, method: 'updb', username: `${name}-2`, expiresAt: FUTURE };
    for (const enrollment of [
      open.ott,
      await api.create('/enrollments', ottca),
      await api.create('/enrollments', updb),
    ])
      keepEnrollment(keep, `${name}: enrollment`, await api.get(`/enrollments/${enrollment}`));
    const token = await api.login(name);
    keep(`session of ${name}`, token);
    await api.create('/current-identity/mfa', {}, token);
    const mfa = await api.get('/current-identity/mfa', token);
    const secret = new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '';
    keep(`TOTP secret of ${name}`, secret);
    for (const code of mfa.recoveryCodes) keep(`recovery code of ${name} ${code}`, code);
    const service = await api.create('/services', { name: `of-${name}`, encryptionRequired: true });
    const session = await api.ask('POST', '/sessions', { token, body: { serviceId: service, type: 'Dial' } });
    keepJwt(keep, `service session of ${name}`, session.data.token);
    const { body } = await new OidcClient(api).login(name, PASSWORD);
    for (const type of ['access_token', 'refresh_token', 'id_token'])
      keepJwt(keep, `${type} of ${name}`, String(body[type]));
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now() });
    await api.change('POST', '/current-identity/mfa/verify', { code }, token);
  }
  return secrets;
}

type Keep = (what: string, text: string) => unknown;

function keepEnrollment(keep: Keep, what: string, { method, token, jwt }: Record<string, string>): void {
  keep(`${what} ${method} token`, token ?? '');
  keepJwt(keep, `${what} ${method}`, jwt ?? '');
}

/** The signature alone finds the token in every encoding. */
function keepJwt(keep: Keep, what: string, jwt: string): void {
  keep(`${what} JWT`, jwt.split('.')[2] ?? '');
}

/** The paths of an operation, with every id of the collection. */
function pathsOf({ api, path, query }: ApiOperation, ids: ReadonlyMap<string, readonly string[]>): string[] {
  const required = query.filter((each) => each.required).map(({ name }) => `${name}=x`);
  const suffix = `${required.length > 0 ? `?${required.join('&')}` : ''}`;
  const collection = path.split('/')[1] ?? '';
  const own = path.includes('{id}') ? (ids.get(collection) ?? ['none']) : [''];
  const [service = 'none'] = ids.get('services') ?? [];
  const filled = (id: string) => path.replace('{id}', id).replace('{serviceId}', service);
  return own.map((id) => `${BASES[api][0]}${filled(id)}${suffix}`);
}

/** Ids in each collection of the management API. */
async function idsOf(api: ApiClient, operations: readonly ApiOperation[]): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const { api: name, path } of operations) {
    if (name !== 'management' || !/^\/[\w-]+$/.test(path)) continue;
    const { data } = await api.manage('GET', `${path}?limit=500`);
    if (Array.isArray(data))
      ids.set(
        path.slice(1),
        data.flatMap((each) => (each?.id === undefined ? [] : [each.id])),
      );
  }
  return ids;
}

/** A filter that matches entities by parts of secrets in a field. */
function filterFor(field: string, secrets: Secrets): string {
  const tokens = [...secrets].filter(([what]) => / (?:token|JWT)$|^session/.test(what));
  return tokens.map(([, text]) => `${field} contains "${text.slice(1, 12)}"`).join(' or ');
}

t.test('no read operation reveals secrets of others to a read-only caller', async (t) => {
  await using api = await ApiClient.start();
  const secrets = await secretsOf(api);
  const reads = readOperations().filter(({ method }) => method === 'GET');
  const kinds = new Set(reads.map(({ access }) => access).filter((access) => access.endsWith('.read')));
  for (const kind of ['admin', 'authenticator', 'revocation'] as const) kinds.delete(`${kind}.read`);
  const roles = { reader: ['admin_readonly'], each: [...kinds], operator: ['ops'] };
  for (const [name, permissions] of Object.entries(roles)) await api.person(name, { permissions });
  const ids = await idsOf(api, reads);
  const as = api.connect(undefined, 1);
  const leaks: string[] = [];
  let answers = 0;
  let filters = 0;
  for (const role of Object.keys(roles)) {
    const token = await api.login(role);
    for (const path of reads.flatMap((operation) => pathsOf(operation, ids))) {
      const answer = await api.ask('GET', path, { token, as });
      answers += Number(answer.status === 200);
      for (const [what, text] of secrets) if (answer.text.includes(text)) leaks.push(`${role}: ${what} in ${path}`);
      const fields = (answer.meta?.filterableFields ?? []) as string[];
      const hidden = fields.filter((field) => /^token$|jwt$|secret/i.test(field));
      for (const field of hidden) {
        const found = await api.ask('GET', filtered(path, filterFor(field, secrets)), { token, as });
        filters += 1;
        for (const { id } of found.data ?? [{ id: found.text }]) leaks.push(`${role}: ${field} of ${id} in ${path}`);
      }
    }
  }
  t.ok(secrets.size > 60 && [...secrets.values()].every(({ length }) => length >= 6), `${secrets.size} secrets`);
  t.ok(answers > 300 && filters > 8, `${answers} answers, ${filters} filters`);
  t.same(leaks, []);
});

t.test('owners and administrators see tokens, and so do callers that may open enrollments', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('plain', { permissions: ['ops.read'] });
  await api.create('/enrollments', { identityId: id, method: 'ott', expiresAt: FUTURE });
  await api.create('/edge-routers', { name: 'edge' });
  const token = await api.login('plain');
  const tokensIn = async (permissions: readonly string[], path: string): Promise<string[]> => {
    const name = `with ${permissions}`;
    await api.person(name, { permissions });
    const { data } = await api.ask('GET', `${MANAGEMENT}${path}`, { token: await api.login(name) });
    return data.map((each: Record<string, string>) => each.token ?? each.enrollmentToken ?? '');
  };
  const sessions = await api.ask('GET', `${MANAGEMENT}/api-sessions`, { token });
  const own = sessions.data.filter((each: Record<string, string>) => each.token !== '');
  t.same(
    own.map((each: Record<string, string>) => each.token),
    [token],
    'the owner sees its own',
  );
  t.ok((await api.get<{ token: string }[]>('/api-sessions')).every((each) => each.token.length > 20));
  t.same(await tokensIn(['enrollment.read', 'enrollment.delete'], '/enrollments'), ['', '']);
  t.ok((await tokensIn(['enrollment'], '/enrollments')).every((each) => each.length > 20));
  t.same(await tokensIn(['router.read', 'router.delete'], '/edge-routers'), ['']);
  t.ok((await tokensIn(['router'], '/edge-routers')).every((each) => each.length > 20));
});

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const FORGED = {
  dns: ['evil.example', '*.internal.example', 'localhost'],
  ip: ['10.0.0.1', '127.0.0.1'],
  email: ['boss@example'],
  url: ['spiffe://evil/identity/boss', 'https://evil.example/'],
} as const;
/** Key id, key usage, alternative names, basic constraints, authority key, extended key usage. */
const OWN_EXTENSIONS = ['2.5.29.14', '2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.35', '2.5.29.37'];

/** A request with forged contents: names of others, an authority, a server. */
async function forgedRequest(commonName: string): Promise<{ csr: string; key: KeyObject }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names = Object.entries(FORGED).flatMap(([type, values]) =>
    values.map((value) => ({ type: type as keyof typeof FORGED, value })),
  );
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ C: ['RU'] }, { O: ['Evil'] }, { OU: ['Admins'] }, { CN: [commonName] }],
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names),
      new x509.BasicConstraintsExtension(true, 3, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.3']),
      new x509.Extension('1.2.3.4.5', false, new Uint8Array([5, 0])),
    ],
  });
  const key = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    format: 'der',
    type: 'pkcs8',
  });
  return { csr: request.toString('pem'), key };
}

/** The names and purposes in a certificate. */
function contentsOf(pem: string) {
  const certificate = new x509.X509Certificate(leafOf(pem).toString());
  const usages = certificate.getExtension(x509.KeyUsagesExtension)?.usages;
  return {
    subject: certificate.subject,
    names: certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [],
    purposes: certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [],
    signs: ((usages ?? 0) & (x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign)) !== 0,
    isAuthority: certificate.getExtension(x509.BasicConstraintsExtension)?.ca,
    others: certificate.extensions.map(({ type }) => type).filter((type) => !OWN_EXTENSIONS.includes(type)),
  };
}

const CLIENT = '1.3.6.1.5.5.7.3.2';
const SERVER = '1.3.6.1.5.5.7.3.1';

t.test('certificates of identities copy only the key from the request, on every path', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  await idp.addKey('k1');
  await api.create('/external-jwt-signers', {
    ...{ name: 'idp', issuer: 'https://idp.example', audience: 'edge', enabled: true, jwksEndpoint: idp.endpoint },
    ...{ useExternalId: true, enrollToCertEnabled: true, enrollAuthPolicyId: 'default' },
  });
  const { csr, key } = await forgedRequest('evil.example');
  const oidc = new OidcClient(api);
  const signed: [path: string, identityId: string, pem: string][] = [];

  for (const [path, type, body] of [
    ['/enroll?method=ott&token=', 'application/x-pem-file', () => csr],
    ['/enroll/ott?token=', 'application/json', (token: string) => ({ token, clientCsr: csr })],
  ] as const) {
    const id = await api.create('/identities', { name: path, type: 'User', isAdmin: false, enrollment: { ott: true } });
    const { token } = (await api.get(`/identities/${id}`)).enrollment.ott;
    const answer = await api.ask('POST', `${path}${token}`, { body: body(token), type });
    signed.push([path, id, answer.data?.cert ?? answer.text]);
  }
  const [[, deviceId, pem] = ['', '', '']] = signed;
  const device = api.connect({ pem, key });
  const { data: session } = await api.loginWith(device);
  const own = `/current-identity/authenticators/${session.authenticatorId}`;
  const at = { token: session.token, as: device };
  const extended = await api.ask('POST', `${own}/extend`, { ...at, body: { clientCertCsr: csr } });
  signed.push(['extend', deviceId, extended.data.clientCert]);
  await api.ask('POST', `${own}/extend-verify`, { ...at, body: { clientCert: extended.data.clientCert } });
  const [tokensIn] = await api.get('/current-identity/authenticators', session.token);
  signed.push(['extend-verify', deviceId, tokensIn.certPem]);
  const created = await api.ask('POST', '/current-api-session/certificates', { ...at, body: { csr } });
  signed.push(['certificate of a session', deviceId, created.data.certificate]);

  const bearer = { authorization: `Bearer ${await idp.token('k1', { sub: 'someone' })}` };
  const enrolled = await api.ask('POST', '/enroll/token', { headers: bearer, body: { clientCsr: csr } });
  const { data: found } = await api.manage('GET', filtered('/identities', 'externalId = "someone"'));
  signed.push(['enroll token', found[0].id, enrolled.data.cert]);

  const person = await api.person('person');
  const login = await oidc.login('person', PASSWORD, { csrPem: csr });
  signed.push(['OIDC code', person, String(login.body.session_cert)]);
  const bound = new OidcClient(api, api.connect({ pem: String(login.body.session_cert), key }));
  const refreshed = await bound.refresh(String(login.body.refresh_token), { csr_pem: csr });
  signed.push(['OIDC refresh', person, String(refreshed.body.session_cert)]);

  for (const [path, identityId, certificate] of signed) {
    const { names, ...contents } = contentsOf(certificate);
    const expected = { subject: `CN=${identityId}`, purposes: [CLIENT], signs: false, isAuthority: false, others: [] };
    t.same(contents, expected, path);
    t.match(names, [{ type: 'url', value: /^spiffe:\/\/[\da-f]{40}\/identity\// }], path);
    t.ok(names.length === 1 && names[0]?.value.split('/')[4] === identityId, path);
  }
  t.equal(signed.length, 8);
});

t.test('certificates of routers copy only host names and the key from the request', async (t) => {
  const overlay = await Overlay.start();
  await using api = new ApiClient(overlay.simulator);
  const signed: [path: string, routerId: string, certs: readonly string[]][] = [];
  const id = await api.create('/edge-routers', { name: 'forger' });
  const { csr, key } = await forgedRequest(id);
  const { enrollmentToken } = await api.get(`/edge-routers/${id}`);
  const body = { certCsr: csr, serverCertCsr: csr };
  const { data } = await api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body });
  signed.push(['enroll', id, [data.cert, data.serverCert]]);
  const extended = await api.ask('POST', '/enroll/extend/router', { body, as: api.connect({ pem: data.cert, key }) });
  signed.push(['extend over HTTP', id, [extended.data.cert, extended.data.serverCert]]);
  const transit = await api.create('/transit-routers', { name: 'transit' });
  const { csr: other } = await forgedRequest(transit);
  const token = (await api.get(`/transit-routers/${transit}`)).enrollmentToken;
  const carried = { certCsr: other, serverCertCsr: other };
  const enrolled = await api.ask('POST', `/enroll?method=trott&token=${token}`, { body: carried });
  signed.push(['enroll transit', transit, [enrolled.data.cert, enrolled.data.serverCert]]);

  const { id: connected, configFile } = await overlay.enrollRouter({ name: 'connected' });
  const peer = await RouterPeer.connect(configFile);
  const request = create(EnrollmentExtendRouterRequestSchema, {
    clientCertCsr: csr,
    serverCertCsr: csr,
    requireVerification: true,
  });
  const message = new Message(
    EdgeControlType.EnrollmentExtendRouter,
    [],
    toBinary(EnrollmentExtendRouterRequestSchema, request),
  );
  const answer = await peer.ask(message, EdgeControlType.EnrollmentCertsResponse);
  const { clientCertPem, serverCertPem } = answer.decode(EnrollmentCertsResponseSchema);
  signed.push(['extend over the control channel', connected, [clientCertPem, serverCertPem]]);
  peer.close();
  await overlay.close();

  const allowed = Object.entries(FORGED).flatMap(([type, values]) =>
    values.filter((value) => !value.startsWith('spiffe:')).map((value) => `${type} ${value}`),
  );
  for (const [path, routerId, certs] of signed) {
    for (const [index, pem] of certs.entries()) {
      const { names, purposes, ...contents } = contentsOf(pem);
      const what = `${path} ${index === 0 ? 'client' : 'server'}`;
      t.same(contents, { subject: `CN=${routerId}`, signs: false, isAuthority: false, others: [] }, what);
      t.equal(purposes[0], index === 0 ? CLIENT : SERVER, what);
      const own = names.filter(({ value }) => value.startsWith('spiffe:'));
      t.match(own, [{ value: new RegExp(`/router/${routerId}$`) }], what);
      const copied = names.filter((each) => !own.includes(each)).map(({ type, value }) => `${type} ${value}`);
      t.same(copied.sort(), [...allowed].sort(), what);
    }
  }
});

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

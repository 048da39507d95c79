// Enrollment over the API: every method for identities, and the contents of tokens. enroll.test.ts tests the router's
// program, renewal.test.ts the renewal of certificates and passwords.

import { generateKeyPairSync, type KeyObject, randomUUID, X509Certificate } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import t from 'tap';
import { createCsr } from '../../agent/identity/csr.ts';
import { ApiClient, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';

const MINUTE = 60_000;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const USED = { status: 400, code: 'INVALID_ENROLLMENT_TOKEN' };
const PEM = 'application/x-pem-file';

interface Open {
  readonly identityId: string;
  readonly id: string;
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
}

/** An identity with an open enrollment. */
async function open(
  api: ApiClient,
  name: string,
  enrollment: { ott?: boolean; ottca?: string; updb?: string },
): Promise<Open> {
  const identityId = await api.create('/identities', { name, type: 'Device', isAdmin: false, enrollment });
  const [found] = Object.values((await enrollmentsOf(api, identityId)) as object);
  return { identityId, ...found };
}

async function enrollmentsOf(api: ApiClient, identityId: string) {
  return (await api.get(`/identities/${identityId}`)).enrollment;
}

function ott(api: ApiClient, token: string, csr: string) {
  return api.ask('POST', `/enroll?method=ott&token=${token}`, { body: csr, type: PEM });
}

function updb(api: ApiClient, token: string, body: object = { username: 'anna', password: PASSWORD }) {
  return api.ask('POST', `/enroll/updb?token=${token}`, { body });
}

t.test(
  'enrollment tokens name issuer, subject, method and expiry, and are signed with the published key',
  async (t) => {
    await using api = await ApiClient.start();
    const { baseUrl, controlAddress } = api.simulator;
    const ca = await api.addAuthority('ours', await makeAuthority('ours'));
    const routerId = await api.create('/edge-routers', { name: 'router' });
    const router = await api.get(`/edge-routers/${routerId}`);
    const transitId = await api.create('/routers', { name: 'transit' });
    const transit = await api.get(`/routers/${transitId}`);
    const byOtt = await open(api, 'a', { ott: true });
    const byCa = await open(api, 'b', { ottca: ca });
    const byPassword = await open(api, 'c', { updb: 'anna' });
    const fresh = { token: router.enrollmentToken, expiresAt: router.enrollmentExpiresAt };
    const carried = { token: transit.enrollmentToken, expiresAt: transit.enrollmentExpiresAt };
    const table: [string, string, string, { token: string; expiresAt: string }][] = [
      ['ott', byOtt.jwt, byOtt.identityId, byOtt],
      ['ottca', byCa.jwt, byCa.identityId, byCa],
      ['updb', byPassword.jwt, byPassword.identityId, byPassword],
      ['erott', router.enrollmentJwt, routerId, fresh],
      ['trott', transit.enrollmentJwt, transitId, carried],
    ];
    const keys = createLocalJWKSet(JSON.parse((await api.ask('GET', '/enroll/jwks')).text));
    for (const [em, jwt, sub, { token, expiresAt }] of table) {
      const { payload, protectedHeader } = await jwtVerify(jwt, keys, { issuer: baseUrl, subject: sub });
      t.match(protectedHeader, { alg: 'RS256', kid: /^[\da-f]{40}$/ }, em);
      t.match(token, UUID, em);
      const exp = Math.floor(Date.parse(expiresAt) / 1000);
      const { iat: _iat, ...claims } = payload;
      t.same(claims, { iss: baseUrl, sub, aud: [''], em, jti: token, exp, ctrls: [controlAddress] }, em);
      t.equal(Date.parse(expiresAt), api.clock.now() + 180 * MINUTE, em);
    }
    const issuer = `${baseUrl}/`;
    const networkTokens = async () => (await api.manage('GET', '/network-jwts')).data;
    const [named] = await networkTokens();
    t.same(await networkTokens(), [named], 'one signature serves all clients of a second');
    await api.clock.advance(1_000);
    t.notSame(await networkTokens(), [named]);
    const reusable: [em: string, jwt: string, sub: string, jti: string | RegExp][] = [
      ['ca', (await api.manage('GET', `/cas/${ca}/jwt`)).text, ca, ca],
      ['network', named.token, issuer, UUID],
    ];
    for (const [em, jwt, sub, jti] of reusable) {
      const { payload } = await jwtVerify(jwt, keys, { issuer, audience: 'openziti-enroller' });
      const { iat: _iat, ...claims } = payload;
      t.match(claims, { jti }, em);
      t.same(claims, { iss: issuer, sub, aud: ['openziti-enroller'], jti: claims.jti, em, ctrls: null }, em);
    }
  },
);

t.test('a certificate request becomes a certificate of the network, once', async (t) => {
  await using api = await ApiClient.start();
  const { identityId, token } = await open(api, 'device', { ott: true });
  const { key, csr } = newRequest('whatever');
  const { status, headers, data } = await ott(api, token, csr);
  t.same([status, headers['content-type']], [200, 'application/json']);
  const certificate = new X509Certificate(data.cert);
  t.match(
    certificate.subjectAltName,
    new RegExp(`URI:spiffe://[\\da-f]{40}/identity/${identityId.replaceAll('.', '\\.')}`),
  );
  t.same([certificate.subject, certificate.keyUsage], [`CN=${identityId}`, ['1.3.6.1.5.5.7.3.2']]);
  t.equal(certificate.validToDate.getTime(), Math.floor((api.clock.now() + 365 * 24 * 60 * MINUTE) / 1000) * 1000);
  t.match(await ott(api, token, csr), USED);
  t.same(await enrollmentsOf(api, identityId), {}, 'the enrollment is deleted');
  t.match((await api.loginWith(api.connect({ pem: data.cert, key }))).data, { identityId });

  const second = await open(api, 'second', { ott: true });
  const both = await Promise.all([ott(api, second.token, csr), ott(api, second.token, csr)]);
  t.same(both.map((answer) => answer.status).sort(), [200, 400], 'one of two concurrent ones succeeds');
  const third = await open(api, 'third', { ott: true });
  const answer = await api.ask('POST', '/enroll/ott', { body: { token: third.token, clientCsr: csr } });
  t.match(
    answer.data,
    {
      ca: /^-----BEGIN CERTIFICATE/,
      cert: /^-----BEGIN CERTIFICATE/,
      controllers: [{ id: api.simulator.controllerId }],
    },
    'as JSON',
  );
});

t.test('an invalid certificate request or key is rejected without using the token', async (t) => {
  await using api = await ApiClient.start();
  const { token } = await open(api, 'device', { ott: true });
  const { csr } = newRequest('device');
  const bytes = Buffer.from(csr.replace(/-----.*-----|\n/g, ''), 'base64');
  const encode = (der: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const renamed = Buffer.from(bytes.toString('latin1').replace('device', 'admins'), 'latin1');
  const of = (pair: { privateKey: KeyObject }) =>
    createCsr('x', { sans: { dns: [], ip: [], uri: [], email: [] } }, pair.privateKey);
  const rejected = { status: 400, code: 'COULD_NOT_PROCESS_CSR' };
  const table: [string, string, object][] = [
    ['nothing', '', { status: 400, code: 'MISSING_OR_INVALID_CSR' }],
    ['nonsense', 'nonsense', rejected],
    ['half of one', encode(bytes.subarray(0, 60)), rejected],
    ['invalid content in PEM', encode(Buffer.from('nonsense')), rejected],
    ['a certificate', api.simulator.ca, rejected],
    ['a name that was changed after signing', encode(renamed), rejected],
    ['a short RSA key', of(generateKeyPairSync('rsa', { modulusLength: 1024 })), rejected],
    ['an unknown curve', of(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), rejected],
  ];
  for (const [name, body, expected] of table) t.match(await ott(api, token, body), expected, name);
  const rsa = of(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  t.equal((await ott(api, token, rsa)).status, 200, 'the token remains valid for a correct request');
});

t.test('the identity of a router does not enroll', async (t) => {
  await using api = await ApiClient.start();
  const identityId = await api.create('/edge-routers', { name: 'router', isTunnelerEnabled: true });
  const expiresAt = '2099-01-01T00:00:00Z';
  const open = async (fields: object) => {
    const id = await api.create('/enrollments', { identityId, expiresAt, ...fields });
    return (await api.get(`/enrollments/${id}`)).token as string;
  };
  const rejected = { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: 'identityId', value: identityId } };
  const body = { token: await open({ method: 'ott' }), clientCsr: newRequest('x').csr };
  t.match(await api.ask('POST', '/enroll/ott', { body }), rejected, 'with a certificate');
  const updb = await open({ method: 'updb', username: 'router' });
  const chosen = { username: 'router', password: PASSWORD };
  t.match(await api.ask('POST', `/enroll/updb?token=${updb}`, { body: chosen }), rejected, 'with a password');
});

t.test('a token is valid until it expires, for its own method, and until its enrollment is deleted', async (t) => {
  await using api = await ApiClient.start();
  const { csr } = newRequest('x');
  const first = await open(api, 'first', { ott: true });
  const second = await open(api, 'second', { ott: true });
  await api.clock.advance(180 * MINUTE - 1);
  t.equal((await ott(api, first.token, csr)).status, 200, 'until the last millisecond');
  await api.clock.advance(1);
  t.match(await ott(api, second.token, csr), { status: 400, code: 'ENROLLMENT_EXPIRED' });
  const third = await open(api, 'third', { ott: true });
  t.match(await updb(api, third.token), { status: 400, code: 'INVALID_ENROLL_METHOD' });
  t.match(await ott(api, randomUUID(), csr), USED, 'unknown');
  t.match(await ott(api, '', csr), USED, 'none');
  await api.manage('DELETE', `/enrollments/${third.id}`);
  t.match(await ott(api, third.token, csr), USED, 'the enrollment is deleted');
  const fourth = await open(api, 'fourth', { ott: true });
  await api.manage('DELETE', `/identities/${fourth.identityId}`);
  t.match(await ott(api, fourth.token, csr), USED, 'the identity is deleted');

  const refresh = (id: string, time: number) =>
    api.manage('POST', `/enrollments/${id}/refresh`, { expiresAt: new Date(time).toISOString() });
  const now = api.clock.now();
  t.match(await refresh(second.id, now), { status: 400, cause: { field: 'expiresAt' } }, 'no time in the past');
  t.match(
    await refresh(second.id, now + MINUTE),
    { status: 200, data: { id: second.id } },
    'even after it has expired',
  );
  const { ott: renewed } = await enrollmentsOf(api, second.identityId);
  t.same([renewed.id, Date.parse(renewed.expiresAt)], [second.id, now + MINUTE]);
  t.match(decodeJwt(renewed.jwt), { jti: renewed.token, em: 'ott', exp: Math.floor((now + MINUTE) / 1000) });
  t.match(await ott(api, second.token, csr), USED, 'the old token');
  t.equal((await ott(api, renewed.token, csr)).status, 200);
});

t.test('a second open enrollment of the same method is rejected; other methods are not', async (t) => {
  await using api = await ApiClient.start();
  const { identityId, id } = await open(api, 'device', { ott: true });
  const expiresAt = new Date(api.clock.now() + MINUTE).toISOString();
  const create = (fields: object) => api.manage('POST', '/enrollments', { identityId, expiresAt, ...fields });
  t.match(await create({ method: 'ott' }), { status: 409, code: 'ENROLLMENT_EXISTS' });
  t.match(await create({ method: 'updb', username: 'anna' }), { status: 201 });
  await api.manage('DELETE', `/enrollments/${id}`);
  t.match(await create({ method: 'ott' }), { status: 201 });
  t.match(await create({ method: 'ottca', caId: 'nope' }), { status: 400, code: 'INVALID_FIELD' });
});

t.test('a password must satisfy its limits, and the user name must be unused', async (t) => {
  await using api = await ApiClient.start();
  await api.person('used');
  const { identityId, token } = await open(api, 'person', { updb: 'anna' });
  const bounds = { status: 400, code: 'COULD_NOT_VALIDATE' };
  const table: [string, object, object][] = [
    ['no password', { username: 'anna' }, { status: 400 }],
    ['a short password', { username: 'anna', password: 'abcd' }, bounds],
    ['a long password', { username: 'anna', password: 'x'.repeat(101) }, bounds],
    ['a short name', { username: 'ann', password: PASSWORD }, bounds],
  ];
  for (const [name, body, expected] of table) t.match(await updb(api, token, body), expected, name);
  const second = await open(api, 'second', { updb: 'used' });
  t.match(await updb(api, second.token), { ...bounds, cause: { field: 'updbUsername' } }, 'a used name');
  t.match(await updb(api, token), { status: 200, data: { username: 'anna', controllers: [{}] } });
  t.match(await updb(api, token), USED);
  t.equal((await api.tryLogin('anna')).data.identityId, identityId);
  const other = await open(api, 'other', { updb: 'berta' });
  t.match(await updb(api, other.token, { password: PASSWORD }), { data: { username: 'berta' } }, 'the requested name');
  const third = await open(api, 'third', { updb: 'clara' });
  const chosen = { username: 'someone', password: PASSWORD };
  t.match(await updb(api, third.token, chosen), { data: { username: 'clara' } }, 'the name cannot be chosen');
  t.equal((await api.tryLogin('clara')).data.identityId, third.identityId);
});

t.test('a certificate of another authority enrolls the identity in the token', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  const another = await makeAuthority('another');
  const id = await api.addAuthority('ours', authority);
  await api.addAuthority('another', another);
  const { identityId, token } = await open(api, 'device', { ottca: id });
  const now = api.clock.now();
  const enroll = async (issued?: Awaited<ReturnType<typeof issue>>) =>
    api.ask('POST', `/enroll?method=ottca&token=${token}`, { ...(issued && { as: api.connect(issued) }) });
  const failed = { status: 400, code: 'CERTIFICATE_FAILED_VALIDATION' };
  t.match(await enroll(), failed, 'none');
  t.match(await enroll(await issue(another, 'x')), failed, 'from another authority');
  t.match(await enroll(await api.device('own')), failed, 'from the network');
  t.match(await enroll(await issue(authority, 'x', { to: now - MINUTE })), failed, 'expired');
  t.match(await enroll(await issue(authority, 'x', { from: now + MINUTE })), failed, 'not yet valid');
  t.match(await enroll(await issue(authority, 'x', { purposes: ['server'] })), failed, 'for servers');
  await api.manage('PATCH', `/cas/${id}`, { isOttCaEnrollmentEnabled: false });
  const right = await issue(authority, 'x');
  t.match(await enroll(right), { status: 400, code: 'ENROLLMENT_CA_NOT_VALID' });
  await api.manage('PATCH', `/cas/${id}`, { isOttCaEnrollmentEnabled: true });
  t.match(await enroll(right), { status: 200, data: { controllers: [{}] } });
  t.match(await enroll(right), USED);
  t.equal((await api.loginWith(api.connect(right))).data.identityId, identityId);
  const { token: next } = await open(api, 'next', { ottca: id });
  t.match(await api.ask('POST', `/enroll/ottca?token=${next}`, { as: api.connect(right), body: {} }), {
    status: 409,
    code: 'CERT_IN_USE',
    cause: { data: { fingerprint: /^[0-9a-f]{40}$/ } },
  });
});

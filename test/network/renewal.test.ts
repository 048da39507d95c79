// Renewal of enrollments: re-enrolling at an administrator's request, and replacing certificates in use.

import { createPrivateKey, createPublicKey, randomUUID, verify, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { ApiClient, newRequest } from '../support/clients/api-client.ts';
import { type Issued, issue, makeAuthority } from '../support/clients/certificates.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;
const NOT_ALLOWED = { status: 401, code: 'UNAUTHORIZED' };
const USED = { status: 400, code: 'INVALID_ENROLLMENT_TOKEN' };
const OTHER = 'another long secret';

/** Can skip a year without running each minute. */
class CalendarClock extends VirtualClock {
  shift = 0;

  override now(): number {
    return super.now() + this.shift;
  }
}

/** An edge router that the test enrolled over the API. */
async function enrolledRouter(api: ApiClient, name = 'router'): Promise<Issued & { readonly id: string }> {
  const id = await api.create('/edge-routers', { name });
  const { enrollmentToken } = await api.get(`/edge-routers/${id}`);
  const { key, csr } = newRequest(id);
  const body = { certCsr: csr, serverCertCsr: csr };
  const { data } = await api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body });
  return { id, key, pem: data.cert };
}

t.test('re-enrolling deletes an authenticator and its sessions until the enrollment is complete', async (t) => {
  await using api = await ApiClient.start();
  const identityId = await api.person('anna');
  const { token, authenticatorId } = (await api.tryLogin('anna')).data;
  const expiresAt = new Date(api.clock.now() + MINUTE).toISOString();
  const reEnroll = (id: string, when = expiresAt) =>
    api.manage('POST', `/authenticators/${id}/re-enroll`, { expiresAt: when });
  const enrollments = async (id: string) => (await api.get(`/identities/${id}`)).enrollment;
  const past = new Date(api.clock.now()).toISOString();
  t.match(await reEnroll(authenticatorId, past), { status: 400, cause: { field: 'expiresAt' } });
  t.match(await reEnroll('nope'), { status: 404 });
  t.ok(await api.isOpen(token), 'a rejected request changes nothing');

  const { status, data } = await reEnroll(authenticatorId);
  const { updb, ...others } = await enrollments(identityId);
  t.same([status, data.id, updb.expiresAt, others], [201, updb.id, expiresAt, {}]);
  t.match(decodeJwt(updb.jwt), { em: 'updb', sub: identityId, jti: updb.token });
  t.notOk(await api.isOpen(token));
  t.equal((await api.tryLogin('anna')).status, 401);
  const body = { username: 'anna', password: OTHER };
  t.match(await api.ask('POST', `/enroll?method=updb&token=${updb.token}`, { body }), { status: 200 });
  t.equal((await api.tryLogin('anna')).status, 401, 'the old password');
  const again = (await api.tryLogin('anna', OTHER)).data;
  t.not(again.authenticatorId, authenticatorId);
  await api.manage('POST', '/enrollments', { identityId, method: 'updb', username: 'anna', expiresAt });
  t.match(
    await reEnroll(again.authenticatorId),
    { status: 409, code: 'ENROLLMENT_EXISTS' },
    'an enrollment is already open',
  );
  t.ok(await api.isOpen(again.token));

  const device = await api.device('device');
  const { authenticatorId: certificate } = (await api.loginWith(api.connect(device))).data;
  t.match(await reEnroll(certificate), { status: 201 });
  const { ott } = await enrollments(device.identityId);
  t.equal((await api.loginWith(api.connect(device))).status, 401);
  const { key, csr } = newRequest('device');
  const { data: enrolled } = await api.ask('POST', `/enroll?token=${ott.token}`, { body: csr, type: 'text/plain' });
  t.equal((await api.loginWith(api.connect({ key, pem: enrolled.cert }))).data.identityId, device.identityId);
});

t.test('a renewed certificate is valid once its owner has presented it; the old one until then', async (t) => {
  await using api = await ApiClient.start();
  const old = await api.device('device');
  const connection = api.connect(old);
  const { token, authenticatorId } = (await api.loginWith(connection)).data;
  const path = `/current-identity/authenticators/${authenticatorId}`;
  await api.manage('POST', `/authenticators/${authenticatorId}/request-extend`, { rollKeys: true });
  t.match((await api.ask('GET', '/current-api-session', { token })).data, {
    isCertExtendable: true,
    isCertExtendRequested: true,
    isCertKeyRollRequested: true,
  });
  const extend = (csr: string, as = connection) =>
    api.ask('POST', `${path}/extend`, { token, as, body: { clientCertCsr: csr } });
  const show = (clientCert: string) => api.ask('POST', `${path}/extend-verify`, { token, body: { clientCert } });
  const next = newRequest('device');
  t.match(await extend(next.csr, api.connect()), NOT_ALLOWED, 'without the certificate');
  t.match(await extend(next.csr, api.connect(await api.device('other'))), NOT_ALLOWED, "with another identity's");
  t.match(await extend('nonsense'), { status: 400, code: 'COULD_NOT_PROCESS_CSR' });
  const unfit = { status: 409, code: 'CAN_NOT_UPDATE_AUTHENTICATOR' };
  t.match(await show(old.pem), unfit, 'no certificate was issued');

  const lost = (await extend(next.csr)).data.clientCert;
  const { status, data } = await extend(next.csr);
  t.equal(status, 200);
  t.equal(data.ca, api.simulator.ca);
  const renewed = api.connect({ key: next.key, pem: data.clientCert });
  t.equal((await api.loginWith(renewed)).status, 401, 'the new one, not yet');
  t.equal((await api.loginWith(connection)).status, 200, 'the old one, still');
  for (const [name, pem] of [
    ['the old one', old.pem],
    ['an earlier one', lost],
    ['none', 'nonsense'],
  ] as const)
    t.match(await show(pem), { status: 400, code: 'INVALID_CLIENT_CERT' }, name);
  t.match(await show(data.clientCert), { status: 200, data: {} });
  t.match(await show(data.clientCert), unfit, 'once');
  t.equal((await api.loginWith(connection)).status, 401, 'the old one is invalid');
  t.match((await api.loginWith(renewed)).data, {
    authenticatorId,
    isCertExtendable: true,
    isCertExtendRequested: undefined,
  });
  t.ok(await api.isOpen(token), 'the session remains valid');
  const { fingerprint, lastExtendRolledKeys } = await api.get(`/authenticators/${authenticatorId}`);
  t.equal(fingerprint, new X509Certificate(data.clientCert).fingerprint.replaceAll(':', '').toLowerCase());
  t.equal(lastExtendRolledKeys, true);
});

t.test('callers can only renew their own certificate of the network', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  await api.addAuthority('ours', authority);
  const foreign = api.connect(await issue(authority, 'x'));
  await api.ask('POST', '/enroll/ca', { as: foreign });
  await api.person('anna');
  const device = api.connect(await api.device('device'));
  const sessions = { foreign: (await api.loginWith(foreign)).data, anna: (await api.tryLogin('anna')).data };
  const other = (await api.loginWith(device)).data.authenticatorId;
  const extend = (token: string, id: string) => {
    const body = { clientCertCsr: newRequest('x').csr };
    return api.ask('POST', `/current-identity/authenticators/${id}/extend`, { token, as: foreign, body });
  };
  const unfit = { status: 409, code: 'CAN_NOT_UPDATE_AUTHENTICATOR' };
  t.match(await extend(sessions.foreign.token, sessions.foreign.authenticatorId), unfit, 'from another authority');
  t.match(await extend(sessions.anna.token, sessions.anna.authenticatorId), unfit, 'a password');
  for (const { token, authenticatorId } of [sessions.foreign, sessions.anna])
    t.match(
      await api.ask('POST', `/current-identity/authenticators/${authenticatorId}/extend-verify`, {
        token,
        as: foreign,
        body: { clientCert: 'any' },
      }),
      unfit,
      'nothing is being extended',
    );
  t.match(await extend(sessions.anna.token, other), { status: 401, code: 'UNAUTHORIZED' }, "somebody else's");
  t.match(await extend(sessions.anna.token, 'unknown'), { status: 404 });
});

t.test('a router enrolls once for two certificates with its own id, and renews them', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/edge-routers', { name: 'named' });
  const { enrollmentToken } = await api.get(`/edge-routers/${id}`);
  const enroll = (certCsr: string, serverCertCsr: string) =>
    api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body: { certCsr, serverCertCsr } });
  const { csr } = newRequest(id);
  t.match(await enroll(newRequest('other').csr, csr), { status: 400, code: 'EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID' });
  t.match(await enroll(csr, ''), { status: 400, code: 'MISSING_OR_INVALID_CSR' });
  const { data } = await enroll(csr, csr);
  t.equal(data.ca, api.simulator.ca);
  for (const pem of [data.cert, data.serverCert])
    t.match(new X509Certificate(pem), { subject: `CN=${id}`, keyUsage: { length: 2 } });
  t.match(await api.get(`/edge-routers/${id}`), { isVerified: true, enrollmentToken: undefined });
  t.match(await enroll(csr, csr), USED);

  const router = await enrolledRouter(api);
  const next = newRequest(router.id);
  const body = { certCsr: next.csr, serverCertCsr: next.csr };
  const extend = (as = api.connect()) => api.ask('POST', '/enroll/extend/router', { body, as });
  t.match(await extend(), NOT_ALLOWED, 'without a certificate');
  t.match(await extend(api.connect(await api.device('device'))), NOT_ALLOWED, 'with that of an identity');
  const extended = await extend(api.connect(router));
  t.match(extended, { status: 200, data: { ca: api.simulator.ca, serverCert: String } });
  t.match(await extend(api.connect(router)), NOT_ALLOWED, 'the old one is invalid');
  const renewed = api.connect({ key: next.key, pem: extended.data.cert });
  t.equal((await extend(renewed)).status, 200);
});

t.test('a router with an expired certificate cannot renew it', async (t) => {
  const clock = new CalendarClock(Date.now());
  await using api = await ApiClient.start({ clock });
  const router = await enrolledRouter(api);
  const { csr } = newRequest(router.id);
  const extend = () =>
    api.ask('POST', '/enroll/extend/router', { body: { certCsr: csr, serverCertCsr: csr }, as: api.connect(router) });
  clock.shift = YEAR + MINUTE;
  t.match(await extend(), NOT_ALLOWED);
  clock.shift = YEAR - MINUTE;
  t.equal((await extend()).status, 200);
});

t.test('a router cannot renew certificates that it forwards', async (t) => {
  await using api = await ApiClient.start();
  const [victim, attacker] = [await enrolledRouter(api, 'victim'), await enrolledRouter(api, 'attacker')];
  const as = api.connect(attacker);
  // The API proxy of an edge router sends these headers for a client that presented the certificate.
  const forwarded = ({ pem }: Issued) => ({
    'x-edge-router-proxy-request': 'now',
    'x-client-certpem': new X509Certificate(pem).raw.toString('base64'),
  });
  const { csr } = newRequest(victim.id);
  const body = { certCsr: csr, serverCertCsr: csr };
  t.match(
    await api.ask('POST', '/enroll/extend/router', { body, headers: forwarded(victim), as }),
    NOT_ALLOWED,
    'of another router',
  );

  const device = await api.device('device');
  const headers = forwarded(device);
  const { data } = await api.ask('POST', '/authenticate?method=cert', { body: {}, headers, as });
  t.equal(data.identityId, device.identityId, 'logins are forwarded');
  const path = `/current-identity/authenticators/${data.authenticatorId}/extend`;
  const extend = (more: object) => api.ask('POST', path, { token: data.token, body: { clientCertCsr: csr }, ...more });
  t.match(await extend({ headers, as }), NOT_ALLOWED, 'of a client');
  t.equal((await extend({ as: api.connect(device) })).status, 200, 'the client renews its own');
});

t.test('a router to be re-enrolled is disconnected at once, and only the newest token enrolls it', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id } = await overlay.addRouter({ name: 'a' });
  const show = () => overlay.management.edgeRouters.get(id);
  await until('the router to be online', async () => (await show()).isOnline);
  await using api = new ApiClient(overlay.simulator);
  const reEnroll = () => api.manage('POST', `/edge-routers/${id}/re-enroll`);
  t.match(await reEnroll(), { status: 200, data: {} });
  const first = await show();
  t.same([first.isOnline, first.isVerified, first.fingerprint], [false, false, null], 'disconnected before the answer');
  t.match(await reEnroll(), { status: 200 });
  const second = await show();
  const file = (kind: string) => readFileSync(join(overlay.directory, `a.${kind}`), 'utf8');
  const { key, csr } = newRequest(id);
  const body = { certCsr: csr, serverCertCsr: csr };
  const old = { pem: file('cert'), key: createPrivateKey(file('key')) };
  t.match(
    await api.ask('POST', '/enroll/extend/router', { body, as: api.connect(old) }),
    NOT_ALLOWED,
    'the old certificate',
  );
  const enroll = (token: string | null | undefined) => api.ask('POST', `/enroll?method=erott&token=${token}`, { body });
  t.match(await enroll(first.enrollmentToken), USED, 'an older token');
  const { data } = await enroll(second.enrollmentToken);
  t.equal((await show()).isVerified, true);
  t.notOk((await show()).isOnline, 'it still has its old certificate');
  t.equal(
    (await api.ask('POST', '/enroll/extend/router', { body, as: api.connect({ key, pem: data.cert }) })).status,
    200,
  );
});

t.test('the controller proves possession of its published key', async (t) => {
  await using api = await ApiClient.start();
  const { keys } = JSON.parse((await api.ask('GET', '/enroll/jwks')).text);
  const [jwk] = keys;
  const nonce = randomUUID();
  const challenge = (body: object) => api.ask('POST', '/enroll/challenge', { body });
  const { status, text } = await challenge({ keyId: jwk.kid, nonce });
  t.equal(status, 200);
  const { kid, algorithm, signature, caPool } = JSON.parse(text);
  t.same([kid, algorithm, caPool], [jwk.kid, jwk.alg, api.simulator.ca]);
  const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const;
  t.ok(verify('sha256', Buffer.from(nonce), key, Buffer.from(signature, 'base64')));
  t.match(await challenge({ keyId: 'x', nonce }), { status: 400, cause: { field: 'keyId' } });
  t.match(await challenge({ keyId: jwk.kid, nonce: 'once' }), { status: 400, cause: { field: 'nonce' } });
  t.match(await challenge({ keyId: jwk.kid }), { status: 400, cause: { field: 'nonce' } });
});

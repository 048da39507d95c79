// Logins with a client certificate: of the network, or of another authority that an administrator has verified.

import t from 'tap';
import { ApiClient, filtered } from '../support/clients/api-client.ts';
import {
  type Authority,
  BY_COMMON_NAME,
  type IssueOptions,
  issue,
  makeAuthority,
} from '../support/clients/certificates.ts';

const DAY = 86_400_000;
const REJECTED = { status: 401, code: 'INVALID_AUTH' };

t.test(
  'a certificate from an enrollment opens a session while the identity has it and its policy permits it',
  async (t) => {
    await using api = await ApiClient.start();
    const { identityId, ...issued } = await api.device('device');
    const device = api.connect(issued);
    const known = async () => (await api.manage('GET', `/identities/${identityId}/authenticators`)).data;
    t.match(await known(), [{ lastAuthResolvedToRoot: undefined }]);
    const { status, data } = await api.loginWith(device);
    t.equal(status, 200);
    t.match(data, { identityId, isCertExtendable: true, authenticatorId: String });
    t.match(await known(), [{ lastAuthResolvedToRoot: true }]);
    t.ok(await api.isOpen(data.token), 'the session is also valid on other connections');

    const authPolicyId = await api.authPolicy('no certificates', { cert: { allowed: false } });
    await api.manage('PATCH', `/identities/${identityId}`, { authPolicyId });
    t.match(await api.loginWith(device), REJECTED, 'certificates are not allowed');
    await api.manage('PATCH', `/identities/${identityId}`, { authPolicyId: 'default' });
    await api.manage('POST', `/identities/${identityId}/disable`, { durationMinutes: 1 });
    t.match(await api.loginWith(device), REJECTED, 'the identity is disabled');
    await api.manage('POST', `/identities/${identityId}/enable`);

    const { data: again } = await api.loginWith(device);
    t.match(await api.manage('DELETE', `/authenticators/${data.authenticatorId}`), { status: 200 });
    t.notOk(await api.isOpen(again.token), 'its sessions end with the authenticator');
    t.match(await api.loginWith(device), REJECTED, 'the authenticator is deleted');
  },
);

t.test('a certificate without its key is rejected', async (t) => {
  await using api = await ApiClient.start();
  const { pem } = await api.device('device');
  const { key } = await issue(await makeAuthority('elsewhere'), 'device');
  await t.rejects(api.loginWith(api.connect({ pem, key })), 'the TLS handshake fails');
  const inBody = { body: { certificate: pem, certPem: pem }, headers: { 'x-client-cert': encodeURIComponent(pem) } };
  t.match(await api.ask('POST', '/authenticate?method=cert', inBody), REJECTED, 'presented, but not in TLS');
});

t.test('an expired certificate is accepted if the auth policy permits it', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  await api.addAuthority('ours', authority);
  const to = api.clock.now() - (api.clock.now() % 1000) + DAY / 24;
  const device = api.connect(await issue(authority, 'device', { to }));
  await api.ask('POST', '/enroll/ca', { as: device });
  const { identityId } = (await api.loginWith(device)).data;
  const authPolicyId = await api.authPolicy('no expired ones', { cert: { allowExpiredCerts: false } });
  await api.manage('PATCH', `/identities/${identityId}`, { authPolicyId });
  await api.clock.advance(to - api.clock.now());
  t.equal((await api.loginWith(device)).status, 200, 'until its last second');
  await api.clock.advance(1);
  t.match(await api.loginWith(device), REJECTED);
  await api.manage('PATCH', `/identities/${identityId}`, { authPolicyId: 'default' });
  t.equal((await api.loginWith(device)).status, 200, 'permitted by the default policy');
});

t.test('only certificates for clients, already valid, from a known authority, are accepted', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  await api.addAuthority('ours', authority, { externalIdClaim: BY_COMMON_NAME });
  const authPolicyId = await api.authPolicy('no expired ones', { cert: { allowExpiredCerts: false } });
  await api.create('/identities', { name: 'liberal', type: 'Device', isAdmin: false, externalId: 'liberal' });
  await api.create('/identities', {
    name: 'strict',
    type: 'Device',
    isAdmin: false,
    externalId: 'strict',
    authPolicyId,
  });
  const now = api.clock.now();
  const table: [string, string, IssueOptions, number][] = [
    ['for clients', 'strict', { purposes: ['client'] }, 200],
    ['for clients and servers', 'strict', { purposes: ['server', 'client'] }, 200],
    ['without a purpose', 'strict', {}, 200],
    ['for servers only', 'strict', { purposes: ['server'] }, 401],
    ['expired', 'strict', { from: now - 2 * DAY, to: now - DAY }, 401],
    ['expired, where that is permitted', 'liberal', { from: now - 2 * DAY, to: now - DAY }, 200],
    ['not yet valid', 'strict', { from: now + DAY, to: now + 2 * DAY }, 401],
    ['not yet valid, where expired ones are permitted', 'liberal', { from: now + DAY, to: now + 2 * DAY }, 401],
    ['of nobody', 'somebody else', {}, 401],
  ];
  for (const [name, subject, options, status] of table)
    t.equal((await api.loginWith(api.connect(await issue(authority, subject, options)))).status, status, name);
  const impostor = await issue(await makeAuthority('ours'), 'strict');
  t.match(await api.loginWith(api.connect(impostor)), REJECTED, 'an authority with the same name');
});

t.test('an authority is usable once it is verified, and while logins with it are enabled', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  const other = await makeAuthority('other');
  const id = await api.addAuthority('ours', authority, { identityNameFormat: '[commonName]' }, false);
  const device = api.connect(await issue(authority, 'device'));
  const enroll = () => api.ask('POST', '/enroll?method=ca', { as: device });
  t.match(await enroll(), { status: 400, code: 'CERT_FAILED_VALIDATION' }, 'not verified: no enrollment');
  const data = await api.get(`/cas/${id}`);
  t.match(data, { isVerified: false, verificationToken: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ });
  const table: [string, string, number, string][] = [
    ['no certificate', 'nonsense', 400, 'COULD_NOT_PARSE_BODY'],
    ['another common name', (await issue(authority, 'device')).pem, 400, 'INVALID_COMMON_NAME'],
    ['another authority', (await issue(other, data.verificationToken)).pem, 400, 'CERTIFICATE_FAILED_VALIDATION'],
  ];
  for (const [name, pem, status, code] of table)
    t.match(await api.manage('POST', `/cas/${id}/verify`, pem, 'text/plain'), { status, code }, name);
  t.equal((await api.verifyAuthority(id, authority)).status, 200);
  t.match(await api.verifyAuthority(id, authority), { status: 409, code: 'CA_ALREADY_VERIFIED' });
  t.equal((await enroll()).status, 200);
  t.equal((await api.loginWith(device)).status, 200);

  await api.manage('PATCH', `/cas/${id}`, { isAuthEnabled: false });
  t.match(await api.loginWith(device), REJECTED, 'logins with it are disabled');
  await api.manage('PATCH', `/cas/${id}`, { isAuthEnabled: true });
  const { data: session } = await api.loginWith(device);
  await api.manage('DELETE', `/cas/${id}`);
  t.notOk(await api.isOpen(session.token), 'sessions end when logins are disabled');
  t.match(await api.loginWith(device), REJECTED, 'the authority is deleted');
  await api.addAuthority('ours', authority);
  t.match(await api.loginWith(device), REJECTED, 'its authenticators were deleted with it');
});

t.test(
  'a certificate below an intermediate authority is accepted whenever the client sends the intermediate',
  async (t) => {
    await using api = await ApiClient.start();
    const root = await makeAuthority('root');
    const between = await makeAuthority('between', root);
    const id = await api.addAuthority('root', root);
    const leaf = await issue(between, 'device');
    const chain = { ...leaf, pem: leaf.pem + between.certificate.toString('pem') };
    t.match(await api.ask('POST', '/enroll/ca', { as: api.connect(leaf) }), { status: 400 }, 'the leaf alone');
    const device = api.connect(chain);
    t.equal((await api.ask('POST', '/enroll/ca', { as: device })).status, 200);
    for (let connection = 0; connection < 4; connection++)
      t.equal((await api.loginWith(device)).status, 200, 'also on connections that resume a TLS session');

    const { data } = await api.loginWith(device);
    const expiresAt = new Date(api.clock.now() + DAY).toISOString();
    await api.manage('POST', `/authenticators/${data.authenticatorId}/re-enroll`, { expiresAt });
    const { enrollment } = await api.get(`/identities/${data.identityId}`);
    t.match(enrollment, { ottca: { caId: id } }, 'the new enrollment names the same authority');
    const path = `/enroll?method=ottca&token=${enrollment.ottca.token}`;
    t.equal((await api.ask('POST', path, { as: device })).status, 200);
    await api.manage('DELETE', `/cas/${id}`);
    t.match(await api.get(`/identities/${data.identityId}`), { authenticators: { cert: undefined } });
  },
);

t.test('only the first certificate of an authority, whose key was proven, is trusted', async (t) => {
  await using api = await ApiClient.start();
  const proven = await makeAuthority('proven');
  const unproven = await makeAuthority('unproven');
  const certPem = [proven, unproven].map(({ certificate }) => `${certificate.toString('pem')}\n`).join('');
  await api.addAuthority('both', proven, { certPem });
  const enroll = async (authority: Authority) =>
    (await api.ask('POST', '/enroll/ca', { as: api.connect(await issue(authority, 'device')) })).status;
  t.equal(await enroll(proven), 200);
  t.equal(await enroll(unproven), 400);
});

t.test('a claim identifies the identity by a part of the certificate', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  const id = await api.addAuthority('ours', authority, { externalIdClaim: BY_COMMON_NAME });
  await api.create('/identities', { name: 'it', type: 'Device', isAdmin: false, externalId: 'Müller, Ann' });
  await api.create('/identities', { name: 'eve', type: 'Device', isAdmin: false, externalId: 'eve' });
  const uris = ['https://a.example/x', 'spiffe://b.example/Müller, Ann'];
  const emails = ['eve@example.org', 'ann@example.com'];
  const slash = { parser: 'SPLIT', parserCriteria: '/' };
  const table: [string, object, string, IssueOptions, string | undefined][] = [
    ['a common name', {}, 'Müller, Ann', {}, 'it'],
    ['another one', {}, 'ann', {}, undefined],
    ['a part of a common name', { ...slash, index: 1 }, 'unit/eve', {}, 'eve'],
    ['a missing part', { ...slash, index: 2 }, 'unit/eve', {}, undefined],
    ['the text after a prefix', { matcher: 'PREFIX', matcherCriteria: 'cn-' }, 'cn-eve', {}, 'eve'],
    ['a wrong prefix', { matcher: 'PREFIX', matcherCriteria: 'E' }, 'eve', {}, undefined],
    ['the text before a suffix', { matcher: 'SUFFIX', matcherCriteria: '-cn' }, 'eve-cn', {}, 'eve'],
    ['a wrong suffix', { matcher: 'SUFFIX', matcherCriteria: 'ev' }, 'eve', {}, undefined],
    [
      'a scheme',
      { location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe', ...slash, index: 3 },
      'x',
      { uris },
      'it',
    ],
    [
      'an address',
      { location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '.org', parser: 'SPLIT', parserCriteria: '@' },
      'x',
      { emails },
      'eve',
    ],
    [
      'the second address',
      { location: 'SAN_EMAIL', parser: 'SPLIT', parserCriteria: '@', index: 2 },
      'x',
      { emails },
      undefined,
    ],
    ['a missing address', { location: 'SAN_EMAIL' }, 'eve', { uris }, undefined],
  ];
  for (const [name, different, subject, options, expected] of table) {
    await api.manage('PATCH', `/cas/${id}`, { externalIdClaim: { ...BY_COMMON_NAME, ...different } });
    const { status, data } = await api.loginWith(api.connect(await issue(authority, subject, options)));
    t.equal(status, expected === undefined ? 401 : 200, name);
    if (expected !== undefined)
      t.match(data, { identity: { name: expected }, authenticatorId: '', isCertExtendable: false }, name);
  }
});

t.test('an authority enrolls its clients automatically, each certificate once', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  const identityNameFormat = '[caName]/[commonName]/[requestedName]/[other]';
  const id = await api.addAuthority('ours', authority, { identityNameFormat, identityRoles: ['b', 'a', 'b'] });
  const enroll = async (subject: string, name: string, options: IssueOptions = {}) => {
    const as = api.connect(await issue(authority, subject, options));
    return { as, answer: await api.ask('POST', '/enroll?method=ca', { as, body: { name } }) };
  };
  const first = await enroll('one', 'mine');
  t.match(first.answer, { status: 200, data: {} });
  const { data } = await api.loginWith(first.as);
  t.match(await api.get(`/identities/${data.identityId}`), {
    name: 'ours/one/mine/[other]',
    roleAttributes: ['a', 'b'],
    isAdmin: false,
    authPolicyId: 'default',
  });
  t.match(await api.ask('POST', '/enroll/ca', { as: first.as }), { status: 409, code: 'CERT_IN_USE' });
  t.equal((await enroll('one', 'mine')).answer.status, 200, 'another certificate with the same name');
  const names = await api.names(filtered('/identities', 'name contains "ours" sort by name'));
  t.same(names, ['ours/one/mine/[other]', 'ours/one/mine/[other]000001']);
  t.match((await enroll('server', 'x', { purposes: ['server'] })).answer, {
    status: 400,
    code: 'CERT_FAILED_VALIDATION',
  });

  const byPrefix = { ...BY_COMMON_NAME, matcher: 'PREFIX', matcherCriteria: 'device-' };
  await api.change('PATCH', `/cas/${id}`, { externalIdClaim: byPrefix });
  const missing = { status: 400, code: 'MISSING_CERT_CLAIM' };
  t.match((await enroll('three', 'x')).answer, missing, 'nothing matches');
  t.match((await enroll('device-', 'x')).answer, missing, 'an empty result');
  const claimed = await enroll('device-three', 'y');
  t.equal(claimed.answer.status, 200);
  const { identityId } = (await api.loginWith(claimed.as)).data;
  t.match(await api.get(`/identities/${identityId}`), { externalId: 'three', authenticators: { cert: undefined } });

  await api.manage('PATCH', `/cas/${id}`, { isAutoCaEnrollmentEnabled: false });
  t.match((await enroll('two', 'x')).answer, { status: 400, code: 'CERT_FAILED_VALIDATION' });
});

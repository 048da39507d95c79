// Rules of identities: their authenticators and enrollments, role attributes, services and revocations.

import t from 'tap';
import { ApiClient, filtered } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';
import { known } from '../support/kinds/kind.ts';
import { until } from '../support/until.ts';

t.test('revocations name a token or a session by UUID, or an identity', async (t) => {
  await using api = await ApiClient.start();
  const uuid = '7d3f0bb4-4c07-4d5c-9d4f-8f6a2b1c0e11';
  const revoke = (id: string, type: string) => api.manage('POST', '/revocations', { id, type });
  for (const type of ['JTI', 'API_SESSION']) t.match(await revoke('created-up', type), { status: 400 }, type);
  t.match(await revoke(uuid, 'IDENTITY'), { status: 404 });
  t.equal((await revoke(uuid, 'JTI')).status, 201);
  t.equal((await revoke(await api.person('anna'), 'IDENTITY')).status, 201);
});

t.test('only administrators manage their authenticators and replace identities', async (t) => {
  await using api = await ApiClient.start();
  const identity = { name: 'x', type: 'User', isAdmin: false };
  for (const permission of ['authenticator', 'authenticator.read'])
    t.match(await api.manage('POST', '/identities', { ...identity, permissions: [permission] }), { status: 400 });
  await api.person('helper', { permissions: ['identity'] });
  const id = await api.person('anna');
  const token = await api.login('helper');
  const path = `/edge/management/v1/identities/${id}`;
  const put = await api.ask('PUT', path, { token, body: { ...identity, name: 'anna 2' } });
  t.match(put, { status: 401, code: 'UNAUTHORIZED' });
  t.equal((await api.ask('PATCH', path, { token, body: { name: 'anna 2' } })).status, 200);
});

t.test('the usage of role attributes counts the entities with them and the policies that select by them', async (t) => {
  await using api = await ApiClient.start();
  const bearer = await api.person('anna', { roleAttributes: ['both', 'borne'] });
  const policy = { semantic: 'AnyOf', identityRoles: ['#both', '#selected'], serviceRoles: ['#all'] };
  const dial = await api.create('/service-policies', { name: 'dial', type: 'Dial', ...policy });
  const usage = (count: number, ids: string[] | null) => ({ count, ids });
  const path = '/identity-role-attribute-usage';
  const withIds = await api.get(`${path}?withIds=true`);
  t.same(withIds, [
    {
      roleAttribute: 'borne',
      usage: { identities: usage(1, [bearer]), servicePolicies: usage(0, []), edgeRouterPolicies: usage(0, []) },
    },
    {
      roleAttribute: 'both',
      usage: { identities: usage(1, [bearer]), servicePolicies: usage(1, [dial]), edgeRouterPolicies: usage(0, []) },
    },
    {
      roleAttribute: 'selected',
      usage: { identities: usage(0, []), servicePolicies: usage(1, [dial]), edgeRouterPolicies: usage(0, []) },
    },
  ]);
  const [first] = await api.get(filtered(path, 'id contains "e" sort by id limit 1'));
  t.match(first, { roleAttribute: 'borne', usage: { identities: usage(1, null) } });
});

t.test('a user who re-enrolls keeps the name', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('anna');
  const [{ id: authenticator }] = await api.get(`/identities/${id}/authenticators`);
  await api.create(`/authenticators/${authenticator}/re-enroll`, { expiresAt: '2099-01-01T00:00:00Z' });
  const { token } = (await api.get(`/identities/${id}`)).enrollment.updb;
  t.equal((await api.ask('POST', `/enroll?token=${token}`, { body: { password: 'another secret' } })).status, 200);
  const body = { username: 'anna', password: 'another secret' };
  t.equal((await api.ask('POST', '/authenticate?method=password', { body })).status, 200);
});

t.test('services were last changed at the start of the session, until a change affects the identity', async (t) => {
  await using api = await ApiClient.start();
  await api.clock.advance(60_000);
  await api.person('anna', { roleAttributes: ['staff'] });
  const { data: session } = await api.tryLogin('anna');
  const last = async () =>
    (await api.get('/current-api-session/service-updates', session.token)).lastChangeAt as string;
  t.equal(await last(), session.createdAt);
  const later = async (act: Promise<unknown>) => {
    await act;
    await api.clock.advance(1_000);
    return last();
  };
  await api.clock.advance(1_000);
  const lists = { semantic: 'AnyOf', type: 'Dial', identityRoles: ['#staff'] };
  const policy = { name: 'dial', serviceRoles: ['#web'], ...lists };
  t.equal(await later(api.create('/service-policies', policy)), session.createdAt, 'a policy without services');
  const config = { name: 'c', configTypeId: 'intercept.v1', data: {} };
  t.equal(await later(api.manage('POST', '/configs', config)), session.createdAt, 'an unused config');
  const web = { name: 'web', encryptionRequired: false, roleAttributes: ['web'] };
  const granted = await later(api.create('/services', web));
  t.ok(granted > session.createdAt);
  const router = { name: 'routers', semantic: 'AnyOf', identityRoles: ['#roaming'], edgeRouterRoles: ['#all'] };
  t.equal(await later(api.create('/edge-router-policies', router)), granted, 'a policy of routers');
});

t.test('a grant or a loss by attributes changes the services of an identity, other attributes do not', async (t) => {
  await using api = await ApiClient.start();
  const web = { name: 'web', encryptionRequired: false, roleAttributes: ['web'] };
  const service = await api.create('/services', web);
  const lists = { semantic: 'AnyOf', type: 'Dial', identityRoles: ['#staff'], serviceRoles: ['#web'] };
  await api.create('/service-policies', { name: 'dial', ...lists });
  const routers = { semantic: 'AnyOf', identityRoles: ['#roaming'], edgeRouterRoles: ['#all'] };
  await api.create('/edge-router-policies', { name: 'routers', ...routers });
  const id = await api.person('anna');
  const { data: session } = await api.tryLogin('anna');
  let last = session.createdAt as string;
  /** Whether a change of attributes is a change of the identity's services. */
  const changes = async (path: string, ...roleAttributes: string[]) => {
    await api.clock.advance(1_000);
    await api.change('PATCH', path, { roleAttributes });
    const before = last;
    last = (await api.get('/current-api-session/service-updates', session.token)).lastChangeAt;
    return last > before;
  };
  const [identity, granted] = [`/identities/${id}`, `/services/${service}`];
  t.equal(await changes(identity, 'roaming'), false, 'it may use other routers');
  t.equal(await changes(identity, 'roaming', 'staff'), true, 'it gets the service');
  t.equal(await changes(granted, 'other'), true, 'the service leaves its policy');
  t.equal(await changes(granted, 'web'), true, 'and returns');
  t.equal(await changes(identity, 'roaming'), true, 'it loses the service');
});

t.test('an identity that is deleted or disabled leaves a revocation of its tokens', async (t) => {
  await using api = await ApiClient.start();
  const [gone, off] = [await api.person('gone'), await api.person('off')];
  await api.change('DELETE', `/identities/${gone}`);
  await api.change('POST', `/identities/${off}/disable`, { durationMinutes: 0 });
  for (const id of [gone, off]) t.match(await api.get(`/revocations/${id}`), { id, type: 'IDENTITY' });
});

t.test('renewals can only be requested for certificates, and overrides must refer to known configs', async (t) => {
  await using api = await ApiClient.start();
  const ids = await known(api);
  const password = { identityId: ids.identity, method: 'updb', username: 'user', password: 'secret' };
  const authenticator = await api.create('/authenticators', password);
  const requested = await api.manage('POST', `/authenticators/${authenticator}/request-extend`, { rollKeys: false });
  t.match(requested, { status: 401, code: 'UNAUTHORIZED', cause: { message: /not a certificate authenticator/ } });
  for (const method of ['POST', 'DELETE']) {
    const pairs = [{ serviceId: 'none', configId: 'none' }];
    const answer = await api.manage(method, `/identities/${ids.identity}/service-configs`, pairs);
    t.match(answer, { status: 404, cause: { message: 'configs with id none not found' } }, method);
  }
});

t.test('an override replaces the one of the same type for the same service, and no other', async (t) => {
  await using api = await ApiClient.start();
  const { identity, service } = await known(api);
  const other = await api.create('/services', { name: 'other', encryptionRequired: true });
  const configs: string[] = [];
  for (const type of ['first', 'second']) {
    const configTypeId = await api.create('/config-types', { name: type });
    for (const name of ['a', 'b'])
      configs.push(await api.create('/configs', { name: type + name, configTypeId, data: {} }));
  }
  const [firstA, firstB, secondA] = configs;
  const path = `/identities/${identity}/service-configs`;
  const overrides = async (method: string, ...pairs: [string, string | undefined][]) => {
    await api.change(
      method,
      path,
      pairs.map(([serviceId, configId]) => ({ serviceId, configId })),
    );
    const all = await api.get<{ serviceId: string; configId: string }[]>(path);
    return all.map(({ serviceId, configId }) => `${serviceId} ${configId}`).sort();
  };
  const set = (...pairs: [string, string | undefined][]) => pairs.map((pair) => pair.join(' ')).sort();
  t.same(await overrides('POST', [service, firstA], [service, secondA]), set([service, firstA], [service, secondA]));
  t.same(
    await overrides('POST', [other, firstA], [service, firstB]),
    set([service, firstB], [service, secondA], [other, firstA]),
  );
  t.same(await overrides('DELETE', [service, firstB]), set([service, secondA], [other, firstA]));
  t.match((await api.manage('GET', path)).meta, { pagination: { limit: 2, offset: 0, totalCount: 2 } });
});

t.test('enrollments of every method keep the authority that they name', async (t) => {
  await using api = await ApiClient.start();
  const caId = await api.addAuthority('authority', await makeAuthority('authority'));
  const identityId = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false });
  const fields = { identityId, method: 'updb', username: 'user', expiresAt: '2099-01-01T00:00:00Z', caId };
  const id = await api.create('/enrollments', fields);
  t.match(await api.get(`/enrollments/${id}`), { method: 'updb', caId });
});

t.test('an identity that was disabled for a time is enabled in the store when the time is over', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('anna');
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 5 });
  const changedAt = async () => (await api.get(`/identities/${id}`)).updatedAt;
  const disabledAt = await changedAt();
  await api.clock.advance(5 * 60_000);
  await until('the change, of which routers learn', async () => (await changedAt()) !== disabledAt);
  t.equal((await api.tryLogin('anna')).status, 200);
});

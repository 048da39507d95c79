// Cascades of deletions, deletions that fail because of references, and the members that policy selectors select.

import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';
import { LOGINS } from '../support/kinds/kind.ts';

const FUTURE = '2099-01-01T00:00:00Z';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The number of entities of each kind. */
async function counts(api: ApiClient): Promise<Record<string, number>> {
  return await api.get<Record<string, number>>('/summary');
}

t.test('deleting an identity deletes its dependents and its selectors in policies', async (t) => {
  await using api = await ApiClient.start();
  await api.create('/edge-routers', { name: 'router' });
  const service = await api.create('/services', { name: 'service', encryptionRequired: true });
  await api.openPolicies();
  const before = await counts(api);
  const id = await api.person('mortal');
  const token = await api.login('mortal');
  await api.create('/enrollments', { identityId: id, method: 'ott', expiresAt: FUTURE });
  await api.create('/current-identity/mfa', {}, token);
  await api.create('/sessions', { serviceId: service, type: 'Dial' }, token);
  const roles = { semantic: 'AnyOf', identityRoles: [`@${id}`, '#others'] };
  const policy = await api.create('/service-policies', { name: 'own', type: 'Dial', ...roles });
  const routers = await api.create('/edge-router-policies', { name: 'own', ...roles });
  const during = await counts(api);
  for (const kind of ['identities', 'authenticators', 'enrollments', 'mfas', 'apiSessions', 'sessions'])
    t.equal(during[kind], (before[kind] ?? 0) + 1, kind);

  await api.change('DELETE', `/identities/${id}`);
  t.same(await counts(api), { ...before, servicePolicies: 2, edgeRouterPolicies: 2, revocations: 1 });
  t.match(await api.get(`/service-policies/${policy}`), { identityRoles: ['#others'] });
  t.match(await api.get(`/edge-router-policies/${routers}`), { identityRoles: ['#others'] });
  t.equal((await api.ask('GET', '/current-identity', { token })).status, 401);
  await t.rejects(api.login('mortal'), /INVALID_AUTH/);
});

t.test(
  'deleting a service deletes terminators, sessions, its selectors in policies, and its configs in identities',
  async (t) => {
    await using api = await ApiClient.start();
    const router = await api.create('/edge-routers', { name: 'router' });
    const service = await api.create('/services', { name: 'service', encryptionRequired: true });
    const configTypeId = await api.create('/config-types', { name: 'type' });
    const configId = await api.create('/configs', { name: 'config', configTypeId, data: {} });
    await api.openPolicies();
    const hosting = { serviceHostingCosts: { [service]: 5 }, serviceHostingPrecedences: { [service]: 'failed' } };
    const id = await api.person('user', hosting);
    const token = await api.login('user');
    await api.change('POST', `/identities/${id}/service-configs`, [{ serviceId: service, configId }]);
    await api.create('/terminators', { service, router, binding: 'edge', address: 'a' });
    const session = await api.create('/sessions', { serviceId: service, type: 'Dial' }, token);
    const serviceRoles = [`@${service}`];
    const body = { name: 'own', semantic: 'AnyOf', serviceRoles };
    const policy = await api.create('/service-policies', { ...body, type: 'Dial' });
    const routers = await api.create('/service-edge-router-policies', body);

    await api.change('DELETE', `/services/${service}`);
    t.match(await counts(api), { services: 0, terminators: 0, sessions: 0, configs: 1 });
    t.equal((await api.ask('GET', `/sessions/${session}`, { token })).status, 404);
    t.match(await api.get(`/service-policies/${policy}`), { serviceRoles: null, serviceRolesDisplay: [] });
    t.match(await api.get(`/service-edge-router-policies/${routers}`), { serviceRoles: null });
    t.match(await api.get(`/identities/${id}`), hosting, 'costs and precedences remain, as in the reference');
    t.same(await api.get(`/identities/${id}/service-configs`), []);
    await t.resolves(api.change('DELETE', `/configs/${configId}`), 'no override refers to it any longer');
  },
);

t.test(
  'an identity with attributes and a cost for a deleted service is not deleted, and the error says why',
  async (t) => {
    for (const key of ['serviceHostingCosts', 'serviceHostingPrecedences']) {
      await using api = await ApiClient.start();
      const service = await api.create('/services', { name: 'service', encryptionRequired: true });
      const values = { [service]: key === 'serviceHostingCosts' ? 5 : 'failed' };
      const id = await api.person('user', { roleAttributes: ['red'], [key]: values });
      const plain = await api.person('plain', { [key]: values });
      const token = await api.login('user');
      await api.change('DELETE', `/services/${service}`);

      const answer = await api.manage('DELETE', `/identities/${id}`);
      t.match(answer, { status: 404, code: 'NOT_FOUND' });
      t.match(
        answer.cause?.message,
        new RegExp(`^${key} of the identity user .* names the deleted service ${service}; .*`),
      );
      t.equal((await api.ask('GET', '/current-identity', { token })).status, 200, 'nothing was deleted');
      await t.resolves(api.change('DELETE', `/identities/${plain}`), 'without role attributes it can be deleted');

      await api.change('PATCH', `/identities/${id}`, { [key]: {} });
      await t.resolves(api.change('DELETE', `/identities/${id}`));
      t.equal((await api.ask('GET', '/current-identity', { token })).status, 401);
    }
  },
);

t.test('deleting a router deletes terminators, enrollment, the identity of its tunneler and its policy', async (t) => {
  for (const path of ['/edge-routers', '/routers', '/fabric/v1/routers']) {
    await using api = await ApiClient.start();
    const before = await counts(api);
    const router = await api.create('/edge-routers', { name: 'tunneler', isTunnelerEnabled: true });
    const service = await api.create('/services', { name: 'service', encryptionRequired: true });
    await api.create('/terminators', { service, router, binding: 'edge', address: 'a' });
    const policy = await api.create('/edge-router-policies', {
      name: 'own',
      semantic: 'AnyOf',
      edgeRouterRoles: [`@${router}`],
      identityRoles: [`@${router}`],
    });
    t.match(await counts(api), { identities: 2, routers: 1, terminators: 1, enrollments: 1, edgeRouterPolicies: 2 });
    await api.change('DELETE', `${path}/${router}`);
    t.same(await counts(api), { ...before, services: 1, edgeRouterPolicies: 1, revocations: 1 }, path);
    t.match(await api.get(`/edge-router-policies/${policy}`), { edgeRouterRoles: null, identityRoles: null });
  }
});

t.test('deleting a router keeps a policy of another user with the same id', async (t) => {
  await using api = await ApiClient.start();
  const fields = { name: 'mine', semantic: 'AnyOf', edgeRouterRoles: ['#all'], identityRoles: ['#all'] };
  const policy = await api.create('/edge-router-policies', fields);
  await api.change('POST', '/fabric/v1/routers', {
    name: 'twin',
    id: policy,
    cost: 0,
    noTraversal: false,
    disabled: false,
  });
  await api.change('DELETE', `/fabric/v1/routers/${policy}`);
  t.match(await api.get(`/edge-router-policies/${policy}`), { name: 'mine' });
});

t.test('the identity and the policy of a tunneler follow the router, and cannot be changed directly', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/edge-routers', { name: 'first' });
  const router = `/edge-routers/${id}`;
  t.equal((await api.manage('GET', `/identities/${id}`)).status, 404);
  await api.change('PATCH', router, { isTunnelerEnabled: true });
  await api.change('PATCH', router, { name: 'second' });
  t.match(await api.get(`/identities/${id}`), { name: 'second', typeId: 'Router' });
  t.match(await api.get(`/edge-router-policies/${id}`), {
    name: `edge-router-${id}-system`,
    isSystem: true,
    semantic: 'AnyOf',
    edgeRouterRoles: [`@${id}`],
    identityRoles: [`@${id}`],
  });
  t.same(await api.names('/edge-router-policies?filter=isSystem'), [`edge-router-${id}-system`]);
  const policy = `/edge-router-policies/${id}`;
  const table: [string, string, object | undefined, number, string][] = [
    ['PATCH', policy, { name: 'x' }, 400, 'ENTITY_CAN_NOT_BE_UPDATED'],
    ['PUT', policy, { name: 'x', semantic: 'AllOf' }, 400, 'ENTITY_CAN_NOT_BE_UPDATED'],
    ['DELETE', policy, undefined, 400, 'ENTITY_CAN_NOT_BE_DELETED'],
    ['DELETE', `/identities/${id}`, undefined, 400, 'ENTITY_CAN_NOT_BE_DELETED'],
    ['PATCH', `/identities/${id}`, { name: 'x' }, 400, 'COULD_NOT_VALIDATE'],
    [
      'POST',
      '/authenticators',
      { identityId: id, method: 'updb', username: 'x', password: 'y' },
      400,
      'COULD_NOT_VALIDATE',
    ],
    ['PATCH', `/routers/${id}`, { name: 'x' }, 409, 'CAN_NOT_UPDATE_ROUTER'],
    ['PUT', `/transit-routers/${id}`, { name: 'x' }, 409, 'CAN_NOT_UPDATE_ROUTER'],
  ];
  for (const [method, path, body, status, code] of table)
    t.match(await api.manage(method, path, body), { status, code }, `${method} ${path}`);
  await api.change('PATCH', router, { isTunnelerEnabled: false });
  t.match(await counts(api), { identities: 1, edgeRouterPolicies: 0, routers: 1 });
});

t.test('referenced entities cannot be deleted; the error names the references', async (t) => {
  await using api = await ApiClient.start();
  const configType = await api.create('/config-types', { name: 'type' });
  const config = await api.create('/configs', { name: 'config', configTypeId: configType, data: {} });
  const service = await api.create('/services', { name: 'service', encryptionRequired: true, configs: [config] });
  const identity = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false });
  await api.change('POST', `/identities/${identity}/service-configs`, [{ serviceId: service, configId: config }]);
  const authPolicy = await api.create('/auth-policies', { name: 'policy', ...LOGINS });
  const signer = await api.create('/external-jwt-signers', {
    name: 'signer',
    issuer: 'i',
    audience: 'a',
    enabled: true,
    jwksEndpoint: 'https://i/keys',
    enrollAuthPolicyId: authPolicy,
  });
  const allows = await api.create('/auth-policies', {
    name: 'allows',
    ...LOGINS,
    primary: { ...LOGINS.primary, extJwt: { allowed: true, allowedSigners: [signer] } },
  });
  const rejected = async (path: string, field: string, needed: string) =>
    t.match(
      await api.manage('DELETE', path),
      { status: 409, code: 'CAN_NOT_DELETE_REFERENCED_ENTITY', cause: { field, value: `[${needed}]` } },
      path,
    );
  await rejected(`/config-types/${configType}`, 'configs', config);
  await rejected(`/configs/${config}`, 'serviceConfigs', identity);
  await rejected(`/auth-policies/${authPolicy}`, 'enrollAuthPolicyId', signer);
  await rejected(`/external-jwt-signers/${signer}`, 'primary.extJwt.allowedSigners', allows);
  await api.change('PATCH', `/identities/${identity}`, { authPolicyId: authPolicy });
  // Named before identities, as in the reference.
  await rejected(`/auth-policies/${authPolicy}`, 'enrollAuthPolicyId', signer);
  await api.change('PATCH', `/identities/${identity}`, { authPolicyId: allows });
  await rejected(`/auth-policies/${allows}`, 'authPolicyId', identity);
  t.match(await api.manage('DELETE', '/auth-policies/default'), { status: 409, cause: { field: 'authPolicyId' } });

  await api.change('DELETE', `/identities/${identity}/service-configs`, []);
  await api.change('DELETE', `/configs/${config}`);
  t.match(await api.get(`/services/${service}`), { configs: null }, 'services do not require a config');
  await api.change('PATCH', `/identities/${identity}`, { authPolicyId: 'default' });
  for (const path of [`config-types/${configType}`, `auth-policies/${allows}`, `external-jwt-signers/${signer}`])
    await api.change('DELETE', `/${path}`);
  await api.change('DELETE', `/auth-policies/${authPolicy}`);
});

t.test('the default administrator cannot be deleted, and remains an administrator', async (t) => {
  await using api = await ApiClient.start();
  const [admin] = await api.get<Named[]>('/identities?filter=isDefaultAdmin');
  t.match(await api.manage('DELETE', `/identities/${admin?.id}`), { status: 400, code: 'ENTITY_CAN_NOT_BE_DELETED' });
  await api.change('PATCH', `/identities/${admin?.id}`, { isAdmin: false });
  t.match(await api.get(`/identities/${admin?.id}`), { isAdmin: false, isDefaultAdmin: true });
  await t.resolves(api.create('/services', { name: 'still allowed', encryptionRequired: true }));
});

t.test(
  'deleting a posture check deletes its selectors in policies, deleting an authority its enrollments',
  async (t) => {
    await using api = await ApiClient.start();
    const check = await api.create('/posture-checks', { name: 'check', typeId: 'DOMAIN', domains: ['a'] });
    const policy = await api.create('/service-policies', {
      name: 'policy',
      type: 'Dial',
      semantic: 'AnyOf',
      postureCheckRoles: [`@${check}`, '#more'],
    });
    await api.change('DELETE', `/posture-checks/${check}`);
    t.match(await api.get(`/service-policies/${policy}`), {
      postureCheckRoles: ['#more'],
      postureCheckRolesDisplay: [{ role: '#more', name: '#more' }],
    });
    const caId = await api.addAuthority('ca', await makeAuthority('ca'), {}, false);
    const identityId = await api.create('/identities', { name: 'x', type: 'User', isAdmin: false });
    await api.create('/enrollments', { identityId, method: 'ottca', caId, expiresAt: FUTURE });
    await api.change('DELETE', `/cas/${caId}`);
    t.match(await counts(api), { cas: 0, enrollments: 0, identities: 2 });
  },
);

t.test('selectors select by attribute and by id, AllOf or AnyOf', async (t) => {
  await using api = await ApiClient.start();
  const person = (name: string, ...roleAttributes: string[]) =>
    api.create('/identities', { name, type: 'User', isAdmin: false, roleAttributes });
  await person('a', 'x');
  await person('b', 'y');
  await person('ab', 'x', 'y');
  const none = await person('none');
  const table: [semantic: 'AllOf' | 'AnyOf', roles: string[], chosen: string[]][] = [
    ['AnyOf', ['#x'], ['a', 'ab']],
    ['AnyOf', ['#x', '#y'], ['a', 'ab', 'b']],
    ['AllOf', ['#x', '#y'], ['ab']],
    ['AllOf', ['#x', '#y', `@${none}`], ['ab', 'none']],
    ['AnyOf', [`@${none}`], ['none']],
    ['AllOf', ['#all'], ['Default Admin', 'a', 'ab', 'b', 'none']],
    ['AllOf', ['#x', '#unknown'], []],
    ['AnyOf', [], []],
  ];
  const id = await api.create('/service-policies', { name: 'p', type: 'Dial', semantic: 'AnyOf' });
  for (const [semantic, identityRoles, chosen] of table) {
    await api.change('PUT', `/service-policies/${id}`, { name: 'p', type: 'Dial', semantic, identityRoles });
    t.same(
      (await api.names(`/service-policies/${id}/identities`)).sort(),
      chosen.sort(),
      `${semantic} ${identityRoles}`,
    );
    const filtered = identityRoles.map((role) => `roleFilter=${encodeURIComponent(role)}&`).join('');
    if (filtered !== '' && !identityRoles.includes('#all'))
      t.same(
        (await api.names(`/identities?${filtered}roleSemantic=${semantic}`)).sort(),
        chosen,
        `filtered by ${identityRoles}`,
      );
  }
  t.match(await api.get(`/service-policies/${id}`), { identityRoles: null, identityRolesDisplay: [] });
  await api.change('PATCH', `/service-policies/${id}`, { semantic: 'AllOf', identityRoles: ['#x', '#y'] });
  const [both] = await api.get<Named[]>(`/service-policies/${id}/identities`);
  await api.change('PATCH', `/identities/${both?.id}`, { roleAttributes: ['x'] });
  t.same(
    await api.names(`/service-policies/${id}/identities`),
    [],
    'an identity that loses an attribute leaves the policy',
  );
  await api.change('DELETE', `/identities/${none}`);
});

t.test('the edge APIs ignore a service that is limited to the fabric', async (t) => {
  await using api = await ApiClient.start();
  const { id: configTypeId } = await api.get('/config-types/host.v2');
  const config = { name: 'c', configTypeId, data: { terminators: [{ protocol: 'tcp', address: 'x', port: 1 }] } };
  const configId = await api.create('/configs', config);
  // The fabric API does not have these fields.
  const more = { roleAttributes: ['x'], configs: [configId], encryptionRequired: true };
  const id = await api.create('/fabric/v1/services', { name: 'fabric', ...more });
  await api.change('PUT', `/fabric/v1/services/${id}`, { name: 'fabric', ...more });
  t.same(await api.get('/service-role-attributes'), []);
  t.same(await api.get(`/configs/${configId}/services`), []);
  t.equal((await api.manage('GET', `/services/${id}`)).status, 404);
  t.same(await api.names('/services'), []);
  t.same(await api.names('/fabric/v1/services'), ['fabric']);
  const policy = { name: 'p', type: 'Dial', semantic: 'AnyOf', serviceRoles: [`@${id}`] };
  t.match(await api.manage('POST', '/service-policies', policy), { status: 400, cause: { field: 'serviceRoles' } });
});

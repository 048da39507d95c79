// Rules of services, their configs and terminators, and of the routers below them.

import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { known } from '../support/kinds/kind.ts';

t.test('only the fabric API sets the certificate of a transit router', async (t) => {
  await using api = await ApiClient.start();
  const fingerprint = 'aa'.repeat(20);
  const id = await api.create('/routers', { name: 'carrier', fingerprint });
  const unverified = { fingerprint: null, isVerified: false, enrollmentToken: String };
  t.match(await api.get(`/routers/${id}`), unverified, 'the management API has no such field');
  await api.change('PATCH', `/routers/${id}`, { cost: 5, fingerprint });
  await api.change('PUT', `/transit-routers/${id}`, { name: 'carrier', fingerprint });
  t.match(await api.get(`/routers/${id}`), unverified);
  await api.change('PATCH', `/fabric/v1/routers/${id}`, { fingerprint });
  t.match(await api.get(`/routers/${id}`), { fingerprint, isVerified: true });
});

t.test('the edge APIs ignore a transit router', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/routers', { name: 'carrier' });
  const missing = { status: 404, code: 'NOT_FOUND', cause: { message: `router with id ${id} not found` } };
  t.match(await api.manage('GET', `/edge-routers/${id}`), missing);
  t.match(await api.manage('PUT', `/edge-routers/${id}`, { name: 'x' }), missing);
  t.match(await api.manage('POST', `/edge-routers/${id}/re-enroll`), missing);
  t.match(await api.manage('DELETE', `/edge-routers/${id}`), missing);
  t.same(await api.names('/edge-routers'), []);
  t.same(await api.names('/routers'), ['carrier']);
});

t.test('config data is validated when it changes, but not when its schema changes', async (t) => {
  await using api = await ApiClient.start();
  const { configType, config } = await known(api);
  const at = `/configs/${config}`;
  const wrong = {
    status: 400,
    code: 'COULD_NOT_VALIDATE',
    cause: { field: 'port', reason: /Expected: integer, given: string/ },
  };
  t.match(await api.manage('PATCH', at, { data: { port: 'x' } }), wrong);
  t.match(await api.manage('PUT', at, { name: 'known', data: { port: 'x' } }), wrong);
  await api.change('PATCH', `/config-types/${configType}`, { schema: { type: 'object', required: ['host'] } });
  t.match(await api.get(at), { data: { port: 1 } });
  t.match(await api.manage('PATCH', at, { data: { port: 1 } }), {
    status: 400,
    cause: { field: '(root)', reason: /host is required/ },
  });
  await api.change('PATCH', at, { data: { host: 'h' } });
  t.match(await api.get(at), { data: { host: 'h' } });
});

t.test('lists below an unknown entity are empty, or rejected where the specification demands it', async (t) => {
  await using api = await ApiClient.start();
  for (const path of ['/services/none/configs', '/services/none/terminators', '/service-policies/none/identities'])
    t.same(await api.get(path), [], path);
  for (const path of ['/identities/none/services', '/edge-router-policies/none/identities'])
    t.match(await api.manage('GET', path), { status: 404, code: 'NOT_FOUND' }, path);
  t.match(await api.manage('GET', '/services/none/configs?filter=frob'), { status: 400, code: 'INVALID_FILTER' });
});

/** An entity of each kind with this name, related to each other and to no other. Returns their ids by path. */
async function related(api: ApiClient, name: string): Promise<Readonly<Record<string, string>>> {
  const roleAttributes = [name];
  const roles = [`#${name}`];
  const ids: Record<string, string> = {};
  const add = async (path: string, fields: object) => {
    ids[path] = await api.create(`/${path}`, { name, ...fields });
  };
  await add('identities', { type: 'User', isAdmin: false, roleAttributes });
  await add('edge-routers', { roleAttributes });
  await add('config-types', {});
  await add('configs', { configTypeId: ids['config-types'], data: {} });
  await add('services', { encryptionRequired: true, roleAttributes, configs: [ids.configs] });
  await add('posture-checks', { typeId: 'DOMAIN', domains: [`${name}.example`], roleAttributes });
  const place = { service: ids.services, router: ids['edge-routers'], binding: 'transport' };
  await api.create('/terminators', { ...place, address: `tcp:${name}:1` });
  const policy = { semantic: 'AnyOf', identityRoles: roles, serviceRoles: roles, edgeRouterRoles: roles };
  const { identityRoles, serviceRoles, edgeRouterRoles, semantic } = policy;
  await add('service-policies', { type: 'Dial', semantic, identityRoles, serviceRoles, postureCheckRoles: roles });
  await add('edge-router-policies', { semantic, identityRoles, edgeRouterRoles });
  await add('service-edge-router-policies', { semantic, serviceRoles, edgeRouterRoles });
  return ids;
}

t.test('the lists below an entity have what is related to it, and nothing else', async (t) => {
  await using api = await ApiClient.start();
  const lists: Readonly<Record<string, string>> = {
    identities: 'edge-router-policies service-policies edge-routers services',
    services: 'configs identities edge-routers service-policies service-edge-router-policies',
    'edge-routers': 'edge-router-policies service-edge-router-policies identities services',
    'service-policies': 'identities services posture-checks',
    'edge-router-policies': 'identities edge-routers',
    'service-edge-router-policies': 'services edge-routers',
    'config-types': 'configs',
    configs: 'services',
  };
  for (const name of ['one', 'two']) {
    const ids = await related(api, name);
    for (const [path, below] of Object.entries(lists))
      for (const list of below.split(' '))
        t.same(await api.names(`/${path}/${ids[path]}/${list}`), [name], `${path} ${list}`);
    const terminators = await api.get<{ address: string }[]>(`/services/${ids.services}/terminators`);
    t.same(
      terminators.map(({ address }) => address),
      [`tcp:${name}:1`],
    );
    for (const path of [`/identities/${ids.identities}/services`, `/services/${ids.services}/identities`]) {
      t.same(await api.names(`${path}?policyType=dial`), [name]);
      t.same(await api.names(`${path}?policyType=Bind`), []);
      t.match(await api.manage('GET', `${path}?policyType=x`), { status: 400, cause: { field: 'policyType' } });
    }
  }
});

t.test('a patch may contain immutable fields; a terminator can only move to another router', async (t) => {
  await using api = await ApiClient.start();
  const ids = await known(api);
  const config = await api.get(`/configs/${ids.config}`);
  await api.change('PATCH', `/configs/${ids.config}`, { configTypeId: 'host.v1' });
  t.match(await api.get(`/configs/${ids.config}`), { configTypeId: config.configTypeId, data: config.data });
  const service = await api.create('/services', { name: 'other', encryptionRequired: true });
  const router = await api.create('/edge-routers', { name: 'other' });
  const terminator = { service: ids.service, router: ids.edgeRouter, binding: 'edge', address: 'a' };
  const at = `/terminators/${await api.create('/terminators', terminator)}`;
  await api.change('PATCH', at, { service, router, identity: 'x' });
  t.match(await api.get(at), { serviceId: ids.service, routerId: router, identity: '' });
  const none = { ...terminator, service: '' };
  t.match(await api.manage('POST', '/terminators', none), { status: 400, cause: { field: 'service' } });
});

t.test('an empty binding of a new terminator follows from its address; an existing one cannot get one', async (t) => {
  await using api = await ApiClient.start();
  const { service, edgeRouter: router } = await known(api);
  for (const [address, binding] of [
    ['tcp:h:1', 'transport'],
    ['udp:h:1', 'udp'],
  ]) {
    const body = { service, router, binding: '', address };
    const at = `/terminators/${await api.create('/terminators', body)}`;
    t.match(await api.get(at), { binding });
    await api.change('PATCH', at, { cost: 5 });
    const required = { status: 400, cause: { field: 'binding', reason: 'binding is required' } };
    t.match(await api.manage('PUT', at, body), required);
    t.match(await api.manage('PATCH', at, { binding: '' }), required);
    t.match(await api.get(at), { binding, cost: 5 });
  }
});

t.test('a config type has an object for its root; an empty schema is stored as null', async (t) => {
  await using api = await ApiClient.start();
  const make = (schema: object) => api.manage('POST', '/config-types', { name: JSON.stringify(schema), schema });
  for (const schema of [{ type: 'string' }, { properties: {} }, { $ref: '#/definitions/x', definitions: { x: {} } }])
    t.match(await make(schema), { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: 'schema' } });
  const { id } = (await make({})).data as { id: string };
  t.equal((await api.get(`/config-types/${id}`)).schema, null);
});

t.test('policies keep a router whose tunneler is disabled: the identity of the tunneler has the same id', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/edge-routers', { name: 'router', isTunnelerEnabled: true });
  const roles = { identityRoles: [`@${id}`], edgeRouterRoles: [`@${id}`] };
  const policy = await api.create('/edge-router-policies', { name: 'policy', semantic: 'AnyOf', ...roles });
  await api.change('PATCH', `/edge-routers/${id}`, { isTunnelerEnabled: false });
  t.match(await api.get(`/edge-router-policies/${policy}`), { identityRoles: null, edgeRouterRoles: [`@${id}`] });
  await api.change('DELETE', `/edge-routers/${id}`);
  t.match(await api.get(`/edge-router-policies/${policy}`), { identityRoles: null, edgeRouterRoles: null });
});

t.test('the form of all role lists is checked before the entities that they name', async (t) => {
  await using api = await ApiClient.start();
  const [unknown, malformed] = [['@unknown'], ['malformed']];
  const table: [kind: string, roles: object, field: string][] = [
    ['edge-router-policies', { edgeRouterRoles: unknown, identityRoles: unknown }, 'identityRoles'],
    ['edge-router-policies', { edgeRouterRoles: malformed, identityRoles: unknown }, 'edgeRouterRoles'],
    ['service-edge-router-policies', { edgeRouterRoles: malformed, serviceRoles: unknown }, 'edgeRouterRoles'],
    ['service-policies', { type: 'Dial', postureCheckRoles: malformed, identityRoles: unknown }, 'postureCheckRoles'],
  ];
  for (const [kind, roles, field] of table)
    t.match(await api.manage('POST', `/${kind}`, { name: 'policy', semantic: 'AnyOf', ...roles }), {
      status: 400,
      cause: { field },
    });
});

t.test('the data of configs is in lists of services that depend on the caller, and nowhere else', async (t) => {
  await using api = await ApiClient.start();
  await api.openPolicies();
  const configTypeId = await api.create('/config-types', { name: 'type', schema: { type: 'object' } });
  const config = await api.create('/configs', { name: 'config', configTypeId, data: { port: 1 } });
  const fields = { encryptionRequired: true, configs: [config], roleAttributes: ['x'] };
  const id = await api.create('/services', { ...fields, name: 'service' });
  const identity = await api.person('user');
  const token = await api.login('user');
  const configs = async (path: string) => {
    const found = await (path.startsWith('/edge/client') ? api.get(path, token) : api.get(path));
    return [found].flat().map((service: { config: unknown }) => service.config);
  };
  const wanted = { type: { port: 1 } };
  t.same(await configs('/services?configTypes=type'), [wanted]);
  t.same(await configs('/edge/client/v1/services?configTypes=type&roleFilter=%23x'), [wanted]);
  t.same(await configs('/services?configTypes=type&roleFilter=%23x'), [null]);
  t.same(await configs(`/services/${id}?configTypes=type`), [null]);
  t.same(await configs(`/identities/${identity}/services?configTypes=type`), [null]);
  t.same(await configs(`/configs/${config}/services?configTypes=type`), [null]);
});

t.test('faults of a service are reported in the order configs, name, terminator strategy', async (t) => {
  await using api = await ApiClient.start();
  const configTypeId = await api.create('/config-types', { name: 'type', target: 'router' });
  const config = await api.create('/configs', { name: 'config', configTypeId, data: {} });
  const create = (fields: object) => api.manage('POST', '/services', { name: '', encryptionRequired: true, ...fields });
  const terminatorStrategy = 'unknown';
  t.match(await create({ configs: [config], terminatorStrategy }), { status: 400, cause: { field: 'configs' } });
  t.match(await create({ terminatorStrategy }), { status: 400, cause: { field: 'name' } });
  t.match(await create({ name: 'x', terminatorStrategy }), { status: 404, cause: { message: /^terminatorStrategy/ } });
  const type = await api.create('/config-types', { name: 'of services', schema: { type: 'object', required: ['a'] } });
  const own = await api.create('/configs', { name: 'own', configTypeId: type, data: { a: 1 } });
  t.match(await create({ name: 'x', configs: [own, own] }), { status: 400, cause: { reason: /^duplicate configs/ } });
  t.match(await api.manage('POST', '/configs', { name: '', configTypeId: type, data: {} }), {
    status: 400,
    cause: { field: '(root)' },
  });
});

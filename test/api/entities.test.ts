// The life cycle of every kind of entity in the management and fabric APIs: create, read, patch, replace, reject,
// delete. cascades.test.ts tests cascades of deletions.

import t, { type Test } from 'tap';
import { createLog } from '#lib/log.ts';
import { type ApiAnswer, ApiClient, filtered } from '../support/api-client.ts';
import { makeAuthority } from '../support/certificates.ts';
import { allKinds } from '../support/kinds/all.ts';
import { type Fields, type Kind, known, type Rejection } from '../support/kinds/kind.ts';

/** Fields that every write changes. */
const MOVING = ['updatedAt', 'version'];

function without(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** A patch of an auth policy merges nested fields, other patches replace whole fields. */
function patched(detail: Fields, patch: Fields): Fields {
  const { primary, ...fields } = patch as { primary?: Record<string, Fields> };
  const parts = Object.entries(primary ?? {}).map(([name, part]) => [
    name,
    { ...(detail.primary as Record<string, Fields>)[name], ...part },
  ]);
  return { ...fields, ...(primary && { primary: { ...(detail.primary as Fields), ...Object.fromEntries(parts) } }) };
}

/** The fields or texts to which an error refers. */
function places({ cause }: ApiAnswer): string {
  return [cause?.field, cause?.reason, cause?.message].join(' ');
}

async function reject(
  t: Test,
  api: ApiClient,
  { path, create }: Kind,
  rejections: readonly Rejection[],
): Promise<void> {
  for (const [change, status, code, place = /./] of rejections) {
    const answer = await api.manage('POST', path, { ...create, ...change });
    t.match(
      { status: answer.status, code: answer.code, place: places(answer) },
      { status, code, place },
      JSON.stringify(change),
    );
  }
}

/** An entity of a kind that was created, as the API first answered it. */
interface Created {
  readonly id: string;
  readonly at: string;
  readonly first: Fields;
}

async function demandFields(t: Test, api: ApiClient, { path, create, required }: Kind): Promise<void> {
  for (const field of required) {
    const answer = await api.manage('POST', path, without(create, [field]));
    t.match(answer, { status: 400, cause: { field } }, `${field} is missing`);
  }
}

async function create(t: Test, api: ApiClient, { path, create, expected = {}, hidden = [] }: Kind): Promise<Created> {
  const made = await api.manage('POST', path, create);
  t.equal(made.status, 201, made.text);
  const { id, _links } = made.data as { id: string; _links: { self: { href: string } } };
  const at = `${path}/${id}`;
  t.ok(_links.self.href.endsWith(`/${id}`));
  const first = await api.get<Fields>(at);
  t.match(first, { id, ...without(create, [...hidden, ...Object.keys(expected)]), ...expected });
  for (const name of hidden) t.notOk(name in first, `${name} is hidden`);
  t.match(await api.get<Fields[]>(filtered(path, `id = "${id}"`)), [{ id }]);
  return { id, at, first };
}

async function rejectConflicts(t: Test, api: ApiClient, kind: Kind, { at, first }: Created): Promise<void> {
  await reject(t, api, kind, kind.conflicts ?? []);
  if (kind.duplicate) {
    const [field, reason] = kind.duplicate;
    const answer = await api.manage('POST', kind.path, kind.create);
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field, reason } });
  }
  t.same(await api.get(at), first, 'rejected requests change nothing');
}

async function patchFields(t: Test, api: ApiClient, patch: Fields, { at, first }: Created): Promise<void> {
  if (patch.typeId === undefined) {
    const nothing = await api.manage('PATCH', at, { name: null });
    t.match(nothing, { status: 400, code: 'UNHANDLED', cause: { message: 'no fields updated, nothing to do' } });
  }
  t.match(await api.manage('PATCH', at, patch), { status: 200, data: {} });
  const names = Object.keys(patch).flatMap((name) => [name, `${name}Display`]);
  const second = await api.get<Fields>(at);
  t.match(second, patched(first, patch));
  t.same(without(second, [...MOVING, ...names]), without(first, [...MOVING, ...names]), 'other fields stay');
}

async function replace(t: Test, api: ApiClient, kind: Kind, put: Fields, { id, at }: Created): Promise<void> {
  const { required, hidden = [], expected = {}, cleared = {} } = kind;
  for (const field of Object.keys(put).filter((name) => required.includes(name) && name !== 'encryptionRequired')) {
    const answer = await api.manage('PUT', at, without(put, [field]));
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field } }, `PUT without ${field}`);
  }
  t.match(await api.manage('PUT', at, put), { status: 200, data: {} });
  const set = without(put, [...hidden, ...Object.keys({ ...expected, ...cleared })]);
  t.match(await api.get(at), { id, ...set, ...cleared });
}

async function remove(t: Test, api: ApiClient, { patch, put }: Kind, { id, at }: Created): Promise<void> {
  t.match(await api.manage('DELETE', at), { status: 200, data: {} });
  const requests: [method: string, body?: Fields][] = [['GET'], ['DELETE']];
  if (put) requests.push(['PUT', put]);
  if (patch) requests.push(['PATCH', patch]);
  for (const [method, body] of requests) {
    const answer = await api.manage(method, at, body);
    t.match(answer, { status: 404, code: 'NOT_FOUND', cause: { message: `with id ${id} not found` } }, method);
  }
}

t.test('the life of each kind of entity', async (t) => {
  await using api = await ApiClient.start();
  for (const kind of allKinds(await known(api))) {
    await t.test(`${kind.path} ${String(kind.create.typeId ?? '')}`.trim(), async (t) => {
      await demandFields(t, api, kind);
      await reject(t, api, kind, kind.rejections ?? []);
      const created = await create(t, api, kind);
      await rejectConflicts(t, api, kind, created);
      if (kind.patch) await patchFields(t, api, kind.patch, created);
      if (kind.put) await replace(t, api, kind, kind.put, created);
      await remove(t, api, kind, created);
    });
  }
});

t.test('excessive numbers and endless schemas are rejected without side effects', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false });
  const huge = { status: 400, code: 'COULD_NOT_PARSE_BODY', cause: { message: /of type int64/ } };
  const mfa = { name: 'mfa', typeId: 'MFA', roleAttributes: ['mfa'] };
  t.match(await api.manage('POST', `/identities/${id}/disable`, { durationMinutes: 1e300 }), huge);
  t.match(await api.manage('POST', '/posture-checks', { ...mfa, timeoutSeconds: 1e300 }), huge);
  t.match(
    await api.manage('POST', '/services', { name: 's', encryptionRequired: true, maxIdleTimeMillis: -1e300 }),
    huge,
  );
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 9e15 });
  t.match(await api.get(`/identities/${id}`), { disabled: true, disabledUntil: '9999-12-31T23:59:59.999Z' });
  await api.create('/posture-checks', { ...mfa, timeoutSeconds: 9e18 });

  const endless = await api.create('/config-types', { name: 'endless', schema: { type: 'object', $ref: '#' } });
  const config = (configTypeId: string) => ({ name: 'c', configTypeId, data: { port: 1 } });
  t.match(await api.manage('POST', '/configs', config(endless)), { status: 400, cause: { field: '(root)' } });
  const later = await api.create('/config-types', {
    name: 'later',
    schema: { $async: true, type: 'object', required: ['x'] },
  });
  const slow = await api.create('/config-types', {
    name: 'slow',
    schema: { type: 'object', properties: { x: { pattern: '^(a+)+$' } } },
  });
  const long = { ...config(slow), data: { x: `${'a'.repeat(100)}!` } };
  const cut = { status: 400, cause: { field: '(root)', reason: /takes longer than/ } };
  t.match(await api.manage('POST', '/configs', long), cut, 'without a long wait');
  t.match(await api.manage('POST', '/configs', config(later)), { status: 400, cause: { reason: /x is required/ } });
});

t.test(
  'tags hold no lists or maps: they are dropped with a warning, or rejected where the reference fails',
  async (t) => {
    const lines: string[] = [];
    await using api = await ApiClient.start({ log: createLog({ level: 'warn', write: (line) => lines.push(line) }) });
    const tags = { list: ['x'], map: { a: 1 }, text: 'x', number: 1.5, flag: true, nothing: null };
    const stored = { text: 'x', number: 1.5, flag: true, nothing: null };
    const service = await api.create('/services', { name: 'service', encryptionRequired: true, tags });
    t.same((await api.get(`/services/${service}`)).tags, stored);
    t.match(lines.join(''), /"tag":"list","total":2,.*lists or maps are dropped/);
    await api.change('PATCH', `/services/${service}`, { tags: { map: {} } });
    t.same((await api.get(`/services/${service}`)).tags, {});
    await api.change('PUT', `/services/${service}`, { name: 'service', tags });
    t.same((await api.get(`/services/${service}`)).tags, stored);

    const appData = { a: { deep: [1] } };
    const id = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false, appData });
    t.same((await api.get(`/identities/${id}`)).appData, appData, 'app data of identities may be nested');
    const rejected = { status: 400, code: 'UNHANDLED', cause: { message: /^appData cannot hold lists or maps: a;/ } };
    t.match(await api.manage('POST', '/edge-routers', { name: 'router', appData }), rejected);
    const router = await api.create('/edge-routers', { name: 'router', appData: stored });
    t.match(await api.manage('PATCH', `/edge-routers/${router}`, { appData }), rejected);
    t.same((await api.get(`/edge-routers/${router}`)).appData, stored);
    await api.openPolicies();
    const session = { serviceId: service, type: 'Dial', tags };
    t.match(await api.ask('POST', '/sessions', { token: api.token, body: session }), {
      status: 400,
      code: 'UNHANDLED',
    });
  },
);

t.test('a body of another type changes name and attributes of a posture check, but not its demands', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/posture-checks', { name: 'domain', typeId: 'DOMAIN', domains: ['corp'] });
  const other = { name: 'new', typeId: 'MAC', macAddresses: ['aa'], roleAttributes: ['a'] };
  await api.change('PUT', `/posture-checks/${id}`, other);
  t.match(await api.get(`/posture-checks/${id}`), {
    name: 'new',
    typeId: 'DOMAIN',
    domains: ['corp'],
    roleAttributes: ['a'],
  });
});

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

t.test('an error contains the rejected value as text, and anonymous callers get a cause', async (t) => {
  await using api = await ApiClient.start();
  const schema = { type: 'object', properties: { port: { type: 'integer', maximum: 9 } }, additionalProperties: false };
  const configTypeId = await api.create('/config-types', { name: 'type', schema });
  const config = (data: unknown) => api.manage('POST', '/configs', { name: 'config', configTypeId, data });
  const cases: readonly (readonly [ApiAnswer, string, string, string])[] = [
    [await config({ port: 12 }), 'port', 'port is invalid: port: Must be less than or equal to 9', '12'],
    [
      await config({ port: [{ b: 1, a: null }] }),
      'port',
      'port is invalid: port: Invalid type. Expected: integer, given: array',
      '[map[a:<nil> b:1]]',
    ],
    [await config(null), 'data', 'data in body is required', '<nil>'],
    [
      await api.manage('POST', '/routers', { name: 'router', cost: -1 }),
      'cost',
      'cost in body should be greater than or equal to 0',
      '-1',
    ],
  ];
  for (const [answer, field, reason, value] of cases)
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field, reason, value } }, value);
  t.match(await config(JSON.parse(`${'[['.repeat(5_000)}${']]'.repeat(5_000)}`)), { status: 400 });
  for (const username of ['known', 'other']) {
    const identityId = await api.create('/identities', { name: username, type: 'User', isAdmin: false });
    await api.create('/authenticators', { identityId, method: 'updb', username, password: 'secret' });
  }
  const [other] = await api.get<{ id: string }[]>('/authenticators?filter=updbUsername="other"');
  const message = "duplicate value 'known' in unique index on authenticators store";
  for (const method of ['PATCH', 'PUT'])
    t.match(
      await api.manage(method, `/authenticators/${other?.id}`, { username: 'known', password: 'secret' }),
      { status: 400, code: 'UNHANDLED', cause: { code: 'UNHANDLED', message } },
      method,
    );
  const nobody = await api.ask('GET', '/edge/management/v1/identities');
  t.match(nobody, { status: 401, cause: { code: 'UNHANDLED', message: 'unauthenticated for invalid credentials' } });
  t.notOk((await api.ask('GET', '/edge/management/v1/identities', { token: 'nonsense' })).cause);
});

t.test('every envelope contains the API versions', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/services', { name: 'service', encryptionRequired: true });
  for (const [method, path, body] of [
    ['GET', '/version'],
    ['GET', '/services'],
    ['GET', '/identities'],
    ['GET', '/fabric/v1/routers'],
    ['GET', '/edge/client/v1/current-identity'],
    ['POST', '/services', { name: 'other', encryptionRequired: true }],
    ['PATCH', `/services/${id}`, { name: 'changed' }],
    ['DELETE', `/services/${id}`],
    ['DELETE', `/services/${id}`],
  ] as const)
    t.match(
      (await api.manage(method, path, body)).meta,
      { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' },
      `${method} ${path}`,
    );
});

t.test('demands of a posture check are stored sorted and deduplicated', async (t) => {
  await using api = await ApiClient.start();
  const kept = async (typeId: string, demands: object) =>
    api.get(`/posture-checks/${await api.create('/posture-checks', { name: typeId, typeId, ...demands })}`);
  t.match(await kept('DOMAIN', { domains: ['b', 'a', 'b'] }), { domains: ['a', 'b'] });
  t.match(await kept('MAC', { macAddresses: ['BB:00', 'aa-00', 'bb00'] }), { macAddresses: ['aa00', 'bb00'] });
  const [windows, linux, older] = [
    { type: 'Windows', versions: ['>=11.0.0'] },
    { type: 'Linux', versions: [] },
    { type: 'windows', versions: ['>=10.0.0'] },
  ];
  t.match(await kept('OS', { operatingSystems: [windows, linux, older] }), {
    operatingSystems: [
      { ...linux, versions: null },
      { ...older, type: 'Windows' },
    ],
  });
  // The reference's command line writes them so.
  t.match(await kept('OS', { name: 'capitals', OperatingSystems: [{ Type: 'Windows', Versions: ['>=10.0.0'] }] }), {
    operatingSystems: [older].map(({ versions }) => ({ type: 'Windows', versions })),
  });
});

t.test('an auth policy raises limits that are too low, and removes the signer for an empty one', async (t) => {
  await using api = await ApiClient.start();
  const signer = await api.create('/external-jwt-signers', {
    ...{ name: 'idp', issuer: 'https://idp.example', audience: 'edge', enabled: true },
    jwksEndpoint: 'https://idp.example/keys',
  });
  const id = await api.authPolicy('low', {
    updb: { minPasswordLength: 1, maxAttempts: -1, lockoutDurationMinutes: -1 },
    secondary: { requireExtJwtSigner: signer },
  });
  const path = `/auth-policies/${id}`;
  const { primary, secondary } = await api.get(path);
  t.match(primary.updb, { minPasswordLength: 5, maxAttempts: 0, lockoutDurationMinutes: 0 });
  t.equal(secondary.requireExtJwtSigner, signer);
  await api.change('PATCH', path, { secondary: { requireExtJwtSigner: '' } });
  t.equal((await api.get(path)).secondary.requireExtJwtSigner ?? null, null);
  await api.change('DELETE', `/external-jwt-signers/${signer}`);
});

t.test('keys are never fetched from metadata addresses', async (t) => {
  await using api = await ApiClient.start();
  const signer = (jwksEndpoint: string) =>
    api.manage('POST', '/external-jwt-signers', {
      ...{ name: jwksEndpoint, issuer: jwksEndpoint, audience: 'edge', enabled: true, jwksEndpoint },
    });
  for (const endpoint of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://0xa9fea9fe/',
    'http://[fd00:ec2::254]/',
    'http://0.0.0.0/',
    'file:///etc/passwd',
  ])
    t.match(await signer(endpoint), { status: 400, code: 'INVALID_FIELD' }, endpoint);
  t.equal((await signer('https://idp.example/keys')).status, 201);
});

t.test('a patch merges the claim of an authority, and removes it if the claim is missing', async (t) => {
  await using api = await ApiClient.start();
  const claim = {
    location: 'COMMON_NAME',
    matcher: 'PREFIX',
    matcherCriteria: 'acme:',
    parser: 'NONE',
    parserCriteria: '',
    index: 0,
  };
  const id = await api.addAuthority('ca', await makeAuthority('ca'), { externalIdClaim: claim }, false);
  const path = `/cas/${id}`;
  const patch = (externalIdClaim?: object) => api.manage('PATCH', path, { isAuthEnabled: true, externalIdClaim });
  for (const matcher of ['SCHEME', 'PREFIX'])
    t.match(await patch({ location: matcher === 'SCHEME' ? 'COMMON_NAME' : 'SAN_URI', matcher }), { status: 400 });
  await patch({});
  t.match((await api.get(path)).externalIdClaim, claim, 'an empty one changes nothing');
  await patch({ matcherCriteria: 'widget:' });
  t.match((await api.get(path)).externalIdClaim, { ...claim, matcherCriteria: 'widget:' });
  await patch();
  t.equal((await api.get(path)).externalIdClaim, undefined);
  await api.change('PATCH', path, { identityRoles: ['b', 'a', 'b'] });
  t.same((await api.get(path)).identityRoles, ['a', 'b'], 'sorted and deduplicated');
});

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
  t.ok((await later(api.create('/services', web))) > session.createdAt);
});

t.test('adding an address never removes the certificate of a signer, and vice versa', async (t) => {
  await using api = await ApiClient.start();
  const common = { issuer: 'https://idp.example', audience: 'edge', enabled: true };
  const certPem = (await makeAuthority('idp')).certificate.toString('pem');
  const path = `/external-jwt-signers/${await api.create('/external-jwt-signers', { ...common, name: 'idp', certPem })}`;
  const jwksEndpoint = 'https://idp.example/keys';
  const both = { status: 400, code: 'INVALID_FIELD', cause: { message: /only one of jwksEndpoint or certPem/ } };
  t.match(await api.manage('PATCH', path, { jwksEndpoint }), both);
  t.match(await api.manage('PATCH', path, { certPem: null }), { status: 400 });
  t.equal((await api.get(path)).certPem, certPem);
  t.equal((await api.manage('PATCH', path, { jwksEndpoint, certPem: null })).status, 200);
  t.match(await api.get(path), { jwksEndpoint, certPem: null });
  t.match(await api.manage('PATCH', path, { certPem }), both);
  t.equal((await api.manage('PATCH', path, { name: 'other' })).status, 200, 'missing fields are unchanged');
});

t.test('lists below an unknown entity are empty, or rejected where the specification demands it', async (t) => {
  await using api = await ApiClient.start();
  for (const path of ['/services/none/configs', '/services/none/terminators', '/service-policies/none/identities'])
    t.same(await api.get(path), [], path);
  for (const path of ['/identities/none/services', '/edge-router-policies/none/identities'])
    t.match(await api.manage('GET', path), { status: 404, code: 'NOT_FOUND' }, path);
  t.match(await api.manage('GET', '/services/none/configs?filter=frob'), { status: 400, code: 'INVALID_FILTER' });
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

t.test('an identity that is deleted or disabled leaves a revocation of its tokens', async (t) => {
  await using api = await ApiClient.start();
  const [gone, off] = [await api.person('gone'), await api.person('off')];
  await api.change('DELETE', `/identities/${gone}`);
  await api.change('POST', `/identities/${off}/disable`, { durationMinutes: 0 });
  for (const id of [gone, off]) t.match(await api.get(`/revocations/${id}`), { id, type: 'IDENTITY' });
});

t.test('a config type has an object for its root; an empty schema is stored as null', async (t) => {
  await using api = await ApiClient.start();
  const make = (schema: object) => api.manage('POST', '/config-types', { name: JSON.stringify(schema), schema });
  for (const schema of [{ type: 'string' }, { properties: {} }, { $ref: '#/definitions/x', definitions: { x: {} } }])
    t.match(await make(schema), { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: 'schema' } });
  const { id } = (await make({})).data as { id: string };
  t.equal((await api.get(`/config-types/${id}`)).schema, null);
});

t.test('some operations do not name what was not found', async (t) => {
  await using api = await ApiClient.start();
  const refresh = await api.manage('POST', '/enrollments/none/refresh', { expiresAt: '2040-01-01T00:00:00Z' });
  const revoke = await api.manage('POST', '/revocations', { id: 'none', type: 'IDENTITY' });
  for (const answer of [refresh, revoke, await api.manage('GET', '/cas/none/jwt')]) {
    t.match(answer, { status: 404, code: 'NOT_FOUND' });
    t.equal(answer.cause, undefined);
  }
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

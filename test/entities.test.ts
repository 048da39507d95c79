// The life of every kind of entity through the management and fabric APIs: made, shown, patched, replaced, refused, deleted. What goes with
// what when something is deleted stands in cascades.test.ts.

import t, { type Test } from 'tap';
import { type ApiAnswer, ApiClient, filtered } from './support/api-client.ts';
import { allKinds } from './support/kinds/all.ts';
import { type Fields, type Kind, known, type Refusal } from './support/kinds/kind.ts';

/** Change with every write. */
const MOVING = ['updatedAt', 'version'];

function without(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Of an auth policy the leaves that a patch gives are changed, of everything else the whole field. */
function patched(detail: Fields, patch: Fields): Fields {
  const { primary, ...fields } = patch as { primary?: Record<string, Fields> };
  const parts = Object.entries(primary ?? {}).map(([name, part]) => [
    name,
    { ...(detail.primary as Record<string, Fields>)[name], ...part },
  ]);
  return { ...fields, ...(primary && { primary: { ...(detail.primary as Fields), ...Object.fromEntries(parts) } }) };
}

/** Where a refusal says that something is wrong. */
function places({ cause }: ApiAnswer): string {
  return [cause?.field, cause?.reason, cause?.message].join(' ');
}

async function refuse(t: Test, api: ApiClient, { path, create }: Kind, refusals: readonly Refusal[]): Promise<void> {
  for (const [change, status, code, place = /./] of refusals) {
    const answer = await api.manage('POST', path, { ...create, ...change });
    t.match(
      { status: answer.status, code: answer.code, place: places(answer) },
      { status, code, place },
      JSON.stringify(change),
    );
  }
}

async function live(t: Test, api: ApiClient, kind: Kind): Promise<void> {
  const {
    path,
    create,
    shown = {},
    hidden = [],
    required,
    patch,
    put,
    cleared = {},
    refusals = [],
    conflicts = [],
    duplicate,
  } = kind;
  for (const field of required) {
    const answer = await api.manage('POST', path, without(create, [field]));
    t.equal(answer.status, 400, `${field} is missing`);
    t.equal(answer.cause?.field, field);
  }
  await refuse(t, api, kind, refusals);
  const made = await api.manage('POST', path, create);
  t.equal(made.status, 201, made.text);
  const { id, _links } = made.data as { id: string; _links: { self: { href: string } } };
  const at = `${path}/${id}`;
  t.ok(_links.self.href.endsWith(`/${id}`));
  const first = await api.get(at);
  t.match(first, { id, ...without(create, [...hidden, ...Object.keys(shown)]), ...shown });
  for (const name of hidden) t.notOk(name in first, `${name} is not shown`);
  t.match(await api.get<Fields[]>(filtered(path, `id = "${id}"`)), [{ id }]);

  await refuse(t, api, kind, conflicts);
  if (duplicate) {
    const answer = await api.manage('POST', path, create);
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: duplicate[0], reason: duplicate[1] } });
  }
  t.same(await api.get(at), first, 'nothing that was refused left a trace');

  if (patch) {
    const nothing = await api.manage('PATCH', at, patch.typeId === undefined ? {} : { typeId: patch.typeId });
    t.match(nothing, { status: 400, code: 'UNHANDLED', cause: { message: 'no fields updated, nothing to do' } });
    t.match(await api.manage('PATCH', at, patch), { status: 200, data: {} });
    const names = Object.keys(patch).flatMap((name) => [name, `${name}Display`]);
    const second = await api.get(at);
    t.match(second, patched(first, patch));
    t.same(without(second, [...MOVING, ...names]), without(first, [...MOVING, ...names]), 'the rest is as it was');
  }
  if (put) {
    for (const field of Object.keys(put).filter((name) => required.includes(name) && name !== 'encryptionRequired')) {
      const answer = await api.manage('PUT', at, without(put, [field]));
      t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field } }, `PUT without ${field}`);
    }
    t.match(await api.manage('PUT', at, put), { status: 200, data: {} });
    t.match(await api.get(at), {
      id,
      ...without(put, [...hidden, ...Object.keys({ ...shown, ...cleared })]),
      ...cleared,
    });
  }
  t.match(await api.manage('DELETE', at), { status: 200, data: {} });
  for (const method of ['GET', ...(put ? ['PUT'] : []), ...(patch ? ['PATCH'] : []), 'DELETE']) {
    const answer = await api.manage(method, at, method === 'PUT' ? put : method === 'PATCH' ? patch : undefined);
    t.match(answer, { status: 404, code: 'NOT_FOUND', cause: { message: `with id ${id} not found` } }, method);
  }
}

t.test('every kind of entity is made, shown, changed, refused and deleted as the tables say', async (t) => {
  await using api = await ApiClient.start();
  for (const kind of allKinds(await known(api))) {
    await t.test(`${kind.path} ${String(kind.create.typeId ?? '')}`, (t) => live(t, api, kind));
  }
});

t.test('numbers that are too large and schemas without end are refused, and break nothing', async (t) => {
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

  const endless = await api.create('/config-types', { name: 'endless', schema: { $ref: '#' } });
  const config = (configTypeId: string) => ({ name: 'c', configTypeId, data: { port: 1 } });
  t.match(await api.manage('POST', '/configs', config(endless)), { status: 400, cause: { field: '(root)' } });
  const later = await api.create('/config-types', {
    name: 'later',
    schema: { $async: true, type: 'object', required: ['x'] },
  });
  const slow = await api.create('/config-types', {
    name: 'slow',
    schema: { properties: { x: { pattern: '^(a+)+$' } } },
  });
  const long = { ...config(slow), data: { x: `${'a'.repeat(100)}!` } };
  const cut = { status: 400, cause: { field: '(root)', reason: /takes longer than/ } };
  t.match(await api.manage('POST', '/configs', long), cut, 'and nobody waits for it');
  t.match(await api.manage('POST', '/configs', config(later)), { status: 400, cause: { reason: /x is required/ } });
});

t.test('a body of another type changes name and attributes of a posture check, and not what it demands', async (t) => {
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

t.test('a router that only carries circuits is none of the edge', async (t) => {
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

t.test('data of configs is checked when it changes, and not when its schema does', async (t) => {
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

t.test('a refusal names the value that it refuses as a text, and who shows nothing is told so', async (t) => {
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

t.test('every envelope names the versions of the APIs', async (t) => {
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

t.test('what a posture check demands is kept in order, each once', async (t) => {
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
    operatingSystems: [linux, { ...older, type: 'Windows' }],
  });
});

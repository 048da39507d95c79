// The answers of the management API to requests of any entity: versions, causes of errors, excessive values, unknown
// entities.

import t from 'tap';
import { type ApiAnswer, ApiClient } from '../support/clients/api-client.ts';

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
  const rejected = { status: 400, cause: { field: 'x', reason: /must match pattern/ } };
  t.match(await api.manage('POST', '/configs', long), rejected, 'without a long wait');
  t.match(await api.manage('POST', '/configs', config(later)), { status: 400, cause: { reason: /x is required/ } });
});

t.test('missing parts of a request are named as in the reference, before the entity is looked up', async (t) => {
  await using api = await ApiClient.start();
  const anonymous = { token: undefined };
  const table: [method: string, path: string, field: string, reason: string][] = [
    ['POST', '/current-identity/mfa/verify', 'mfaValidation', 'mfaValidation in body is required'],
    ['POST', '/current-identity/mfa/recovery-codes', 'mfaValidation', 'mfaValidation in body is required'],
    ['POST', '/authenticate/mfa', 'mfaAuth', 'mfaAuth in body is required'],
    ['POST', '/cas/unknown/verify', 'certificate', 'certificate in body is required'],
    ['PUT', '/fabric/v1/routers/unknown', 'cost', 'cost in body is required'],
    ['POST', '/fabric/v1/terminators', 'address', 'address in body is required'],
    ['POST', '/services', 'service', 'service in body is required'],
    ['POST', '/enrollments/unknown/refresh', 'refresh', 'refresh in body is required'],
  ];
  for (const [method, path, field, reason] of table)
    t.match(
      await api.manage(method, path, path.startsWith('/fabric') ? {} : undefined),
      { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field, reason } },
      path,
    );
  t.match(await api.ask('POST', '/enroll/token', { ...anonymous, body: {} }), {
    status: 400,
    cause: { field: 'Authorization', reason: 'Authorization in header is required' },
  });
  const request = { token: await api.login(api.simulator.username, api.simulator.password), body: null };
  t.match(await api.ask('POST', '/edge/management/v1/services', request), {
    status: 400,
    cause: { field: 'encryptionRequired', reason: 'encryptionRequired in body is required' },
  });
  const identityId = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false });
  t.match(await api.manage('POST', '/enrollments', { identityId, method: 'ott', expiresAt: '' }), {
    status: 400,
    code: 'INVALID_FIELD',
  });
  const cert = { identityId, method: 'cert', certPem: 'junk' };
  t.match(await api.manage('POST', '/authenticators', cert), {
    status: 400,
    code: 'COULD_NOT_PARSE_PEM_BLOCK',
    cause: { message: 'client pem must be exactly one certificate' },
  });
  const long = `/external-jwt-signers/${'a'.repeat(2_000)}`;
  t.match(await api.manage('PATCH', long, []), { status: 400, code: 'COULD_NOT_PARSE_BODY' });
  t.match(await api.manage('GET', long), {
    status: 404,
    cause: { message: /^externalJwtSigner with id a+ not found$/ },
  });
});

t.test('an empty precedence is the default one', async (t) => {
  await using api = await ApiClient.start();
  const fields = { type: 'User', isAdmin: false };
  const id = await api.create('/identities', { ...fields, name: 'user', defaultHostingPrecedence: '' });
  t.match(await api.get(`/identities/${id}`), { defaultHostingPrecedence: 'default' });
  await api.change('PATCH', `/identities/${id}`, { defaultHostingPrecedence: 'failed' });
  await api.change('PATCH', `/identities/${id}`, { defaultHostingPrecedence: '' });
  t.match(await api.get(`/identities/${id}`), { defaultHostingPrecedence: 'default' });
  t.match(await api.manage('PATCH', `/identities/${id}`, { defaultHostingPrecedence: 'best' }), {
    status: 400,
    cause: { reason: 'defaultHostingPrecedence in body should be one of [default required failed]' },
  });
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

t.test('some operations do not name what was not found', async (t) => {
  await using api = await ApiClient.start();
  const refresh = await api.manage('POST', '/enrollments/none/refresh', { expiresAt: '2040-01-01T00:00:00Z' });
  const revoke = await api.manage('POST', '/revocations', { id: 'none', type: 'IDENTITY' });
  for (const answer of [refresh, revoke, await api.manage('GET', '/cas/none/jwt')]) {
    t.match(answer, { status: 404, code: 'NOT_FOUND' });
    t.equal(answer.cause, undefined);
  }
});

t.test('operations that controllers do not implement are named in their answer', async (t) => {
  await using api = await ApiClient.start();
  for (const [method, path, name] of [
    ['GET', '/controller-settings', 'ListControllerSettings'],
    ['GET', '/controller-settings/x/effective', 'DetailControllerSettingEffective'],
  ] as const) {
    const { status, text } = await api.manage(method, path);
    t.same([status, JSON.parse(text)], [501, `operation settings.${name} has not yet been implemented`]);
  }
});

t.test('data after the JSON of a body is ignored, except in a PATCH', async (t) => {
  await using api = await ApiClient.start();
  const token = await api.login(api.simulator.username, api.simulator.password);
  const send = (method: string, path: string, body: string) =>
    api.ask(method, `/edge/management/v1/config-types${path}`, { token, body, type: 'application/json' });
  const created = await send('POST', '', '{"name":"first"} {"name":"second"}');
  t.match(created, { status: 201 });
  t.match(await send('PUT', `/${created.data.id}`, '{"name":"changed"}]'), { status: 200 });
  t.match(await api.get(`/config-types/${created.data.id}`), { name: 'changed' });
  const unreadable = { status: 400, code: 'COULD_NOT_PARSE_BODY' };
  t.match(await send('PATCH', `/${created.data.id}`, '{"name":"third"} rest'), unreadable);
  for (const body of ['{"name":"x",} rest', '{"name":', 'rest', '{"name":"x" "y"}', '1 rest', '[] rest'])
    t.match(await send('POST', '', body), unreadable, body);
});

t.test('a null in a list of texts is an empty text', async (t) => {
  await using api = await ApiClient.start();
  const policy = { name: 'policy', semantic: 'AnyOf', identityRoles: ['#x', null] };
  t.match(await api.manage('POST', '/edge-router-policies', policy), {
    status: 400,
    cause: { field: 'identityRoles', reason: /^role entries must prefixed/ },
  });
  t.match(await api.manage('POST', '/services', { name: 's', encryptionRequired: true, configs: [null] }), {
    status: 404,
    cause: { message: 'configs with id  not found' },
  });
});

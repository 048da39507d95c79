// Rules of the entities that decide who may log in and dial: authorities, token signers, auth policies, posture checks.

import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';

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

t.test('demands of a posture check are stored sorted and deduplicated', async (t) => {
  await using api = await ApiClient.start();
  const kept = async (typeId: string, demands: object) =>
    api.get(`/posture-checks/${await api.create('/posture-checks', { name: typeId, typeId, ...demands })}`);
  t.match(await kept('DOMAIN', { domains: ['b', 'a', 'b'] }), { domains: ['a', 'b'] });
  t.match(await kept('MAC', { macAddresses: ['BB:00', 'aa-00', 'bb00'] }), { macAddresses: ['aa00', 'bb00'] });
  const [windows, linux, older] = [
    { type: 'Windows', versions: ['>=11.0.0'] },
    { type: 'Linux', versions: [] },
    { type: 'WINDOWS', versions: ['>=10.0.0'] },
  ];
  t.match(await kept('OS', { operatingSystems: [windows, linux, older] }), {
    operatingSystems: [
      { ...linux, versions: null },
      { ...older, type: 'Windows' },
    ],
  });
  t.match(
    await api.manage('POST', '/posture-checks', {
      name: 'n',
      typeId: 'OS',
      operatingSystems: [{ type: 'linux', versions: [] }],
    }),
    {
      status: 400,
      cause: { field: 'operatingSystems.0.type', value: 'linux' },
    },
  );
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
  for (const role of ['#a', '@a', '']) {
    const rejected = await api.manage('PATCH', path, { identityRoles: [role] });
    t.match(rejected, { status: 400, cause: { field: 'identityRoles' } }, `"${role}"`);
  }
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

t.test('the auth policy of new identities of a signer must exist, and is the default one if it is empty', async (t) => {
  await using api = await ApiClient.start();
  const enrollAuthPolicyId = await api.authPolicy('enrolled', {});
  const signer = { name: 'idp', issuer: 'https://idp.example', audience: 'edge', enabled: true };
  const fields = { ...signer, jwksEndpoint: 'https://idp.example/keys' };
  const unknown = { status: 404, cause: { message: 'authPolicy with id unknown not found' } };
  t.match(await api.manage('POST', '/external-jwt-signers', { ...fields, enrollAuthPolicyId: 'unknown' }), unknown);
  const id = await api.create('/external-jwt-signers', { ...fields, enrollAuthPolicyId });
  const path = `/external-jwt-signers/${id}`;
  t.match(await api.manage('PATCH', path, { enrollAuthPolicyId: 'unknown' }), unknown);
  t.match(await api.get(path), { enrollAuthPolicyId });
  t.match(await api.manage('PATCH', path, { certPem: 'junk' }), { status: 400, code: 'INVALID_CERT_PEM' });
  await api.change('PATCH', path, { enrollAuthPolicyId: '' });
  t.match(await api.get(path), { enrollAuthPolicyId: 'default' });
});

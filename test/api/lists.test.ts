// Lists through the API: the fields for filters and sorting, and pages. filters.test.ts tests the filter language.

import { randomUUID } from 'node:crypto';
import t from 'tap';
import { BASES } from '#schemas/api/bases.ts';
import { readOperations } from '#schemas/api/operations.ts';
import { type ApiAnswer, ApiClient, filtered } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';
import { known } from '../support/kinds/kind.ts';

const BASE = ['id', 'createdAt', 'updatedAt', 'tags', 'isSystem'];
const ROUTER = ['name', 'fingerprint', 'cost', 'noTraversal', 'disabled', 'configs', 'ctrlChanListeners'];
const UPDB = [
  'allowed',
  'maxAttempts',
  'minPasswordLength',
  'requireMixedCase',
  'requireNumberChar',
  'requireSpecialChar',
];

/** By path, beyond the fields of every list. Lists below an entity have the fields of their entities. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/api-sessions':
    'ipAddress token identity authenticator lastActivityAt mfaRequired mfaComplete improperClientCertChain'.split(' '),
  '/auth-policies': [
    ...['name', 'primary.cert.allowed', 'primary.cert.allowExpiredCerts', 'primary.extJwt.allowed'],
    ...UPDB.map((name) => `primary.updb.${name}`),
    ...['secondary.requireTotp', 'secondary.requireExtJwtSigner'],
  ],
  '/authenticators': [
    ...'method identity certFingerprint certPem publicKeyPrint updbUsername isIssuedByNetwork isExtendRequested'.split(
      ' ',
    ),
    ...'isKeyRollRequested extendRequestedAt lastExtendRolledKeys lastAuthResolvedToRoot'.split(' '),
  ],
  '/cas':
    'name fingerprint isVerified verificationToken isAuthEnabled isOttCaEnrollmentEnabled isAutoCaEnrollmentEnabled'.split(
      ' ',
    ),
  '/config-types': ['name', 'schema', 'target'],
  '/configs': ['name', 'type'],
  '/edge-router-policies': ['name', 'semantic', 'edgeRouterRoles', 'identityRoles'],
  '/edge-routers': [...ROUTER, 'isVerified', 'isTunnelerEnabled', 'connected', 'online', 'roleAttributes'],
  '/enrollments': ['token', 'identity', 'edgeRouter', 'transitRouter', 'caId'],
  '/external-jwt-signers': [
    ...'name issuer audience kid fingerprint certPem commonName notBefore notAfter enabled claimsProperty'.split(' '),
    ...'useExternalId clientId scopes targetToken enrollToCertEnabled enrollToTokenEnabled'.split(' '),
    ...'enrollNameClaimsSelector enrollAttributeClaimsSelector enrollAuthPolicyId'.split(' '),
  ],
  '/identities': 'name type externalId authPolicyId isAdmin isDefaultAdmin roleAttributes'.split(' '),
  '/identity-types': ['name'],
  '/posture-check-types': ['name'],
  '/posture-checks': ['name', 'typeId', 'roleAttributes', 'promptOnWake', 'promptOnUnlock'],
  '/routers': ROUTER,
  '/transit-routers': ROUTER,
  '/fabric/v1/routers': [...ROUTER, 'connected'],
  '/service-edge-router-policies': ['name', 'semantic', 'edgeRouterRoles', 'serviceRoles'],
  '/service-policies': 'name type semantic identityRoles serviceRoles postureCheckRoles identities services'.split(' '),
  '/services': ['name', 'terminatorStrategy', 'roleAttributes', 'isFabricOnly', 'configs'],
  '/sessions': ['token', 'apiSession', 'service', 'type'],
  '/terminators': 'service service.name router router.name instanceId hostId binding address sourceCtrl'.split(' '),
};

const DATE = /^\d{4}-\d\d-\d\dT/;

/** One entity of each kind, and the token of a session that may read the client's lists. */
async function populated(): Promise<{ api: ApiClient; token: string }> {
  const api = await ApiClient.start();
  const ids = await known(api);
  await api.openPolicies();
  await api.create('/service-policies', {
    name: 'bind',
    type: 'Bind',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    serviceRoles: ['#all'],
    postureCheckRoles: [`@${ids.postureCheck}`],
  });
  await api.change('PATCH', `/services/${ids.service}`, { configs: [ids.config] });
  await api.create('/terminators', { service: ids.service, router: ids.edgeRouter, binding: 'edge', address: 'a' });
  await api.addAuthority('ca', await makeAuthority('ca'), {}, false);
  await api.create('/revocations', { id: randomUUID(), type: 'JTI' });
  await api.person('user', { roleAttributes: ['staff'] });
  const token = await api.login('user');
  await api.create('/sessions', { serviceId: ids.service, type: 'Dial' }, token);
  return { api, token };
}

t.test('every filterable field of a list works in filters and sorting', async (t) => {
  const { api, token } = await populated();
  await using _ = api;
  const lists = readOperations().filter(
    ({ method, query, id }) =>
      method === 'GET' && query.some(({ name }) => name === 'filter') && !id.includes('Setting'),
  );
  t.ok(lists.length > 50);
  let count = 0;
  let compared = 0;
  for (const { api: name, path } of lists) {
    const isClient = name === 'client';
    const ask = (at: string) => (isClient ? api.ask('GET', at, { token }) : api.manage('GET', at));
    const base = name === 'management' ? '' : BASES[name][0];
    const owner = `${base}${path.split('/{')[0]}`;
    const [first] = path.includes('{') ? (await ask(owner)).data : [];
    const at = `${base}${path.replace('{id}', first?.id ?? '')}`;
    const list = await ask(at);
    t.equal(list.status, 200, `${at}: ${list.text.slice(0, 200)}`);
    // The answer lists all fields of signers; a filter of the client API accepts few of them (filters.test.ts).
    const isOnlyNamed = isClient && path === '/external-jwt-signers';
    const fields: string[] = isOnlyNamed ? [] : (list.meta.filterableFields ?? []);
    // The reference lists `tags` but rejects it: only a single tag (`tags.x`) can be compared.
    const wanted = isClient ? undefined : (FIELDS[at] ?? FIELDS[at.replace('/fabric/v1', '')]);
    if (wanted) t.same([...fields].sort(), [...BASE, ...wanted].sort(), at);
    const wrong: string[] = [];
    const unsortable = ['service.name', 'router.name'];
    for (const field of fields.filter((each) => each !== 'tags')) {
      count += 1;
      const sorted = await ask(`${at}?sort=${field}`);
      const isSet = sorted.code === 'INVALID_SORT_IDENTIFIER' && sorted.cause?.message?.includes('is a set symbol');
      const filters = isSet ? [`isEmpty(${field})`, `anyOf(${field}) = null`] : [`${field} = null`, `${field} != null`];
      const answers = await Promise.all(filters.map((filter) => ask(filtered(at, filter))));
      const isSorted = unsortable.includes(field) ? sorted.code === 'UNHANDLED' : isSet || sorted.status === 200;
      if (!isSorted || answers.some(({ status }) => status !== 200)) wrong.push(field);
    }
    t.same(wrong, [], `${at} can be filtered by its filterable fields`);
    const shown: Readonly<Record<string, unknown>> | undefined = list.data[0];
    // Only the owner of a token sees the one that authenticates; an administrator sees an id in its place.
    for (const field of shown ? fields.filter((each) => each !== 'token') : []) {
      const value = field.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], shown);
      if (!['string', 'number', 'boolean'].includes(typeof value) || DATE.test(String(value))) continue;
      compared += 1;
      for (const [sign, isFound] of [
        ['=', true],
        ['!=', false],
      ] as const) {
        const filter = `${field} ${sign} ${JSON.stringify(value)}`;
        const found: { id: string }[] = (await ask(filtered(at, `id = "${shown?.id}" and ${filter}`))).data;
        t.same(
          found.map(({ id }) => id),
          isFound ? [shown?.id] : [],
          `${at} ${filter.slice(0, 100)}`,
        );
      }
    }
    const unknown = await ask(filtered(at, 'frob = 1'));
    t.match(
      { at, ...unknown },
      {
        at,
        status: 400,
        code: 'INVALID_FILTER',
        cause: { code: 'UNHANDLED', message: "unknown symbol 'frob'" },
      },
    );
  }
  t.ok(count > 400, `${count} fields`);
  t.ok(compared > 150, `${compared} fields with a value`);
});

t.test('pages: limit and offset, from the query or the filter', async (t) => {
  await using api = await ApiClient.start();
  const letters = 'abcdefghijkl';
  for (const name of letters) await api.create('/services', { name, encryptionRequired: true });
  const table: [query: string, limit: number, offset: number, found: string][] = [
    ['', 10, 0, 'abcdefghij'],
    ['&limit=3', 3, 0, 'abc'],
    ['&limit=3&offset=10', 3, 10, 'kl'],
    ['&offset=99', 10, 99, ''],
    ['&offset=-5', 10, 0, 'abcdefghij'],
    ['&limit=0', 10, 0, 'abcdefghij'],
    ['&limit=501', 500, 0, letters],
    ['&limit=99999999999999999999', 500, 0, letters],
    ['&limit=-1', Number.MAX_SAFE_INTEGER, 0, letters],
    ['&limit=-5', 10, 0, 'abcdefghij'],
    ['&filter=true limit -1', Number.MAX_SAFE_INTEGER, 0, letters],
    ['&filter=true limit -5', 10, 0, 'abcdefghij'],
    ['&filter=true limit none', Number.MAX_SAFE_INTEGER, 0, letters],
    ['&filter=true skip 2 limit 2', 2, 2, 'cd'],
    ['&filter=true skip 2 limit 2&limit=5&offset=0', 2, 2, 'cd'],
    ['&filter=true sort by name desc limit 2', 2, 0, 'lk'],
    ['&filter=sort by name desc', 10, 0, 'lkjihgfedc'],
    ['&filter=limit 1', 1, 0, 'a'],
    ['&filter=name > "j"&limit=1', 1, 0, 'k'],
  ];
  for (const [query, limit, offset, found] of table) {
    const answer = await api.manage('GET', `/services?sort=name${query.replaceAll(' ', '%20').replaceAll('"', '%22')}`);
    t.equal((answer.data as { name: string }[]).map(({ name }) => name).join(''), found, query);
    const totalCount = query.includes('name >') ? 2 : letters.length;
    t.same(answer.meta.pagination, { limit, offset, totalCount }, query);
  }
  for (const [query, field] of [
    ['limit=abc', 'limit'],
    ['limit=1.5', 'limit'],
    ['offset=x', 'offset'],
  ])
    t.match(await api.manage('GET', `/services?${query}`), {
      status: 400,
      code: 'COULD_NOT_VALIDATE',
      cause: { field, reason: `${field} in query must be of type int64` },
    });
  const ids = (answer: ApiAnswer) => (answer.data as { id: string }[]).map(({ id }) => id);
  const first = await api.manage('GET', '/services?limit=12');
  t.same(ids(first), ids(first).sort(), 'by id by default');
  const attributes = await api.manage('GET', '/service-role-attributes?limit=1');
  t.equal(attributes.meta.pagination?.limit, Number.MAX_SAFE_INTEGER, 'attributes are not limited');
});

t.test('the routers of a service are a list for its users; a session token must be valid if it is given', async (t) => {
  const { api, token } = await populated();
  await using _ = api;
  const [service] = await api.get<{ id: string }[]>('/services', token);
  const [session] = await api.get<{ id: string; token: string }[]>('/sessions', token);
  const path = `/services/${service?.id}/edge-routers`;
  const ask = (query: string, headers = {}, by = token) => api.ask('GET', path + query, { token: by, headers });
  const accepted = { status: 200, data: { edgeRouters: [{ name: 'known router' }] } };
  t.match(await ask(''), accepted);
  t.match(await ask('', { 'session-token': session?.token }), accepted);
  t.match((await ask(filtered('', 'name = "x"'))).data, { edgeRouters: null });
  t.match(await ask('?filter=frob'), { status: 400, code: 'INVALID_FILTER' });
  const rejected = { status: 401, code: 'UNAUTHORIZED' };
  t.match(await ask('', { 'session-token': 'made up' }), rejected);
  t.match(await ask('', { 'session-token': session?.token }, api.token), rejected, 'the session of another identity');
  await api.change('DELETE', `/sessions/${session?.id}`, undefined, token);
  t.match(await ask('', { 'session-token': session?.token }), rejected, 'an ended session');
});

t.test('a sort by too many fields is rejected', async (t) => {
  await using api = await ApiClient.start();
  const sort = (count: number) => api.manage('GET', `/services?sort=${Array(count).fill('name').join(',')}`);
  t.equal((await sort(100)).status, 200);
  const message = 'the sort has more than 100 fields. line: 1, column: 504, symbol: <EOF>';
  t.match(await sort(101), { status: 400, code: 'INVALID_SORT_IDENTIFIER', cause: { code: 'UNHANDLED', message } });
});

// The filter language through the API: results for every type of field, errors and their positions, and lists by role.

import t from 'tap';
import { ApiClient, filtered } from '../support/clients/api-client.ts';
import { LOGINS } from '../support/kinds/kind.ts';

/** Services a, b, c with different tags, roles, configs and policies. */
async function lettered(): Promise<{ api: ApiClient; configs: string[]; policy: string }> {
  const api = await ApiClient.start();
  const type = await api.create('/config-types', { name: 'kind' });
  const configs: string[] = [];
  for (const name of ['one', 'two']) {
    const configTypeId = name === 'one' ? type : await api.create('/config-types', { name: 'other kind' });
    configs.push(await api.create('/configs', { name, configTypeId, data: {} }));
  }
  const service = (name: string, fields: object) =>
    api.create('/services', { name, encryptionRequired: true, ...fields });
  await service('a', { roleAttributes: ['x', 'y'], tags: { place: 'Bonn', n: 5, on: true }, configs: [configs[0]] });
  await service('b', { roleAttributes: ['y'], tags: { place: 'Rome' }, configs, terminatorStrategy: 'random' });
  await service('c', { terminatorStrategy: 'weighted' });
  for (const [name, cost] of [
    ['r1', 10],
    ['r2', 200],
    ['r3', 3_000],
  ])
    await api.create('/edge-routers', { name, cost, noTraversal: name === 'r2' });
  await api.create('/identities', { name: 'ada', type: 'User', isAdmin: true, externalId: 'e', roleAttributes: ['x'] });
  await api.create('/identities', { name: 'bob', type: 'User', isAdmin: false });
  const policy = await api.create('/service-policies', {
    name: 'policy',
    type: 'Dial',
    semantic: 'AnyOf',
    identityRoles: ['#x'],
    serviceRoles: ['#y'],
  });
  return { api, configs, policy };
}

t.test('filters select the matching entities, for every type of field', async (t) => {
  const { api, configs, policy } = await lettered();
  await using _ = api;
  const far = 'datetime(2001-01-01T00:00:00Z)';
  const table: [list: string, filter: string, found: string][] = [
    ['services', 'name = "a"', 'a'],
    ['services', 'name != "a"', 'b c'],
    ['services', 'name = "z"', ''],
    ['services', 'name = ""', ''],
    ['services', 'not name = "a"', 'b c'],
    ['services', 'not (name = "a")', 'b c'],
    ['services', 'name = "a" and tags.place = "Bonn"', 'a'],
    ['services', 'tags.place = "Rome" and name = "a"', ''],
    ['services', 'name = "a" and name = "b"', ''],
    ['services', 'name = "a" or name = "c"', 'a c'],
    ['services', 'name = "b" sort by name desc limit 1', 'b'],
    ['services', 'name = "b" skip 1', ''],
    ['identities', 'externalId = "e"', 'ada'],
    ['identities', 'externalId = null and name = "bob"', 'bob'],
    ['services', 'name > "a"', 'b c'],
    ['services', 'name <= "b"', 'a b'],
    ['services', 'terminatorStrategy contains "eight"', 'c'],
    ['services', 'terminatorStrategy not contains "a"', 'c'],
    ['services', 'terminatorStrategy icontains "RAND"', 'b'],
    ['services', 'name = 5', ''],
    ['services', 'name > 5', 'a b c'],
    ['services', 'name not in [1, 2]', 'a b c'],
    ['services', 'name in ["a", "c", "z"]', 'a c'],
    ['service-policies', 'type = "Dial"', 'policy'],
    ['service-policies', 'type = 1', ''],
    ['service-policies', 'type != 1', 'policy'],
    ['services', 'name not in ["a", "c"]', 'b'],
    ['services', 'tags.place = "Bonn"', 'a'],
    ['services', 'tags.place != null', 'a b'],
    ['services', 'tags.place = null', 'c'],
    ['services', 'tags.n = 5', 'a'],
    ['services', 'tags.on = true', 'a'],
    ['services', '\'tags.place\' = "Rome"', 'b'],
    ['services', 'anyOf(roleAttributes) = "x"', 'a'],
    ['services', 'allOf(roleAttributes) = "y"', 'b c'],
    ['services', 'allOf(roleAttributes) = "y" and not isEmpty(roleAttributes)', 'b'],
    ['services', 'not (anyOf(roleAttributes) = "y")', 'c'],
    ['services', 'anyOf(roleAttributes) in ["x", "z"]', 'a'],
    ['services', 'isEmpty(roleAttributes)', 'c'],
    ['services', 'count(roleAttributes) > 1', 'a'],
    ['services', 'count(configs) = 0', 'c'],
    ['services', 'name = "a" or name = "b" and isEmpty(configs)', 'a'],
    ['services', '(name = "a" or name = "b") and not isFabricOnly', 'a b'],
    ['services', `anyOf(configs) = "${configs[1]}"`, 'b'],
    ['services', 'not isEmpty(from configs where name = "one")', 'a b'],
    ['services', 'count(from configs where name contains "o") = 2', 'b'],
    ['services', `createdAt > ${far}`, 'a b c'],
    ['services', `createdAt between ${far} and datetime(2002-01-01T00:00:00Z)`, ''],
    ['services', `updatedAt not between ${far} and datetime(2002-01-01T00:00:00Z)`, 'a b c'],
    ['services', 'isSystem = false', 'a b c'],
    ['services', 'false', ''],
    ['services', 'isSystem = null and isSystem != true', 'a b c'],
    ['services', 'NOT name = "a" AND name = "b"', 'a b c'],
    ['services', '(NOT name = "a") AND name = "b"', 'b'],
    ['services', 'tags.on = "true" and tags.n contains 5', 'a'],
    ['services', 'count(roleAttributes) in ["2"]', 'a'],
    ['edge-routers', 'cost = 200', 'r2'],
    ['edge-routers', 'cost > 10', 'r2 r3'],
    ['edge-routers', 'cost between 10 and 200', 'r1'],
    ['edge-routers', 'cost not between 10 and 200', 'r2 r3'],
    ['edge-routers', 'cost in [10, 3000]', 'r1 r3'],
    ['edge-routers', 'cost != 2e2', 'r1 r3'],
    ['edge-routers', 'cost contains 0', 'r1 r2 r3'],
    ['edge-routers', 'cost contains "2"', 'r2'],
    ['edge-routers', 'noTraversal', 'r2'],
    ['edge-routers', 'noTraversal != true', 'r1 r3'],
    ['edge-routers', 'isVerified or online', ''],
    ['identities', 'externalId = null', 'Default Admin bob'],
    ['identities', 'externalId != null', 'ada'],
    ['identities', 'isAdmin and not isDefaultAdmin', 'ada'],
    ['identities', 'type = "Default" and name icontains "B"', 'bob'],
    ['service-policies', 'anyOf(identities) = "x" or count(identities) = 1 or count(identities) = 1', 'policy'],
    ['service-policies', 'not isEmpty(from identities where name = "ada") and type = "Dial"', 'policy'],
    ['service-policies', 'isEmpty(from services where name = "c")', 'policy'],
    ['service-policies', 'not isEmpty(from services where terminatorStrategy = "random")', 'policy'],
    ['service-policies', 'anyOf(serviceRoles) = "#y" and semantic = "AnyOf"', 'policy'],
    [`service-policies/${policy}/services`, 'name = "b"', 'b'],
    ['posture-check-types', 'name contains "MFA"', 'MFA Check'],
    ['identity-types', 'id = "Router"', 'Router'],
    ['config-types', 'schema contains "a number of letters"', 'schematic'],
  ];
  await api.create('/config-types', { name: 'schematic', schema: { type: 'object', title: 'a number of letters' } });
  for (const [list, filter, found] of table)
    t.equal((await api.names(filtered(`/${list}?sort=name`, filter))).join(' '), found, `${list}: ${filter}`);
  t.same(await api.get(filtered('/service-role-attributes', 'id > "x"')), ['y']);
});

t.test('invalid filters are rejected', async (t) => {
  const { api } = await lettered();
  await using _ = api;
  const rejected: [list: string, filter: string, code: string, message: string | RegExp][] = [
    ['identities', "name = 'x'", 'INVALID_FILTER', /line: 1, column: 7, symbol: /],
    ['identities', 'frob = 1', 'INVALID_FILTER', "unknown symbol 'frob'"],
    ['identities', 'type.name = "x"', 'INVALID_FILTER', "unknown symbol 'type.name'"],
    ['services', 'anyOf(configs.name) = "x"', 'INVALID_FILTER', "unknown symbol 'configs.name'"],
    ['sessions', 'apiSession.token contains "a"', 'INVALID_FILTER', "unknown symbol 'apiSession.token'"],
    ['identities', 'tags = null', 'INVALID_FILTER', "unknown symbol 'tags'"],
    ['identities', 'isAdmin contains 5', 'INVALID_FILTER', /is not supported with operands types bool, number/],
    ['identities', 'createdAt contains 5', 'INVALID_FILTER', /is not supported with operands types datetime, number/],
    [
      'identities',
      'isEmpty(from roleAttributes where true)',
      'INVALID_FILTER',
      'attempt to subquery on non-entity symbol roleAttributes',
    ],
    ['identities', 'constructor = 1', 'INVALID_FILTER', "unknown symbol 'constructor'"],
    [
      'identities',
      'isAdmin = "x"',
      'INVALID_FILTER',
      'operation isAdmin = x is not supported with operands types bool, string',
    ],
    ['identities', 'name between 1 and 5', 'INVALID_FILTER', /types string, number/],
    ['identities', 'roleAttributes = "x"', 'INVALID_FILTER', /is a set symbol but is used in non-set function context/],
    ['identities', 'anyOf(name) = "x"', 'INVALID_FILTER', /not a set symbol/],
    [
      'identities',
      'not isEmpty(from authenticators where method = "updb")',
      'INVALID_FILTER',
      "unknown symbol 'authenticators'",
    ],
    ['identities', 'name in []', 'INVALID_FILTER', /line: 1/],
    [
      'identities',
      'name = "x" sort by roleAttributes',
      'INVALID_FILTER',
      "symbol 'roleAttributes' is a set symbol but is used in non-set function context",
    ],
    ['identities', 'true sort by frob', 'INVALID_FILTER', "unknown symbol 'frob'"],
    ['authenticators', 'passwordHash != null', 'INVALID_FILTER', "unknown symbol 'passwordHash'"],
    ['api-sessions', 'authenticator.passwordHash != null', 'INVALID_FILTER', /unknown symbol/],
    ['services', 'createdAt > "2020"', 'INVALID_FILTER', /types datetime, string/],
    ['services', 'createdAt > datetime(yesterday)', 'INVALID_FILTER', /./],
    ['services', 'true limit 1 skip 1', 'INVALID_FILTER', /./],
    ['services', 'name between "a" and "z"', 'INVALID_FILTER', "unexpected input 'a'. line: 1, column: 13, symbol: a"],
    ['services', 'name in ["a", 1]', 'INVALID_FILTER', /unexpected input '1'/],
    ['services', 'isSystem in [true]', 'INVALID_FILTER', /unexpected input 'true'/],
    ['edge-routers', 'cost icontains "1"', 'INVALID_FILTER', /types number, string/],
    ['services', 'name icontains 1', 'INVALID_FILTER', /unexpected input '1'/],
    ['services', 'name < null', 'INVALID_FILTER', /unexpected input 'null'/],
  ];
  for (const [list, filter, code, message] of rejected)
    t.match(
      await api.manage('GET', filtered(`/${list}`, filter)),
      { status: 400, code, cause: { code: 'UNHANDLED', message } },
      filter,
    );
  const signers = await api.ask('GET', filtered('/external-jwt-signers', 'issuer = "x"'));
  t.match(signers, { status: 400, cause: { message: "unknown symbol 'issuer'" } }, 'of clients');
  const named = await api.ask('GET', '/external-jwt-signers');
  t.ok(named.meta.filterableFields.includes('issuer'), 'the list of clients names it nevertheless');
  const byTag = { status: 400, code: 'UNHANDLED', cause: { message: 'no such sort field: tags.place' } };
  t.match(await api.manage('GET', '/services?sort=tags.place'), byTag);
  t.match(await api.manage('GET', '/services?sort=id,tags.place'), { status: 200 }, 'the id alone decides');
  t.match(await api.manage('GET', '/cas?sort=tags.place'), { status: 200, data: [] }, 'nothing to sort');
  const unknown = { status: 400, code: 'INVALID_SORT_IDENTIFIER', cause: { message: "unknown symbol 'frob'" } };
  t.match(await api.manage('GET', '/services?sort=tags.place,frob'), unknown, 'unknown fields are found first');
  const ofQuery = { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field: 'limit' } };
  t.match(await api.manage('GET', '/services?limit=x&filter=frob'), ofQuery, 'limit and offset are read first');
  const sorted = await api.manage('GET', '/identities?sort=frob');
  t.match(sorted, { status: 400, code: 'INVALID_SORT_IDENTIFIER', cause: { message: "unknown symbol 'frob'" } });
});

t.test('lists by role, and the configs of services', async (t) => {
  const { api } = await lettered();
  await using _ = api;
  const table: [query: string, found: string][] = [
    ['roleFilter=%23y', 'a b'],
    ['roleFilter=%23x&roleFilter=%23y', 'a'],
    ['roleFilter=%23x&roleFilter=%23y&roleSemantic=AllOf', 'a'],
    ['roleFilter=%23x&roleFilter=%23y&roleSemantic=AnyOf', 'a b'],
    ['roleFilter=%23all', ''], // an attribute like any other
    ['roleFilter=%23none', ''],
    [`roleFilter=%23y&${filtered('', 'name = "b"').slice(1)}`, 'b'],
  ];
  for (const [query, found] of table)
    t.equal((await api.names(`/services?sort=name&${query}`)).join(' '), found, query);
  t.match(await api.manage('GET', '/services?roleFilter=y'), {
    status: 400,
    code: 'UNHANDLED',
    cause: { message: "'y' is neither" },
  });
  const [b] = await api.get<{ config: object }[]>(filtered('/services?configTypes=kind', 'name = "b"'));
  t.same(b?.config, { kind: {} });
  const [all] = await api.get<{ config: object }[]>(filtered('/services?configTypes=all', 'name = "b"'));
  t.same(all?.config, { kind: {}, 'other kind': {} });
  t.same((await api.get<{ config: object }[]>(filtered('/services', 'name = "b"')))[0]?.config, {});
});

t.test('auth policies are filtered by nested fields', async (t) => {
  await using api = await ApiClient.start();
  await api.create('/auth-policies', { name: 'strict', ...LOGINS });
  t.same(await api.names(filtered('/auth-policies', 'primary.updb.maxAttempts > 0 and not primary.extJwt.allowed')), [
    'strict',
  ]);
  t.same(await api.names('/auth-policies?sort=primary.updb.minPasswordLength%20desc'), ['strict', 'Default']);
});

t.test('a filter may name hundreds of ids, and a longer one is rejected with a status that says so', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/services', { name: 'a', encryptionRequired: true });
  const filterOf = (length: number) => {
    const others = Array.from({ length: Math.floor(length / 26) }, () => '%22123456789012345678%22,');
    return `/services?filter=id%20in%20%5B${others.join('')}%22${id}%22%5D`;
  };
  t.match(await api.manage('GET', filterOf(60_000)), { status: 200, data: [{ name: 'a' }] });
  t.equal((await api.manage('GET', filterOf(70_000))).status, 431);
});

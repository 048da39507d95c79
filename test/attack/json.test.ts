// JSON that exhausts the stack, and schemas that never end: both are rejected with 400, and the simulator continues.

import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { TokenIssuer } from '../support/clients/token-issuer.ts';
import { CallCounter } from '../support/hostile/call-counter.ts';

const DEEP = 8_000;
/** Calls of all requests of a test, which need 5 million: schemas and expressions are checked in JavaScript. */
const MAX_CALLS = 15_000_000;

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

t.test('JSON that is nested deeper than 100 levels is rejected by every API', async (t) => {
  await using api = await ApiClient.start();
  await api.get('/version');
  const table: readonly [string, string, string][] = [
    ['POST', '/edge/management/v1/services', `{"name":"s","encryptionRequired":true,"tags":${nested(DEEP)}}`],
    ['POST', '/edge/management/v1/services', `{"name":"s","encryptionRequired":true,"tags":${nested(100)}}`],
    ['POST', '/edge/client/v1/authenticate?method=password', nested(DEEP)],
    ['POST', '/edge/client/v1/posture-response', nested(DEEP)],
    ['POST', '/edge/client/v1/enroll', nested(DEEP)],
    ['POST', '/fabric/v1/services', nested(DEEP)],
    ['POST', '/edge/management/v1/services', '['.repeat(500_000)],
  ];
  for (const [method, path, body] of table) {
    const answer = await api.ask(method, path, { token: api.token, body });
    t.match([answer.status, answer.code], [400, 'COULD_NOT_PARSE_BODY'], path);
    t.match(answer.cause.message, /nested deeper than 100 levels/);
  }
  for (const path of ['/oidc/authorize', '/oidc/oauth/token', '/oidc/login/password'])
    t.equal((await api.ask('POST', path, { body: nested(DEEP) })).status, 400, path);
  const appData = JSON.parse(nested(90)) as unknown;
  const id = await api.create('/identities', { name: 'deep', type: 'User', isAdmin: false, appData });
  t.same((await api.get(`/identities/${id}`)).appData, appData, 'permitted values are stored');
  t.equal((await api.manage('GET', '/identities')).status, 200);
});

t.test('an object without a text form is rejected in place of a text', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const token = await api.login('anna');
  const textless = { toString: 1, valueOf: 2 };
  for (const path of ['/enroll', '/enroll/ott'])
    t.match(await api.ask('POST', path, { body: { token: textless } }), { status: 400, code: /./ }, path);
  for (const [path, body] of [
    ['/posture-response', { id: 'a', typeId: textless }],
    ['/posture-response-bulk', [{ id: 'a', typeId: textless }]],
  ] as const)
    t.match(await api.ask('POST', path, { token, body }), { status: 400, code: 'COULD_NOT_PARSE_BODY' }, path);
});

t.test('a token of another issuer with deep claims is rejected', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  await idp.addKey('k1');
  const fields = { name: 'idp', issuer: idp.name, audience: 'edge', enabled: true, jwksEndpoint: idp.endpoint };
  await api.create('/external-jwt-signers', { ...fields, claimsProperty: 'sub' });
  const sub = await api.person('ann');
  const statusWith = async (depth: number) => {
    const token = await idp.token('k1', { sub, deep: JSON.parse(nested(depth)) as unknown });
    return (await api.ask('GET', '/current-identity', { headers: { authorization: `Bearer ${token}` } })).status;
  };
  t.equal(await statusWith(50), 200);
  t.equal(await statusWith(1_000), 401);
});

/** A chain of definitions, each of which refers to the next one twice. */
function referenceBomb(length: number): object {
  const definitions = Object.fromEntries(
    Array.from({ length }, (_, index) => {
      const $ref = `#/definitions/d${index + 1}`;
      return [`d${index}`, index === length - 1 ? { type: 'object' } : { allOf: [{ $ref }, { $ref }] }];
    }),
  );
  return { type: 'object', definitions, $ref: '#/definitions/d0' };
}

t.test('the size, the parts and the time of a schema are limited', async (t) => {
  await using api = await ApiClient.start();
  await api.get('/version');
  const properties = (count: number, each: object) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, each]));
  const large = { type: 'object', properties: properties(400, { type: 'string', description: 'x'.repeat(400) }) };
  const many = { type: 'object', properties: properties(3_000, {}) };
  const parts = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`q${index}`, { minimum: index }]));
  const copies = {
    type: 'object',
    definitions: { d: { properties: parts } },
    properties: properties(900, { $ref: '#/definitions/d' }),
  };
  using counter = new CallCounter();
  const create = (name: string, schema: object) => api.manage('POST', '/config-types', { name, schema });
  t.match((await create('large', large)).cause, { field: 'schema', reason: /characters as JSON; at most 131072/ });
  t.match((await create('many', many)).cause, { field: 'schema', reason: /3002 maps and lists; at most 2000/ });
  t.match((await create('remote', { type: 'object', $ref: 'http://127.0.0.1/' })).status, 400);
  await create('copies', copies);
  const cases: Record<string, [schema: object, data: object]> = {
    bomb: [referenceBomb(40), {}],
    endless: [{ type: 'object', definitions: { a: { $ref: '#/definitions/a' } }, $ref: '#/definitions/a' }, {}],
    backtracking: [
      { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
      { a: `${'a'.repeat(60)}!` },
    ],
    repeated: [
      { type: 'object', properties: { a: { type: 'string', pattern: '((a{1,100}){1,100}){1,100}b' } } },
      { a: 'a'.repeat(1_000) },
    ],
  };
  for (const [name, [schema, data]] of Object.entries(cases)) {
    const { status, data: created } = await create(name, schema);
    if (status !== 201) {
      t.equal(status, 400, name);
      continue;
    }
    t.equal((await api.manage('POST', '/configs', { name, configTypeId: created.id, data })).status, 400, name);
  }
  const { total } = counter.take();
  t.ok(total < MAX_CALLS, `${total} calls`);
});

t.test('others are served while a plan with costly configs is compared', async (t) => {
  await using api = await ApiClient.start();
  const { lab } = api.simulator;
  await lab.seed({ configTypes: [{ name: 'costly', schema: referenceBomb(40) }] } as object);
  const configs = Array.from({ length: 20 }, (_, index) => ({ name: `c${index}`, configType: '@costly', data: {} }));
  let isDone = false;
  const compared = lab.whatIf({ configs }).finally(() => {
    isDone = true;
  });
  const outcome = t.rejects(compared, { code: 'SEED', message: /needs too many steps/ });
  let answered = 0;
  for (; !isDone; answered++) t.equal((await api.ask('GET', '/version')).status, 200);
  await outcome;
  t.ok(answered >= 4, `${answered} answers meanwhile`);
});

t.test('an inspection takes linear time, whatever its expression is', async (t) => {
  await using api = await ApiClient.start();
  await api.get('/version');
  using counter = new CallCounter();
  const appRegex = `${'('.repeat(30)}.+${')+'.repeat(30)}!`;
  const answer = await api.manage('POST', '/fabric/v1/inspections', { appRegex, requestedValues: ['links'] });
  t.match(JSON.parse(answer.text), { success: true, values: null });
  const { total } = counter.take();
  t.ok(total < MAX_CALLS, `${total} calls`);
});

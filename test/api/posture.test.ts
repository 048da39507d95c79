// Posture end to end: demands of services, responses of a machine, and the sessions that it gets and loses.
// posture-time.test.ts tests the effect of time; common/model/posture.test.ts tests the evaluation of each type of
// check.

import t from 'tap';
import { filtered } from '../support/clients/api-client.ts';
import { type Fields, PostureClient } from '../support/clients/posture-client.ts';

const HASH = 'a'.repeat(64);
const windows = { osType: 'Windows', path: 'C:\\a.exe' };
const runs = { path: windows.path, isRunning: true, hash: HASH, signerFingerprints: ['ab'] };

/** A check, a response that fails it, one that passes it, and the explanation in a failed request. */
const CHECKS: readonly {
  check: Fields;
  responseType?: string;
  bad: Fields;
  good: Fields;
  failure: Fields;
  query?: Fields;
}[] = [
  {
    check: { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0 <6.0.0 || >=6.1.0'] }] },
    bad: { type: 'Linux', version: '6.0.5', build: '1' },
    good: { type: 'Linux', version: '6.1.0', build: '1' },
    failure: { actualValue: { type: 'Linux', version: '6.0.5' }, expectedValue: [{ type: 'Linux' }] },
  },
  {
    check: { typeId: 'MAC', macAddresses: ['AA:BB:CC:00:11:22'] },
    bad: { macAddresses: ['00:00:00:00:00:00'] },
    good: { macAddresses: ['00:00:00:00:00:00', 'aa-bb-cc-00-11-22'] },
    failure: { actualValue: ['00:00:00:00:00:00'], expectedValue: ['aabbcc001122'] },
  },
  {
    check: { typeId: 'DOMAIN', domains: ['corp.example'] },
    bad: { domain: 'home' },
    good: { domain: 'CORP.example' },
    failure: { actualValue: 'home', expectedValue: ['corp.example'] },
  },
  {
    check: { typeId: 'PROCESS', process: { ...windows, hashes: [HASH], signerFingerprint: 'AB' } },
    bad: { ...runs, isRunning: false },
    good: runs,
    failure: { actualValue: { path: windows.path, isRunning: false }, expectedValue: { path: windows.path } },
    query: { process: windows },
  },
  {
    check: {
      typeId: 'PROCESS_MULTI',
      semantic: 'OneOf',
      processes: [
        { ...windows, hashes: [HASH], signerFingerprints: [] },
        { osType: 'Linux', path: '/b', hashes: [], signerFingerprints: [] },
      ],
    },
    responseType: 'PROCESS',
    bad: { ...runs, hash: 'b'.repeat(64) },
    good: runs,
    failure: { actualValue: [{ hash: 'b'.repeat(64) }], expectedValue: [windows, { path: '/b' }], semantic: 'AnyOf' },
    query: { processes: [windows, { osType: 'Linux', path: '/b' }] },
  },
];

for (const { check, responseType, bad, good, failure, query } of CHECKS) {
  const typeId = String(check.typeId);
  t.test(`${typeId}: sessions require that the machine passes, and end when it fails again`, async (t) => {
    await using client = await PostureClient.start(['#check']);
    const { api, policy } = client;
    const id = await api.create('/posture-checks', { name: 'check', roleAttributes: ['check'], ...check });
    const respond = (fields: Fields) =>
      client.ask('POST', '/posture-response', { id, typeId: responseType ?? typeId, ...fields });
    const rejected = {
      status: 409,
      code: 'INVALID_POSTURE',
      cause: {
        message: `Failed to pass posture checks for service policies: [${policy}]`,
        data: { [policy]: [{ id, typeId, isPassing: false }] },
      },
    };
    t.match(await client.groups(), [
      {
        policyId: policy,
        policyType: 'Dial',
        isPassing: false,
        postureQueries: [{ id, queryType: typeId, isPassing: false, timeout: -1, timeoutRemaining: -1, ...query }],
      },
    ]);
    t.match(await client.dial(), rejected, 'without posture data');
    t.match(await respond(bad), { status: 201, data: { services: [] } });
    t.match(await client.dial(), rejected, 'with insufficient posture data');
    t.match((await api.get<object[]>(`/identities/${client.id}/failed-service-requests`))[0], {
      serviceId: client.service,
      serviceName: 'service',
      sessionType: 'Dial',
      when: new Date(client.clock.now()).toISOString(),
      policyFailures: [
        {
          policyId: policy,
          policyName: 'dial',
          checks: [{ postureCheckId: id, postureCheckName: 'check', postureCheckType: typeId, ...failure }],
        },
      ],
    });
    t.equal((await respond(good)).status, 201);
    t.match(await client.groups(), [{ isPassing: true, postureQueries: [{ isPassing: true }] }]);
    const session = await client.dialed();
    t.ok(await client.isOpen(session));
    await respond(bad);
    t.notOk(await client.isOpen(session), 'the failed check ended it');
    t.match(await client.dial(), rejected);
  });
}

t.test('several checks: all checks of at least one policy must pass', async (t) => {
  await using client = await PostureClient.start(['#a', '#b'], 'AllOf');
  const { api } = client;
  const both = await api.create('/posture-checks', {
    name: 'both',
    typeId: 'DOMAIN',
    domains: ['x'],
    roleAttributes: ['a', 'b'],
  });
  await api.create('/posture-checks', { name: 'one', typeId: 'MAC', macAddresses: ['aa'], roleAttributes: ['a'] });
  t.same(
    (await client.groups())[0]?.postureQueries.map(({ id }) => id),
    [both],
    'attributes select according to the semantic',
  );
  await api.change('PATCH', `/service-policies/${client.policy}`, { semantic: 'AnyOf' });
  t.equal((await client.groups())[0]?.postureQueries.length, 2);
  const bulk = [
    { id: both, typeId: 'DOMAIN', domain: 'x' },
    { id: both, typeId: 'MAC', macAddresses: ['bb'] },
  ];
  t.match(await client.ask('POST', '/posture-response-bulk', bulk), { status: 200, data: { services: [] } });
  t.equal((await client.dial()).status, 409);
  await client.ask('POST', '/posture-response', { id: both, typeId: 'MAC', macAddresses: ['aa'] });
  t.equal((await client.dial()).status, 201);
  await client.ask('POST', '/posture-response', { id: both, typeId: 'DOMAIN', domain: 'elsewhere' });
  t.equal((await client.dial()).status, 409);
  const open = { name: 'open', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'] };
  const other = await api.create('/service-policies', open);
  const session = await client.dialed();
  t.match(await client.dial('Bind'), { status: 400, cause: { field: 'ServiceId' } });
  await api.change('DELETE', `/service-policies/${other}`);
  t.notOk(await client.isOpen(session), 'it ends when its policy no longer passes');
});

t.test('invalid responses have no effect', async (t) => {
  await using client = await PostureClient.start([]);
  const table: [body: unknown, code: string][] = [
    [{ id: 'x' }, 'COULD_NOT_VALIDATE'],
    [{ typeId: 'OS', type: 'Linux', version: '1.0.0' }, 'COULD_NOT_VALIDATE'],
    [{ id: 'x', typeId: 'SMELL' }, 'COULD_NOT_PARSE_BODY'],
    [{ id: 'x', typeId: 'DOMAIN' }, 'COULD_NOT_VALIDATE'],
    [{ id: 'x', typeId: 'MAC', macAddresses: 'aa' }, 'COULD_NOT_PARSE_BODY'],
  ];
  const data = () => client.api.get(`/identities/${client.id}/posture-data`);
  const before = await data();
  for (const [body, code] of table) t.match(await client.ask('POST', '/posture-response', body), { status: 400, code });
  const half = [
    { id: 'x', typeId: 'DOMAIN', domain: 'good' },
    { id: 'x', typeId: 'DOMAIN' },
  ];
  t.match(await client.ask('POST', '/posture-response-bulk', half), { status: 400 });
  t.same(await data(), before);
});

t.test('posture data can be read, and is removed with the session', async (t) => {
  await using client = await PostureClient.start([]);
  const { api, clock, id } = client;
  const at = new Date(clock.now()).toISOString();
  const data = () =>
    api.get<{ apiSessionPostureData: Fields; domain: Fields; processes: Fields[] }>(`/identities/${id}/posture-data`);
  const empty = await data();
  t.match(empty, {
    apiSessionPostureData: {},
    processes: [],
    os: { type: null, lastUpdatedAt: null, timedOut: false },
    domain: { domain: null, lastUpdatedAt: null },
    mac: { addresses: null },
  });
  await client.enrollMfa();
  await client.ask('POST', '/posture-response-bulk', [
    { id: 'c1', typeId: 'DOMAIN', domain: 'corp' },
    { id: 'c2', typeId: 'OS', type: 'Linux', version: '6.1.0', build: '7' },
    { id: 'c3', typeId: 'MAC', macAddresses: ['aa'] },
    { id: 'c4', typeId: 'PROCESS', ...runs },
    { id: 'c5', typeId: 'ENDPOINT_STATE', woken: true, unlocked: false },
  ]);
  const full = await data();
  t.match(full, {
    domain: { domain: 'corp', postureCheckId: 'c1', lastUpdatedAt: at, timedOut: false },
    os: { type: 'Linux', version: '6.1.0', build: '7', postureCheckId: 'c2' },
    mac: { addresses: ['aa'], postureCheckId: 'c3' },
    processes: [{ isRunning: true, binaryHash: HASH, signerFingerprints: ['ab'], postureCheckId: 'c4' }],
  });
  const [own] = await api.get(filtered('/api-sessions', `identity = "${id}"`));
  t.match(full.apiSessionPostureData, {
    [own.id]: {
      mfa: { apiSessionId: own.id, passedMfa: true, passedAt: at },
      endpointState: { wokenAt: at, unlockedAt: null },
    },
  });
  const second = await api.login('user');
  await api.change('DELETE', '/current-api-session', undefined, client.token);
  t.match(
    await data(),
    { apiSessionPostureData: {}, domain: { domain: 'corp' } },
    'another session has the same machine',
  );
  await api.change('DELETE', '/current-api-session', undefined, second);
  t.same(await data(), empty);
});

t.test('the last fifty failed requests are kept', async (t) => {
  await using client = await PostureClient.start(['#check']);
  const { api, clock } = client;
  await api.create('/posture-checks', { name: 'check', typeId: 'DOMAIN', domains: ['a'], roleAttributes: ['check'] });
  const first = clock.now();
  for (let count = 0; count < 52; count++) {
    await client.dial();
    await clock.advance(1);
  }
  const kept = await api.get<{ when: string }[]>(`/identities/${client.id}/failed-service-requests`);
  t.equal(kept.length, 50);
  t.equal(kept[0]?.when, new Date(first + 51).toISOString(), 'newest first');
  t.equal(kept.at(-1)?.when, new Date(first + 2).toISOString());
});

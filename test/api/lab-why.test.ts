// The lab explains access decisions: each rule that decides is broken and repaired, over the API and in a live network.

import t from 'tap';
import type { SeedDocument } from '../../controller-sim/lab/seed/export.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { PostureClient } from '../support/clients/posture-client.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

interface Finding {
  readonly ok: boolean;
  readonly blocking?: boolean;
  readonly kind: string;
  readonly message: string;
  readonly remedy?: string;
  readonly repair?: SeedDocument;
}

interface Answer {
  readonly allowed: boolean;
  readonly reasons: readonly Finding[];
}

/** The messages and remedies of findings that deny access. */
async function blockers(api: ApiClient, question: object): Promise<string[]> {
  const { allowed, reasons } = await ask(api, question);
  const denied = reasons.filter(({ blocking }) => blocking);
  if (allowed !== (denied.length === 0)) throw new Error(`allowed: ${allowed}, but ${JSON.stringify(denied)}`);
  return denied.map(({ message, remedy }) => `${message}; ${remedy}`);
}

async function ask(api: ApiClient, question: object): Promise<Answer> {
  const answer = await api.manage('POST', '/lab/v1/why', question);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data;
}

const DIAL = { identity: 'anna', service: 'web', type: 'Dial' };
const NO_HOST = /^web has no terminators: nothing hosts it; bind it/;
const OFFLINE = /^the router edge is allowed by all and all, but offline; enroll edge and start it$/;

t.test('a new identity learns everything that it lacks, and nothing that it has', async (t) => {
  await using api = await ApiClient.start();
  const anna = await api.create('/identities', {
    name: 'anna',
    type: 'User',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const web = await api.create('/services', { name: 'web', encryptionRequired: false });
  t.match(await blockers(api, DIAL), [
    /^anna has not enrolled; enroll with its ott token, which is valid until 2/,
    /^no service policy lets anna dial web; create a Dial policy with both$/,
    /^no edge router policy lets anna use any router; create an edge router policy/,
    /^no service edge router policy lets web use any router; create a service edge router policy/,
    NO_HOST,
  ]);
  await api.create('/authenticators', {
    identityId: anna,
    method: 'updb',
    username: 'anna',
    password: 'a long secret',
  });
  const router = await api.create('/edge-routers', { name: 'edge' });
  await api.openPolicies();
  t.match(await blockers(api, DIAL), [OFFLINE, NO_HOST]);
  const fields = { service: web, router, binding: 'transport', address: 'tcp:127.0.0.1:1' };
  await api.create('/terminators', fields);
  t.match(await blockers(api, { ...DIAL, identity: anna, service: web, router }), [
    OFFLINE,
    /^the terminator \S+ at the router edge \(precedence default, cost 0, binding transport\) is at a router that is offline; enroll edge/,
  ]);
  t.match(await blockers(api, { ...DIAL, type: 'Bind' }), [
    /^no service policy lets anna bind web; create a Bind policy/,
    OFFLINE,
  ]);
});

t.test('policies that nearly grant are named with the missing role', async (t) => {
  await using api = await ApiClient.start();
  const anna = await api.person('anna', { roleAttributes: ['staff'] });
  const web = await api.create('/services', { name: 'web', encryptionRequired: false, roleAttributes: ['intern'] });
  const policy = (name: string, fields: object) =>
    api.create('/service-policies', { name, type: 'Dial', semantic: 'AllOf', ...fields });
  await policy('two', { identityRoles: ['#staff', '#berlin', '#night'], serviceRoles: [`@${web}`] });
  await policy('any', { semantic: 'AnyOf', identityRoles: ['#chief', '#guard'], serviceRoles: ['#intern'] });
  await policy('others', { identityRoles: [`@${anna}`], serviceRoles: ['#extern'] });
  await policy('named', { identityRoles: [], serviceRoles: ['#all'] });
  const { reasons } = await ask(api, DIAL);
  const near = reasons
    .filter(({ kind }) => kind === 'servicePolicy')
    .map(({ message, remedy }) => `${message}; ${remedy}`);
  t.same(near.toSorted(), [
    'any does not select the identity anna, which lacks one of #chief, #guard (AnyOf); give the identity anna the role attribute chief, or another one of them',
    `named does not select the identity anna: it names other entities; add @anna to its identity roles`,
    'others does not select the service web, which lacks #extern (AllOf); give the service web the role attribute extern',
    'two does not select the identity anna, which lacks #berlin, #night (AllOf); give the identity anna the role attribute berlin, night',
  ]);
  const { lab } = api.simulator;
  const plans = await Promise.all(
    reasons.flatMap(({ repair }) => (repair ? [lab.seed(repair, { apply: true, plan: true })] : [])),
  );
  t.ok(plans.length >= 4, 'seeds repair it');
  for (const { steps } of plans) t.equal(steps?.length, 1, JSON.stringify(steps));
  await api.change('PATCH', `/identities/${anna}`, { roleAttributes: ['staff', 'guard'] });
  const after = await ask(api, DIAL);
  t.match(
    after.reasons.filter(({ kind }) => kind === 'servicePolicy'),
    [{ ok: true, message: 'any grants Dial' }],
    'and only the granting ones once there is one',
  );
});

t.test('routers: one in common is enough, and a named one is explained alone', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  await api.create('/services', { name: 'web', encryptionRequired: false, roleAttributes: [] });
  const [north, south] = [
    await api.create('/edge-routers', { name: 'north', roleAttributes: ['north'] }),
    await api.create('/edge-routers', { name: 'south', roleAttributes: ['south'] }),
  ];
  const roles = (identityRoles: string[], edgeRouterRoles: string[]) => ({
    semantic: 'AnyOf',
    identityRoles,
    edgeRouterRoles,
  });
  await api.create('/edge-router-policies', { name: 'people', ...roles(['#all'], ['#north']) });
  const body = { name: 'services', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#south'] };
  await api.create('/service-edge-router-policies', body);
  const bind = { ...DIAL, type: 'Bind' };
  t.match((await blockers(api, bind)).slice(1), [
    /^anna may use north, web may use south: they have no router in common; add/,
  ]);
  const named = await ask(api, { ...bind, router: north });
  t.match(named.reasons.slice(-3), [
    { ok: true, message: 'people lets anna use north' },
    { ok: false, blocking: true, message: 'no service edge router policy lets web use the router north' },
    { ok: false, message: 'services does not select the router north, which lacks #south (AnyOf)' },
  ]);
  await api.change('PATCH', `/edge-routers/${south}`, { roleAttributes: ['south', 'north'], disabled: true });
  t.match((await blockers(api, bind)).slice(1), [/^the router south is allowed by people and services, but offline/]);
});

t.test('a disabled or locked identity is named with the end of the lock, and the virtual time ends it', async (t) => {
  await using api = await ApiClient.start();
  const authPolicyId = await api.authPolicy('locks', { updb: { maxAttempts: 2, lockoutDurationMinutes: 10 } });
  await api.person('anna', { authPolicyId });
  await api.create('/services', { name: 'web', encryptionRequired: false });
  for (const _ of [1, 2]) await api.tryLogin('anna', 'a wrong secret');
  const until = new Date(api.clock.now() + 600_000).toISOString();
  t.match(
    (await blockers(api, DIAL))[0],
    new RegExp(`^anna is disabled until ${until}, by an adm.*; advance the clock`),
  );
  await api.simulator.lab.clock.advance('10m');
  t.notMatch((await blockers(api, DIAL))[0], /disabled/);
});

t.test('auth policies: the proofs that they reject, and the second factor that they require', async (t) => {
  await using api = await ApiClient.start();
  const certOnly = await api.authPolicy('certificates', { updb: { allowed: false } });
  const twice = await api.authPolicy('twice', { secondary: { requireTotp: true } });
  const anna = await api.person('anna');
  await api.create('/services', { name: 'web', encryptionRequired: false });
  await api.change('PATCH', `/identities/${anna}`, { authPolicyId: certOnly });
  t.match(
    (await blockers(api, DIAL))[0],
    /^the password of anna is rejected: the auth policy certificates does not allow passwords; allow/,
  );
  await api.change('PATCH', `/identities/${anna}`, { authPolicyId: twice });
  t.match(
    (await blockers(api, DIAL))[0],
    /^the auth policy twice requires one-time passwords; anna has none; log in and/,
  );
});

t.test('posture: each failing check with its reason, for each session, until one session passes', async (t) => {
  await using client = await PostureClient.start(['#check']);
  const { api } = client;
  const check = (name: string, fields: object) =>
    api.create('/posture-checks', { name, roleAttributes: [name], ...fields });
  const os = await check('linux', { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }] });
  const roles = { postureCheckRoles: ['#linux', '#mac'] };
  await check('mac', { typeId: 'MAC', macAddresses: ['aa:bb:cc:00:11:22'] });
  await api.change('PATCH', `/service-policies/${client.policy}`, roles);
  const question = { identity: 'user', service: 'service', type: 'Dial' };
  const posture = async () =>
    (await ask(api, question)).reasons
      .filter(({ kind }) => kind === 'postureCheck')
      .map(({ ok, message }) => ({ ok, message }));
  const session = (await client.ask('GET', '/current-api-session')).data.id;
  const where = `in the session ${session}`;
  t.match(
    (await posture()).toSorted((a, b) => (a.message < b.message ? -1 : 1)),
    [
      { ok: false, message: `linux (OS) of dial fails ${where}: no operating system is reported` },
      { ok: false, message: `mac (MAC) of dial fails ${where}: no MAC address is reported` },
    ],
  );
  await client.ask('POST', '/posture-response', { id: os, typeId: 'OS', type: 'Linux', version: '5.4.0', build: '1' });
  t.match(
    await posture(),
    [{}, {}].map(() => ({ ok: false })),
    'both still fail',
  );
  t.ok((await posture()).some(({ message }) => message.includes('runs Linux 5.4.0, allowed are Linux >=6.0.0')));
  await api.change('PATCH', `/service-policies/${client.policy}`, { postureCheckRoles: ['#linux'] });
  await client.ask('POST', '/posture-response', { id: os, typeId: 'OS', type: 'Linux', version: '6.4.0', build: '1' });
  t.match(await posture(), [{ ok: true, message: `linux (OS) of dial passes ${where}` }]);
  const unknown = await api.manage('POST', '/lab/v1/why', { ...question, session: 'x' });
  t.match([unknown.status, unknown.text], [404, /user has no session x; leave it out/]);
});

t.test('unknown names and wrong values are rejected with what was meant', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  await api.create('/services', { name: 'web-server', encryptionRequired: false });
  const table: readonly [question: object, status: number, text: RegExp][] = [
    [{ identity: 'anan', service: 'web-server', type: 'Dial' }, 404, /there is no identity anan; did you mean anna\?/],
    [{ identity: 'anna', service: 'web-sever', type: 'Dial' }, 404, /no service web-sever; did you mean web-server\?/],
    [{ identity: 'anna', service: 'mail', type: 'Dial' }, 404, /there is no service mail; known are web-server"/],
    [{ identity: 'anna', service: 'web-server', type: 'Dial', router: 'x' }, 404, /there is no router x; none exists"/],
    [{ identity: 'anna', service: 'web-server', type: 'dial' }, 400, /type in body should be one of \[Dial Bind\]/],
    [{ identity: 'anna', service: 'web-server' }, 400, /type in body is required/],
    [{ identity: 5, service: 'web-server', type: 'Dial' }, 400, /identity must be of type string/],
    [{ identity: 'x'.repeat(100_000), service: 'web-server', type: 'Dial' }, 404, /there is no identity/],
  ];
  for (const [question, status, text] of table) {
    const answer = await api.manage('POST', '/lab/v1/why', question);
    t.equal(answer.status, status, text.source);
    t.match(answer.text, text);
  }
  t.throws(() => api.simulator.lab.why({ identity: 'anna', service: 'web-server', type: 'dial' as never }), {
    code: 'INVALID',
  });
  t.equal((await api.ask('POST', '/lab/v1/why', { body: DIAL })).status, 401);
});

t.test('a hundred near misses are counted, not listed, and the answer still denies', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  await api.create('/services', { name: 'web', encryptionRequired: false });
  for (let each = 0; each < 100; each++)
    await api.create('/service-policies', {
      name: `policy ${each}`,
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#nobody'],
      serviceRoles: ['#all'],
    });
  const { allowed, reasons } = await ask(api, DIAL);
  t.equal(allowed, false);
  t.equal(reasons.filter(({ kind }) => kind === 'servicePolicy').length, 21);
  t.ok(reasons.some(({ message }) => message === '80 more are not listed'));
});

t.test('in a live network: allowed while it works, with the broken part once it does not', async (t) => {
  await using overlay = await Overlay.start();
  await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, { encrypted: true });
  await overlay.ready();
  const { lab } = overlay.simulator;
  const question = { identity: 'a', service: 'echo', type: 'Dial' } as const;
  const dial = lab.why(question);
  t.equal(dial.allowed, true, JSON.stringify(dial.reasons.filter(({ ok }) => !ok)));
  t.equal(lab.why({ ...question, identity: b.id, type: 'Bind' }).allowed, true);
  await b.router.close();
  await until('the router offline', async () => lab.why(question).allowed === false);
  const blocking = lab.why(question).reasons.filter((each) => each.blocking);
  t.match(blocking, [{ kind: 'service', message: 'echo has no terminators: nothing hosts it' }]);
});

t.test(
  'a second factor: missing in one session, given in another; it expires with the time of its check',
  async (t) => {
    await using client = await PostureClient.start(['#mfa']);
    const { api } = client;
    const question = { identity: 'user', service: 'service', type: 'Dial' };
    const posture = async (session?: string) =>
      (await ask(api, { ...question, session })).reasons.filter(({ kind }) =>
        ['apiSession', 'postureCheck'].includes(kind),
      );
    const demand = { name: 'mfa', typeId: 'MFA', timeoutSeconds: 600, roleAttributes: ['mfa'] };
    await api.create('/posture-checks', demand);
    await client.enrollMfa();
    client.token = await api.login('user');
    const { id } = (await client.ask('GET', '/current-api-session')).data;
    t.match(await posture(id), [
      { ok: false, blocking: true, message: `the session ${id} lacks its second factor`, remedy: /authenticate\/mfa/ },
      {
        ok: false,
        blocking: true,
        message: /mfa \(MFA\) of dial fails .*: no one-time password was given in this session/,
      },
    ]);
    await client.pass();
    t.match(await posture(id), [{ ok: true, message: /mfa \(MFA\) of dial passes until \S+ in the session/ }]);
    t.ok(
      (await posture()).every(({ blocking }) => !blocking),
      'one session that passes is enough',
    );
    await api.simulator.lab.clock.advance('11m');
    t.match(await posture(id), [{ ok: false, blocking: true, message: /is older than 600 s$/ }]);
  },
);
